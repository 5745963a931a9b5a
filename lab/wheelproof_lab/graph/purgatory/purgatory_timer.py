"""A timer of which each access is one step, as in Purgatory.tla.

Each operation has a cell with its place. Any operation that is in the timer may be due.
"""

from collections.abc import Sequence
from enum import Enum

from wheelproof import sync
from wheelproof.purgatory import CompletionDiscipline, DelayedOperation
from wheelproof.timer import Timer, TimerTask
from wheelproof_explore.program import choose

PLACE = "place in the timer"


class TimerPlace(Enum):
    """The place of an operation, named as in Purgatory.tla."""

    OUT = "out"
    IN = "in"
    FIRED = "fired"


class TimedOperation(DelayedOperation):
    """An operation for a `OneStepTimer`."""

    __slots__ = ("place",)

    def __init__(self, discipline: CompletionDiscipline) -> None:
        super().__init__(0, discipline=discipline)
        self.place = sync.atomic_reference(TimerPlace.OUT, PLACE)

    def cancel(self) -> bool:
        """Leave the timer."""
        return self.place.compare_and_set(TimerPlace.IN, TimerPlace.OUT)


class OneStepTimer(Timer):
    """A timer that holds some of the operations that it was made with."""

    def __init__(self, operations: Sequence[TimedOperation]) -> None:
        self._operations = operations

    def add(self, timer_task: TimerTask) -> None:
        """Put an operation into the timer."""
        assert isinstance(timer_task, TimedOperation)
        timer_task.place.set(TimerPlace.IN)

    def run_one(self) -> None:
        """Choose an operation, and run it if it is still in the timer."""
        operation = self._operations[choose(len(self._operations))]
        if operation.place.compare_and_set(TimerPlace.IN, TimerPlace.FIRED):
            operation.run()

    def advance_clock(self, timeout_ms: int) -> bool:
        """Do nothing: the timer's own thread expires what is due."""
        del timeout_ms
        return False

    def size(self) -> int:
        """Return the number of operations in the timer: one step for each operation."""
        return sum(operation.place.get() is TimerPlace.IN for operation in self._operations)

    def close(self) -> None:
        """Do nothing: no program here shuts the purgatory down."""
