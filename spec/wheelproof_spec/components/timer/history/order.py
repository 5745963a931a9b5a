"""The order in which the tasks of a timer run, as far as a history shows it (standard 1.9)."""

import heapq
from collections.abc import Iterator

from wheelproof_spec.base.calls import AdvanceClock
from wheelproof_spec.base.contract import FiringOrder
from wheelproof_spec.base.history.clock import HistoryClock, VirtualClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import Add, TimerClause, TimerConfig
from wheelproof_spec.components.timer.history.task import Heap, Task, is_unrun
from wheelproof_spec.components.timer.history.violations import out_of_order


class RunOrder:
    """The due tasks that have not run; the order is judged if promised or one thread runs all."""

    def __init__(self, config: TimerConfig, clock: HistoryClock, tally: Tally) -> None:
        self._tally = tally
        self._clock = clock
        self._unrun: Heap = []
        # What a recorded call submits runs inside it, so nothing was submitted before it began.
        self._is_inside = config.runs == "inline" and isinstance(clock, VirtualClock)
        self._submitting: dict[int, None] = {}
        """The adds and advances under way, by the index at which they began; the first is first."""
        self._runner: str | None = None
        self.is_judged = (
            clock.judges_times
            and clock.contract.order is not FiringOrder.ANY
            and config.run_order != "open"
        )
        self._is_promised = config.run_order == "promised"
        if not self._is_promised:
            # A pool of threads may begin tasks in any order; its second thread may appear late.
            tally.leaves_open(TimerClause.RUNS_IN_ORDER)

    @property
    def is_open(self) -> bool:
        """Whether the order was not judged."""
        return self._tally.is_open(TimerClause.RUNS_IN_ORDER) or not self.is_judged

    def settle(self) -> None:
        """Record that the history ended quietly: no other thread runs a task after that."""
        if self.is_judged:
            self._tally.settles(TimerClause.RUNS_IN_ORDER)

    def is_due(self, task: Task) -> None:
        """Record that a task is due and has not run."""
        if self.is_judged:
            heapq.heappush(self._unrun, (task.high, task.settled, task))

    def call_begins(self, call: object, index: int) -> None:
        """Record that a call began, which may submit tasks."""
        if self._is_inside and isinstance(call, Add | AdvanceClock):
            self._submitting[index] = None

    def call_ends(self, index: int) -> None:
        """Record that the call that began at `index` submits nothing any more."""
        self._submitting.pop(index, None)

    def runs_in(self, process: str) -> None:
        """Record the thread that runs a task."""
        if self._runner is None:
            self._runner = process
        elif self._runner != process and not self._is_promised:
            self.is_judged = False

    def judge(self, task: Task) -> Violation | None:
        """Return the violation if this task may not run now."""
        if not self.is_judged or not self._tally.tests(TimerClause.RUNS_IN_ORDER):
            return None
        unrun = self._unrun
        while unrun and not is_unrun(unrun[0]):
            heapq.heappop(unrun)
        not_before = max(task.call, task.due_since, next(iter(self._submitting), -1))
        for other in self._ahead_of(task):
            # One that is being cancelled may be cancelled already. One whose add had not returned
            # when this task may have been submitted came behind it.
            if other.cancel is None and other.settled < not_before:
                return out_of_order(other.name, other.high, task.name, task.low)
        return None

    def _ahead_of(self, task: Task) -> Iterator[Task]:
        """Yield the due tasks that have not run and come before this one; the first is first."""
        unrun, places = self._unrun, [0]
        comes_first, tick_ms = self._clock.contract.comes_first, self._clock.tick_ms
        for place in places:
            if place < len(unrun) and comes_first(unrun[place][0], task.low, tick_ms):
                places += 2 * place + 1, 2 * place + 2
                if is_unrun(unrun[place]):
                    yield unrun[place][2]
