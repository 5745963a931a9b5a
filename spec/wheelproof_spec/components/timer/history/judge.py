"""Judges the history of a timer, event by event, in time linear in its length.

Tasks do not influence one another, so each has its own state. As long as no two calls on a task
overlap, its state is a due time or an interval of due times. Otherwise it is a set of states, see
`tasks` and `states`. All tasks share the clock, the debts of the advances, the order of runs, and
the size.
"""

from collections.abc import Callable, Mapping

from wheelproof_spec.base.calls import AdvanceClock, Close, Tick
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.history.clock import HistoryClock, VirtualClock
from wheelproof_spec.base.history.judging import CLOSED, ends_quietly
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
from wheelproof_spec.components.timer.history.advancing import Advancing
from wheelproof_spec.components.timer.history.closing import Closing
from wheelproof_spec.components.timer.history.lateness import Lateness
from wheelproof_spec.components.timer.history.order import RunOrder
from wheelproof_spec.components.timer.history.states import Advances, OpenAdd, OpenCancel
from wheelproof_spec.components.timer.history.task import Phase, Task
from wheelproof_spec.components.timer.history.tasks import Tasks
from wheelproof_spec.components.timer.history.violations import (
    cancel_lied,
    ran_before,
    ran_early,
    ran_too_often,
    wrong_size,
)

_Op = HistoryOp[object]


class TimerHistoryJudge:
    """The judge that returns, event by event, the first violation."""

    goes_on_after = frozenset(TimerClause)

    def __init__(self, config: TimerConfig, clock: HistoryClock, tally: Tally) -> None:
        """Begin; `clock` has the contract, and `tally` counts the tested clauses."""
        self._tests = tally.tests
        self._clock = clock
        self._lateness_ms = config.lateness_ms
        advances = Advances(
            inline=config.runs == "inline", unseen=not isinstance(clock, VirtualClock)
        )
        self._advances = advances
        self._order = RunOrder(config, clock, tally)
        self._tasks = Tasks(clock, advances, self._order)
        self._advancing = Advancing(clock, advances, self._tasks, tally)
        self._size = self._tasks.size
        self._lateness = Lateness(config.lateness_ms, clock, tally)
        self._closing = Closing(self._tasks, self._lateness, tally)
        self._begin: Mapping[type[object], Callable[[_Op], Violation | None]] = {
            Add: self._begin_add,
            Cancel: self._begin_cancel,
            AdvanceClock: self._begin_advance,
            Tick: self._begin_tick,
            Run: self._begin_run,
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
        """Record that a call began."""
        self._move_clock(op)
        self._order.call_begins(op.value, op.index)
        if self._tasks.is_unjudged(op.value):
            if isinstance(op.value, Add):
                self._clock.mark()
            elif isinstance(op.value, Run):
                self._order.runs_in(op.process)
                self._lateness.run_begins(op.process)
            return None
        return self._begin[type(op.value)](op)

    def ended(self, op: _Op) -> Violation | None:
        """Record that a run ended: the task behind it may not have begun before."""
        if isinstance(op.time_ns, int):
            self._move_clock(op)
            self._lateness.run_ends(op.process)
        return None

    def returned(self, asked: _Op, op: _Op) -> Violation | None:
        """Record that a call returned with an answer."""
        self._move_clock(op)
        self._order.call_ends(asked.index)
        if self._tasks.is_unjudged(asked.value):
            self._forget_call(asked.value)
            return None
        return self._end[type(asked.value)](asked, op)

    def failed(self, asked: _Op, op: _Op) -> Violation | None:
        """Record that a call was refused and had no effect."""
        self._move_clock(op)
        self._order.call_ends(asked.index)
        value = asked.value
        if self._tasks.is_unjudged(value):
            self._forget_call(value)
        elif isinstance(value, Add):
            self._clock.release()
            self._tasks.undo(value.task, asked.index, op.index)
        elif isinstance(value, Cancel):
            self._tasks.undo(value.task, asked.index, op.index)
        elif isinstance(value, AdvanceClock):
            self._advancing.leave(asked.index)
        elif isinstance(value, Size):
            self._size.end(asked.index)
        return self._closing.refused(asked) if op.error == CLOSED else None

    def lost(self, asked: _Op, op: _Op) -> None:
        """Record that a call's outcome is unknown: it may take effect at any time, or never."""
        self._move_clock(op)
        value = asked.value
        if self._tasks.is_unjudged(value):
            return
        if isinstance(value, Add) and self._closing.is_too_late_for(asked):
            # It can only have been refused.
            self._clock.release()
            self._tasks.undo(value.task, asked.index, op.index)
        elif isinstance(value, Add | Cancel):
            self._tasks.overlap(self._tasks.known[value.task])
        elif isinstance(value, Size):
            self._size.end(asked.index)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """End the history; if it ended quietly, every submitted task must have run."""
        if not ends_quietly(end):
            # A task might run on another thread after the recorder stopped.
            return None
        self._order.settle()
        return self._closing.left(index)

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return notes on what was not judged."""
        found = list(self._clock.notes(self._lateness_ms))
        if self._order.is_open:
            found.append("the order of runs was not judged")
        if not ends_quietly(end):
            found.append("the history does not end quietly: tasks that never ran were not judged")
        return tuple(found)

    # Adding

    def _begin_add(self, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, Add)
        mark = self._clock.mark()
        task = self._tasks.known.get(value.task)
        if task is None:
            self._tasks.known[value.task] = Task(
                value.task, Phase.ADDING, op.index, mark, value.delay_ms
            )
            self._size.possible += 1
        else:
            states = self._tasks.meet(task)
            task.add_epoch = -1 if states.under_way else self._advancing.ended
            states.begin(OpenAdd(op.index, mark, value.delay_ms))
        self._tasks.watch_size()
        return None

    def _end_add(self, asked: _Op, op: _Op) -> Violation | None:
        value = asked.value
        assert isinstance(value, Add)
        task = self._tasks.known[value.task]
        if task.phase is Phase.ADDING:
            dues = self._clock.dues(task.mark, task.delay_ms)
            task.dues, task.low, task.high = dues, dues[0][0], dues[-1][1]
            task.due_since = asked.index
            self._tasks.wait(task, op.index)
        else:
            self._tasks.overlap(task).add_returned(asked.index, op.index)
            if task.add_epoch >= 0 and not self._advancing.may_carry_since(task.add_epoch):
                self._tasks.met_nobody(task)
            self._tasks.simplify(task, op.index)
        task.added_ms = self._clock.ceiling
        self._clock.release()
        self._tasks.watch_size()
        violation = self._closing.taken(asked)
        if violation is not None:
            self._tasks.give_up(task)
        return violation

    # Cancelling

    def _begin_cancel(self, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, Cancel)
        task = self._tasks.known.get(value.task)
        if task is None:
            task = self._tasks.known[value.task] = Task(value.task, Phase.IDLE)
            self._size.possible += 1
        if task.cancel is None and task.phase not in (Phase.ADDING, Phase.OVERLAPPED):
            self._tasks.open_cancel(task, op.index)
            task.cancel_in_time = task.phase in (Phase.WAITING, Phase.DUE)
            task.cancel_epoch = self._advancing.ended
        else:
            self._tasks.meet(task).begin(OpenCancel(op.index))
        return None

    def _end_cancel(self, asked: _Op, op: _Op) -> Violation | None:
        value, answer = asked.value, op.value
        assert isinstance(value, Cancel)
        assert isinstance(answer, Cancelled)
        task = self._tasks.known[value.task]
        cancelled = answer.cancelled
        if cancelled is ABSENT:
            self._cancelled_silently(task, asked.index, op.index)
            self._tasks.watch_size()
            return None
        self._tests(TimerClause.CANCEL_TELLS_THE_TRUTH)
        if task.cancel == asked.index:
            good = self._simple_cancel(task, cancelled)
        else:
            good = self._tasks.overlap(task).cancel_returned(asked.index, cancelled)
            self._tasks.simplify(task, op.index)
        self._tasks.watch_size()
        if good:
            return None
        self._tasks.give_up(task)
        return cancel_lied(value.task, answer=cancelled)

    def _cancelled_silently(self, task: Task, call: int, index: int) -> None:
        """Record that a cancel returned without telling whether it came in time."""
        if task.cancel == call and task.phase is not Phase.DUE and not self._overtaken(task):
            self._simple_cancel(task, task.phase is Phase.WAITING)
            return
        if task.cancel == call:
            self._size.leave_behind(task.high)
        self._tasks.overlap(task).cancel_ended(call)
        self._tasks.simplify(task, index)

    def _overtaken(self, task: Task) -> bool:
        """Tell whether a task was submitted during a cancel that may have come first."""
        return task.phase is Phase.SUBMITTED and task.cancel_in_time

    def _simple_cancel(self, task: Task, answer: bool) -> bool:
        self._tasks.close_cancel(task)
        if answer:
            good = task.cancel_in_time
            if self._advancing.may_carry_since(task.cancel_epoch):
                # An advance was under way, and may have taken the entry out of its list.
                self._size.leave_behind(task.high)
            self._tasks.drop(task)
            return good
        if task.phase is Phase.IDLE:
            self._tasks.drop(task)
            return True
        if task.phase is Phase.DUE:
            # The task was submitted during the cancel, which only an advance can have done.
            good = self._advancing.may_submit_since(task.cancel_epoch)
            self._tasks.submit(task)
            return good
        return task.phase is Phase.SUBMITTED

    # Running

    def _begin_run(self, op: _Op) -> Violation | None:
        violation = self._run(op)
        self._lateness.run_begins(op.process)
        return violation

    def _run(self, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, Run)
        self._tests(TimerClause.RUNS_AT_MOST_ONCE)
        if self._clock.judges_times:
            self._tests(TimerClause.NEVER_BEFORE_DUE)
        self._order.runs_in(op.process)
        task = self._tasks.known.get(value.task)
        if task is None:
            self._tasks.unjudged.add(value.task)
            return ran_too_often(value.task)
        phase = task.phase
        if task.cancel is None and (phase is Phase.DUE or phase is Phase.SUBMITTED):
            violation = (
                self._closing.ran(task)
                or self._order.judge(task)
                or self._lateness.of_run(task, op.process)
            )
            self._tasks.drop(task)
            self._tasks.watch_size()
            return violation
        if phase is Phase.WAITING:
            self._tasks.give_up(task)
            return ran_before(value.task, task.low, self._clock.high)
        overtook: Violation | None = None
        if phase is Phase.ADDING:
            # It runs before its own add has returned.
            task.low = self._clock.dues(task.mark, task.delay_ms)[0][0]
            overtook = self._order.judge(task)
        states = self._tasks.overlap(task)
        good = states.ran()
        early = not good and any(state.waiting is not None for state in states.states)
        self._tasks.simplify(task, op.index)
        if good:
            return overtook
        self._tasks.give_up(task)
        return ran_early(value.task) if early else ran_too_often(value.task)

    # Advancing

    def _begin_tick(self, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, Tick)
        self._clock.ticking(value.to_ms)
        self._tasks.let_come(op.index)
        return None

    def _end_tick(self, asked: _Op, op: _Op) -> Violation | None:
        del op
        value = asked.value
        assert isinstance(value, Tick)
        self._clock.ticked(value.to_ms)
        return None

    def _begin_advance(self, op: _Op) -> Violation | None:
        self._advancing.begin(op.index)
        return None

    def _end_advance(self, asked: _Op, op: _Op) -> Violation | None:
        del op
        left = self._advancing.end(asked.index)
        return self._closing.taken(asked) or left

    # Size and close

    def _begin_size(self, op: _Op) -> Violation | None:
        if self._advances.unseen:
            self._size.clear_up(op.index, self._lateness.surely_run_ms)
        self._size.begin(op.index)
        return None

    def _end_size(self, asked: _Op, op: _Op) -> Violation | None:
        value = op.value
        assert isinstance(value, WaitingTasks)
        least, most = self._size.end(asked.index)
        if self._tasks.unjudged:
            # It is unknown whether the size counts these tasks.
            return None
        self._tests(TimerClause.SIZE_COUNTS_WAITING)
        if least <= value.size <= most:
            return None
        return wrong_size(least, most, value.size)

    def _begin_close(self, op: _Op) -> Violation | None:
        self._closing.begin(op)
        return None

    def _end_close(self, asked: _Op, op: _Op) -> Violation | None:
        del asked
        self._closing.end(op.index)
        return None

    # Time, and calls that are not judged

    def _move_clock(self, op: _Op) -> None:
        self._clock.at(op.time_ns)
        self._tasks.clock_moved(op.index)

    def _forget_call(self, value: object) -> None:
        if isinstance(value, Add):
            self._clock.release()
