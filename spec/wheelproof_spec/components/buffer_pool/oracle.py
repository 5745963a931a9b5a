"""The judge of a buffer pool's driven cases, by its sequential specification `LedgerPool`.

It gets the outcome of a call once no thread can continue, with the calls that have ended meanwhile.
So it makes all their effects at once, memory in the order of asking, and who waits then needs a
reason to. It also judges what a pool tells of itself: the buffers it keeps, the times it waited.

A call may have waited once from its beginning to its end, or several times, so only bounds of the
counted time are known while it waits (standard 3.11). The implementation chooses the windows of the
ratio, which begin 30 to 90 s ago, and in which no wait of the last 60 s is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    CallId,
    Deallocate,
    PoolCall,
    PoolCapability,
    PoolClause,
    PoolConfig,
    PoolFault,
    PoolLimit,
    PoolObservation,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.ledger import Lent, Request
from wheelproof_spec.components.buffer_pool.model import LedgerPool, can_ever_lend

_CLOSE_TO_NOTHING = PoolConfig(total_memory=0, poolable_size=1)
_NS_OF_MS = 1_000_000
_SHORTEST_MS, _KEPT_MS, _LONGEST_MS = 30_000, 60_000, 90_000


class PoolOracle:
    """The judge of a driven case: after each call it judges the outcome by the contract."""

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count the tested clauses in `tally`."""
        self._profile = profile
        self._tally = tally
        self._reset(_CLOSE_TO_NOTHING)

    @property
    def now_ms(self) -> int:
        """The time that the pool's clock shows, in milliseconds."""
        return self._pool.now_ms

    def in_domain(self, size: int) -> bool:
        """Tell whether a pool can ever lend `size` bytes (standard 3.1)."""
        return can_ever_lend(self._total, size, limit_ms=0)

    def waiting(self) -> tuple[CallId, ...]:
        """Return the allocations that wait, the longest-waiting first."""
        return tuple(self._pool.requests)

    def lent(self) -> tuple[CallId, ...]:
        """Return the allocations whose buffers have not come back."""
        return tuple(self._pool.lent)

    def as_possible(self, call: PoolCall) -> PoolCall | None:
        """Return `call`, or None if its allocation is unknown or its buffer was never lent."""
        match call:
            case Deallocate(buffer=name):
                again = name in self._pool.returned and not self._tally.skips(
                    PoolLimit.GIVEN_BACK_TWICE
                )
                return call if again or name in self._pool.lent else None
            case Interrupt(name=name):
                return call if name in self._asked_for else None
            case _:
                return call

    def judge(self, call: PoolCall, seen: PoolObservation) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        if isinstance(call, Reset):
            self._reset(call.config)
            return None
        self._tally.tests(PoolClause.KEEPS_TO_ITS_DOMAIN)
        pool = self._pool
        unallocated = self._kept.after(call, pool.lent, somebody_waits=bool(pool.requests))
        wrong = self._make(call)
        if wrong is not None:
            return wrong
        self._count_waits(call)
        return (
            self._judge_ends(seen.ended)
            or self._judge_newcomer(call)
            or pool.judge_rest()
            or pool.judge_queued(seen.queued)
            or pool.judge_memory(seen.available_memory, seen.unallocated_memory)
            or self._judge_kept(call, unallocated, seen)
            or self._judge_wait_time(seen)
        )

    def judge_refusal(self, call: PoolCall, refusal: RefusedError) -> Violation | None:
        """Return the violation by the refusal of a call, if the call lies within the domain."""
        self._tally.tests(PoolClause.KEEPS_TO_ITS_DOMAIN)
        match call:
            case Allocate() if not self._can_ever_lend(call):
                return None
            case Deallocate(buffer=name) if name not in self._pool.lent:
                return None
            case _:
                return unexpected_refusal(PoolClause.KEEPS_TO_ITS_DOMAIN, call, refusal)

    def _reset(self, config: PoolConfig) -> None:
        self._pool = LedgerPool(config, self._profile, self._tally)
        self._total = config.total_memory
        self._asked_for: set[CallId] = set()
        self._kept = _KeptBuffers(config)
        self._wait_times = _WaitTimes(int(self._tally.skips(PoolCapability.EXACT_TIME)))

    def _make(self, call: PoolCall) -> Violation | None:
        """Make the effect of a call, or return why it should have been refused."""
        match call:
            case Allocate(buffer=name, size=size):
                if not self._can_ever_lend(call):
                    return _not_refused(f"an allocation of {size} bytes, which can never be lent")
                self._asked_for.add(name)
                self._pool.ask(name, self._request(call))
                counts = call.fault is not PoolFault.METRIC
                self._wait_times.begin(name, self.now_ms, counts=counts)
            case Deallocate(buffer=name):
                if not self._pool.give_back(name):
                    return _not_refused(f"a return of the buffer of {name!r}, which is not lent")
            case Interrupt(name=name):
                self._pool.interrupt(name)
            case Advance(to_ms=to_ms):
                self._pool.move_clock(to_ms)
            case Close():
                self._pool.close()
            case Reset():
                raise TypeError("a reset is no call of a pool")
        return None

    def _can_ever_lend(self, call: Allocate) -> bool:
        return can_ever_lend(self._total, call.size, call.max_time_to_block_ms)

    def _request(self, call: Allocate) -> Request:
        deadline_ms = self.now_ms + call.max_time_to_block_ms
        late_ms = call.max_time_to_block_ms > 0 and self._tally.skips(PoolCapability.EXACT_TIME)
        return Request(
            size=call.size,
            deadline_ms=deadline_ms,
            latest_ms=deadline_ms + late_ms,
            fault=call.fault,
            interrupted=call.fault is PoolFault.INTERRUPTED_BEFORE,
        )

    def _judge_ends(self, ended: Mapping[CallId, PoolOutcome]) -> Violation | None:
        """Make and judge the ends since the last call: memory is lent in the order of asking."""
        pool = self._pool
        for name, outcome in ended.items():
            violation = pool.forbids_end(name, outcome)
            if violation is not None:
                return violation
        for name, outcome in ended.items():
            self._wait_times.end(name, self.now_ms)
            if outcome is not PoolOutcome.BUFFER:
                pool.leave(name)
        for name in [name for name in pool.requests if name in ended]:
            violation = pool.lend(name, name)
            if violation is not None:
                return violation
        return None

    def _judge_newcomer(self, call: PoolCall) -> Violation | None:
        if isinstance(call, Allocate) and call.buffer in self._pool.requests:
            return self._pool.enqueue(call.buffer)
        return None

    def _count_waits(self, call: PoolCall) -> None:
        """Count the clauses that `call` tests on the calls that wait."""
        requests, tests = self._pool.requests.values(), self._tally.tests
        if not requests:
            return
        tests(PoolClause.NO_LOST_WAKE_UP)
        if self._pool.closed:
            tests(PoolClause.CLOSE_RELEASES)
        if isinstance(call, Advance):
            tests(PoolClause.WAIT_IS_BOUNDED)
        if any(request.interrupted for request in requests):
            tests(PoolClause.INTERRUPTION_ENDS_THE_WAIT)

    def _judge_kept(
        self, call: PoolCall, expected: int | None, seen: PoolObservation
    ) -> Violation | None:
        """Judge what has become of the kept buffers (standard 3.2, 3.7)."""
        available, unallocated = seen.available_memory, seen.unallocated_memory
        if not self._kept.tell(available, unallocated) or expected is None:
            return None
        lent = not isinstance(call, Allocate) or call.buffer in self._pool.lent
        if not lent or not self._tally.tests(PoolClause.KEEPS_BUFFERS) or unallocated == expected:
            return None
        return PoolClause.KEEPS_BUFFERS.broken(
            f"{expected} bytes are no buffer",
            f"{unallocated} of {available} bytes available are no buffer",
            f"{unallocated} bytes are no buffer, but {expected} should be: buffers of "
            f"{self._kept.poolable_size} bytes are kept, and broken up only as needed",
        )

    def _judge_wait_time(self, seen: PoolObservation) -> Violation | None:
        told = seen.wait_time_ns_total, seen.wait_ratio_ppm
        if told == (None, None):
            return None
        self._tally.tests(PoolClause.COUNTS_WAITS)
        return self._wait_times.judge(*told, self.now_ms)


def _not_refused(what: str) -> Violation:
    return PoolClause.KEEPS_TO_ITS_DOMAIN.broken(
        "the call is refused", "the call was carried out", f"the pool carried out {what}"
    )


class _KeptBuffers:
    """The memory that is no buffer, as the pool told it last (standard 3.2, 3.7)."""

    def __init__(self, config: PoolConfig) -> None:
        """Begin with a pool whose memory is all there, and no buffer."""
        self.poolable_size = config.poolable_size
        self._told: tuple[int, int] | None = config.total_memory, config.total_memory

    def after(
        self, call: PoolCall, lent: Mapping[str, Lent], *, somebody_waits: bool
    ) -> int | None:
        """Return how many bytes are no buffer after `call`; None if it alone does not decide it."""
        if self._told is None or somebody_waits:
            return None
        available, unallocated = self._told
        match call:
            case Deallocate(buffer=name) if name in lent:
                size = lent[name].size
                return unallocated + (0 if size == self.poolable_size else size)
            case Allocate(size=size):
                if size == self.poolable_size and available > unallocated:
                    return unallocated
                broken_up = max(-(-(size - unallocated) // self.poolable_size), 0)
                return unallocated + broken_up * self.poolable_size - size
            case _:
                return None

    def tell(self, available: int | None, unallocated: int | None) -> bool:
        """Record what the pool tells now, in bytes; return whether it tells both."""
        self._told = None if available is None or unallocated is None else (available, unallocated)
        return self._told is not None


@dataclass(slots=True)
class _Wait:
    began_ms: int
    ended_ms: int | None = None
    counts: bool = True
    """Whether its time is recorded for certain: not if the metric is made to fail."""

    def length_ms(self, now_ms: int, since_ms: int | None = None) -> int:
        """Return the length of the wait up to `now_ms`, and after `since_ms` if that is given."""
        began_ms = self.began_ms if since_ms is None else max(self.began_ms, since_ms)
        ended_ms = now_ms if self.ended_ms is None else self.ended_ms
        return max(ended_ms - began_ms, 0)


class _WaitTimes:
    """The waits of a case; each time may be wrong by `slack_ms`."""

    def __init__(self, slack_ms: int) -> None:
        self._slack_ms = slack_ms
        self._waits: dict[str, _Wait] = {}

    def begin(self, name: str, now_ms: int, *, counts: bool) -> None:
        """Record that a call began."""
        self._waits[name] = _Wait(now_ms, counts=counts)

    def end(self, name: str, now_ms: int) -> None:
        """Record that a call has ended."""
        self._waits[name].ended_ms = now_ms

    def judge(self, total_ns: int | None, ratio_ppm: int | None, now_ms: int) -> Violation | None:
        """Return the violation by the wait times that an implementation reports now."""
        slack_ms = self._slack_ms * len(self._waits)
        waits = self._waits.values()
        ended = [wait for wait in waits if wait.counts and wait.ended_ms is not None]
        least_ms = sum(wait.length_ms(now_ms) for wait in ended) - slack_ms
        most_ms = sum(wait.length_ms(now_ms) for wait in waits) + slack_ms
        if total_ns is not None and not least_ms * _NS_OF_MS <= total_ns <= most_ms * _NS_OF_MS:
            bounds = f"{least_ms * _NS_OF_MS} to {most_ms * _NS_OF_MS} ns in all"
            return _wrong(f"{bounds} were waited", f"{total_ns} ns", now_ms)
        since_ms = now_ms - _KEPT_MS
        least_ms = sum(wait.length_ms(now_ms, since_ms) for wait in ended)
        since_ms = now_ms - _LONGEST_MS
        late = (wait for wait in waits if wait.ended_ms is None or wait.ended_ms >= since_ms)
        most_ms = sum(wait.length_ms(now_ms) for wait in late)
        least_ppm = _NS_OF_MS * (least_ms - slack_ms) // _LONGEST_MS
        most_ppm = -(-_NS_OF_MS * (most_ms + slack_ms) // _SHORTEST_MS)
        if ratio_ppm is None or least_ppm <= ratio_ppm <= most_ppm:
            return None
        bounds = f"a share of {least_ppm} to {most_ppm} millionths"
        return _wrong(f"{bounds} was waited of late", f"{ratio_ppm} millionths", now_ms)


def _wrong(expected: str, observed: str, now_ms: int) -> Violation:
    return PoolClause.COUNTS_WAITS.broken(
        expected,
        observed,
        f"the pool reports {observed} of waiting at {now_ms} ms, but {expected}",
    )
