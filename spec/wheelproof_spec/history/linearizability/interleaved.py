"""A sequential specification that changes in place, as a model: its effects are interleaved.

A component has one text of what its operations mean: an object with a method for each effect, whose
guard names the clause that a wrong outcome breaks. Who makes one call after the other, as a driven
case does, keeps one such object. The search for a linearization needs many states that never
change: so each of its steps copies the object, and lets one effect change the copy.
"""

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import Generic, Protocol, Self, TypeVar

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.history.linearizability.calls import Unknown
from wheelproof_spec.history.linearizability.model import Model, Op, Res


class Specification(Protocol):
    """A sequential specification in one of its states."""

    def copy(self) -> Self:
        """Return a specification in the same state, which then goes its own way."""
        ...

    def key(self) -> Hashable:
        """Return what two specifications have in common if no effect can tell them apart."""
        ...


Spec = TypeVar("Spec", bound=Specification)


class StateOf(Generic[Spec]):
    """A state of a specification for the search: hashable; `spec` must not change any more."""

    __slots__ = ("_hash", "_key", "spec")

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._key = spec.key()
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateOf) and self._hash == other._hash and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return str(self.spec)


class Interleaved(Model[StateOf[Spec], Op, Res]):
    """The model whose states are those of a specification.

    A subclass says which effects an operation has, and lets them change a copy. A violation means
    that the effect is impossible there.
    """

    def __init__(self, first: Spec) -> None:
        """Make the model of what begins as `first`, which must not change any more."""
        self._first = StateOf(first)

    def is_possible(self, spec: Spec, operation: Op) -> bool:
        """Tell whether a guard allows an operation with one effect, whatever it answers.

        True is always safe: `effect` has all guards. But False saves a copy.
        """
        del spec, operation
        return True

    @abstractmethod
    def effect(self, spec: Spec, operation: Op, result: Res | Unknown) -> Violation | None:
        """Let an operation with one effect change `spec`; return the clause that `result` breaks.

        UNKNOWN stands for any answer.
        """

    def first_effect(self, spec: Spec, operation: Op, ticket: int) -> None:
        """Let the first effect of an operation with two effects change `spec`; see `request`."""
        raise NotImplementedError(f"{operation!r} has no first effect")

    def last_effect(self, spec: Spec, operation: Op, ticket: int) -> Violation | None:
        """Let the last effect of an operation with two effects change `spec`; see `follow_up`."""
        raise NotImplementedError(f"{operation!r} has no last effect")

    def initial_state(self) -> StateOf[Spec]:
        """Return the first state."""
        return self._first

    def step(
        self, state: StateOf[Spec], operation: Op, result: Res | Unknown
    ) -> Iterable[StateOf[Spec]]:
        """Return the state after an operation with one effect, if its guard allows it."""
        if not self.is_possible(state.spec, operation):
            return ()
        spec = state.spec.copy()
        return () if self.effect(spec, operation, result) else (StateOf(spec),)

    def request(self, state: StateOf[Spec], operation: Op, ticket: int) -> Iterable[StateOf[Spec]]:
        """Return the state after the first effect of an operation with two effects."""
        spec = state.spec.copy()
        self.first_effect(spec, operation, ticket)
        return (StateOf(spec),)

    def follow_up(
        self, state: StateOf[Spec], operation: Op, ticket: int, result: Res | Unknown
    ) -> Iterable[StateOf[Spec]]:
        """Return the state after the last of two effects, if its guard allows it."""
        del result
        spec = state.spec.copy()
        return () if self.last_effect(spec, operation, ticket) else (StateOf(spec),)
