"""Sequential specifications: what an object may answer if its calls come one after the other."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from wheelproof_spec.history.linearizability.calls import UNKNOWN, Unknown

State = TypeVar("State", bound=Hashable)
Op = TypeVar("Op")
Res = TypeVar("Res")


class Model(ABC, Generic[State, Op, Res]):
    """A sequential specification; its states are hashable values and never change.

    Most models define `initial_state` and `step` alone, or are a `Sequential`.
    """

    @abstractmethod
    def initial_state(self) -> State:
        """Return the state before the first operation."""

    @abstractmethod
    def step(self, state: State, operation: Op, result: Res | Unknown) -> Iterable[State]:
        """Return every state after `operation`, if it may answer `result` in `state`; else nothing.

        UNKNOWN stands for any answer.
        """

    def object_of(self, operation: Op) -> Hashable:
        """Return the object of an operation; operations of different objects share nothing."""
        del operation
        return None

    def observes(self, operation: Op, result: Res | Unknown) -> bool:
        """Tell whether the call leaves every state as it is: a read, or a refused change.

        The search takes such a call as soon as possible, which saves work. False is always safe.
        """
        del operation, result
        return False

    def waits(self, operation: Op) -> bool:
        """Tell whether `operation` is a request and a follow-up rather than one step."""
        del operation
        return False

    def request(self, state: State, operation: Op, ticket: int) -> Iterable[State]:
        """Return every state after the request; `ticket` identifies the request."""
        raise NotImplementedError(f"{operation!r} waits, but the model knows no requests")

    def follow_up(
        self, state: State, operation: Op, ticket: int, result: Res | Unknown
    ) -> Iterable[State]:
        """Return every state after the answer to a request; nothing if it may not be `result`."""
        raise NotImplementedError(f"{operation!r} waits, but the model knows no requests")


class Sequential(Model[State, Op, Res]):
    """A model in which each operation has one answer and one state after it."""

    @abstractmethod
    def apply(self, state: State, operation: Op) -> tuple[State, Res]:
        """Return the state after `operation`, and the answer."""

    def step(self, state: State, operation: Op, result: Res | Unknown) -> Iterable[State]:
        """Return the state after it, if `result` is its answer."""
        after, answer = self.apply(state, operation)
        return (after,) if result is UNKNOWN or result == answer else ()
