"""Judges the history of a timer, event by event, in time linear in its length.

Tasks do not influence one another, so each has its own state: as long as no two calls on a task
overlap that is a due time, or an interval of due times; otherwise the set of states that
`history_timer_states` keeps. What is common to all tasks is the clock, what advances have promised,
and the size.
"""

import heapq

from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.contract import FiringOrder
from wheelproof_spec.base.history.clock import NEVER, HistoryClock, MonotonicClock
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.timer.events import (
    AddAsked,
    CancelAnswer,
    SizeAnswer,
    TaskAsked,
    TickAsked,
    TimerSettings,
)
from wheelproof_spec.components.timer.history.size import SizeBounds
from wheelproof_spec.components.timer.history.states import Debt, OpenAdd, OpenCancel, TaskStates
from wheelproof_spec.components.timer.history.task import Phase, Task, is_unrun, states_of
from wheelproof_spec.components.timer.history.violations import (
    cancel_lied,
    left_behind,
    never_ran,
    out_of_order,
    overdue,
    ran_before,
    ran_early,
    ran_too_often,
    refused_while_open,
    taken_in_after_close,
    too_late,
    wrong_size,
)

_Heap = list[tuple[int, int, Task]]


class TimerHistoryJudge:
    """Answers, event by event, which rule is broken first."""

    def __init__(self, settings: TimerSettings, clock: HistoryClock) -> None:
        self._clock = clock
        self._inline = settings.runs == "inline"
        self._lateness_ms = settings.lateness_ms
        self._tasks: dict[str, Task] = {}
        self._debt = Debt()
        self._advances: dict[int, int] = {}
        self._epoch = 0
        self._size = SizeBounds()
        self._coming: _Heap = []
        self._due: _Heap = []
        self._unrun: _Heap = []
        self._runner: str | None = None
        self._ordered = clock.judges_times and clock.contract.order is FiringOrder.BY_TICK
        self._closing: int | None = None
        self._closed: int | None = None
        self._asked = {
            "add": self._add_asked,
            "cancel": self._cancel_asked,
            "advance": self._advance_asked,
            "tick": self._tick_asked,
            "run": self._run_asked,
            "size": self._size_asked,
            "close": self._close_asked,
        }
        self._answered = {
            "add": self._add_answered,
            "cancel": self._cancel_answered,
            "advance": self._advance_answered,
            "tick": self._tick_answered,
            "size": self._size_answered,
            "close": self._close_answered,
        }

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """A call begins."""
        self._move_clock(op)
        return self._asked[op.f](op)

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Something that happened is over: nothing depends on that."""
        del op
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call returned with an answer."""
        self._move_clock(op)
        return self._answered[op.f](asked, op)

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call was refused and has had no effect."""
        self._move_clock(op)
        value = asked.value
        if isinstance(value, AddAsked):
            self._clock.release()
            self._undo(value.task, asked.index)
        elif isinstance(value, TaskAsked) and asked.f == "cancel":
            self._undo(value.task, asked.index)
        elif asked.f == "advance":
            self._end_advance(asked.index)
        elif asked.f == "size":
            self._size.end(asked.index)
        if op.error == "Closed" and self._closing is None:
            return refused_while_open(asked.f)
        return None

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Nobody knows what becomes of a call: it may take effect at any time, or never."""
        self._move_clock(op)
        value = asked.value
        if isinstance(value, AddAsked) or (isinstance(value, TaskAsked) and asked.f == "cancel"):
            self._overlap(self._tasks[value.task])
        elif asked.f == "size":
            self._size.end(asked.index)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """The history ends; what has been submitted has to have run if it ended quietly."""
        if end is None or not end.quiet or self._closing is not None:
            return None
        for task in self._tasks.values():
            violation = self._never_ran(task, index) or self._overdue(task)
            if violation is not None:
                return violation
        return None

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        found: list[str] = []
        if not self._clock.judges_times:
            found.append("there is no clock: neither earliness nor lateness was judged")
        elif isinstance(self._clock, MonotonicClock) and not isinstance(self._lateness_ms, int):
            found.append("the configuration has no lateness_ms: lateness was not judged")
        if not self._ordered:
            found.append("the order of runs was not judged")
        if end is None or not end.quiet:
            found.append("the history does not end quietly: what never ran was not judged")
        return tuple(found)

    # Adding

    def _add_asked(self, op: HistoryOp[object]) -> Violation | None:
        value = op.value
        assert isinstance(value, AddAsked)
        mark = self._clock.mark()
        task = self._tasks.get(value.task)
        if task is None:
            self._tasks[value.task] = Task(value.task, Phase.ADDING, op.index, mark, value.delay_ms)
            self._size.possible += 1
        else:
            self._overlap(task).begin(OpenAdd(op.index, mark, value.delay_ms))
            self._size.leave_behind(NEVER, op.index)
        self._watch_size()
        return None

    def _add_answered(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        value = asked.value
        assert isinstance(value, AddAsked)
        task = self._tasks[value.task]
        if task.phase is Phase.ADDING:
            dues = self._clock.dues(task.mark, task.delay_ms)
            task.dues, task.low, task.high = dues, dues[0][0], dues[-1][1]
            task.due_since = asked.index
            self._wait(task, op.index)
        else:
            states = self._overlap(task)
            states.add_returned(asked.index, op.index)
            self._simplify(task)
        self._clock.release()
        self._watch_size()
        if self._closed is not None and self._closed < asked.index:
            return taken_in_after_close(value.task)
        return None

    def _wait(self, task: Task, settled: int) -> None:
        """The task's add has returned, and no other call on it is under way."""
        task.settled = settled
        if task.low > self._clock.high:
            task.phase = Phase.WAITING
            self._size.sure += 1
            heapq.heappush(self._coming, (task.low, settled, task))
        else:
            self._become_due(task)

    def _become_due(self, task: Task) -> None:
        task.phase = Phase.DUE
        heapq.heappush(self._due, (task.high, task.settled, task))
        if self._ordered:
            heapq.heappush(self._unrun, (task.high, task.settled, task))

    # Cancelling

    def _cancel_asked(self, op: HistoryOp[object]) -> Violation | None:
        value = op.value
        assert isinstance(value, TaskAsked)
        task = self._tasks.get(value.task)
        if task is None:
            task = self._tasks[value.task] = Task(value.task, Phase.IDLE)
            self._size.possible += 1
        if task.cancel is None and task.phase not in (Phase.ADDING, Phase.OVERLAPPED):
            self._begin_cancel(task, op.index)
            task.cancel_in_time = task.phase in (Phase.WAITING, Phase.DUE)
            task.cancel_epoch = self._epoch - len(self._advances)
        else:
            self._overlap(task).begin(OpenCancel(op.index))
            self._size.leave_behind(NEVER, op.index)
        return None

    def _cancel_answered(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        value, answer = asked.value, op.value
        assert isinstance(value, TaskAsked)
        assert isinstance(answer, CancelAnswer)
        task = self._tasks[value.task]
        cancelled = answer.cancelled
        if cancelled is ABSENT:
            self._cancelled_silently(task, asked.index)
            self._watch_size()
            return None
        if task.cancel == asked.index:
            good = self._simple_cancel(task, cancelled)
        else:
            good = self._overlap(task).cancel_returned(asked.index, cancelled)
            self._simplify(task)
        self._watch_size()
        if good:
            return None
        return cancel_lied(value.task, answer=cancelled)

    def _cancelled_silently(self, task: Task, call: int) -> None:
        """A cancel returned without saying whether it came in time."""
        if task.cancel == call and task.phase is not Phase.DUE and not self._overtaken(task):
            self._simple_cancel(task, task.phase is Phase.WAITING)
            return
        if task.cancel == call:
            self._size.leave_behind(task.high, task.settled)
        self._overlap(task).cancel_ended(call)
        self._simplify(task)

    def _overtaken(self, task: Task) -> bool:
        """Tell whether a task was submitted during a cancel that may have come first."""
        return task.phase is Phase.SUBMITTED and task.cancel_in_time

    def _begin_cancel(self, task: Task, call: int) -> None:
        task.cancel = call
        if task.phase is Phase.WAITING:
            # It may be out from now on.
            self._size.sure -= 1
            self._watch_size()

    def _end_cancel(self, task: Task) -> None:
        if task.cancel is not None and task.phase is Phase.WAITING:
            self._size.sure += 1
        task.cancel = None

    def _simple_cancel(self, task: Task, answer: bool) -> bool:
        self._end_cancel(task)
        if answer:
            good = task.cancel_in_time
            if self._epoch > task.cancel_epoch:
                # Cancelled while an advance was under way, which may have had it in its hands.
                self._size.leave_behind(task.high, task.settled)
            self._drop(task)
            return good
        if task.phase is Phase.IDLE:
            self._drop(task)
            return True
        if task.phase is Phase.DUE:
            self._submit(task)
            return True
        return task.phase is Phase.SUBMITTED

    # Running

    def _run_asked(self, op: HistoryOp[object]) -> Violation | None:
        value = op.value
        assert isinstance(value, TaskAsked)
        if self._runner is None:
            self._runner = op.process
        elif self._runner != op.process:
            self._ordered = False
        task = self._tasks.get(value.task)
        if task is None:
            return ran_too_often(value.task)
        phase = task.phase
        if task.cancel is None and (phase is Phase.DUE or phase is Phase.SUBMITTED):
            violation = self._out_of_order(task) or self._too_late(task)
            self._drop(task)
            self._watch_size()
            return violation
        if phase is Phase.WAITING:
            return ran_before(value.task, task.low, self._clock.high)
        states = self._overlap(task)
        good = states.ran()
        early = not good and any(one.waiting is not None for one in states.states)
        self._simplify(task)
        if good:
            return None
        return ran_early(value.task) if early else ran_too_often(value.task)

    def _out_of_order(self, task: Task) -> Violation | None:
        if not self._ordered:
            return None
        unrun = self._unrun
        while unrun and not is_unrun(unrun[0]):
            heapq.heappop(unrun)
        if not unrun:
            return None
        high, settled, other = unrun[0]
        if other.cancel is not None:
            # It may be cancelled already.
            return None
        if other is task or high >= task.low or settled >= max(task.call, task.due_since):
            return None
        return out_of_order(other.name, high, task.name, task.low)

    def _too_late(self, task: Task) -> Violation | None:
        lateness_ms = self._lateness_ms
        if not isinstance(lateness_ms, int) or not isinstance(self._clock, MonotonicClock):
            return None
        late_ms = self._clock.low - task.high
        if late_ms <= lateness_ms:
            return None
        return too_late(task.name, task.high, self._clock.low, lateness_ms)

    # Advancing

    def _tick_asked(self, op: HistoryOp[object]) -> Violation | None:
        value = op.value
        assert isinstance(value, TickAsked)
        self._clock.ticking(value.to_ms)
        self._let_come(op.index)
        return None

    def _tick_answered(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        del op
        value = asked.value
        assert isinstance(value, TickAsked)
        self._clock.ticked(value.to_ms)
        return None

    def _advance_asked(self, op: HistoryOp[object]) -> Violation | None:
        self._advances[op.index] = self._clock.low
        self._epoch += 1
        self._size.flushing += 1
        self._watch_size()
        return None

    def _advance_answered(
        self, asked: HistoryOp[object], op: HistoryOp[object]
    ) -> Violation | None:
        del op
        clock_ms = self._end_advance(asked.index)
        if asked.index > self._debt.began:
            self._debt.began, self._debt.clock_ms = asked.index, clock_ms
        violation = self._collect(asked.index, clock_ms)
        self._watch_size()
        self._size.clear_up(clock_ms)
        return violation

    def _end_advance(self, call: int) -> int:
        self._size.flushing -= 1
        return self._advances.pop(call)

    def _collect(self, began: int, clock_ms: int) -> Violation | None:
        """Whatever the advance had to submit has been submitted."""
        due, unsettled = self._due, list[tuple[int, int, Task]]()
        left: Task | None = None
        while due and due[0][0] <= clock_ms:
            item = heapq.heappop(due)
            _, settled, task = item
            if task.phase is not Phase.DUE or task.settled != settled:
                continue
            if settled > began:
                unsettled.append(item)
                continue
            self._submit(task)
            if self._inline and task.cancel is None:
                left = left or task
        for item in unsettled:
            heapq.heappush(due, item)
        if left is None:
            return None
        return left_behind(left.name, left.high, clock_ms)

    def _never_ran(self, task: Task, index: int) -> Violation | None:
        if task.phase is Phase.OVERLAPPED:
            states = self._overlap(task)
            states.settle_time()
            lost = all(state.owed for state in states.states)
        else:
            lost = task.phase is Phase.SUBMITTED
        if not lost:
            return None
        return never_ran(task.name, task.call, index)

    def _overdue(self, task: Task) -> Violation | None:
        """A timer that advances by itself owes its tasks as soon as it is late."""
        lateness_ms = self._lateness_ms
        if task.phase is not Phase.DUE or self._too_late(task) is None:
            return None
        assert isinstance(lateness_ms, int)
        return overdue(task.name, task.high, self._clock.low, lateness_ms)

    # Size and close

    def _size_asked(self, op: HistoryOp[object]) -> Violation | None:
        self._size.begin(op.index)
        return None

    def _size_answered(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        value = op.value
        assert isinstance(value, SizeAnswer)
        least, most = self._size.end(asked.index)
        if least <= value.size <= most:
            return None
        return wrong_size(least, most, value.size)

    def _close_asked(self, op: HistoryOp[object]) -> Violation | None:
        if self._closing is None:
            self._closing = op.index
        return None

    def _close_answered(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        del asked
        if self._closed is None:
            self._closed = op.index
        return None

    # Time, and the passage from simple tasks to overlapped ones and back

    def _move_clock(self, op: HistoryOp[object]) -> None:
        if op.time_ns is not ABSENT:
            self._clock.at(op.time_ns)
        if self._coming and self._coming[0][0] <= self._clock.high:
            self._let_come(op.index)

    def _let_come(self, index: int) -> None:
        coming, high = self._coming, self._clock.high
        while coming and coming[0][0] <= high:
            _, settled, task = heapq.heappop(coming)
            if task.phase is Phase.WAITING and task.settled == settled:
                self._size.sure -= task.cancel is None
                task.due_since = index
                self._become_due(task)
        self._watch_size()

    def _watch_size(self) -> None:
        if self._size.is_watched:
            self._size.changed()

    def _submit(self, task: Task) -> None:
        task.phase = Phase.SUBMITTED
        self._size.possible -= 1

    def _drop(self, task: Task) -> None:
        """Nothing more can be said about the task."""
        self._leave(task)
        task.phase = Phase.GONE
        del self._tasks[task.name]

    def _leave(self, task: Task) -> None:
        if task.phase is Phase.WAITING:
            self._size.sure -= 1
        if task.phase is not Phase.SUBMITTED:
            self._size.possible -= 1

    def _overlap(self, task: Task) -> TaskStates:
        """Return the set of states of the task; from now on it has one."""
        if task.states is not None:
            return task.states
        states = states_of(task)
        self._end_cancel(task)
        self._leave(task)
        self._size.possible += 1
        task.phase = Phase.OVERLAPPED
        settled = {task.call: task.settled} if task.settled >= 0 else dict[int, int]()
        task.states = TaskStates(self._clock, self._debt, states, settled)
        return task.states

    def _simplify(self, task: Task) -> None:
        """Go back to a simple task if only one state is left and no call is under way."""
        states = task.states
        if states is None or states.under_way or len(states.states) != 1:
            return
        state = next(iter(states.states))
        if state.calls or state.owed > 1 or (state.owed and state.waiting is not None):
            return
        if state.waiting is None and not state.owed:
            self._drop(task)
            return
        if state.waiting is None:
            task.states = None
            self._submit(task)
            return
        settled = states.settled(state.waiting.call)
        if settled is None:
            return
        task.states = None
        waiting = state.waiting
        task.dues = ((waiting.low, waiting.high),)
        task.low, task.high, task.call = waiting.low, waiting.high, waiting.call
        task.due_since = settled
        self._wait(task, settled)

    def _undo(self, name: str, call: int) -> None:
        task = self._tasks[name]
        if task.phase is Phase.ADDING:
            self._drop(task)
        elif task.cancel == call:
            self._end_cancel(task)
            if task.phase is Phase.IDLE:
                self._drop(task)
        else:
            self._overlap(task).refused(call)
            self._simplify(task)
