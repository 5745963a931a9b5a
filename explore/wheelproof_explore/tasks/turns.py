"""The steps of an event loop: a turn of a task, a timer that fires, a task that is cancelled."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.model import (
    ModelThread,
    Scheduler,
    SharedObject,
    StepOn,
)


@dataclass(frozen=True, slots=True)
class LoopState:
    """The keys with a ready callback, the number of timers, and the tasks that have not ended.

    While a callback runs the loop is `busy`: no other turn begins, even if the callback waits.
    """

    ready: frozenset[int] = frozenset()
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

    def apply(self, _thread: ModelThread, /) -> None:
        """Do nothing: the change follows."""


class Turn(StepOn[LoopModel, None]):
    """A step of the loop that is possible if `may` permits it and the loop is not busy."""

    __slots__ = ("_may", "_said", "_say")
    blocking = True

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
