"""One task of a timer in a history, as long as no two calls on it overlap."""

from dataclasses import dataclass
from enum import Enum

from wheelproof_spec.base.history.clock import NEVER
from wheelproof_spec.components.timer.history.states import (
    OpenAdd,
    OpenCancel,
    TaskState,
    TaskStates,
    Waiting,
)


class Phase(Enum):
    """The phase of a task, as far as its calls do not overlap."""

    IDLE = "idle"
    ADDING = "adding"
    WAITING = "waiting"
    DUE = "due"
    SUBMITTED = "submitted"
    OVERLAPPED = "overlapped"
    GONE = "gone"


@dataclass(slots=True, eq=False)
class Task:
    """One task, from its first call until the judge stops tracking it.

    `dues` are the possible due times, as intervals in order, from `low` to `high`; `call` is the
    index at which its add began, `settled` the index at which the add returned, `added_ms` the
    latest time at that moment, `due_since` the index at which the clock reached its due time.

    `cancel_epoch` and `add_epoch` are how many advances had ended when the last cancel, and the
    last add again, began; `add_epoch` is -1 if another call on the task was under way then.
    """

    name: str
    phase: Phase
    call: int = -1
    mark: int = 0
    delay_ms: int = 0
    dues: tuple[tuple[int, int], ...] = ()
    low: int = 0
    high: int = 0
    added_ms: int = -NEVER
    settled: int = -1
    due_since: int = -1
    cancel: int | None = None
    cancel_in_time: bool = False
    cancel_epoch: int = 0
    add_epoch: int = -1
    waited_at_close: bool = False
    states: TaskStates | None = None

    @property
    def runs_from_ms(self) -> int:
        """From when it can run for certain: a negative delay ends at once, not before its add."""
        return max(self.high, self.added_ms)


Heap = list[tuple[int, int, Task]]
"""Tasks by a time, each with the index at which its add returned: a later add voids the item."""


def states_of(task: Task) -> set[TaskState]:
    """Return the possible states of a simple task."""
    calls: frozenset[OpenAdd | OpenCancel] = frozenset()
    if task.cancel is not None:
        calls = frozenset({OpenCancel(task.cancel)})
    phase = task.phase
    if phase is Phase.ADDING:
        return {TaskState(None, 0, calls | {OpenAdd(task.call, task.mark, task.delay_ms)})}
    # An advance submitted it and returned during a cancel, which may have come first.
    overtaken = phase is Phase.SUBMITTED and task.cancel is not None and task.cancel_in_time
    if phase is Phase.WAITING or phase is Phase.DUE or overtaken:
        return {TaskState(Waiting(low, high, task.call), 0, calls) for low, high in task.dues}
    return {TaskState(None, 1 if phase is Phase.SUBMITTED else 0, calls)}


def is_unrun(item: tuple[int, int, Task]) -> bool:
    """Tell whether an item of the heap still stands for a due task that has not run."""
    _, settled, task = item
    return task.settled == settled and task.phase in (Phase.DUE, Phase.SUBMITTED)
