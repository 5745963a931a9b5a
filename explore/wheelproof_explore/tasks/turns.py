"""The steps of an event loop: a turn of a task, a timer that fires, a task that is cancelled."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.model import (
    ModelThread,
    Rewindable,
    Scheduler,
    SharedObject,
    StepOn,
)


@dataclass(frozen=True, slots=True)
class LoopState:
    """The keys with a ready callback, the number of timers, and the tasks that have not ended.

    While a callback runs the loop is `busy`: no other turn begins, even if the callback waits.
    `line` has a key for each ready callback, first in, first out, if only that order is explored.
    """

    ready: frozenset[int] = frozenset()
    line: tuple[int, ...] = ()
    timers: int = 0
    unended: frozenset[int] = frozenset()
    busy: bool = False


class LoopModel(SharedObject[LoopState]):
    """The object that the steps of all tasks write: every order of them is another class."""

    __slots__ = ()

    def __init__(self, runtime: Scheduler) -> None:
        super().__init__(runtime, "event loop", LoopState())


class Note(StepOn[LoopModel, None]):
    """A change of the loop by a callback that has made other steps in between."""

    __slots__ = ()
    verb = "goes on in"
    whole = True

    def apply(self, _thread: ModelThread, /) -> None:
        """Do nothing: the change follows."""


@dataclass(frozen=True, slots=True)
class CallsState:
    """The number of callbacks that other threads have scheduled; a `closed` loop takes no more."""

    waiting: int = 0
    closed: bool = False


class LoopCalls(SharedObject[CallsState]):
    """The callbacks that other threads schedule: an object of its own.

    A turn can neither see nor change them, unless it runs one, so a thread that schedules one is
    independent of all other turns.
    """

    __slots__ = ()

    def __init__(self, runtime: Scheduler) -> None:
        super().__init__(runtime, "the event loop's calls", CallsState())


class Call(StepOn[LoopCalls, bool]):
    """The scheduling of a callback by another thread; returns False if the loop is closed."""

    __slots__ = ()
    verb = "add to"

    def apply(self, _thread: ModelThread, /) -> bool:
        """Add a callback."""
        state = self._object.state
        if not state.closed:
            self._object.become(replace(state, waiting=state.waiting + 1))
        return not state.closed


class Turn(StepOn[LoopModel, None]):
    """A step of the loop that is possible if `may` permits it and the loop is not busy."""

    __slots__ = ("_may", "_said", "_say")
    blocking = True
    whole = True

    def __init__(
        self, loop: LoopModel, may: Callable[[LoopState], bool], say: Callable[[], str]
    ) -> None:
        super().__init__(loop)
        self._may = may
        self._say = say
        self._said = ""

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a write, None while the turn is not possible."""
        state = self._object.state
        return self._object.write if self._may(state) and not state.busy else None

    def apply(self, _thread: ModelThread, /) -> None:
        """Begin the turn: the loop is busy until the callback has run."""
        self._said = self._say()
        self._object.become(replace(self._object.state, busy=True))

    def describe(self) -> str:
        """Return what the turn does; once it has begun, the text of that moment."""
        return self._said or self._say()

    def awaited(self) -> str:
        """Return where the task waits."""
        return self._say()


class Closing(Turn):
    """The end of the loop: callbacks that threads schedule later are refused."""

    __slots__ = ("_calls",)
    fixed = False
    # The program goes on behind it.
    whole = False
    said: ClassVar[str] = "the loop is closed"

    def __init__(self, loop: LoopModel, calls: LoopCalls, may: Callable[[LoopState], bool]) -> None:
        super().__init__(loop, may, lambda: self.said)
        self._calls = calls

    def peek(self, thread: ModelThread, /) -> Accesses | None:
        """Return writes of the loop and its calls, None while the turn is not possible."""
        return None if super().peek(thread) is None else self.wanted()

    def wanted(self) -> Accesses:
        """Return writes of the loop and its calls."""
        return self._object.write + self._calls.write

    def targets(self, _thread: ModelThread, /) -> tuple[Rewindable, ...]:
        """Return the loop and its calls."""
        return (self._object, self._calls)

    def apply(self, thread: ModelThread, /) -> None:
        """Close the loop."""
        super().apply(thread)
        self._calls.become(CallsState(closed=True))


class Called(Closing):
    """The turn of a callback that another thread has scheduled."""

    __slots__ = ()
    whole = True
    said = "a callback of a thread"

    def peek(self, thread: ModelThread, /) -> Accesses | None:
        """Return writes of the loop and its calls, None without a callback or while it is busy."""
        return super().peek(thread) if self._calls.state.waiting else None

    def apply(self, thread: ModelThread, /) -> None:
        """Begin the turn, with one callback less."""
        Turn.apply(self, thread)
        self._calls.become(replace(self._calls.state, waiting=self._calls.state.waiting - 1))
