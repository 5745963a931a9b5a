"""Judges the history of a timer, event by event, in time linear in its length.

Tasks do not influence one another, so each has its own state: as long as no two calls on a task
overlap that is a due time, or an interval of due times; otherwise the set of states that
`history_timer_states` keeps. What is common to all tasks is the clock, what advances have promised,
and the size.
"""

import heapq
from collections.abc import Callable, Mapping

from wheelproof_spec.base.calls import AdvanceClock, Close, Tick
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.contract import FiringOrder
from wheelproof_spec.base.history.clock import NEVER, HistoryClock, MonotonicClock
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerClause,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.components.timer.history.size import SizeBounds
from wheelproof_spec.components.timer.history.states import (
    Advances,
    OpenAdd,
    OpenCancel,
    TaskStates,
)
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

CLOSED = "Closed"
"""The error of a call that was refused since the timer is closed."""

_Op = HistoryOp[object]
_Heap = list[tuple[int, int, Task]]


class TimerHistoryJudge:
    """Answers, event by event, which rule is broken first."""

    goes_on_after = frozenset(TimerClause)

    def __init__(self, config: TimerConfig, clock: HistoryClock, tally: Tally) -> None:
        """Begin; `clock` has the contract, and `tally` counts what is tested."""
        self._tally, self._tests = tally, tally.tests
        self._clock = clock
        self._lateness_ms = config.lateness_ms
        self._tasks: dict[str, Task] = {}
        self._overlapped: dict[str, Task] = {}
        self._odd: set[str] = set()
        """Tasks of which nobody knows where they are, since they have broken a clause."""
        self._advances = Advances(inline=config.runs == "inline")
        self._began: dict[int, int] = {}
        """What the clock showed when each advance began that is under way."""
        self._epoch = 0
        self._size = SizeBounds()
        self._coming: _Heap = []
        self._due: _Heap = []
        self._unrun: _Heap = []
        self._runner: str | None = None
        self._ordered = (
            clock.judges_times
            and clock.contract.order is FiringOrder.BY_TICK
            and config.run_order != "open"
        )
        self._is_order_promised = config.run_order == "promised"
        if not self._is_order_promised:
            # A pool of threads may begin them in any order, and its second thread may come late.
            tally.leaves_open(TimerClause.RUNS_IN_ORDER)
        self._closing: int | None = None
        self._closed: int | None = None
        self._begin: Mapping[type[object], Callable[[_Op], Violation | None]] = {
            Add: self._begin_add,
            Cancel: self._begin_cancel,
            AdvanceClock: self._begin_advance,
            Tick: self._begin_tick,
            Run: self._run,
            Size: self._begin_size,
            Close: self._begin_close,
        }
        self._end: Mapping[type[object], Callable[[_Op, _Op], Violation | None]] = {
            Add: self._end_add,
            Cancel: self._end_cancel,
            AdvanceClock: self._end_advance,
            Tick: self._end_tick,
            Size: self._end_size,
            Close: self._end_close,
        }

    def invoked(self, op: _Op) -> Violation | None:
        """A call begins."""
        self._move_clock(op)
        if self._is_odd(op.value):
            if isinstance(op.value, Add):
                self._clock.mark()
            elif isinstance(op.value, Run):
                self._runs_in(op.process)
            return None
        return self._begin[type(op.value)](op)

    def ended(self, op: _Op) -> Violation | None:
        """Something that happened is over: nothing depends on that."""
        del op
        return None

    def returned(self, asked: _Op, op: _Op) -> Violation | None:
        """A call returned with an answer."""
        self._move_clock(op)
        if self._is_odd(asked.value):
            self._forget_call(asked.value)
            return None
        return self._end[type(asked.value)](asked, op)

    def failed(self, asked: _Op, op: _Op) -> Violation | None:
        """A call was refused and has had no effect."""
        self._move_clock(op)
        value = asked.value
        if self._is_odd(value):
            self._forget_call(value)
        elif isinstance(value, Add):
            self._clock.release()
            self._undo(value.task, asked.index, op.index)
        elif isinstance(value, Cancel):
            self._undo(value.task, asked.index, op.index)
        elif isinstance(value, AdvanceClock):
            self._leave_advance(asked.index)
        elif isinstance(value, Size):
            self._size.end(asked.index)
        if op.error != CLOSED:
            return None
        self._tests(TimerClause.REFUSES_ONLY_AFTER_CLOSE)
        if isinstance(value, Add):
            self._begins_after_close(asked)
        return refused_while_open(asked.f) if self._closing is None else None

    def lost(self, asked: _Op, op: _Op) -> None:
        """Nobody knows what becomes of a call: it may take effect at any time, or never."""
        self._move_clock(op)
        value = asked.value
        if self._is_odd(value):
            return
        if isinstance(value, Add | Cancel):
            self._overlap(self._tasks[value.task])
        elif isinstance(value, Size):
            self._size.end(asked.index)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """The history ends; what has been submitted has to have run if it ended quietly."""
        if end is not None and end.quiet and self._ordered:
            # What runs after the recorder stopped might have a thread of its own.
            self._tally.settles(TimerClause.RUNS_IN_ORDER)
        if end is None or not end.quiet or self._closing is not None:
            return None
        self._tests(TimerClause.NOTHING_LEFT_BEHIND)
        for task in self._tasks.values():
            violation = self._never_ran(task, index) or self._overdue(task)
            if violation is not None:
                return violation
        return None

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        found = list(self._clock.notes(self._lateness_ms))
        if self._tally.is_open(TimerClause.RUNS_IN_ORDER) or not self._ordered:
            found.append("the order of runs was not judged")
        if end is None or not end.quiet:
            found.append("the history does not end quietly: what never ran was not judged")
        return tuple(found)

    # Adding

    def _begin_add(self, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, Add)
        mark = self._clock.mark()
        task = self._tasks.get(value.task)
        if task is None:
            self._tasks[value.task] = Task(value.task, Phase.ADDING, op.index, mark, value.delay_ms)
            self._size.possible += 1
        else:
            self._meet(task).begin(OpenAdd(op.index, mark, value.delay_ms))
        self._watch_size()
        return None

    def _end_add(self, asked: _Op, op: _Op) -> Violation | None:
        value = asked.value
        assert isinstance(value, Add)
        task = self._tasks[value.task]
        if task.phase is Phase.ADDING:
            dues = self._clock.dues(task.mark, task.delay_ms)
            task.dues, task.low, task.high = dues, dues[0][0], dues[-1][1]
            task.due_since = asked.index
            self._wait(task, op.index)
        else:
            self._overlap(task).add_returned(asked.index, op.index)
            self._simplify(task, op.index)
        self._clock.release()
        self._watch_size()
        if not self._begins_after_close(asked):
            return None
        self._give_up(task)
        return taken_in_after_close(value.task)

    def _begins_after_close(self, add: _Op) -> bool:
        """Tell whether an add had to be refused, now that it is known whether it was."""
        if self._closed is None or self._closed > add.index:
            return False
        return self._tests(TimerClause.REFUSES_AFTER_CLOSE)

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

    def _begin_cancel(self, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, Cancel)
        task = self._tasks.get(value.task)
        if task is None:
            task = self._tasks[value.task] = Task(value.task, Phase.IDLE)
            self._size.possible += 1
        if task.cancel is None and task.phase not in (Phase.ADDING, Phase.OVERLAPPED):
            self._open_cancel(task, op.index)
            task.cancel_in_time = task.phase in (Phase.WAITING, Phase.DUE)
            task.cancel_epoch = self._epoch - len(self._began)
        else:
            self._meet(task).begin(OpenCancel(op.index))
        return None

    def _end_cancel(self, asked: _Op, op: _Op) -> Violation | None:
        value, answer = asked.value, op.value
        assert isinstance(value, Cancel)
        assert isinstance(answer, Cancelled)
        task = self._tasks[value.task]
        cancelled = answer.cancelled
        if cancelled is ABSENT:
            self._cancelled_silently(task, asked.index, op.index)
            self._watch_size()
            return None
        self._tests(TimerClause.CANCEL_TELLS_THE_TRUTH)
        if task.cancel == asked.index:
            good = self._simple_cancel(task, cancelled)
        else:
            good = self._overlap(task).cancel_returned(asked.index, cancelled)
            self._simplify(task, op.index)
        self._watch_size()
        if good:
            return None
        self._give_up(task)
        return cancel_lied(value.task, answer=cancelled)

    def _cancelled_silently(self, task: Task, call: int, index: int) -> None:
        """A cancel returned without saying whether it came in time."""
        if task.cancel == call and task.phase is not Phase.DUE and not self._overtaken(task):
            self._simple_cancel(task, task.phase is Phase.WAITING)
            return
        if task.cancel == call:
            self._size.leave_behind(task.high)
        self._overlap(task).cancel_ended(call)
        self._simplify(task, index)

    def _overtaken(self, task: Task) -> bool:
        """Tell whether a task was submitted during a cancel that may have come first."""
        return task.phase is Phase.SUBMITTED and task.cancel_in_time

    def _open_cancel(self, task: Task, call: int) -> None:
        task.cancel = call
        if task.phase is Phase.WAITING:
            # It may be out from now on.
            self._size.sure -= 1
            self._watch_size()

    def _close_cancel(self, task: Task) -> None:
        if task.cancel is not None and task.phase is Phase.WAITING:
            self._size.sure += 1
        task.cancel = None

    def _simple_cancel(self, task: Task, answer: bool) -> bool:
        self._close_cancel(task)
        if answer:
            good = task.cancel_in_time
            if self._epoch > task.cancel_epoch:
                # Cancelled while an advance was under way, which may have had it in its hands.
                self._size.leave_behind(task.high)
            self._drop(task)
            return good
        if task.phase is Phase.IDLE:
            self._drop(task)
            return True
        if task.phase is Phase.DUE:
            # It was submitted meanwhile, which only an advance can have done.
            good = not self._advances.inline or self._epoch > task.cancel_epoch
            self._submit(task)
            return good
        return task.phase is Phase.SUBMITTED

    # Running

    def _run(self, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, Run)
        self._tests(TimerClause.RUNS_AT_MOST_ONCE)
        if self._clock.judges_times:
            self._tests(TimerClause.NEVER_BEFORE_DUE)
        self._runs_in(op.process)
        task = self._tasks.get(value.task)
        if task is None:
            self._odd.add(value.task)
            return ran_too_often(value.task)
        phase = task.phase
        if task.cancel is None and (phase is Phase.DUE or phase is Phase.SUBMITTED):
            violation = self._out_of_order(task) or self._too_late(task)
            self._drop(task)
            self._watch_size()
            return violation
        if phase is Phase.WAITING:
            self._give_up(task)
            return ran_before(value.task, task.low, self._clock.high)
        states = self._overlap(task)
        good = states.ran()
        early = not good and any(state.waiting is not None for state in states.states)
        self._simplify(task, op.index)
        if good:
            return None
        self._give_up(task)
        return ran_early(value.task) if early else ran_too_often(value.task)

    def _runs_in(self, process: str) -> None:
        """Take note of who runs tasks."""
        if self._runner is None:
            self._runner = process
        elif self._runner != process and not self._is_order_promised:
            self._ordered = False

    def _out_of_order(self, task: Task) -> Violation | None:
        if not self._ordered or not self._tests(TimerClause.RUNS_IN_ORDER):
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
        self._tests(TimerClause.RUNS_WITHIN_ITS_LATENESS)
        late_ms = self._clock.low - task.high
        if late_ms <= lateness_ms:
            return None
        return too_late(task.name, task.high, self._clock.low, lateness_ms)

    # Advancing

    def _begin_tick(self, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, Tick)
        self._clock.ticking(value.to_ms)
        self._let_come(op.index)
        return None

    def _end_tick(self, asked: _Op, op: _Op) -> Violation | None:
        del op
        value = asked.value
        assert isinstance(value, Tick)
        self._clock.ticked(value.to_ms)
        return None

    def _begin_advance(self, op: _Op) -> Violation | None:
        self._began[op.index] = self._clock.owing
        self._advances.under_way += 1
        self._epoch += 1
        self._size.flushing += 1
        self._watch_size()
        return None

    def _end_advance(self, asked: _Op, op: _Op) -> Violation | None:
        del op
        advances = self._advances
        clock = self._clock
        clock_ms = clock.contract.owes_ms(self._leave_advance(asked.index), clock.tick_ms)
        if asked.index > advances.began:
            advances.began, advances.clock_ms = asked.index, clock_ms
        violation = self._collect(asked.index, clock_ms)
        if advances.inline:
            self._tests(TimerClause.NOTHING_LEFT_BEHIND)
            violation = violation or self._left_overlapped(clock_ms)
        self._watch_size()
        self._size.clear_up(asked.index, clock_ms)
        return violation

    def _leave_advance(self, call: int) -> int:
        self._size.flushing -= 1
        self._advances.under_way -= 1
        return self._began.pop(call)

    def _left_overlapped(self, clock_ms: int) -> Violation | None:
        """Return what is wrong if a task cannot be waiting any more, and did not run."""
        for task in self._overlapped.values():
            states = self._overlap(task)
            states.settle_time()
            if not states.states:
                self._give_up(task)
                return left_behind(task.name, min(states.latest_ms, clock_ms), clock_ms)
        return None

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
            if self._advances.inline and task.cancel is None:
                left = left or task
                self._give_up(task)
            else:
                self._submit(task)
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

    def _begin_size(self, op: _Op) -> Violation | None:
        self._size.begin(op.index)
        return None

    def _end_size(self, asked: _Op, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, WaitingTasks)
        least, most = self._size.end(asked.index)
        if self._odd:
            # Whether those are counted, nobody knows.
            return None
        self._tests(TimerClause.SIZE_COUNTS_WAITING)
        if least <= value.size <= most:
            return None
        return wrong_size(least, most, value.size)

    def _begin_close(self, op: _Op) -> Violation | None:
        if self._closing is None:
            self._closing = op.index
        return None

    def _end_close(self, asked: _Op, op: _Op) -> Violation | None:
        del asked
        if self._closed is None:
            self._closed = op.index
        return None

    # Time, and the passage from simple tasks to overlapped ones and back

    def _move_clock(self, op: _Op) -> None:
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
        self._overlapped.pop(task.name, None)

    def _give_up(self, task: Task) -> None:
        """The task has broken a clause: what it does from now on is not judged."""
        self._odd.add(task.name)
        if self._tasks.get(task.name) is task:
            self._drop(task)

    def _is_odd(self, value: object) -> bool:
        """Tell whether a call or a run is of a task that is not judged any more."""
        return bool(self._odd) and isinstance(value, Add | Cancel | Run) and value.task in self._odd

    def _forget_call(self, value: object) -> None:
        if isinstance(value, Add):
            self._clock.release()

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
        self._close_cancel(task)
        self._leave(task)
        self._size.possible += 1
        task.phase = Phase.OVERLAPPED
        settled = {task.call: task.settled} if task.settled >= 0 else dict[int, int]()
        task.states = TaskStates(self._clock, self._advances, states, settled)
        self._overlapped[task.name] = task
        return task.states

    def _meet(self, task: Task) -> TaskStates:
        """Return the states of a task that a call meets, which may leave an entry behind."""
        states = self._overlap(task)
        self._size.meetings += 1
        states.meetings += 1
        return states

    def _simplify(self, task: Task, index: int) -> None:
        """Go back to a simple task if only one state is left and no call is under way."""
        states = task.states
        if states is None or states.under_way:
            return
        for _ in range(states.meetings):
            self._size.leave_behind(states.latest_ms, index)
        self._size.meetings -= states.meetings
        states.meetings = 0
        state = states.only_state()
        if state is None or state.owed > 1 or (state.owed and state.waiting is not None):
            return
        if state.waiting is None and not state.owed:
            self._drop(task)
            return
        if state.waiting is None:
            self._become_simple(task)
            # Which of its adds the run is owed to is open: all of them are due by the latest one.
            task.low, task.high = -NEVER, max(task.high, states.latest_ms)
            task.settled = index
            self._submit(task)
            return
        settled = states.settled(state.waiting.call)
        if settled is None:
            return
        self._become_simple(task)
        waiting = state.waiting
        task.dues = ((waiting.low, waiting.high),)
        task.low, task.high, task.call = waiting.low, waiting.high, waiting.call
        task.due_since = settled
        self._wait(task, settled)

    def _become_simple(self, task: Task) -> None:
        task.states = None
        del self._overlapped[task.name]

    def _undo(self, name: str, call: int, index: int) -> None:
        task = self._tasks[name]
        if task.phase is Phase.ADDING:
            self._drop(task)
        elif task.cancel == call:
            self._close_cancel(task)
            if task.phase is Phase.IDLE:
                self._drop(task)
        else:
            self._overlap(task).refused(call)
            self._simplify(task, index)
