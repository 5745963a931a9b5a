"""A sequential specification that changes in place, as a model: its effects are interleaved.

A component has one text of what its operations mean: an object with a method for each effect, whose
guard names the clause that a wrong outcome breaks. A driven case, which makes one call after the
other, keeps one such object. The search for a linearization needs many states that never
change: so each of its steps copies the object, and makes one effect on the copy.
"""

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import Generic, Protocol, Self, TypeVar

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

    __slots__ = ("_key", "spec")

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._key: tuple[int, Hashable] | None = None

    def _compared(self) -> tuple[int, Hashable]:
        """Return the hash of the key, and the key."""
        # Only a state that is compared needs its key, and most histories are explained without.
        if self._key is None:
            key = self.spec.key()
            self._key = hash(key), key
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateOf) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return self._compared()[0]

    def __repr__(self) -> str:
        return str(self.spec)


class Interleaved(Model[StateOf[Spec], Op, Res]):
    """The model whose states are those of a specification.

    A subclass says which effects an operation has. Each method gets a copy, which it may change. It
    returns what the specification may be then: nothing if a guard forbids the effect.
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
    def effect(self, spec: Spec, operation: Op, result: Res | Unknown) -> Iterable[Spec]:
        """Make the effect of an operation that has one; UNKNOWN stands for any answer."""

    def first_effect(self, spec: Spec, operation: Op, ticket: int) -> Iterable[Spec]:
        """Make the first of two effects; see `Model.request`."""
        raise NotImplementedError(f"{operation!r} has no first effect")

    def last_effect(
        self, spec: Spec, operation: Op, ticket: int, result: Res | Unknown
    ) -> Iterable[Spec]:
        """Make the last of two effects; see `Model.follow_up`."""
        raise NotImplementedError(f"{operation!r} has no last effect")

    def initial_state(self) -> StateOf[Spec]:
        """Return the first state."""
        return self._first

    def step(
        self, state: StateOf[Spec], operation: Op, result: Res | Unknown
    ) -> Iterable[StateOf[Spec]]:
        """Return the states after an operation with one effect."""
        if not self.is_possible(state.spec, operation):
            return ()
        return map(StateOf, self.effect(state.spec.copy(), operation, result))

    def request(self, state: StateOf[Spec], operation: Op, ticket: int) -> Iterable[StateOf[Spec]]:
        """Return the states after the first of two effects."""
        return map(StateOf, self.first_effect(state.spec.copy(), operation, ticket))

    def follow_up(
        self, state: StateOf[Spec], operation: Op, ticket: int, result: Res | Unknown
    ) -> Iterable[StateOf[Spec]]:
        """Return the states after the last of two effects."""
        return map(StateOf, self.last_effect(state.spec.copy(), operation, ticket, result))
