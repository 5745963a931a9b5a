"""Which histories of overlapping calls on a purgatory the contract allows.

Calls carry their places in the common order of invocations and returns, and so do the callbacks.
That is enough to judge without a search: an operation is handed in once and ends once, so each
promise is about one operation and the calls that came before or after it. The whole history is
judged whenever nothing is under way. TLA+: DelayedOperation.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.contract import (
    Condition,
    Gauges,
    Key,
    OperationId,
    OperationSpec,
    PurgatoryClause,
)


class CallKind(Enum):
    """What a call does."""

    WATCH = "watch"
    SET = "set"
    CHECK = "check"
    FORCE = "force"
    CANCEL = "cancel"
    TICK = "tick"
    ADVANCE = "advance"
    PURGE = "purge"


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryCall:
    """One call, from its invocation to its return.

    `spec` belongs to watch, `operation` to force, `condition` to set, `key` to check and cancel,
    `to_ms` to tick. `done`, `count` and `cancelled` are the answers of watch and force, of check,
    and of cancel.
    """

    kind: CallKind
    invoked: int
    returned: int
    spec: OperationSpec | None = None
    operation: OperationId = ""
    condition: Condition = ""
    key: Key = ""
    to_ms: int = 0
    done: bool = False
    count: int = 0
    cancelled: tuple[OperationId, ...] = ()


@dataclass(frozen=True, slots=True)
class Callback:
    """One call of on_complete or on_expiration: its place in the common order, and of whom."""

    position: int
    operation: OperationId


class ConcurrentPurgatory:
    """A history that grows, and is judged between bursts."""

    def __init__(self, *, tick_ms: int, start_ms: int) -> None:
        """Start with an empty purgatory whose clock shows `start_ms` milliseconds."""
        self._tick_ms = tick_ms
        self._start_ms = start_ms
        self._calls: list[PurgatoryCall] = []
        self._completions: list[Callback] = []
        self._expirations: list[Callback] = []

    @property
    def now_ms(self) -> int:
        """The time that the clock shows between bursts, in milliseconds."""
        return self._clock_high(None)

    def last_due_ms(self) -> int:
        """Return the time, in milliseconds, by which everything ever handed in is due."""
        return max(
            (self._due_ms(watch, latest=True) for watch in self._watches().values()),
            default=self.now_ms,
        )

    def judge(
        self,
        calls: Sequence[PurgatoryCall],
        completions: Sequence[Callback],
        expirations: Sequence[Callback],
        gauges: Gauges,
    ) -> Violation | None:
        """Take note of a burst that has ended; return the first rule that the history breaks."""
        self._calls += calls
        self._completions += completions
        self._expirations += expirations
        for violation in self._violations(gauges):
            if violation is not None:
                return violation
        return None

    def _violations(self, gauges: Gauges) -> Iterable[Violation | None]:
        yield self._judge_once()
        yield self._judge_cancels()
        for name, watch in self._watches().items():
            yield self._judge_reason(name, watch)
            yield self._judge_end(name, watch)
        yield self._judge_counts()
        yield self._judge_gauges(gauges)

    def _judge_once(self) -> Violation | None:
        completed = Counter(one.operation for one in self._completions)
        expired = Counter(one.operation for one in self._expirations)
        for name, times in (completed + expired).items():
            if completed[name] != 1 or expired[name] > 1 or name not in self._watches():
                return Violation(
                    rule=PurgatoryClause.COMPLETES_AT_MOST_ONCE,
                    expected=f"{name} is completed once, and expires as part of that",
                    observed=f"completed {completed[name]} times, expired {expired[name]} times",
                    reason=f"{name} had {times} callbacks",
                )
        return None

    def _judge_cancels(self) -> Violation | None:
        cancelled = Counter(name for call in self._calls for name in call.cancelled)
        completed = {one.operation for one in self._completions}
        for name, times in cancelled.items():
            if times > 1 or name in completed:
                return Violation(
                    rule=PurgatoryClause.CANCELS_WHO_WAITS,
                    expected=f"{name} is cancelled once and never completed",
                    observed=f"cancelled {times} times, completed: {name in completed}",
                    reason="what cancel_for_key returns is given up",
                )
        return None

    def _judge_reason(self, name: OperationId, watch: PurgatoryCall) -> Violation | None:
        position = next((one.position for one in self._completions if one.operation == name), None)
        if position is None:
            return None
        if any(one.operation == name for one in self._expirations):
            due_ms = self._due_ms(watch, latest=False)
            if due_ms <= self._clock_high(position):
                return None
            return _broken(
                PurgatoryClause.EXPIRES_IN_TIME,
                f"{name} expires at {due_ms} ms or later",
                f"it did at {self._clock_high(position)} ms at most",
            )
        reasons = (
            call.invoked < position
            for call in self._calls
            if (call.kind is CallKind.SET and call.condition in _conditions(watch))
            or (call.kind is CallKind.FORCE and call.operation == name)
        )
        if any(reasons):
            return None
        return _broken(
            PurgatoryClause.COMPLETES_FOR_A_REASON,
            f"{name} is completed when a condition is true, when forced, or when its time is out",
            f"it was completed at {position}, before any of that",
        )

    def _judge_end(self, name: OperationId, watch: PurgatoryCall) -> Violation | None:
        """An operation that is still pending must have no reason to have ended."""
        if name in self._done():
            return None
        trigger = self._missed_trigger(watch)
        if trigger is not None:
            return _broken(
                PurgatoryClause.TRIGGER_COMPLETES,
                f"{name} is completed without waiting for its time-out: it could end before the "
                f"{trigger.kind.value} at {trigger.invoked} began",
                f"nothing was under way any more, and {name} still waited",
            )
        for call in self._calls:
            settled = watch.returned < call.invoked
            if call.kind is CallKind.CANCEL and settled and call.key in _keys(watch):
                return _broken(
                    PurgatoryClause.CANCELS_WHO_WAITS,
                    f"{name}, which waited for {call.key}, is cancelled at {call.invoked}",
                    f"{name} still waited afterwards",
                )
            late = self._due_ms(watch, latest=True) <= self._clock_low(call.invoked)
            if call.kind is CallKind.ADVANCE and settled and late:
                return _broken(
                    PurgatoryClause.EXPIRES_IN_TIME,
                    f"{name} has expired when the advance at {call.invoked} has returned",
                    f"{name} still waited",
                )
        return None

    def _missed_trigger(self, watch: PurgatoryCall) -> PurgatoryCall | None:
        """Return a call that had to complete the operation: a condition was set before it began."""
        sets = [
            call.returned
            for call in self._calls
            if call.kind is CallKind.SET and call.condition in _conditions(watch)
        ]
        if not sets:
            return None
        for call in self._calls:
            looks = call is watch or (call.kind is CallKind.CHECK and call.key in _keys(watch))
            if looks and min(sets) < call.invoked:
                return call
        return None

    def _judge_counts(self) -> Violation | None:
        answered = sum(call.count + call.done for call in self._calls) + len(self._expirations)
        if answered == len(self._completions):
            return None
        return _broken(
            PurgatoryClause.COUNTS_COMPLETED,
            f"{len(self._completions)} completions are answered for, each by one call or expiry",
            f"the calls and expiries answer for {answered}",
        )

    def _judge_gauges(self, seen: Gauges) -> Violation | None:
        watches = self._watches()
        alive = [watch for name, watch in watches.items() if name not in self._done()]
        ended = len(watches) - len(alive)
        live = sum(len(_keys(watch)) for watch in alive)
        ever = sum(len(_keys(watch)) for watch in watches.values())
        # An entry that was cancelled while it moved stays in its bucket (semantics.md 1.11).
        return (
            _within(PurgatoryClause.DELAYED_COUNTS, len(alive), len(alive) + ended, seen.delayed)
            or _within(PurgatoryClause.WATCHED_COUNTS, live, ever, seen.watched)
            or self._judge_emptiness(alive, seen)
        )

    def _judge_emptiness(self, alive: Sequence[PurgatoryCall], seen: Gauges) -> Violation | None:
        """When everybody was done before a purge, nothing is left."""
        if alive or not self._purge_came_last():
            return None
        return (
            _within(PurgatoryClause.DELAYED_COUNTS, 0, 0, seen.delayed)
            or _within(PurgatoryClause.WATCHED_COUNTS, 0, 0, seen.watched)
            or _within(PurgatoryClause.NO_EMPTY_KEY, 0, 0, seen.keys)
        )

    def _purge_came_last(self) -> bool:
        purges = (call.invoked for call in self._calls if call.kind is CallKind.PURGE)
        last = max(purges, default=-1)
        others = (call.returned for call in self._calls if call.invoked < last)
        return (
            last == max((call.invoked for call in self._calls), default=None)
            and max(others, default=-1) < last
            and all(one.position < last for one in self._completions)
        )

    def _watches(self) -> dict[OperationId, PurgatoryCall]:
        return {call.spec.name: call for call in self._calls if call.spec is not None}

    def _done(self) -> frozenset[OperationId]:
        cancelled = {name for call in self._calls for name in call.cancelled}
        return frozenset(cancelled | {one.operation for one in self._completions})

    def _due_ms(self, watch: PurgatoryCall, *, latest: bool) -> int:
        read_ms = self._clock_high(watch.returned) if latest else self._clock_low(watch.invoked)
        delay_ms = 0 if watch.spec is None else watch.spec.delay_ms
        return KAFKA.due_ms(read_ms + delay_ms, self._tick_ms)

    def _clock_low(self, position: int) -> int:
        """The least time that the clock can show at this position."""
        ticks = (call.to_ms for call in self._ticks() if call.returned <= position)
        return max(ticks, default=self._start_ms)

    def _clock_high(self, position: int | None) -> int:
        """The greatest time that the clock can show at this position, or in the end."""
        ticks = (
            call.to_ms for call in self._ticks() if position is None or call.invoked <= position
        )
        return max(ticks, default=self._start_ms)

    def _ticks(self) -> Iterable[PurgatoryCall]:
        return (call for call in self._calls if call.kind is CallKind.TICK)


def _keys(watch: PurgatoryCall) -> tuple[Key, ...]:
    return () if watch.spec is None else watch.spec.keys


def _conditions(watch: PurgatoryCall) -> tuple[Condition, ...]:
    return () if watch.spec is None else watch.spec.conditions


def _within(rule: PurgatoryClause, least: int, most: int, observed: int | None) -> Violation | None:
    if observed is None or least <= observed <= most:
        return None
    return _broken(rule, f"{least} to {most}", str(observed))


def _broken(rule: PurgatoryClause, expected: str, observed: str) -> Violation:
    return Violation(
        rule=rule,
        expected=expected,
        observed=observed,
        reason="no order of the overlapping calls explains it",
    )
