"""The tasks of a timer in a history: simple ones, and those whose calls overlap.

A task is simple as long as no two calls on it are under way at the same time; then it has a due
time, or an interval of due times. Otherwise it has a set of states, see `states`, until only one
state is left.
"""

import heapq

from wheelproof_spec.base.history.clock import NEVER, HistoryClock
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import Add, Cancel, Run
from wheelproof_spec.components.timer.history.order import RunOrder
from wheelproof_spec.components.timer.history.size import SizeBounds
from wheelproof_spec.components.timer.history.states import Advances, TaskStates
from wheelproof_spec.components.timer.history.task import Heap, Phase, Task, states_of
from wheelproof_spec.components.timer.history.violations import never_ran


class Tasks:
    """All tasks that are tracked, and the bounds on the number of linked entries."""

    def __init__(self, clock: HistoryClock, advances: Advances, order: RunOrder) -> None:
        self._clock = clock
        self._advances = advances
        self._order = order
        self.known: dict[str, Task] = {}
        self.overlapped: dict[str, Task] = {}
        self.unjudged: set[str] = set()
        """Tasks whose state is unknown, since they have broken a clause."""
        self.size = SizeBounds(advances)
        self.due: Heap = []
        self._coming: Heap = []

    def wait(self, task: Task, settled: int) -> None:
        """Record that the task's add returned and no other call on the task is under way."""
        task.settled = settled
        if task.low > self._clock.high:
            task.phase = Phase.WAITING
            self.size.sure += 1
            heapq.heappush(self._coming, (task.low, settled, task))
        else:
            self._become_due(task)

    def _become_due(self, task: Task) -> None:
        task.phase = Phase.DUE
        heapq.heappush(self.due, (task.high, task.settled, task))
        self._order.is_due(task)

    def clock_moved(self, index: int) -> None:
        """Make the tasks due whose time the clock has reached, if there are any."""
        if self._coming and self._coming[0][0] <= self._clock.high:
            self.let_come(index)

    def let_come(self, index: int) -> None:
        """Make the tasks due whose time the clock has reached, as seen at the event `index`."""
        coming, high = self._coming, self._clock.high
        while coming and coming[0][0] <= high:
            _, settled, task = heapq.heappop(coming)
            if task.phase is Phase.WAITING and task.settled == settled:
                self.size.sure -= task.cancel is None
                task.due_since = index
                self._become_due(task)
        self.watch_size()

    def submit(self, task: Task) -> None:
        """Record that the task was submitted for certain."""
        task.phase = Phase.SUBMITTED
        self.size.possible -= 1

    def open_cancel(self, task: Task, call: int) -> None:
        """Record that a cancel of a simple task began."""
        task.cancel = call
        if task.phase is Phase.WAITING:
            # From now on the entry may be unlinked.
            self.size.sure -= 1
            self.watch_size()

    def close_cancel(self, task: Task) -> None:
        """Record that the cancel of a simple task is over."""
        if task.cancel is not None and task.phase is Phase.WAITING:
            self.size.sure += 1
        task.cancel = None

    def undo(self, name: str, call: int, index: int) -> None:
        """Record that a call on a task was refused and had no effect."""
        task = self.known[name]
        if task.phase is Phase.ADDING:
            self.drop(task)
        elif task.cancel == call:
            self.close_cancel(task)
            if task.phase is Phase.IDLE:
                self.drop(task)
        else:
            self.overlap(task).refused(call)
            self.simplify(task, index)

    def drop(self, task: Task) -> None:
        """Stop tracking the task."""
        self._leave(task)
        task.phase = Phase.GONE
        del self.known[task.name]
        self.overlapped.pop(task.name, None)

    def give_up(self, task: Task) -> None:
        """Stop judging the task, since it has broken a clause."""
        self.unjudged.add(task.name)
        if self.known.get(task.name) is task:
            self.drop(task)

    def is_unjudged(self, value: object) -> bool:
        """Tell whether a call or a run is of a task that is no longer judged."""
        return (
            bool(self.unjudged)
            and isinstance(value, Add | Cancel | Run)
            and value.task in self.unjudged
        )

    def never_ran(self, task: Task, index: int) -> Violation | None:
        """Return the violation if a task was submitted for certain and never ran."""
        lost = task.phase is Phase.SUBMITTED
        if task.phase is Phase.OVERLAPPED:
            states = self.overlap(task)
            states.settle_time()
            lost = all(state.owed for state in states.states)
        return never_ran(task.name, task.call, index) if lost else None

    def _leave(self, task: Task) -> None:
        if task.phase is Phase.WAITING:
            self.size.sure -= 1
        if task.phase is not Phase.SUBMITTED:
            self.size.possible -= 1

    def overlap(self, task: Task) -> TaskStates:
        """Return the task's set of states; make the set if the task was simple."""
        if task.states is not None:
            return task.states
        states = states_of(task)
        self.close_cancel(task)
        self._leave(task)
        self.size.possible += 1
        task.phase = Phase.OVERLAPPED
        task.waited_at_close = False
        settled = {task.call: task.settled} if task.settled >= 0 else dict[int, int]()
        task.states = TaskStates(self._clock, self._advances, states, settled)
        self.overlapped[task.name] = task
        return task.states

    def meet(self, task: Task) -> TaskStates:
        """Return the states of a task for an overlapping call, which may leave an entry behind."""
        states = self.overlap(task)
        self.size.meetings += 1
        states.meetings += 1
        return states

    def met_nobody(self, task: Task) -> None:
        """Record that the task was added again, and neither a call on it nor an advance was met.

        Then the older entry was taken out of its bucket (standard 1.12), and none is left behind.
        """
        states = task.states
        if states is not None and states.meetings == 1 and not states.under_way:
            self.size.meetings -= 1
            states.meetings = 0

    def simplify(self, task: Task, index: int) -> None:
        """Make the task simple again if only one state is left and no call is under way."""
        states = task.states
        if states is None or states.under_way:
            return
        for _ in range(states.meetings):
            self.size.leave_behind(states.latest_ms, index)
        self.size.meetings -= states.meetings
        states.meetings = 0
        state = states.only_state()
        if state is None or state.owed > 1 or (state.owed and state.waiting is not None):
            return
        if state.waiting is None and not state.owed:
            self.drop(task)
            return
        if state.waiting is None:
            self._become_simple(task)
            # It is open which add owes the run: all of them are due by the latest due time.
            task.low, task.high = -NEVER, max(task.high, states.latest_ms)
            task.settled = index
            self.submit(task)
            return
        settled = states.settled(state.waiting.call)
        if settled is None:
            return
        self._become_simple(task)
        waiting = state.waiting
        task.dues = ((waiting.low, waiting.high),)
        task.low, task.high, task.call = waiting.low, waiting.high, waiting.call
        task.due_since = settled
        self.wait(task, settled)

    def _become_simple(self, task: Task) -> None:
        task.states = None
        del self.overlapped[task.name]

    def watch_size(self) -> None:
        """Update the bounds of the size if a call of `size` is under way."""
        if self.size.is_watched:
            self.size.changed()
