"""The oracle's purgatory: operations, the conditions they wait for, and who watches them.

It follows what an implementation does, call by call, and answers whether the contract allows what
was seen. An operation completes when one of its conditions holds, looked at by a trigger of one of
its keys, or when its time is out: exactly once (semantics.md 2.1 - 2.10). Time-outs are judged by
the oracle's timer. TLA+: DelayedOperation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.contract import (
    Callbacks,
    CancelScope,
    Condition,
    Gauges,
    Key,
    OperationId,
    OperationSpec,
    PurgatoryClause,
    PurgatoryContract,
)
from wheelproof_spec.components.timer.oracle import HeapTimer


@dataclass(slots=True)
class _Watched:
    spec: OperationSpec
    keys: dict[Key, None] = field(default_factory=dict[Key, None])
    """The keys under which the operation is certainly still in a list while it is alive."""


class OraclePurgatory:
    """A purgatory on which every call is instantaneous."""

    def __init__(
        self, *, tick_ms: int, start_ms: int, purge_interval: int, contract: PurgatoryContract
    ) -> None:
        """Make an empty purgatory whose clock shows `start_ms` milliseconds."""
        self._contract = contract
        self._purge_interval = purge_interval
        self._timer: HeapTimer[OperationId] = HeapTimer(
            tick_ms=tick_ms, start_ms=start_ms, contract=KAFKA
        )
        self._true: set[Condition] = set()
        self._alive: dict[OperationId, _Watched] = {}
        # Who is done and may still be in which lists, and how many of them are at most.
        self._garbage: dict[OperationId, set[Key]] = {}
        self._most_left = 0
        self._surely_left: set[OperationId] = set()

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        return self._timer.now_ms

    def latest_due_ms(self) -> int | None:
        """Return when the last operation expires, in milliseconds; None if none will."""
        return self._timer.latest_due_ms()

    def alive(self) -> frozenset[OperationId]:
        """Return the operations that are watched and not done."""
        return frozenset(self._alive)

    def watch(self, spec: OperationSpec, answer: bool | None, seen: Callbacks) -> Violation | None:
        """Judge try_complete_else_watch of a new operation (semantics.md 2.4)."""
        holds = self._holds(spec)
        if not holds:
            self._alive[spec.name] = _Watched(spec, keys=dict.fromkeys(spec.keys))
            self._timer.add(spec.name, spec.delay_ms)
        triggered = (spec.name,) if holds else ()
        return self._observe(triggered, seen) or _compare(
            PurgatoryClause.ANSWERS_TRULY, "completed by this call", holds, answer
        )

    def set(self, condition: Condition, seen: Callbacks) -> Violation | None:
        """Judge that a condition has become true: nobody looks at it yet."""
        self._true.add(condition)
        return self._observe((), seen)

    def check(self, key: Key, count: int | None, seen: Callbacks) -> Violation | None:
        """Judge check_and_complete: everybody in the list whose condition holds (2.6)."""
        triggered = tuple(
            name
            for name, watched in self._alive.items()
            if key in watched.keys and self._holds(watched.spec)
        )
        violation = self._observe(triggered, seen)
        self._sweep(key)
        return violation or _compare(
            PurgatoryClause.COUNTS_COMPLETED, "number completed", len(triggered), count
        )

    def force(self, name: OperationId, answer: bool | None, seen: Callbacks) -> Violation | None:
        """Judge force_complete of an operation that was handed in (semantics.md 2.1)."""
        alive = name in self._alive
        return self._observe((name,) if alive else (), seen) or _compare(
            PurgatoryClause.ANSWERS_TRULY, "completed by this call", alive, answer
        )

    def cancel(
        self, key: Key, cancelled: Sequence[OperationId] | None, seen: Callbacks
    ) -> Violation | None:
        """Judge cancel_for_key (semantics.md 2.9)."""
        waiting = [name for name, watched in self._alive.items() if key in watched.keys]
        violation = self._observe((), seen) or self._judge_cancelled(key, waiting, cancelled)
        for name in waiting:
            self._timer.cancel(name)
            del self._alive[name].keys[key]
            if self._contract.cancel is CancelScope.OPERATION:
                self._end(name)
        self._sweep(key)
        return violation

    def advance_to(self, time_ms: int, seen: Callbacks) -> Violation | None:
        """Judge an advance to `time_ms`: what is due expires, and garbage is bounded (2.10)."""
        self._timer.advance_to(time_ms)
        if self._contract.garbage_is_bounded:
            if len(self._surely_left) > self._purge_interval:
                self._garbage.clear()
            self._most_left = min(self._most_left, self._purge_interval, len(self._garbage))
        # Who expires in this pass may run only after its purge, and is added to the bound.
        violation = self._observe((), seen, advanced=True)
        # A purge may have come, also where none had to.
        self._surely_left.clear()
        return violation

    def gauges(self, seen: Gauges, callbacks: Callbacks) -> Violation | None:
        """Judge the gauges: exact for the timer, within what may be left for the lists (2.10)."""
        watches = sum(len(watched.keys) for watched in self._alive.values())
        largest_first = sorted(map(len, self._garbage.values()), reverse=True)
        leftovers = sum(largest_first[: self._most_left])
        keys = {key for watched in self._alive.values() for key in watched.keys}
        left_keys = {key for left in self._garbage.values() for key in left}
        return (
            self._observe((), callbacks)
            or _compare(PurgatoryClause.DELAYED_COUNTS, "delayed", self._timer.size(), seen.delayed)
            or _within(
                PurgatoryClause.WATCHED_COUNTS,
                "watched",
                watches,
                watches + leftovers,
                seen.watched,
            )
            or _within(
                PurgatoryClause.NO_EMPTY_KEY,
                "keys",
                len(keys),
                min(len(keys | left_keys), len(keys) + leftovers),
                seen.keys,
            )
        )

    def _holds(self, spec: OperationSpec) -> bool:
        return not self._true.isdisjoint(spec.conditions)

    def _observe(
        self, triggered: tuple[OperationId, ...], seen: Callbacks, *, advanced: bool = False
    ) -> Violation | None:
        """Compare the callbacks with who was triggered; whoever else completed has expired."""
        expected = sorted((*triggered, *seen.expired))
        if sorted(seen.completed) != expected:
            return self._wrong_completions(triggered, seen)
        order = tuple(name for name in seen.completed if name not in seen.expired)
        if order != triggered:
            return Violation(
                rule=PurgatoryClause.TRIES_IN_WATCH_ORDER,
                expected=f"completed in the order {_names(triggered)}",
                observed=f"in the order {_names(order)}",
                reason="a trigger tries the operations of a key in the order of their watches",
            )
        for name in triggered:
            self._timer.cancel(name)
            self._end(name)
        violation = self._timer.observe(seen.expired, advanced=advanced)
        if violation is not None:
            violation = replace(
                violation,
                rule=PurgatoryClause.EXPIRES_IN_TIME,
                reason=f"{violation.rule}: {violation.reason}",
            )
        for name in seen.expired:
            self._end(name)
        return violation

    def _wrong_completions(self, triggered: Sequence[OperationId], seen: Callbacks) -> Violation:
        expected = f"completed: {_names((*triggered, *seen.expired))}"
        observed = f"completed: {_names(seen.completed)}, expired: {_names(seen.expired)}"
        missed = [name for name in triggered if name not in seen.completed]
        if missed:
            return Violation(
                rule=PurgatoryClause.TRIGGER_COMPLETES,
                expected=expected,
                observed=observed,
                reason=f"{missed[0]} can end and was triggered, and was not completed",
            )
        wrong = next((name for name in seen.completed if name not in self._alive), None)
        if wrong is not None and wrong not in triggered:
            return Violation(
                rule=PurgatoryClause.COMPLETES_AT_MOST_ONCE,
                expected=expected,
                observed=observed,
                reason=f"{wrong} was done already, cancelled, or never handed in",
            )
        return Violation(
            rule=PurgatoryClause.COMPLETES_FOR_A_REASON,
            expected=expected,
            observed=observed,
            reason="an operation completes once: by a trigger that finds a condition true, by "
            "force, or by its time-out",
        )

    def _judge_cancelled(
        self,
        key: Key,
        waiting: Sequence[OperationId],
        cancelled: Sequence[OperationId] | None,
    ) -> Violation | None:
        if cancelled is None:
            return None
        allowed = set(waiting)
        if self._contract.cancels_leftovers:
            allowed |= {name for name, keys in self._garbage.items() if key in keys}
        if set(waiting) <= set(cancelled) <= allowed and len(set(cancelled)) == len(cancelled):
            return None
        return Violation(
            rule=PurgatoryClause.CANCELS_WHO_WAITS,
            expected=f"cancelled: {_names(waiting)}",
            observed=f"cancelled: {_names(cancelled)}",
            reason=f"cancel_for_key returns the operations that wait for {key!r}",
        )

    def _end(self, name: OperationId) -> None:
        watched = self._alive.pop(name, None)
        if watched is not None and watched.keys:
            self._garbage[name] = set(watched.keys)
            self._most_left += 1
            self._surely_left.add(name)

    def _sweep(self, key: Key) -> None:
        """Nobody who is done is left in the list of `key`."""
        for name, keys in list(self._garbage.items()):
            keys.discard(key)
            if not keys:
                del self._garbage[name]
                self._surely_left.discard(name)
        self._most_left = min(self._most_left, len(self._garbage))


def _compare(rule: str, what: str, expected: object, observed: object) -> Violation | None:
    if observed is None or observed == expected:
        return None
    return Violation(
        rule=rule,
        expected=f"{what}: {expected}",
        observed=f"{what}: {observed}",
        reason="the answer differs from what the calls before lead to",
    )


def _within(rule: str, what: str, least: int, most: int, observed: int | None) -> Violation | None:
    if observed is None or least <= observed <= most:
        return None
    return Violation(
        rule=rule,
        expected=f"{what}: {least} to {most}",
        observed=f"{what}: {observed}",
        reason="who waits is in the lists, and beside them only who is done and not yet dropped",
    )


def _names(names: Iterable[OperationId]) -> str:
    return ", ".join(names) or "none"
