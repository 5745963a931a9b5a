"""The oracle's pool: a ledger of bytes and a queue of waiting calls.

It has no free list, and no memory that a waiting thread has gathered: all memory that is not lent
is available to the first call in the queue. After each call, once no thread can continue, it gets
the calls that have ended and their outcomes, and judges them by the contract. TLA+: FifoAllocator.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    KAFKA,
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
from wheelproof_spec.components.buffer_pool.wait_time import WaitTimes

_CLOSE_TO_NOTHING = PoolConfig(total_memory=0, poolable_size=1)


@dataclass(frozen=True, slots=True)
class _Waiting:
    size: int
    deadline_ms: int
    latest_ms: int
    """When it must have ended: a clock that does not count in whole milliseconds may be late."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What the gauges showed, in bytes."""

    available: int
    unallocated: int


class LedgerPool:
    """A pool on which every operation is instantaneous; follows one case after another."""

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count the tested clauses in `tally`."""
        self._barging = profile == KAFKA
        self._tally = tally
        self.now_ms: int
        """The time that the pool's clock shows, in milliseconds."""
        self._reset(_CLOSE_TO_NOTHING)

    def in_domain(self, size: int) -> bool:
        """Tell whether a pool can ever lend `size` bytes (standard 3.1)."""
        return 0 <= size <= self._total

    def waiting(self) -> tuple[CallId, ...]:
        """Return the allocations that wait, the longest-waiting first."""
        return tuple(self._waiting)

    def lent(self) -> tuple[CallId, ...]:
        """Return the allocations whose buffers have not come back."""
        return tuple(self._lent)

    def as_possible(self, call: PoolCall) -> PoolCall | None:
        """Return `call`, or None if its allocation is unknown or its buffer was never lent."""
        match call:
            case Deallocate(buffer=name):
                again = name in self._given_back and not self._tally.skips(
                    PoolLimit.GIVEN_BACK_TWICE
                )
                return call if again or name in self._lent else None
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
        newcomer: CallId | None = None
        unallocated = self._unallocated_after(call)
        match call:
            case Allocate(buffer=name, size=size):
                if not self.in_domain(size):
                    return self._not_refused(f"{size} bytes can never be lent")
                self._allocate(call)
                newcomer = name
            case Deallocate(buffer=name):
                if self._lent.pop(name, None) is None:
                    return self._not_refused(f"the buffer of {name!r} is not on loan")
                self._given_back.add(name)
            case Interrupt(name=name):
                self._interrupted.add(name)
            case Advance(to_ms=to_ms):
                self.now_ms = max(self.now_ms, to_ms)
            case Close():
                self._closed = True
        self._count_waits(call)
        return (
            self._judge_ends(seen.ended, newcomer)
            or self._someone_waits_in_vain()
            or self._judge_queue(seen.queued)
            or self._judge_memory(seen.available_memory, seen.unallocated_memory)
            or self._judge_kept(call, unallocated, seen)
            or self._judge_wait_time(seen)
        )

    def judge_refusal(self, call: PoolCall, refusal: RefusedError) -> Violation | None:
        """Return the violation by the refusal of a call, if the call lies within the domain."""
        self._tally.tests(PoolClause.KEEPS_TO_ITS_DOMAIN)
        match call:
            case Allocate(size=size) if not self.in_domain(size):
                return None
            case Deallocate(buffer=name) if name not in self._lent:
                return None
            case _:
                return unexpected_refusal(PoolClause.KEEPS_TO_ITS_DOMAIN, call, refusal)

    def _reset(self, config: PoolConfig) -> None:
        self._total = config.total_memory
        self._poolable = config.poolable_size
        self._closed = False
        self._waiting: dict[CallId, _Waiting] = {}
        self._lent: dict[CallId, int] = {}
        self._asked_for: set[CallId] = set()
        self._given_back: set[CallId] = set()
        self._interrupted: set[CallId] = set()
        self._faults: dict[CallId, PoolFault] = {}
        self._told: _Told | None = _Told(self._total, self._total)
        self._wait_times = WaitTimes(int(self._tally.skips(PoolCapability.EXACT_TIME)))
        self.now_ms = config.start_ms

    def _allocate(self, call: Allocate) -> None:
        name, fault = call.buffer, call.fault
        deadline_ms = self.now_ms + call.max_time_to_block_ms
        late_ms = call.max_time_to_block_ms > 0 and self._tally.skips(PoolCapability.EXACT_TIME)
        self._asked_for.add(name)
        self._waiting[name] = _Waiting(call.size, deadline_ms, deadline_ms + late_ms)
        self._wait_times.begin(name, self.now_ms, counts=fault is not PoolFault.METRIC)
        if fault is not None:
            self._faults[name] = fault
        if fault is PoolFault.INTERRUPTED_BEFORE:
            self._interrupted.add(name)

    def _judge_ends(
        self, ended: Mapping[CallId, PoolOutcome], newcomer: CallId | None
    ) -> Violation | None:
        """Record and judge the calls that ended since the last call; no thread can continue now."""
        for name, outcome in ended.items():
            violation = self._why_not(name, outcome, is_newcomer=name == newcomer)
            if violation is not None:
                return violation
        for name, outcome in ended.items():
            self._wait_times.end(name, self.now_ms)
            if outcome is not PoolOutcome.BUFFER:
                del self._waiting[name]
        for name in tuple(self._waiting):
            if name in ended:
                violation = self._serve(name, is_newcomer=name == newcomer)
                if violation is not None:
                    return violation
        return None

    def _left(self) -> int:
        return self._total - sum(self._lent.values())

    def _why_not(
        self, name: CallId, outcome: PoolOutcome, *, is_newcomer: bool
    ) -> Violation | None:
        waiting = self._waiting.get(name)
        self._tally.tests(PoolClause.ENDS_ONCE)
        if waiting is None:
            return PoolClause.ENDS_ONCE.broken(
                f"calls that wait end: {list(self._waiting)}",
                f"{name!r} ended: {outcome}",
                f"{name!r} does not wait",
            )
        if self._closed and outcome is PoolOutcome.BUFFER:
            self._tally.tests(PoolClause.CLOSE_RELEASES)
            return PoolClause.CLOSE_RELEASES.broken(
                f"{name!r} gets no memory", f"{name!r} ended: {outcome}", "the pool is closed"
            )
        reasons = {
            PoolOutcome.BUFFER: True,
            PoolOutcome.EXHAUSTED: self.now_ms >= waiting.deadline_ms,
            PoolOutcome.CLOSED: self._closed,
            PoolOutcome.INTERRUPTED: name in self._interrupted,
            PoolOutcome.OUT_OF_MEMORY: self._faults.get(name) is PoolFault.ALLOCATOR,
            PoolOutcome.METRIC_FAILED: self._faults.get(name) is PoolFault.METRIC,
        }
        self._tally.tests(PoolClause.ENDS_FOR_A_REASON)
        metric_fails = reasons[PoolOutcome.METRIC_FAILED]
        if metric_fails and not is_newcomer and outcome is not PoolOutcome.METRIC_FAILED:
            return PoolClause.ENDS_FOR_A_REASON.broken(
                f"{name!r} ends by {PoolOutcome.METRIC_FAILED}",
                f"{name!r} ended: {outcome}",
                "it has waited, and its metric fails, whatever else ends it (standard 3.11)",
            )
        before = self._faults.get(name) is PoolFault.INTERRUPTED_BEFORE
        if before and outcome is PoolOutcome.EXHAUSTED:
            self._tally.tests(PoolClause.INTERRUPTION_ENDS_THE_WAIT)
            return PoolClause.INTERRUPTION_ENDS_THE_WAIT.broken(
                f"{name!r} ends by {PoolOutcome.INTERRUPTED}",
                f"{name!r} ended: {outcome}",
                "its thread was interrupted before the call, which ends the first wait, also one "
                "without time (standard 3.5)",
            )
        if outcome is PoolOutcome.EXHAUSTED and is_newcomer and self._need_not_wait(name):
            return PoolClause.NO_LOST_WAKE_UP.broken(
                f"{name!r} ends by {PoolOutcome.BUFFER}",
                f"{name!r} ended: {outcome}",
                f"nobody else waits, and {self._left()} bytes are not lent (standard 3.2)",
            )
        if reasons[outcome]:
            return None
        return PoolClause.ENDS_FOR_A_REASON.broken(
            f"{name!r} does not end by {outcome}",
            f"{name!r} ended: {outcome}",
            f"it is {self.now_ms} ms, and its deadline {waiting.deadline_ms} ms",
        )

    def _need_not_wait(self, name: CallId) -> bool:
        """Tell whether nobody else waits, and there is enough for `name` in an open pool."""
        alone = len(self._waiting) == 1
        return alone and not self._closed and self._waiting[name].size <= self._left()

    def _serve(self, name: CallId, *, is_newcomer: bool) -> Violation | None:
        size = self._waiting[name].size
        first = next(iter(self._waiting))
        may_overtake = size == 0 or (is_newcomer and self._barging)
        self._tally.tests(PoolClause.LONGEST_WAITING_FIRST)
        if first != name and not may_overtake:
            return PoolClause.LONGEST_WAITING_FIRST.broken(
                f"{first!r}, which has waited longer, is served before {name!r}",
                f"{name!r} got {size} bytes",
                f"{first!r} waits for {self._waiting[first].size} bytes",
            )
        self._tally.tests(PoolClause.NO_MORE_THAN_TOTAL)
        if size > self._left():
            return PoolClause.NO_MORE_THAN_TOTAL.broken(
                f"at most {self._left()} bytes are lent to {name!r}",
                f"it got {size} bytes",
                f"the rest of {self._total} bytes is lent",
            )
        del self._waiting[name]
        self._lent[name] = size
        return None

    def _count_waits(self, call: PoolCall) -> None:
        """Count the clauses that `call` tests on the calls that wait."""
        if not self._waiting:
            return
        tests = self._tally.tests
        tests(PoolClause.NO_LOST_WAKE_UP)
        if self._closed:
            tests(PoolClause.CLOSE_RELEASES)
        if isinstance(call, Advance):
            tests(PoolClause.WAIT_IS_BOUNDED)
        if self._interrupted & self._waiting.keys():
            tests(PoolClause.INTERRUPTION_ENDS_THE_WAIT)

    def _someone_waits_in_vain(self) -> Violation | None:
        if not self._waiting:
            return None
        first, waiting = next(iter(self._waiting.items()))
        if self._closed:
            return self._still_waits(PoolClause.CLOSE_RELEASES, first, "the pool is closed")
        if waiting.size <= self._left():
            reason = f"it waits for {waiting.size} bytes, and {self._left()} are not lent"
            return self._still_waits(PoolClause.NO_LOST_WAKE_UP, first, reason)
        for name, waiting in self._waiting.items():
            if waiting.deadline_ms <= self.now_ms < waiting.latest_ms:
                self._tally.tests(PoolCapability.EXACT_TIME)
            elif waiting.deadline_ms <= self.now_ms:
                reason = f"its deadline was {waiting.deadline_ms} ms, and it is {self.now_ms} ms"
                return self._still_waits(PoolClause.WAIT_IS_BOUNDED, name, reason)
            if name in self._interrupted:
                clause = PoolClause.INTERRUPTION_ENDS_THE_WAIT
                return self._still_waits(clause, name, "it was interrupted")
        return None

    def _still_waits(self, clause: PoolClause, name: CallId, reason: str) -> Violation:
        return clause.broken(f"{name!r} has ended", f"{name!r} waits", reason)

    def _judge_queue(self, queued: int | None) -> Violation | None:
        if queued is None or not self._tally.tests(PoolClause.WAITERS_ARE_LIVE):
            return None
        if queued == len(self._waiting):
            return None
        return PoolClause.WAITERS_ARE_LIVE.broken(
            f"{len(self._waiting)} threads wait",
            f"queued: {queued}",
            "the queue has a thread that does not wait, or lacks one that does",
        )

    def _judge_memory(self, available: int | None, unallocated: int | None) -> Violation | None:
        if available is None or not self._tally.tests(PoolClause.MEMORY_IS_CONSERVED):
            return None
        # A thread that waits may have gathered less than it needs.
        most = self._left()
        gathered = sum(max(waiting.size - 1, 0) for waiting in self._waiting.values())
        least = max(most - gathered, 0)
        pooled = None if unallocated is None else available - unallocated
        whole = pooled is None or (pooled >= 0 and pooled % self._poolable == 0)
        if least <= available <= most and whole:
            return None
        return PoolClause.MEMORY_IS_CONSERVED.broken(
            f"{least} to {most} bytes available, in the free list whole buffers",
            f"{available} available, {unallocated} of them not in the free list",
            f"of {self._total} bytes {sum(self._lent.values())} are lent",
        )

    def _unallocated_after(self, call: PoolCall) -> int | None:
        """Return what will be no buffer after `call`; None where more than the call decides it."""
        if self._told is None or self._waiting:
            return None
        unallocated = self._told.unallocated
        match call:
            case Deallocate(buffer=name) if name in self._lent:
                size = self._lent[name]
                return unallocated + (0 if size == self._poolable else size)
            case Allocate(size=size):
                if size == self._poolable and self._told.available > unallocated:
                    return unallocated
                broken_up = max(-(-(size - unallocated) // self._poolable), 0)
                return unallocated + broken_up * self._poolable - size
            case _:
                return None

    def _judge_kept(
        self, call: PoolCall, expected: int | None, seen: PoolObservation
    ) -> Violation | None:
        """Judge what has become of the kept buffers (standard 3.2, 3.7)."""
        available, unallocated = seen.available_memory, seen.unallocated_memory
        if available is None or unallocated is None:
            self._told = None
            return None
        self._told = _Told(available, unallocated)
        lent = not isinstance(call, Allocate) or call.buffer in self._lent
        if expected is None or not lent or not self._tally.tests(PoolClause.KEEPS_BUFFERS):
            return None
        if unallocated == expected:
            return None
        return PoolClause.KEEPS_BUFFERS.broken(
            f"{expected} bytes are no buffer",
            f"{unallocated} of {available} bytes available are no buffer",
            f"buffers of {self._poolable} bytes are kept, taken for a request of that size, and "
            "broken up only as needed",
        )

    def _judge_wait_time(self, seen: PoolObservation) -> Violation | None:
        told = seen.wait_time_ns_total, seen.wait_ratio_ppm
        if told == (None, None):
            return None
        self._tally.tests(PoolClause.COUNTS_WAITS)
        return self._wait_times.judge(*told, self.now_ms)

    def _not_refused(self, reason: str) -> Violation:
        return PoolClause.KEEPS_TO_ITS_DOMAIN.broken(
            "the call is refused", "it was carried out", reason
        )
