"""How late a task may begin to run by a real clock (standard 1.8.3)."""

from dataclasses import dataclass

from wheelproof_spec.base.codec.vocabulary import Absent
from wheelproof_spec.base.history.clock import NEVER, HistoryClock, MonotonicClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import TimerClause
from wheelproof_spec.components.timer.history.task import Phase, Task
from wheelproof_spec.components.timer.history.violations import overdue, too_late


@dataclass(slots=True)
class _Busy:
    """A thread that has run tasks one after the other, since `since_ms`.

    `busy_ms` is how long these took, and `free_ms` when the last one ended; None if that is not
    known, since it still runs or its end was not recorded. All three are rounded so that they
    excuse too much rather than too little.
    """

    since_ms: int
    began_ms: int
    busy_ms: int = 0
    free_ms: int | None = None


class Lateness:
    """Judges lateness; the tasks in front of a task excuse it, if their ends were recorded."""

    def __init__(self, lateness_ms: int | Absent, clock: HistoryClock, tally: Tally) -> None:
        self._clock = clock
        self._tests = tally.tests
        is_judged = isinstance(lateness_ms, int) and isinstance(clock, MonotonicClock)
        self._limit_ms = lateness_ms if is_judged and isinstance(lateness_ms, int) else None
        self._threads: dict[str, _Busy] = {}

    @property
    def surely_run_ms(self) -> int:
        """The due time up to which somebody has advanced for certain, whether recorded or not."""
        return -NEVER if self._limit_ms is None else self._clock.low - self._limit_ms - 1

    def run_begins(self, process: str) -> None:
        """Record that a thread begins to run a task; `of_run` comes first."""
        limit_ms, now_ms = self._limit_ms, self._clock.low
        if limit_ms is None:
            return
        thread = self._threads.get(process)
        if thread is None or thread.free_ms is None or now_ms - thread.free_ms > limit_ms:
            # It was idle for longer than a pass may take, or nobody knows.
            self._threads[process] = _Busy(now_ms, now_ms)
            return
        thread.began_ms, thread.free_ms = now_ms, None

    def run_ends(self, process: str) -> None:
        """Record that the task that a thread runs has ended."""
        thread = self._threads.get(process)
        if thread is not None and thread.free_ms is None:
            thread.free_ms = self._clock.ceiling
            thread.busy_ms += thread.free_ms - thread.began_ms

    def of_run(self, task: Task, process: str) -> Violation | None:
        """Return the violation if a task begins to run too late."""
        limit_ms, due_ms = self._limit_ms, task.runs_from_ms
        if limit_ms is None:
            return None
        self._tests(TimerClause.RUNS_WITHIN_ITS_LATENESS)
        late_ms = self._clock.low - due_ms
        thread = self._threads.get(process)
        if (
            thread is not None
            and thread.free_ms is not None
            and thread.since_ms <= due_ms + limit_ms
        ):
            # The task waited its turn: the thread had work since before the task's time was out.
            # What it did before the task was due is no excuse.
            late_ms -= max(min(thread.busy_ms, thread.free_ms - due_ms), 0)
        if late_ms <= limit_ms:
            return None
        return too_late(task.name, due_ms, self._clock.low, limit_ms)

    def overdue(self, task: Task) -> Violation | None:
        """Return the violation if a due task has not begun to run, and it is too late by now."""
        limit_ms, due_ms = self._limit_ms, task.runs_from_ms
        if limit_ms is None or task.phase is not Phase.DUE:
            return None
        self._tests(TimerClause.RUNS_WITHIN_ITS_LATENESS)
        if self._clock.low - due_ms <= limit_ms:
            return None
        return overdue(task.name, due_ms, self._clock.low, limit_ms)
