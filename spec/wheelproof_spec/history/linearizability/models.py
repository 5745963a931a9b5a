"""Models to use and to learn from: registers, a key-value store, queues and sets."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeVar

from wheelproof_spec.history.linearizability.calls import Unknown
from wheelproof_spec.history.linearizability.model import Sequential

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Read:
    """The operation that answers the value of register `name`."""

    name: str = "x"

    def __str__(self) -> str:
        return f"read({self.name})"


@dataclass(frozen=True, slots=True)
class Write:
    """The operation that replaces the value of register `name`; it answers None."""

    value: Hashable
    name: str = "x"

    def __str__(self) -> str:
        return f"write({self.name}, {self.value!r})"


@dataclass(frozen=True, slots=True)
class GetAndSet:
    """The operation that replaces the value of register `name`, and answers the old value."""

    value: Hashable
    name: str = "x"

    def __str__(self) -> str:
        return f"get_and_set({self.name}, {self.value!r})"


@dataclass(frozen=True, slots=True)
class CompareAndSet:
    """The operation that sets register `name` if it holds `expected`; answers whether it did so."""

    expected: Hashable
    value: Hashable
    name: str = "x"

    def __str__(self) -> str:
        return f"compare_and_set({self.name}, {self.expected!r}, {self.value!r})"


RegisterOperation = Read | Write | GetAndSet | CompareAndSet


class Registers(Sequential[Hashable, RegisterOperation, Hashable]):
    """Any number of independent registers, all of which hold `initial` at first."""

    def __init__(self, initial: Hashable = None) -> None:
        self._initial = initial

    def initial_state(self) -> Hashable:
        """Return the first value of a register."""
        return self._initial

    def apply(self, state: Hashable, operation: RegisterOperation) -> tuple[Hashable, Hashable]:
        """Return the new value, and the answer."""
        match operation:
            case Read():
                return state, state
            case Write():
                return operation.value, None
            case GetAndSet():
                return operation.value, state
            case CompareAndSet():
                swaps = state == operation.expected
                return (operation.value if swaps else state), swaps

    def observes(self, operation: RegisterOperation, result: Hashable | Unknown) -> bool:
        """Tell whether the operation is a read, or a compare-and-set that changed nothing."""
        return isinstance(operation, Read) or (
            isinstance(operation, CompareAndSet) and result is False
        )

    def object_of(self, operation: RegisterOperation) -> Hashable:
        """Return the register's name."""
        return operation.name


@dataclass(frozen=True, slots=True)
class Do:
    """Operation `f` with `value`, on the object `name` if there are several."""

    f: str
    value: Hashable = None
    name: Hashable = None

    def __str__(self) -> str:
        told = [str(self.name)] * (self.name is not None)
        return f"{self.f}({', '.join(told + [repr(self.value)] * (self.value is not None))})"


class _Named(Sequential[State, Do, Hashable]):
    """Objects identified by name; `_LOOKS` has the operations that change nothing."""

    _LOOKS: tuple[str, ...] = ()

    def object_of(self, operation: Do) -> Hashable:
        """Return the object's name."""
        return operation.name

    def observes(self, operation: Do, result: Hashable | Unknown) -> bool:
        """Tell whether the operation changes nothing."""
        del result
        return operation.f in self._LOOKS


class KeyValues(_Named[Hashable]):
    """A store of texts: `get` answers the text of key `name`, `put` and `append` change it."""

    _LOOKS = ("get",)

    def initial_state(self) -> str:
        """Return the text of a key that was never put."""
        return ""

    def apply(self, state: Hashable, operation: Do) -> tuple[Hashable, Hashable]:
        """Return the text afterwards, and the answer."""
        if operation.f == "get":
            return state, state
        return (f"{state}{operation.value}" if operation.f == "append" else operation.value), None


class Queues(_Named[tuple[Hashable, ...]]):
    """First in, first out: `put` a value; `take` answers the oldest, None from an empty queue."""

    def initial_state(self) -> tuple[Hashable, ...]:
        """Return the empty queue."""
        return ()

    def apply(
        self, state: tuple[Hashable, ...], operation: Do
    ) -> tuple[tuple[Hashable, ...], Hashable]:
        """Return the queue afterwards, and the answer."""
        if operation.f == "put":
            return (*state, operation.value), None
        return state[1:], state[0] if state else None


class Sets(_Named[frozenset[Hashable]]):
    """`add` and `remove` answer whether that changed the set, `contains` whether it is a member."""

    _LOOKS = ("contains",)

    def initial_state(self) -> frozenset[Hashable]:
        """Return the empty set."""
        return frozenset()

    def apply(
        self, state: frozenset[Hashable], operation: Do
    ) -> tuple[frozenset[Hashable], Hashable]:
        """Return the set afterwards, and the answer."""
        one, is_member = frozenset({operation.value}), operation.value in state
        if operation.f == "contains":
            return state, is_member
        return (state | one, not is_member) if operation.f == "add" else (state - one, is_member)
