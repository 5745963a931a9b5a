"""The judge of a purgatory's driven cases, by its sequential specification `LedgerPurgatory`.

It makes all effects of a call, with the callbacks that the observation shows, before the next call.
It also judges the gauges, up to what is done and may still be in the lists (standard 2.10).
"""

from collections.abc import Iterable, Sequence

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
    Checked,
    Completed,
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
from wheelproof_spec.components.purgatory.model import CompletingCall, LedgerPurgatory, Pending

_CALL = 0
"""The number of the call under way: there is one at a time."""


class PurgatoryOracle:
    """The judge of a driven case: after each call it judges the outcome by the contract."""

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count in `tally` what is tested."""
        self._strict = profile == WHEELPROOF
        self._tally = tally
        self._tests = tally.tests
        self._reset(PurgatoryConfig())

    @property
    def now_ms(self) -> int:
        """The time that the purgatory's clock shows, in milliseconds."""
        return self._purgatory.now_ms

    def alive(self) -> tuple[OperationId, ...]:
        """Return the operations that are watched and not done, by name."""
        return tuple(sorted(self._purgatory.pending))

    def drain(self) -> PurgatoryCall:
        """Return the advance after which no time-out is left."""
        due_ms = (one.due_ms for one in self._purgatory.pending.values())
        return Advance(to_ms=max((self.now_ms, *(ms for ms in due_ms if ms is not None))))

    def as_possible(self, call: PurgatoryCall) -> PurgatoryCall | None:
        """Return `call`, unless it is about an operation that was not handed in."""
        unknown = isinstance(call, ForceComplete) and not self._is_known(call.operation)
        return None if unknown else call

    def judge(self, call: PurgatoryCall, seen: PurgatoryObservation) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        if isinstance(call, Reset):
            self._reset(call.config)
            return None
        self._tests(PurgatoryClause.ACCEPTS_ITS_DOMAIN)
        match call:
            case TryCompleteElseWatch() | CheckAndComplete() | ForceComplete():
                return self._judge_completing(call, seen)
            case SetCondition(condition=condition):
                self._purgatory.make_true(condition)
                return self._observe(seen)
            case CancelForKey(key=key):
                return self._cancel(key, seen)
            case Advance(to_ms=to_ms):
                return self._advance(to_ms, seen)
            case AskGauges():
                return self._observe(seen) or self._judge_gauges(seen)

    def judge_refusal(self, call: PurgatoryCall, refusal: RefusedError) -> Violation:
        """Return what is wrong with refusing a call of the domain."""
        self._tests(PurgatoryClause.ACCEPTS_ITS_DOMAIN)
        return unexpected_refusal(PurgatoryClause.ACCEPTS_ITS_DOMAIN, call, refusal)

    def _reset(self, config: PurgatoryConfig) -> None:
        self._purgatory = LedgerPurgatory(start_ms=config.start_ms, tally=self._tally)
        self._lists = _Lists(config.purge_interval)
        self._tick_ms = config.tick_ms

    def _is_known(self, name: OperationId) -> bool:
        purgatory = self._purgatory
        return name in purgatory.pending or purgatory.outcome(name) is not None

    # Calls

    def _judge_completing(
        self, call: CompletingCall, seen: PurgatoryObservation
    ) -> Violation | None:
        """Judge a call that completes whom it finds, if that can end (standard 2.4, 2.6)."""
        purgatory = self._purgatory
        answer: Completed | Checked | None = None
        if isinstance(call, CheckAndComplete):
            answer = Checked(count=seen.count)
        elif seen.completed is not None:
            answer = Completed(completed=seen.completed)
        if isinstance(call, TryCompleteElseWatch):
            deadline_ms = self.now_ms + call.delay_ms
            due_ms = KAFKAS_TIMER.due_ms(deadline_ms, self._tick_ms)
            keys = tuple(dict.fromkeys(call.keys))
            purgatory.hand_in(call.operation, Pending(keys, call.conditions, due_ms))
        purgatory.begin(_CALL, call)
        violation = self._observe(seen, call) or purgatory.end(_CALL, answer)
        if isinstance(call, CheckAndComplete):
            self._lists.sweep(call.key)
        return violation

    def _cancel(self, key: Key, seen: PurgatoryObservation) -> Violation | None:
        """Judge cancel_for_key (standard 2.9)."""
        purgatory = self._purgatory
        waiting = purgatory.waiting(key)
        violation = self._observe(seen) or self._judge_cancelled(key, waiting, seen.cancelled)
        if self._strict:
            for name in purgatory.waiting(key):
                self._lists.end(name, set(purgatory.pending[name].keys) - {key})
                purgatory.cancel(name)
        else:
            purgatory.give_up(key)
        self._lists.sweep(key)
        return violation

    def _advance(self, to_ms: int, seen: PurgatoryObservation) -> Violation | None:
        """Judge an advance: due time-outs expire, and done operations leave the lists (2.10)."""
        self._purgatory.move_clock(to_ms)
        if self._strict:
            self._lists.purge()
        # An operation that expires in this pass may be purged only by the next one, so the bound
        # grows by one.
        violation = self._observe(seen) or self._find_overdue(seen.on_expiration)
        self._lists.may_have_been_purged()
        return violation

    # Observations

    def _observe(
        self, seen: PurgatoryObservation, call: CompletingCall | None = None
    ) -> Violation | None:
        """Compare the callbacks with the owed operations; other completions are expiries."""
        completed, expired, triggered = seen.on_complete, seen.on_expiration, self._purgatory.owed
        self._tests(PurgatoryClause.COMPLETES_AT_MOST_ONCE, len(completed))
        self._tests(PurgatoryClause.COMPLETES_FOR_A_REASON, len(completed))
        self._tests(PurgatoryClause.TRIGGER_COMPLETES, len(triggered))
        if sorted(completed) != sorted((*triggered, *expired)):
            return self._wrong_completions(triggered, seen)
        self._tests(PurgatoryClause.TRIES_IN_WATCH_ORDER, max(len(triggered) - 1, 0))
        order = tuple(name for name in completed if name not in expired)
        if order != triggered:
            return PurgatoryClause.TRIES_IN_WATCH_ORDER.broken(
                f"completed in the order {_names(triggered)}",
                f"in the order {_names(order)}",
                f"the call completed {_names(order)}, but they were watched as {_names(triggered)}",
            )
        purgatory = self._purgatory
        for name in triggered:
            one = purgatory.pending[name]
            if one.watched:
                self._lists.end(name, one.keys)
            violation = purgatory.complete(name, _CALL) or purgatory.answer(name)
            if violation is not None:
                return violation
        if isinstance(call, TryCompleteElseWatch):
            purgatory.watch(call.operation)
        return self._judge_expiries(expired)

    def _wrong_completions(
        self, triggered: Sequence[OperationId], seen: PurgatoryObservation
    ) -> Violation:
        expected = f"completed: {_names((*triggered, *seen.on_expiration))}"
        observed = f"completed: {_names(seen.on_complete)}, expired: {_names(seen.on_expiration)}"
        missed = next((name for name in triggered if name not in seen.on_complete), None)
        if missed is not None:
            reason = f"{missed} was triggered and its condition is true, but it was not completed"
            return PurgatoryClause.TRIGGER_COMPLETES.broken(expected, observed, reason)
        for name in seen.on_complete:
            clause = self._purgatory.forbids_end(name)
            if clause is not None:
                reason = f"{name} completed, but had ended, was cancelled, or was never handed in"
                return clause.broken(expected, observed, reason)
        owed = {*triggered, *seen.on_expiration}
        extra = [name for name in seen.on_complete if name not in owed]
        return PurgatoryClause.COMPLETES_FOR_A_REASON.broken(
            expected,
            observed,
            f"{_names(extra)} completed, but no trigger found its condition true, nobody forced "
            "it, and its time-out did not expire"
            if extra
            else f"expired without on_complete: {_names(seen.on_expiration)}",
        )

    def _judge_expiries(self, expired: Sequence[OperationId]) -> Violation | None:
        """Judge the operations that expired, in the order in which they did."""
        purgatory = self._purgatory
        last: Pending | None = None
        for name in expired:
            one = purgatory.pending.get(name)
            violation = purgatory.expire(name, last) or purgatory.answer(name)
            if violation is not None or one is None:
                return violation
            purgatory.notify(name)
            self._lists.end(name, one.keys)
            last = one
        return None

    def _find_overdue(self, expired: Sequence[OperationId]) -> Violation | None:
        self._tests(PurgatoryClause.EXPIRES_IN_TIME)
        overdue = self._purgatory.overdue()
        if overdue is None:
            return None
        name, due_ms = overdue
        return PurgatoryClause.EXPIRES_IN_TIME.broken(
            f"{name}, due at {due_ms} ms, has expired when advance({self.now_ms}) returns",
            f"expired: {_names(expired)}",
            f"{name} was due at {due_ms} ms; advance({self.now_ms}) returned without expiring it",
        )

    def _judge_cancelled(
        self, key: Key, waiting: Sequence[OperationId], cancelled: Sequence[OperationId] | None
    ) -> Violation | None:
        if cancelled is None:
            return None
        self._tests(PurgatoryClause.CANCELS_WHO_WAITS)
        allowed = set(waiting)
        if not self._strict:
            allowed |= self._lists.left_under(key)
        if set(waiting) <= set(cancelled) <= allowed and len(set(cancelled)) == len(cancelled):
            return None
        return PurgatoryClause.CANCELS_WHO_WAITS.broken(
            f"cancelled: {_names(waiting)}",
            f"cancelled: {_names(cancelled)}",
            f"cancel_for_key({key!r}) returned {_names(cancelled)}, but those that wait for it are "
            f"{_names(waiting)}",
        )

    def _judge_gauges(self, seen: PurgatoryObservation) -> Violation | None:
        """Judge the gauges: the timer's exactly, the lists' up to what may be left (2.10)."""
        waiting = self._purgatory.pending
        pending = waiting.values()
        delayed = sum(one.due_ms is not None for one in pending)
        watches = sum(len(one.keys) for one in pending)
        leftovers = self._lists.most_watches()
        keys = {key for one in pending for key in one.keys}
        most_keys = min(len(keys | self._lists.keys()), len(keys) + leftovers)
        for clause, what, least, most, shown in (
            (PurgatoryClause.DELAYED_COUNTS, "num_delayed", delayed, delayed, seen.num_delayed),
            (PurgatoryClause.WATCHED_COUNTS, "watched", watches, watches + leftovers, seen.watched),
            (PurgatoryClause.NO_EMPTY_KEY, "num_keys", len(keys), most_keys, seen.num_keys),
        ):
            if shown is not None and self._tests(clause) and not least <= shown <= most:
                expected = str(least) if least == most else f"{least} to {most}"
                why = f"{what} is {shown}, but must be {expected}; waiting: {_names(waiting)}"
                return clause.broken(f"{what}: {expected}", f"{what}: {shown}", why)
        return None


class _Lists:
    """The done operations that may still be in the lists of a purgatory (standard 2.10)."""

    def __init__(self, purge_interval: int) -> None:
        """Begin with empty lists, from which a purge drops more than so many."""
        self._purge_interval = purge_interval
        self._left: dict[OperationId, set[Key]] = {}
        """The done operations, with the keys whose lists may have them."""
        self._most = 0
        """The most of them that may be left."""
        self._surely: set[OperationId] = set()
        """Those that are in a list for certain: no purge can have run since they ended."""

    def keys(self) -> set[Key]:
        """Return the keys whose lists may have done operations."""
        return {key for keys in self._left.values() for key in keys}

    def left_under(self, key: Key) -> set[OperationId]:
        """Return the done operations that the list of a key may have."""
        return {name for name, keys in self._left.items() if key in keys}

    def most_watches(self) -> int:
        """Return how many watches may be left of done operations."""
        largest_first = sorted(map(len, self._left.values()), reverse=True)
        return sum(largest_first[: self._most])

    def end(self, name: OperationId, keys: Iterable[Key]) -> None:
        """Record that a watched operation is done."""
        left = set(keys)
        if left:
            self._left[name] = left
            self._most += 1
            self._surely.add(name)

    def sweep(self, key: Key) -> None:
        """Drop the done operations from the list of `key`."""
        for name, keys in list(self._left.items()):
            keys.discard(key)
            if not keys:
                del self._left[name]
                self._surely.discard(name)
        self._most = min(self._most, len(self._left))

    def purge(self) -> None:
        """Drop all, if there are surely more than may stay."""
        if len(self._surely) > self._purge_interval:
            self._left.clear()
        self._most = min(self._most, self._purge_interval, len(self._left))

    def may_have_been_purged(self) -> None:
        """Record that a purge may have run, even if it was not due."""
        self._surely.clear()


def _names(names: Iterable[OperationId]) -> str:
    return ", ".join(names) or "none"
