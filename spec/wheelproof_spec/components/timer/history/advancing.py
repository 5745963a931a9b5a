"""What the advances of a timer owe, and whether they have done it (semantics.md 1.18)."""

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
    """The advances that are under way, and how many there have been."""

    def __init__(self, clock: HistoryClock, advances: Advances, tasks: Tasks, tally: Tally) -> None:
        self._clock = clock
        self._advances = advances
        self._tasks = tasks
        self._tests = tally.tests
        self._began: dict[int, int] = {}
        """What the clock showed when each advance began that is under way."""
        self.begun = 0

    @property
    def ended(self) -> int:
        """How many have ended."""
        return self.begun - len(self._began)

    def may_submit_since(self, ended: int) -> bool:
        """Tell whether anything may have been submitted since so many advances had ended."""
        return not self._advances.inline or self.begun > ended

    def begin(self, call: int) -> None:
        """An advance begins: it owes what is due by now."""
        self._began[call] = self._clock.owing
        self._advances.under_way += 1
        self.begun += 1
        self._tasks.size.flushing += 1
        self._tasks.watch_size()

    def end(self, call: int) -> Violation | None:
        """An advance returns; return what is wrong if it has left anything behind."""
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
        """An advance is over; return what the clock showed when it began."""
        self._tasks.size.flushing -= 1
        self._advances.under_way -= 1
        return self._began.pop(call)

    def _left_overlapped(self, clock_ms: int) -> Violation | None:
        """Return what is wrong if a task cannot be waiting any more, and did not run."""
        for task in self._tasks.overlapped.values():
            states = self._tasks.overlap(task)
            states.settle_time()
            if not states.states:
                self._tasks.give_up(task)
                return left_behind(task.name, min(states.latest_ms, clock_ms), clock_ms)
        return None

    def _collect(self, began: int, clock_ms: int) -> Violation | None:
        """Whatever the advance had to submit has been submitted."""
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
