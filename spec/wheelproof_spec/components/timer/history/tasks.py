"""The tasks of a timer in a history: simple ones, and those whose calls overlap.

A task is simple as long as no two calls on it are under way at the same time; then it has a due
time, or an interval of due times. Otherwise it has the set of states that `states` keeps, until
only one is left.
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
    """All tasks of which something can be said, and the bounds on their number."""

    def __init__(self, clock: HistoryClock, advances: Advances, order: RunOrder) -> None:
        self._clock = clock
        self._advances = advances
        self._order = order
        self.known: dict[str, Task] = {}
        self.overlapped: dict[str, Task] = {}
        self.odd: set[str] = set()
        """Tasks of which nobody knows where they are, since they have broken a clause."""
        self.size = SizeBounds()
        self.due: Heap = []
        self._coming: Heap = []

    def wait(self, task: Task, settled: int) -> None:
        """The task's add has returned, and no other call on it is under way."""
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
        """Let come what the clock has reached, if it has reached anything."""
        if self._coming and self._coming[0][0] <= self._clock.high:
            self.let_come(index)

    def let_come(self, index: int) -> None:
        """What the clock has reached is due; this is seen at the line `index`."""
        coming, high = self._coming, self._clock.high
        while coming and coming[0][0] <= high:
            _, settled, task = heapq.heappop(coming)
            if task.phase is Phase.WAITING and task.settled == settled:
                self.size.sure -= task.cancel is None
                task.due_since = index
                self._become_due(task)
        self.watch_size()

    def submit(self, task: Task) -> None:
        """The task is submitted for certain."""
        task.phase = Phase.SUBMITTED
        self.size.possible -= 1

    def open_cancel(self, task: Task, call: int) -> None:
        """A cancel of a simple task begins."""
        task.cancel = call
        if task.phase is Phase.WAITING:
            # It may be out from now on.
            self.size.sure -= 1
            self.watch_size()

    def close_cancel(self, task: Task) -> None:
        """The cancel of a simple task is over."""
        if task.cancel is not None and task.phase is Phase.WAITING:
            self.size.sure += 1
        task.cancel = None

    def undo(self, name: str, call: int, index: int) -> None:
        """A call on a task was refused, and has had no effect."""
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
        """Nothing more can be said about the task."""
        self._leave(task)
        task.phase = Phase.GONE
        del self.known[task.name]
        self.overlapped.pop(task.name, None)

    def give_up(self, task: Task) -> None:
        """The task has broken a clause: what it does from now on is not judged."""
        self.odd.add(task.name)
        if self.known.get(task.name) is task:
            self.drop(task)

    def is_odd(self, value: object) -> bool:
        """Tell whether a call or a run is of a task that is not judged any more."""
        return bool(self.odd) and isinstance(value, Add | Cancel | Run) and value.task in self.odd

    def never_ran(self, task: Task, index: int) -> Violation | None:
        """Return what is wrong if a task was submitted for certain, and has not run in the end."""
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
        """Return the set of states of the task; from now on it has one."""
        if task.states is not None:
            return task.states
        states = states_of(task)
        self.close_cancel(task)
        self._leave(task)
        self.size.possible += 1
        task.phase = Phase.OVERLAPPED
        settled = {task.call: task.settled} if task.settled >= 0 else dict[int, int]()
        task.states = TaskStates(self._clock, self._advances, states, settled)
        self.overlapped[task.name] = task
        return task.states

    def meet(self, task: Task) -> TaskStates:
        """Return the states of a task that a call meets, which may leave an entry behind."""
        states = self.overlap(task)
        self.size.meetings += 1
        states.meetings += 1
        return states

    def simplify(self, task: Task, index: int) -> None:
        """Go back to a simple task if only one state is left and no call is under way."""
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
            # Which of its adds the run is owed to is open: all of them are due by the latest one.
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
        """Take note of the size, if somebody asks for it."""
        if self.size.is_watched:
            self.size.changed()
