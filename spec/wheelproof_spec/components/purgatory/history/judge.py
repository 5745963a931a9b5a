"""Judges the history of a purgatory, event by event (semantics.md 2).

An operation is handed in once and ends once, so each promise is about one operation and the calls
that came before or after it: no search is needed. What depends on an order that nobody recorded is
not held against anybody.
"""

from wheelproof_spec.base.codec.definitions import CountAnswer
from wheelproof_spec.base.history.clock import HistoryClock, MonotonicClock
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.contract import PurgatoryClause
from wheelproof_spec.components.purgatory.events import (
    CancelledAnswer,
    CheckedAnswer,
    CompletedAnswer,
    KeyAsked,
    OperationAsked,
    PurgatorySettings,
    WatchAsked,
)
from wheelproof_spec.components.purgatory.history.cancels import Cancels
from wheelproof_spec.components.purgatory.history.claims import Claims
from wheelproof_spec.components.purgatory.history.fates import Fates
from wheelproof_spec.components.purgatory.history.gauges import Gauges
from wheelproof_spec.components.purgatory.history.operation import FORCE, HAND_IN, Operation
from wheelproof_spec.components.purgatory.history.overlaps import Overlaps
from wheelproof_spec.components.purgatory.history.triggers import Triggers
from wheelproof_spec.components.purgatory.history.violations import (
    attempts_overlap,
    completed_again,
    completed_though_cancelled,
    missed,
    wrong_number,
)
from wheelproof_spec.components.timer.events import TickAsked

_MAY_KEEP_A_LOCK = (HAND_IN, "check_and_complete", FORCE)


class PurgatoryHistoryJudge:
    """Answers, event by event, which rule is broken first."""

    def __init__(self, settings: PurgatorySettings, clock: HistoryClock) -> None:
        self._clock = clock
        self._settings = settings
        self._predicates = settings.predicates == "recorded"
        self._fates = Fates(settings, clock)
        self._gives_up = settings.cancels == "operation"
        self._overlaps = Overlaps() if settings.attempts == "exclusive" else None
        self._operations: dict[str, Operation] = {}
        self._triggers = Triggers()
        self._claims = Claims(predicates=self._predicates)
        self._gauges = Gauges(clock, timeouts_end=settings.timeouts == "end_with_operation")
        self._cancels = Cancels(self._gauges, clock, gives_up=self._gives_up)
        self._open: dict[int, HistoryOp[object]] = {}
        self._advances: dict[int, int] = {}
        self._lost = False

    # What the checker calls

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """A call, or a callback, begins."""
        self._move_clock(op)
        value = op.value
        if isinstance(value, OperationAsked):
            if op.f == "on_complete":
                return self._complete(self._operation(value.op), op)
            if op.f == "on_expiration":
                operation = self._operation(value.op)
                return self._claims.expired(operation) or self._fates.expired(operation)
            if op.f == "try_complete":
                self._begin_attempt(op, value.op)
                return None
        self._open[op.index] = op
        self._claims.begin(op)
        self._begin(op)
        return None

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """A callback ends."""
        self._move_clock(op)
        name = None if self._overlaps is None else self._overlaps.end(op.process, op.f)
        return None if name is None else attempts_overlap(name)

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call returned with an answer."""
        self._move_clock(op)
        del self._open[asked.index]
        return self._end(asked, op) or self._look_around()

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call was refused and has had no effect."""
        self._move_clock(op)
        del self._open[asked.index]
        value = asked.value
        if isinstance(value, WatchAsked):
            self._clock.release()
            operation = self._operation(value.op)
            if operation.completed is None:
                operation.refused = True
                self._gauges.refused(operation)
            self._triggers.ended(operation)
        self._forget(asked, refused=True)
        return self._look_around()

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Nobody knows what becomes of a call: it may hold an operation for ever."""
        self._move_clock(op)
        del self._open[asked.index]
        self._lost = self._lost or asked.f in _MAY_KEEP_A_LOCK
        self._forget(asked, refused=False)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """The history ends."""
        del index
        if end is None or not end.quiet:
            return None
        if not self._lost:
            found = self._triggers.missed_in_the_end()
            if found is not None:
                return missed(found[0].name, found[1])
        for operation in self._operations.values():
            violation = self._fates.unfinished(operation)
            if violation is not None:
                return violation
        return self._claims.totals()

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        found: list[str] = []
        if not self._clock.judges_times:
            found.append("there is no clock: neither earliness nor lateness was judged")
        elif isinstance(self._clock, MonotonicClock) and not isinstance(
            self._settings.lateness_ms, int
        ):
            found.append("the configuration has no lateness_ms: lateness was not judged")
        if not self._predicates:
            found.append(
                "the configuration does not say that predicates are recorded: completions "
                "without a reason were not judged"
            )
        if self._lost:
            found.append("a call was lost, which may hold an operation: triggers were not judged")
        if end is None or not end.quiet:
            found.append("the history does not end quietly: what never happened was not judged")
        return tuple(found)

    # Calls

    def _begin(self, op: HistoryOp[object]) -> None:
        match op.value:
            case WatchAsked() as value:
                self._hand_in(op.index, value)
            case OperationAsked(op=name):
                operation = self._operation(name)
                self._gauges.disturb(operation)
                if op.f == "satisfy":
                    operation.may_be_true = True
                else:
                    operation.forced = True
            case KeyAsked(key=key) if op.f == "cancel_for_key":
                self._cancels.begin(op.index, key)
            case TickAsked(to_ms=to_ms):
                self._clock.ticking(to_ms)
                self._gauges.move_clock()
            case _:
                self._begin_plain(op)

    def _begin_plain(self, op: HistoryOp[object]) -> None:
        match op.f:
            case "watched":
                self._gauges.watched.look(op.index)
            case "num_delayed":
                self._gauges.delayed.look(op.index)
            case "advance":
                self._advances[op.index] = self._clock.low
                self._gauges.advance(1)
            case "shutdown":
                self._fates.closing = True
            case _:
                pass

    def _end(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        value, answer = asked.value, op.value
        match value, answer:
            case WatchAsked(op=name), CompletedAnswer(completed=completed):
                return self._end_hand_in(asked, op.index, self._operation(name), completed)
            case OperationAsked(op=name), CompletedAnswer(completed=completed):
                operation = self._operation(name)
                if not completed and operation.denied is None:
                    operation.denied = op.index
                return self._claims.answered(asked, operation, answer=completed)
            case KeyAsked(key=key), CheckedAnswer(count=count):
                self._triggers.checked(key, asked.index)
                self._gauges.swept(key, asked.index, everybody=False)
                return self._claims.counted(asked, key, count)
            case KeyAsked(key=key), CancelledAnswer() as cancelled:
                self._claims.ended(asked)
                violation = self._cancels.end(asked.index, cancelled, self._operations)
                self._gauges.swept(key, asked.index, everybody=True)
                return violation
            case _, CountAnswer(count=count):
                self._claims.ended(asked)
                return self._judge_gauge(asked, count)
            case _:
                self._claims.ended(asked)
                self._end_plain(asked, op)
                return None

    def _end_plain(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        value = asked.value
        if isinstance(value, OperationAsked):
            operation = self._operation(value.op)
            if operation.true_since is None:
                operation.true_since = op.index
                self._triggers.ready(operation)
        elif isinstance(value, TickAsked):
            self._clock.ticked(value.to_ms)
        elif asked.f == "advance":
            self._gauges.advance(-1)
            self._fates.advanced(asked.index, self._advances.pop(asked.index))

    def _forget(self, asked: HistoryOp[object], *, refused: bool) -> None:
        self._claims.forget(asked)
        self._cancels.forget(asked.index, refused=refused)
        self._gauges.watched.seen(asked.index)
        self._gauges.delayed.seen(asked.index)
        if asked.f == "advance":
            self._advances.pop(asked.index)
            self._gauges.advance(-1)

    # Operations

    def _operation(self, name: str) -> Operation:
        return self._operations.setdefault(name, Operation(name))

    def _hand_in(self, index: int, value: WatchAsked) -> None:
        operation = self._operation(value.op)
        operation.asked = index
        operation.keys = tuple(dict.fromkeys(value.keys))
        operation.mark, operation.delay_ms = self._clock.mark(), value.delay_ms
        self._gauges.handed_in(operation)
        self._cancels.handed_in(operation)
        if operation.true_since is not None:
            self._triggers.ready(operation)

    def _end_hand_in(
        self, asked: HistoryOp[object], index: int, operation: Operation, completed: bool
    ) -> Violation | None:
        dues = self._clock.dues(operation.mark, operation.delay_ms)
        self._clock.release()
        operation.settled = index
        operation.least, operation.most = dues[0][0], dues[-1][1]
        if not completed:
            self._triggers.handed_in(operation, asked.index)
            if self._predicates:
                self._gauges.settled(operation)
        return self._claims.answered(asked, operation, answer=completed)

    def _complete(self, operation: Operation, op: HistoryOp[object]) -> Violation | None:
        self._begin_attempt(op, operation.name)
        if operation.completed is not None:
            return completed_again(operation.name)
        operation.completed, operation.completed_high = op.index, self._clock.high
        self._triggers.ended(operation)
        self._gauges.disturb(operation)
        self._gauges.ended(operation)
        if operation.cancelled and self._gives_up:
            return completed_though_cancelled(operation.name)
        return self._claims.completed(operation, op.process) or self._fates.completed(operation)

    # Keys, gauges, attempts

    def _judge_gauge(self, asked: HistoryOp[object], count: int) -> Violation | None:
        if asked.f == "watched":
            rule, bounds = PurgatoryClause.WATCHED_COUNTS, self._gauges.watched
        else:
            rule, bounds = PurgatoryClause.DELAYED_COUNTS, self._gauges.delayed
        seen = bounds.seen(asked.index)
        if seen is None or self._fates.closing or seen[0] <= count <= seen[1]:
            return None
        return wrong_number(rule, asked.f, *seen, count)

    def _begin_attempt(self, op: HistoryOp[object], name: str) -> None:
        if self._overlaps is not None:
            self._overlaps.begin(op.process, op.f, name)

    def _look_around(self) -> Violation | None:
        """If no call is under way, nobody is there who could still complete anything."""
        if self._open:
            return None
        self._gauges.quiet()
        found = None if self._lost else self._triggers.missed(self._clock.high)
        return None if found is None else missed(found[0].name, found[1])

    def _move_clock(self, op: HistoryOp[object]) -> None:
        self._clock.at(op.time_ns)
        self._gauges.move_clock()
