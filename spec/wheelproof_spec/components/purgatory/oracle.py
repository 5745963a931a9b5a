"""The oracle's purgatory: operations, their conditions, their time-outs and their keys.

It follows an implementation call by call and judges whether the contract allows each observation.
An operation completes exactly once (standard 2.1 - 2.10): when a trigger of one of its keys
finds one of its conditions true, or when its time-out expires. TLA+: DelayedOperation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.contract import KAFKA as KAFKAS_TIMER
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import (
    WHEELPROOF,
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    Condition,
    ForceComplete,
    Key,
    OperationId,
    PurgatoryCall,
    PurgatoryClause,
    PurgatoryConfig,
    PurgatoryObservation,
    SetCondition,
    TryCompleteElseWatch,
)


@dataclass(frozen=True, slots=True)
class _Watched:
    conditions: tuple[Condition, ...]
    keys: dict[Key, None]
    """The keys under which the operation is surely in a list while it is alive."""


class OraclePurgatory:
    """A purgatory whose calls are instantaneous; it judges one case after another."""

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count in `tally` what is tested."""
        self._strict = profile == WHEELPROOF
        self._tests = tally.tests
        self.now_ms: int
        """The time that the purgatory's clock shows, in milliseconds."""
        self._reset(PurgatoryConfig())

    def alive(self) -> tuple[OperationId, ...]:
        """Return the operations that are watched and not done, by name."""
        return tuple(sorted(self._alive))

    def drain(self) -> PurgatoryCall:
        """Return the advance after which no time-out is left."""
        return Advance(to_ms=max((self.now_ms, *self._due_ms.values())))

    def as_possible(self, call: PurgatoryCall) -> PurgatoryCall | None:
        """Return `call`, unless it is about an operation that was not handed in."""
        unknown = isinstance(call, ForceComplete) and call.operation not in self._handed_in
        return None if unknown else call

    def judge(self, call: PurgatoryCall, seen: PurgatoryObservation) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        if isinstance(call, Reset):
            self._reset(call.config)
            return None
        self._tests(PurgatoryClause.ACCEPTS_ITS_DOMAIN)
        match call:
            case TryCompleteElseWatch():
                return self._hand_in(call, seen)
            case SetCondition(condition=condition):
                self._true.add(condition)
                return self._observe((), seen)
            case CheckAndComplete(key=key):
                return self._check(key, seen)
            case ForceComplete(operation=name):
                alive = name in self._alive
                return self._observe((name,) if alive else (), seen) or self._compare(
                    PurgatoryClause.ANSWERS_TRULY, "completed", alive, seen.completed
                )
            case CancelForKey(key=key):
                return self._cancel(key, seen)
            case Advance(to_ms=to_ms):
                return self._advance(to_ms, seen)
            case AskGauges():
                return self._observe((), seen) or self._judge_gauges(seen)

    def judge_refusal(self, call: PurgatoryCall, refusal: RefusedError) -> Violation:
        """Return what is wrong with refusing a call of the domain."""
        self._tests(PurgatoryClause.ACCEPTS_ITS_DOMAIN)
        return unexpected_refusal(PurgatoryClause.ACCEPTS_ITS_DOMAIN, call, refusal)

    def _reset(self, config: PurgatoryConfig) -> None:
        self.now_ms = config.start_ms
        self._tick_ms = config.tick_ms
        self._purge_interval = config.purge_interval
        self._true: set[Condition] = set()
        self._handed_in: set[OperationId] = set()
        self._alive: dict[OperationId, _Watched] = {}
        self._due_ms: dict[OperationId, int] = {}
        """The due times of the time-outs in the timer, in milliseconds."""
        # The done operations with the lists that may have them, and the most that may be left.
        self._garbage: dict[OperationId, set[Key]] = {}
        self._most_left = 0
        self._surely_left: set[OperationId] = set()

    # Calls

    def _hand_in(self, call: TryCompleteElseWatch, seen: PurgatoryObservation) -> Violation | None:
        """Judge try_complete_else_watch of a new operation (standard 2.4)."""
        name, holds = call.operation, self._holds(call.conditions)
        self._handed_in.add(name)
        if not holds:
            self._alive[name] = _Watched(call.conditions, dict.fromkeys(call.keys))
            deadline_ms = self.now_ms + call.delay_ms
            self._due_ms[name] = KAFKAS_TIMER.due_ms(deadline_ms, self._tick_ms)
        return self._observe((name,) if holds else (), seen) or self._compare(
            PurgatoryClause.ANSWERS_TRULY, "completed", holds, seen.completed
        )

    def _check(self, key: Key, seen: PurgatoryObservation) -> Violation | None:
        """Judge check_and_complete: it completes listed operations whose condition holds (2.6)."""
        triggered = tuple(
            name
            for name, watched in self._alive.items()
            if key in watched.keys and self._holds(watched.conditions)
        )
        violation = self._observe(triggered, seen)
        self._sweep(key)
        return violation or self._compare(
            PurgatoryClause.COUNTS_COMPLETED, "count", len(triggered), seen.count
        )

    def _cancel(self, key: Key, seen: PurgatoryObservation) -> Violation | None:
        """Judge cancel_for_key (standard 2.9)."""
        waiting = [name for name, watched in self._alive.items() if key in watched.keys]
        violation = self._observe((), seen) or self._judge_cancelled(key, waiting, seen.cancelled)
        for name in waiting:
            self._due_ms.pop(name, None)
            del self._alive[name].keys[key]
            if self._strict:
                self._end(name)
        self._sweep(key)
        return violation

    def _advance(self, to_ms: int, seen: PurgatoryObservation) -> Violation | None:
        """Judge an advance: due time-outs expire, and done operations leave the lists (2.10)."""
        self.now_ms = max(self.now_ms, to_ms)
        if self._strict:
            if len(self._surely_left) > self._purge_interval:
                self._garbage.clear()
            self._most_left = min(self._most_left, self._purge_interval, len(self._garbage))
        # An operation that expires in this pass may be purged only by the next one, so the bound
        # grows by one.
        violation = self._observe((), seen) or self._find_overdue(seen.on_expiration)
        # A purge may have run, even if it was not due.
        self._surely_left.clear()
        return violation

    # Observations

    def _observe(
        self, triggered: tuple[OperationId, ...], seen: PurgatoryObservation
    ) -> Violation | None:
        """Compare the callbacks with the triggered operations; other completions are expiries."""
        completed, expired = seen.on_complete, seen.on_expiration
        self._tests(PurgatoryClause.COMPLETES_AT_MOST_ONCE, len(completed))
        self._tests(PurgatoryClause.COMPLETES_FOR_A_REASON, len(completed))
        self._tests(PurgatoryClause.TRIGGER_COMPLETES, len(triggered))
        if sorted(completed) != sorted((*triggered, *expired)):
            return self._wrong_completions(triggered, seen)
        self._tests(PurgatoryClause.TRIES_IN_WATCH_ORDER, max(len(triggered) - 1, 0))
        order = tuple(name for name in completed if name not in expired)
        if order != triggered:
            return PurgatoryClause.TRIES_IN_WATCH_ORDER.broken(
                f"completed in the order {_names(triggered)}", f"in the order {_names(order)}"
            )
        for name in triggered:
            self._due_ms.pop(name, None)
            self._end(name)
        violation = self._judge_expiries(expired)
        for name in expired:
            self._end(name)
        return violation

    def _wrong_completions(
        self, triggered: Sequence[OperationId], seen: PurgatoryObservation
    ) -> Violation:
        expected = f"completed: {_names((*triggered, *seen.on_expiration))}"
        observed = f"completed: {_names(seen.on_complete)}, expired: {_names(seen.on_expiration)}"
        missed = next((name for name in triggered if name not in seen.on_complete), None)
        if missed is not None:
            reason = f"{missed} can end and was triggered, and was not completed"
            return PurgatoryClause.TRIGGER_COMPLETES.broken(expected, observed, reason)
        wrong = next((name for name in seen.on_complete if name not in self._alive), None)
        if wrong is not None and wrong not in triggered:
            reason = f"{wrong} was done already, cancelled, or never handed in"
            return PurgatoryClause.COMPLETES_AT_MOST_ONCE.broken(expected, observed, reason)
        return PurgatoryClause.COMPLETES_FOR_A_REASON.broken(
            expected,
            observed,
            "an operation completes once: by a trigger that finds a condition true, by force, or "
            "by its time-out",
        )

    def _judge_expiries(self, expired: Sequence[OperationId]) -> Violation | None:
        """Judge the operations that expired, in the order in which they did."""
        clause = PurgatoryClause.EXPIRES_IN_TIME
        last_ms: int | None = None
        for name in expired:
            self._tests(clause)
            due_ms = self._due_ms.pop(name, None)
            if due_ms is None:
                observed, reason = f"{name} expired", f"{name} has no time-out any more"
                return clause.broken("who has a time-out expires", observed, reason)
            if due_ms > self.now_ms:
                expected, observed = f"{name} expires at {due_ms} ms", f"it did at {self.now_ms} ms"
                return clause.broken(expected, observed)
            if last_ms is not None and due_ms < last_ms:
                return clause.broken(
                    f"{name}, due at {due_ms} ms, expires before who is due later",
                    f"it did after who was due at {last_ms} ms",
                    "time-outs expire in the order of their due times (standard 1.9)",
                )
            last_ms = due_ms
        return None

    def _find_overdue(self, expired: Sequence[OperationId]) -> Violation | None:
        self._tests(PurgatoryClause.EXPIRES_IN_TIME)
        first = min(self._due_ms, key=self._due_ms.__getitem__, default=None)
        if first is None or self._due_ms[first] > self.now_ms:
            return None
        return PurgatoryClause.EXPIRES_IN_TIME.broken(
            f"{first}, due at {self._due_ms[first]} ms, has expired when the advance to "
            f"{self.now_ms} ms returns",
            f"expired: {_names(expired)}",
            "nothing that is due is left behind by an advance (standard 1.18)",
        )

    def _judge_cancelled(
        self, key: Key, waiting: Sequence[OperationId], cancelled: Sequence[OperationId] | None
    ) -> Violation | None:
        if cancelled is None:
            return None
        self._tests(PurgatoryClause.CANCELS_WHO_WAITS)
        allowed = set(waiting)
        if not self._strict:
            allowed |= {name for name, keys in self._garbage.items() if key in keys}
        if set(waiting) <= set(cancelled) <= allowed and len(set(cancelled)) == len(cancelled):
            return None
        return PurgatoryClause.CANCELS_WHO_WAITS.broken(
            f"cancelled: {_names(waiting)}",
            f"cancelled: {_names(cancelled)}",
            f"cancel_for_key returns the operations that wait for {key!r}",
        )

    def _judge_gauges(self, seen: PurgatoryObservation) -> Violation | None:
        """Judge the gauges: the timer's exactly, the lists' up to what may be left (2.10)."""
        delayed = len(self._due_ms)
        watches = sum(len(watched.keys) for watched in self._alive.values())
        largest_first = sorted(map(len, self._garbage.values()), reverse=True)
        leftovers = sum(largest_first[: self._most_left])
        keys = {key for watched in self._alive.values() for key in watched.keys}
        left_keys = {key for left in self._garbage.values() for key in left}
        most_keys = min(len(keys | left_keys), len(keys) + leftovers)
        for clause, what, least, most, shown in (
            (PurgatoryClause.DELAYED_COUNTS, "num_delayed", delayed, delayed, seen.num_delayed),
            (PurgatoryClause.WATCHED_COUNTS, "watched", watches, watches + leftovers, seen.watched),
            (PurgatoryClause.NO_EMPTY_KEY, "num_keys", len(keys), most_keys, seen.num_keys),
        ):
            if shown is not None and self._tests(clause) and not least <= shown <= most:
                expected = str(least) if least == most else f"{least} to {most}"
                return clause.broken(f"{what}: {expected}", f"{what}: {shown}")
        return None

    def _compare(
        self, clause: PurgatoryClause, what: str, expected: object, observed: object
    ) -> Violation | None:
        if observed is None or not self._tests(clause) or observed == expected:
            return None
        return clause.broken(f"{what}: {expected}", f"{what}: {observed}")

    # Waiting and done operations

    def _holds(self, conditions: Iterable[Condition]) -> bool:
        return not self._true.isdisjoint(conditions)

    def _end(self, name: OperationId) -> None:
        watched = self._alive.pop(name, None)
        if watched is not None and watched.keys:
            self._garbage[name] = set(watched.keys)
            self._most_left += 1
            self._surely_left.add(name)

    def _sweep(self, key: Key) -> None:
        """Drop the done operations from the list of `key`."""
        for name, keys in list(self._garbage.items()):
            keys.discard(key)
            if not keys:
                del self._garbage[name]
                self._surely_left.discard(name)
        self._most_left = min(self._most_left, len(self._garbage))


def _names(names: Iterable[OperationId]) -> str:
    return ", ".join(names) or "none"
