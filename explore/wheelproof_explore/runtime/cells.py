"""Volatile cells and atomics of the controlled runtime."""

from collections.abc import Callable
from typing import Generic, TypeVar

from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.model import ModelThread, Reading, SharedObject, StepOn

T = TypeVar("T")


class Cell(SharedObject[T]):
    """A volatile cell, or an atomic reference; values are compared by identity."""

    __slots__ = ()

    @staticmethod
    def same(value: object, other: object) -> bool:
        """Tell whether two values are the same object."""
        return value is other

    def await_until(self, predicate: Callable[[T], bool], /) -> T:
        """Wait until the predicate holds for the value, and return the value."""
        return self.runtime.perform(AwaitValue(self, predicate))

    def get(self) -> T:
        """Return the value."""
        return self.runtime.perform(Get(self))

    def set(self, value: T, /) -> None:
        """Replace the value."""
        self.runtime.perform(Set(self, value))

    def get_and_set(self, value: T, /) -> T:
        """Replace the value and return the one before."""
        return self.runtime.perform(Exchange(self, value))

    def compare_and_set(self, expected: T, value: T, /) -> bool:
        """Replace the value if it is `expected`, and tell whether it was."""
        return self.runtime.perform(CompareAndSet(self, expected, value, self.same))


class IntegerCell(Cell[int]):
    """An atomic integer; values are compared by equality."""

    __slots__ = ()

    @staticmethod
    def same(value: object, other: object) -> bool:
        """Tell whether two numbers are equal."""
        return value == other

    def add_and_get(self, delta: int, /) -> int:
        """Add `delta` and return the sum."""
        return self.runtime.perform(AddAndGet(self, delta))


class Get(Reading[T]):
    """Reading a cell."""

    __slots__ = ()
    shows_result = True

    def describe(self) -> str:
        """Return the cell's name."""
        return f"{self._object.name}.get()"


class AwaitValue(Reading[T]):
    """A read that waits until the predicate holds; the value may change again afterwards."""

    __slots__ = ("_predicate",)
    verb = "await"
    shows_result = True
    blocking = True

    def __init__(self, cell: SharedObject[T], predicate: Callable[[T], bool]) -> None:
        super().__init__(cell)
        self._predicate = predicate

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a read; None while the predicate does not hold."""
        return self._object.read if self._predicate(self._object.state) else None


class Set(StepOn[SharedObject[T], None], Generic[T]):
    """Writing a cell."""

    __slots__ = ("_value",)
    observes = False

    def __init__(self, cell: SharedObject[T], value: T) -> None:
        super().__init__(cell)
        self._value = value

    def apply(self, _thread: ModelThread, /) -> None:
        """Replace the value."""
        self._object.become(self._value)

    def describe(self) -> str:
        """Return the cell's name and the new value."""
        return f"{self._object.name}.set({short(self._value)})"


class Exchange(StepOn[SharedObject[T], T], Generic[T]):
    """Writing a cell and reading what it held before."""

    __slots__ = ("_value",)
    shows_result = True

    def __init__(self, cell: SharedObject[T], value: T) -> None:
        super().__init__(cell)
        self._value = value

    def apply(self, _thread: ModelThread, /) -> T:
        """Replace the value and return the one before."""
        before = self._object.state
        self._object.become(self._value)
        return before

    def describe(self) -> str:
        """Return the cell's name and the new value."""
        return f"{self._object.name}.get_and_set({short(self._value)})"


class CompareAndSet(StepOn[SharedObject[T], bool], Generic[T]):
    """A conditional write; if it fails, it is only a read."""

    __slots__ = ("_expected", "_same", "_value")
    fixed = False
    shows_result = True

    def __init__(
        self, cell: SharedObject[T], expected: T, value: T, same: Callable[[object, object], bool]
    ) -> None:
        super().__init__(cell)
        self._expected = expected
        self._value = value
        self._same = same

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a write if it would succeed now, else a read."""
        cell = self._object
        return cell.write if self._same(cell.state, self._expected) else cell.read

    def apply(self, _thread: ModelThread, /) -> bool:
        """Replace the value if it is the expected one."""
        if not self._same(self._object.state, self._expected):
            return False
        self._object.become(self._value)
        return True

    def describe(self) -> str:
        """Return the cell's name and both values."""
        values = f"{short(self._expected)}, {short(self._value)}"
        return f"{self._object.name}.compare_and_set({values})"


class AddAndGet(StepOn[SharedObject[int], int]):
    """Adding to an integer cell."""

    __slots__ = ("_delta",)
    shows_result = True

    def __init__(self, cell: SharedObject[int], delta: int) -> None:
        super().__init__(cell)
        self._delta = delta

    def apply(self, _thread: ModelThread, /) -> int:
        """Add and return the sum."""
        total = self._object.state + self._delta
        self._object.become(total)
        return total

    def describe(self) -> str:
        """Return the cell's name and the delta."""
        return f"{self._object.name}.add_and_get({self._delta})"


def short(value: object) -> str:
    """Return a value as a table shows it."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    # The default representation has an address in it, which differs from run to run.
    return type(value).__name__
