"""The tasks that advances have to submit, and the check that they did (standard 1.18)."""

import heapq

from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import TimerClause
from wheelproof_spec.components.timer.history.states import Advances
from wheelproof_spec.components.timer.history.task import Heap, Phase, Task
from wheelproof_spec.components.timer.history.tasks import Tasks
from wheelproof_spec.components.timer.history.violations import left_behind


class Advancing:
    """The advances that are under way, and the number of all advances."""

    def __init__(self, clock: HistoryClock, advances: Advances, tasks: Tasks, tally: Tally) -> None:
        self._clock = clock
        self._advances = advances
        self._tasks = tasks
        self._tests = tally.tests
        self._began: dict[int, int] = {}
        """The clock's time at the begin of each advance that is under way."""
        self.begun = 0

    @property
    def ended(self) -> int:
        """The number of advances that have ended."""
        return self.begun - len(self._began)

    def may_carry_since(self, ended: int) -> bool:
        """Tell whether an advance may have moved entries since `ended` advances had ended."""
        return self._advances.unseen or self.begun > ended

    def may_submit_since(self, ended: int) -> bool:
        """Tell whether a task may have been submitted since `ended` advances had ended."""
        return not self._advances.inline or self.may_carry_since(ended)

    def begin(self, call: int) -> None:
        """Record that an advance began: it owes the tasks that are due by now."""
        self._began[call] = self._clock.owing
        self._advances.under_way += 1
        # Whoever advances is recorded, it seems.
        self._advances.unseen = False
        self.begun += 1
        self._tasks.watch_size()

    def end(self, call: int) -> Violation | None:
        """Record that an advance returned; return the violation if it left a task behind."""
        advances = self._advances
        clock = self._clock
        clock_ms = clock.contract.owes_ms(self.leave(call), clock.tick_ms)
        if call > advances.began:
            advances.began, advances.clock_ms = call, clock_ms
        violation = self._collect(call, clock_ms)
        if advances.inline:
            self._tests(TimerClause.NOTHING_LEFT_BEHIND)
            violation = violation or self._left_overlapped(clock_ms)
        self._tasks.watch_size()
        self._tasks.size.clear_up(call, clock_ms)
        return violation

    def leave(self, call: int) -> int:
        """Record that an advance is over; return the clock's time when it began."""
        self._advances.under_way -= 1
        return self._began.pop(call)

    def _left_overlapped(self, clock_ms: int) -> Violation | None:
        """Return the violation if an overlapped task can no longer be waiting, and did not run."""
        for task in self._tasks.overlapped.values():
            states = self._tasks.overlap(task)
            states.settle_time()
            if not states.states:
                self._tasks.give_up(task)
                return left_behind(task.name, min(states.latest_ms, clock_ms), clock_ms)
        return None

    def _collect(self, began: int, clock_ms: int) -> Violation | None:
        """Mark the tasks that the advance owed as submitted; return a violation if one is left."""
        due, unsettled = self._tasks.due, Heap()
        left: Task | None = None
        while due and due[0][0] <= clock_ms:
            item = heapq.heappop(due)
            _, settled, task = item
            if task.phase is not Phase.DUE or task.settled != settled:
                continue
            if settled > began:
                unsettled.append(item)
                continue
            if self._advances.inline and task.cancel is None:
                left = left or task
                self._tasks.give_up(task)
            else:
                self._tasks.submit(task)
        for item in unsettled:
            heapq.heappush(due, item)
        if left is None:
            return None
        return left_behind(left.name, left.high, clock_ms)
