"""Judges the history of a purgatory, event by event (standard 2).

An operation is handed in once and ends once, so each promise is about one operation and the calls
that came before or after it: no search is needed. Where an answer depends on an unrecorded order,
every possible answer is accepted.
"""

from wheelproof_spec.base.calls import (
    AdvanceClock,
    Gauge,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Tick,
    Watched,
)
from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.history.judging import NOT_QUIET, ends_quietly
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import (
    AwaitSubmitted,
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    OnComplete,
    OnExpiration,
    PurgatoryClause,
    PurgatoryConfig,
    Satisfy,
    Shutdown,
    TryComplete,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.history.answers import Answers
from wheelproof_spec.components.purgatory.history.callbacks import Callbacks
from wheelproof_spec.components.purgatory.history.endings import Endings
from wheelproof_spec.components.purgatory.history.gauges import Gauges
from wheelproof_spec.components.purgatory.history.operation import Operation
from wheelproof_spec.components.purgatory.history.refusals import Refusals
from wheelproof_spec.components.purgatory.history.tries import Tries
from wheelproof_spec.components.purgatory.history.triggers import Cancels, Triggers


class PurgatoryHistoryJudge:
    """A judge that answers, event by event, which rule is broken first."""

    goes_on_after = frozenset(
        {
            PurgatoryClause.TRIGGER_COMPLETES,
            PurgatoryClause.TRIES_IN_WATCH_ORDER,
            PurgatoryClause.ATTEMPTS_EXCLUDE,
            PurgatoryClause.COUNTS_COMPLETED,
            PurgatoryClause.DELAYED_COUNTS,
            PurgatoryClause.WATCHED_COUNTS,
            PurgatoryClause.NO_EMPTY_KEY,
            PurgatoryClause.KEEPS_TO_ITS_DOMAIN,
        }
    )

    def __init__(
        self, config: PurgatoryConfig, clock: HistoryClock, tally: Tally, *, kafka: bool
    ) -> None:
        """Begin; judge what `config` claims, and count in `tally` what is tested.

        With `kafka` whatever is handed in may be taken (standard 2.11, 6.1).
        """
        self._tests = tally.tests
        self._clock = clock
        self._config = config
        self._predicates = config.predicates == "recorded"
        gives_up = config.cancels == "operation"
        self._endings = Endings(config, clock, tally)
        self._callbacks = Callbacks(tally, exclusive=config.attempts == "exclusive")
        self._tries = Tries(tally)
        self._refusals = Refusals(clock, tally, kafka=kafka)
        self._operations: dict[str, Operation] = {}
        self._may_be_missed = config.triggers == "may_be_missed"
        self._triggers = Triggers(
            tally, may_be_missed=self._may_be_missed, waits_on=config.cancels == "timeout"
        )
        self._answers = Answers(tally, predicates=self._predicates)
        timeouts_end = config.timeouts == "end_with_operation"
        self._gauges = Gauges(clock, tally, timeouts_end=timeouts_end, predicates=self._predicates)
        self._cancels = Cancels(self._gauges, self._triggers, clock, tally, gives_up=gives_up)
        self._open: dict[int, HistoryOp[object]] = {}
        self._advances: dict[int, int] = {}
        self._alone: int | None = None
        """The call under way that no other call has met, if there is one."""
        self._lost = False

    # What the checker calls

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """Judge the begin of a call or a callback."""
        self._move_clock(op)
        match op.value:
            case OnComplete(operation=name):
                return self._complete(self._operation(name), op)
            case OnExpiration(operation=name):
                return self._expire(self._operation(name), op)
            case TryComplete(operation=name) as value:
                operation = self._operation(name)
                violation = self._callbacks.begin(op.process, value, operation)
                return self._tries.tried(operation, op.process) or violation
            case _:
                self._alone = None if self._open else op.index
                self._open[op.index] = op
                self._answers.begin(op)
                self._tries.begin(op)
                self._begin(op)
        return None

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Judge the end of a callback."""
        self._move_clock(op)
        return self._callbacks.end(op.process, op.f)

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Judge a call that returned with an answer."""
        self._move_clock(op)
        del self._open[asked.index]
        violation = self._end(asked, op)
        self._callbacks.returned(asked.process, asked.index)
        self._answers.end(asked)
        self._tries.end(asked, op.index)
        return violation or self._judge_quiescent()

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Judge a call that was refused and had no effect."""
        self._move_clock(op)
        del self._open[asked.index]
        match asked.value:
            case TryCompleteElseWatch(operation=name):
                self._clock.release()
                operation = self._operation(name)
                if operation.completed is None:
                    operation.refused = True
                    if not operation.at_once:
                        self._gauges.refused(operation)
                self._triggers.ended(operation)
            case Satisfy(operation=name):
                self._operation(name).satisfies -= 1
            case ForceComplete(operation=name):
                self._operation(name).forces -= 1
            case _:
                pass
        self._forget(asked, refused=True)
        self._tries.end(asked, op.index)
        return self._refusals.refused(asked, op) or self._judge_quiescent()

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Record that the outcome of a call is unknown: it may hold an operation for ever."""
        self._move_clock(op)
        del self._open[asked.index]
        may_hold = isinstance(asked.value, TryCompleteElseWatch | CheckAndComplete | ForceComplete)
        self._lost = self._lost or may_hold
        self._forget(asked, refused=False)
        self._tries.end(asked, op.index, lost=True)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """Judge the end of the history."""
        del index
        if not ends_quietly(end):
            return None
        violation = None if self._lost else self._triggers.missed_in_the_end()
        if violation is not None:
            return violation
        for operation in self._operations.values():
            violation = self._endings.unfinished(operation)
            if violation is not None:
                return violation
        return self._answers.totals()

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        found = list(self._clock.notes(self._config.lateness_ms))
        if not self._predicates:
            found.append(
                "the configuration does not say that predicates are recorded: completions "
                "without a reason were not judged"
            )
        if self._lost:
            found.append("a call was lost, which may hold an operation: triggers were not judged")
        if not ends_quietly(end):
            found.append(NOT_QUIET)
        return tuple(found)

    # Calls

    def _begin(self, op: HistoryOp[object]) -> None:
        match op.value:
            case TryCompleteElseWatch() as value:
                self._hand_in(op.index, value)
            case Satisfy(operation=name):
                operation = self._operation(name)
                self._gauges.disturb(operation)
                operation.satisfies += 1
            case ForceComplete(operation=name):
                operation = self._operation(name)
                self._gauges.disturb(operation)
                operation.forces += 1
            case CancelForKey(key=key):
                self._cancels.begin(op.index, key)
            case Watched() | NumDelayed() | NumKeys():
                self._gauges.begin_read(op)
            case Tick(to_ms=to_ms):
                self._clock.ticking(to_ms)
                self._gauges.move_clock()
            case AdvanceClock():
                self._advances[op.index] = self._clock.low
                self._gauges.advance(1, op.index)
            case AwaitSubmitted():
                self._endings.awaits(op.index)
            case Shutdown():
                self._endings.closing = self._refusals.closing = True
            case _:
                pass

    def _end(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        match asked.value, op.value:
            case TryCompleteElseWatch(operation=name) as value, Completed(completed=completed):
                operation = self._operation(name)
                self._end_hand_in(asked, op.index, operation, completed=completed)
                violation = self._answers.answered(asked, operation, answer=completed)
                return violation or self._refusals.taken(asked, value)
            case ForceComplete(operation=name), Completed(completed=completed):
                operation = self._operation(name)
                if not completed and operation.denied is None:
                    operation.denied = op.index
                return self._answers.answered(asked, operation, answer=completed)
            case CheckAndComplete(key=key), Checked(count=count):
                self._triggers.checked(key, asked.index, alone=self._alone == asked.index)
                self._gauges.swept(key, asked.index, everybody=False)
                return self._answers.counted(asked, key, count)
            case CancelForKey(key=key), Cancelled() as cancelled:
                violation = self._cancels.end(asked.index, op.index, cancelled)
                self._gauges.swept(key, asked.index, everybody=True)
                return violation
            case _, Gauge(count=count):
                return self._gauges.judge(asked, count, closing=self._endings.closing)
            case AwaitSubmitted(), _:
                return self._endings.awaited(asked.index)
            case Satisfy(operation=name), _:
                operation = self._operation(name)
                if operation.true_since is None:
                    operation.true_since = op.index
                    self._triggers.ready(operation)
            case Tick(to_ms=to_ms), _:
                self._clock.ticked(to_ms)
            case AdvanceClock(), _:
                began, low_ms = asked.index, self._advances.pop(asked.index)
                self._gauges.advance(-1, op.index)
                self._gauges.submitted(self._endings.advanced(began, low_ms))
            case PurgeCompleted(), _:
                self._gauges.purged(asked.index)
            case Shutdown(), _:
                self._refusals.shut(op.index)
            case _:
                pass
        return None

    def _forget(self, asked: HistoryOp[object], *, refused: bool) -> None:
        self._answers.forget(asked)
        self._cancels.forget(asked.index, refused=refused)
        self._gauges.forget(asked.index)
        if isinstance(asked.value, AdvanceClock):
            self._advances.pop(asked.index)
            self._gauges.advance(-1, asked.index)

    # Operations

    def _operation(self, name: str) -> Operation:
        return self._operations.setdefault(name, Operation(name))

    def _hand_in(self, index: int, value: TryCompleteElseWatch) -> None:
        operation = self._operation(value.operation)
        operation.asked = index
        operation.keys = tuple(dict.fromkeys(value.keys))
        operation.mark, operation.delay_ms = self._clock.mark(), value.delay_ms
        if operation.true_since is not None:
            self._triggers.ready(operation)
            operation.at_once = self._predicates and not self._may_be_missed
        if not operation.at_once:
            self._gauges.handed_in(operation)
            self._cancels.handed_in(operation)

    def _end_hand_in(
        self, asked: HistoryOp[object], index: int, operation: Operation, *, completed: bool
    ) -> None:
        dues = self._clock.dues(operation.mark, operation.delay_ms)
        self._clock.release()
        operation.settled = index
        operation.least, operation.most = dues[0][0], dues[-1][1]
        self._endings.settled(operation)
        if not operation.at_once:
            self._gauges.added(operation)
        if not completed:
            self._triggers.handed_in(operation, asked.index)
            if self._predicates:
                self._gauges.settled(operation)

    def _complete(self, operation: Operation, op: HistoryOp[object]) -> Violation | None:
        violation = self._callbacks.begin(
            op.process, OnComplete(operation=operation.name), operation
        )
        self._tests(PurgatoryClause.COMPLETES_AT_MOST_ONCE)
        if operation.completed is not None:
            return PurgatoryClause.COMPLETES_AT_MOST_ONCE.broken(
                f"on_complete of {operation.name!r} runs once",
                f"on_complete of {operation.name!r} runs again",
                f"on_complete of {operation.name!r} ran at event {operation.completed}, and again "
                f"at event {op.index} (standard 2.1)",
            )
        operation.completed, operation.completed_high = op.index, self._clock.high
        self._triggers.ended(operation)
        self._gauges.disturb(operation)
        claimed = self._answers.completed(operation, op.process)
        self._gauges.ended(operation, operation.completed_in)
        out_of_order = self._tries.completed(operation, op.process)
        self._tries.done(operation)
        return (
            self._cancels.completed(operation)
            or claimed
            or self._endings.completed(operation)
            or out_of_order
            or violation
        )

    def _expire(self, operation: Operation, op: HistoryOp[object]) -> Violation | None:
        violation = self._callbacks.begin(
            op.process, OnExpiration(operation=operation.name), operation
        )
        return (
            self._answers.expired(operation)
            or self._endings.expired(operation, op.process)
            or self._cancels.expired(operation)
            or self._refusals.expired(operation)
            or violation
        )

    # All operations

    def _judge_quiescent(self) -> Violation | None:
        """Judge missed triggers, if no call is under way that could still complete operations."""
        if self._open:
            return None
        self._gauges.quiet()
        return None if self._lost else self._triggers.missed(self._clock.high)

    def _move_clock(self, op: HistoryOp[object]) -> None:
        self._clock.at(op.time_ns)
        self._gauges.move_clock()
