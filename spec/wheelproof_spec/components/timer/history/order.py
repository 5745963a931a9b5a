"""The order in which the tasks of a timer run, as far as a history shows it (standard 1.9)."""

import heapq

from wheelproof_spec.base.contract import FiringOrder
from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import TimerClause, TimerConfig
from wheelproof_spec.components.timer.history.task import Heap, Task, is_unrun
from wheelproof_spec.components.timer.history.violations import out_of_order


class RunOrder:
    """The due tasks that have not run; the order is judged if promised or one thread runs all."""

    def __init__(self, config: TimerConfig, clock: HistoryClock, tally: Tally) -> None:
        self._tally = tally
        self._clock = clock
        self._unrun: Heap = []
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
        if not unrun:
            return None
        high, settled, other = unrun[0]
        if other.cancel is not None:
            # The other task may be cancelled already.
            return None
        in_order = self._clock.contract.may_follow(task.low, high, self._clock.tick_ms)
        if other is task or in_order or settled >= max(task.call, task.due_since):
            return None
        return out_of_order(other.name, high, task.name, task.low)
