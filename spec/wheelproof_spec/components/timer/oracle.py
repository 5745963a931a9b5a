"""The oracle's timer: a heap of due times.

It follows what an implementation does. After each call it is told which tasks were seen to run, in
order, and answers whether the contract allows that in this state; where the contract leaves a
choice, the observation decides it. TLA+: Timer (Add, Cancel, Fire, Tick).
"""

import heapq
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from wheelproof_spec.base.contract import FiringOrder, TimerContract
from wheelproof_spec.base.violation import Violation

TaskKey = TypeVar("TaskKey", bound=Hashable)


@dataclass(frozen=True, slots=True)
class _Waiting:
    due_ms: int
    add_number: int


class HeapTimer(Generic[TaskKey]):
    """A timer on which every operation is instantaneous.

    Tasks are named by any hashable value. The clock moves only by `advance_to`.
    """

    def __init__(self, *, tick_ms: int, start_ms: int, contract: TimerContract) -> None:
        """Make an empty timer whose clock shows `start_ms` milliseconds."""
        self._tick_ms = tick_ms
        self._now_ms = start_ms
        self._contract = contract
        self._waiting: dict[TaskKey, _Waiting] = {}
        # Entries of tasks that were cancelled or added again stay until they surface.
        self._heap: list[tuple[int, int, TaskKey]] = []
        self._adds = 0

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        return self._now_ms

    def waiting(self) -> frozenset[TaskKey]:
        """Return the tasks that have neither run nor been cancelled."""
        return frozenset(self._waiting)

    def latest_due_ms(self) -> int | None:
        """Return when the last of the waiting tasks is due, in milliseconds; None if none waits."""
        return max((waiting.due_ms for waiting in self._waiting.values()), default=None)

    def add(self, task: TaskKey, delay_ms: int) -> None:
        """Add `task`, due after `delay_ms` milliseconds; an earlier add of it is void (1.12)."""
        self._adds += 1
        due_ms = self._contract.due_ms(self._now_ms + delay_ms, self._tick_ms)
        self._waiting[task] = _Waiting(due_ms, self._adds)
        heapq.heappush(self._heap, (due_ms, self._adds, task))

    def cancel(self, task: TaskKey) -> bool:
        """Cancel `task` and tell whether it was waiting (semantics.md 1.10)."""
        return self._waiting.pop(task, None) is not None

    def advance_to(self, time_ms: int) -> None:
        """Move the clock to `time_ms` milliseconds; nothing runs until it is observed."""
        self._now_ms = max(self._now_ms, time_ms)

    def size(self) -> int:
        """Return the number of waiting tasks (semantics.md 1.14)."""
        return len(self._waiting)

    def observe(self, fired: Sequence[TaskKey], *, advanced: bool) -> Violation | None:
        """Take note of the tasks that ran during the last call, in the order in which they ran.

        With `advanced` the call was an advance that has returned, after which nothing that is due
        may be left (semantics.md 1.18). Returns the first rule that is broken, or None.
        """
        last_due_ms: int | None = None
        for task in fired:
            violation = self._observe_one(task, last_due_ms)
            if violation is not None:
                return violation
            last_due_ms = self._waiting.pop(task).due_ms
        return self._find_overdue(fired) if advanced else None

    def _observe_one(self, task: TaskKey, last_due_ms: int | None) -> Violation | None:
        waiting = self._waiting.get(task)
        if waiting is None:
            return Violation(
                rule="Timer.RunsAtMostOncePerAdd",
                expected=f"only waiting tasks run: {_some(self._waiting)}",
                observed=f"{task!r} ran",
                reason=f"{task!r} has run already, was cancelled, or was never added",
            )
        if waiting.due_ms > self._now_ms:
            return Violation(
                rule="Timer.NeverBeforeItIsDue",
                expected=f"{task!r} runs at {waiting.due_ms} ms or later",
                observed=f"{task!r} ran at {self._now_ms} ms",
                reason=f"{task!r} ran {waiting.due_ms - self._now_ms} ms before it was due",
            )
        ordered = self._contract.order is FiringOrder.BY_TICK
        if ordered and last_due_ms is not None and waiting.due_ms < last_due_ms:
            return Violation(
                rule="Timer.RunsInOrderOfDueTime",
                expected=f"{task!r}, due at {waiting.due_ms} ms, runs before what is due later",
                observed=f"it ran after a task that was due at {last_due_ms} ms",
                reason="one advance submits by due time",
            )
        return None

    def _find_overdue(self, fired: Sequence[TaskKey]) -> Violation | None:
        while self._heap:
            due_ms, add_number, task = self._heap[0]
            if self._waiting.get(task) == _Waiting(due_ms, add_number):
                break
            heapq.heappop(self._heap)
        if not self._heap or self._heap[0][0] + self._contract.lateness_ms > self._now_ms:
            return None
        due_ms, _, task = self._heap[0]
        return Violation(
            rule="Timer.NothingDueIsLeftBehind",
            expected=f"{task!r}, due at {due_ms} ms, has run when the advance to "
            f"{self._now_ms} ms returns",
            observed=f"ran: {_some(fired)}",
            reason=f"{task!r} has been due for {self._now_ms - due_ms} ms and still waits",
        )


def _some(tasks: Sequence[TaskKey] | dict[TaskKey, _Waiting], limit: int = 8) -> str:
    names = [repr(task) for task in list(tasks)[:limit]]
    if len(tasks) > limit:
        names.append(f"and {len(tasks) - limit} more")
    return ", ".join(names) or "none"
