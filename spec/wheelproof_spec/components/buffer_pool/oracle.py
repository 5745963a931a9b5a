"""The oracle's pool: a ledger of bytes and a queue of those who wait.

It knows nothing of free lists and of parts that a waiting thread has gathered: what is not lent can
be had, by the first in the queue. After each call it is told which calls have ended, and how, once
nobody can go on; it answers whether the contract allows that. TLA+: FifoAllocator.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from wheelproof_spec.base.violation import Violation

CallKey = TypeVar("CallKey", bound=Hashable)


class PoolClause(StrEnum):
    """What a pool is judged by; a violation names one of them as its rule."""

    ENDS_ONCE = "BufferPool.CallEndsOnce"
    ENDS_FOR_A_REASON = "BufferPool.CallEndsForAReason"
    LONGEST_WAITING_FIRST = "BufferPool.LongestWaitingFirst"
    NO_MORE_THAN_TOTAL = "BufferPool.LendsNoMoreThanTheTotal"
    NO_LOST_WAKE_UP = "BufferPool.NobodyWaitsForWhatIsThere"
    WAIT_IS_BOUNDED = "BufferPool.WaitIsBounded"
    CLOSE_RELEASES = "BufferPool.CloseReleasesEveryone"
    INTERRUPTION_ENDS_THE_WAIT = "BufferPool.InterruptionEndsTheWait"
    MEMORY_IS_CONSERVED = "BufferPool.MemoryIsConserved"
    WAITERS_ARE_LIVE = "BufferPool.WaitersAreLiveThreads"
    KEEPS_TO_ITS_DOMAIN = "BufferPool.KeepsToItsDomain"


class PoolOutcome(StrEnum):
    """How an allocation ended."""

    BUFFER = "buffer"
    EXHAUSTED = "exhausted"
    CLOSED = "closed"
    INTERRUPTED = "interrupted"
    OUT_OF_MEMORY = "out_of_memory"
    METRIC_FAILED = "metric_failed"


class PoolFault(StrEnum):
    """What goes wrong in an allocation because the test wants it to."""

    ALLOCATOR = "allocator"
    METRIC = "metric"
    INTERRUPTED_BEFORE = "interrupted_before"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolContract:
    """What a pool promises beyond conservation; with `barging` newcomers may go first."""

    name: str
    barging: bool


LONGEST_WAITING_FIRST = PoolContract(name="longest-waiting-first", barging=False)
"""The reference, and the promise of Kafka's documentation (semantics.md 3.10)."""

KAFKA_POOL = PoolContract(name="kafka", barging=True)
"""Kafka: a newcomer is served if there is enough for it, whoever waits (semantics.md 3.2)."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    size: int
    deadline_ms: int


class LedgerPool(Generic[CallKey]):
    """A pool on which every operation is instantaneous; calls have names of any hashable type."""

    def __init__(
        self, *, total_memory: int, poolable_size: int, start_ms: int, contract: PoolContract
    ) -> None:
        """Make a pool of `total_memory` bytes whose clock shows `start_ms` milliseconds."""
        self._total = total_memory
        self._poolable = poolable_size
        self._contract = contract
        self._closed = False
        self._waiting: dict[CallKey, _Waiting] = {}
        self._lent: dict[CallKey, int] = {}
        self._interrupted: set[CallKey] = set()
        self._faults: dict[CallKey, PoolFault] = {}
        self._newcomer: CallKey | None = None
        self.now_ms = start_ms

    def in_domain(self, size: int) -> bool:
        """Tell whether a pool can ever lend `size` bytes (semantics.md 3.1)."""
        return 0 <= size <= self._total

    def waiting(self) -> tuple[CallKey, ...]:
        """Return the calls that wait, the longest-waiting first."""
        return tuple(self._waiting)

    def lent(self) -> tuple[CallKey, ...]:
        """Return the calls whose buffers have not come back."""
        return tuple(self._lent)

    def allocate(self, call: CallKey, size: int, timeout_ms: int, fault: PoolFault | None) -> None:
        """A call asks for `size` bytes."""
        self._waiting[call] = _Waiting(size, self.now_ms + timeout_ms)
        self._newcomer = call
        if fault is not None:
            self._faults[call] = fault
        if fault is PoolFault.INTERRUPTED_BEFORE:
            self._interrupted.add(call)

    def deallocate(self, call: CallKey) -> bool:
        """The buffer of a call comes back; tells whether it was on loan."""
        return self._lent.pop(call, None) is not None

    def interrupt(self, call: CallKey) -> None:
        """The thread of a call is interrupted."""
        self._interrupted.add(call)

    def advance_to(self, time_ms: int) -> None:
        """Move the clock to `time_ms` milliseconds."""
        self.now_ms = max(self.now_ms, time_ms)

    def close(self) -> None:
        """The pool is closed."""
        self._closed = True

    def observe(self, ended: Mapping[CallKey, PoolOutcome]) -> Violation | None:
        """Take note of the calls that ended since the last one, nobody being able to go on.

        Returns the first rule that is broken, or None.
        """
        newcomer, self._newcomer = self._newcomer, None
        for call, outcome in ended.items():
            violation = self._why_not(call, outcome)
            if violation is not None:
                return violation
        for call, outcome in ended.items():
            if outcome is not PoolOutcome.BUFFER:
                del self._waiting[call]
        for call in tuple(self._waiting):
            if call in ended:
                violation = self._serve(call, is_newcomer=call == newcomer)
                if violation is not None:
                    return violation
        return self._someone_waits_in_vain()

    def observe_gauges(
        self, available: int | None, unallocated: int | None, queued: int | None
    ) -> Violation | None:
        """Compare what the pool says of itself with the ledger; None is: not told."""
        if queued is not None and queued != len(self._waiting):
            return Violation(
                rule=PoolClause.WAITERS_ARE_LIVE,
                expected=f"{len(self._waiting)} threads wait",
                observed=f"queued: {queued}",
                reason="the queue has a thread that does not wait, or lacks one that does",
            )
        if available is None:
            return None
        # A thread that waits may have gathered less than it needs.
        most = self._left()
        gathered = sum(max(waiting.size - 1, 0) for waiting in self._waiting.values())
        least = max(most - gathered, 0)
        pooled = None if unallocated is None else available - unallocated
        whole = pooled is None or (pooled >= 0 and pooled % self._poolable == 0)
        if least <= available <= most and whole:
            return None
        return Violation(
            rule=PoolClause.MEMORY_IS_CONSERVED,
            expected=f"{least} to {most} bytes available, in the free list whole buffers",
            observed=f"{available} available, {unallocated} of them not in the free list",
            reason=f"of {self._total} bytes {sum(self._lent.values())} are lent",
        )

    def _left(self) -> int:
        return self._total - sum(self._lent.values())

    def _why_not(self, call: CallKey, outcome: PoolOutcome) -> Violation | None:
        waiting = self._waiting.get(call)
        if waiting is None:
            return Violation(
                rule=PoolClause.ENDS_ONCE,
                expected=f"calls that wait end: {list(self._waiting)}",
                observed=f"{call!r} ended: {outcome}",
                reason=f"{call!r} does not wait",
            )
        reasons = {
            PoolOutcome.BUFFER: True,
            PoolOutcome.EXHAUSTED: self.now_ms >= waiting.deadline_ms,
            PoolOutcome.CLOSED: self._closed,
            PoolOutcome.INTERRUPTED: call in self._interrupted,
            PoolOutcome.OUT_OF_MEMORY: self._faults.get(call) is PoolFault.ALLOCATOR,
            PoolOutcome.METRIC_FAILED: self._faults.get(call) is PoolFault.METRIC,
        }
        if reasons[outcome]:
            return None
        return Violation(
            rule=PoolClause.ENDS_FOR_A_REASON,
            expected=f"{call!r} does not end by {outcome}",
            observed=f"{call!r} ended: {outcome}",
            reason=f"it is {self.now_ms} ms, and its deadline {waiting.deadline_ms} ms",
        )

    def _serve(self, call: CallKey, *, is_newcomer: bool) -> Violation | None:
        size = self._waiting[call].size
        first = next(iter(self._waiting))
        may_overtake = size == 0 or (is_newcomer and self._contract.barging)
        if first != call and not may_overtake:
            return Violation(
                rule=PoolClause.LONGEST_WAITING_FIRST,
                expected=f"{first!r}, which has waited longer, is served before {call!r}",
                observed=f"{call!r} got {size} bytes",
                reason=f"{first!r} waits for {self._waiting[first].size} bytes",
            )
        if size > self._left():
            return Violation(
                rule=PoolClause.NO_MORE_THAN_TOTAL,
                expected=f"at most {self._left()} bytes are lent to {call!r}",
                observed=f"it got {size} bytes",
                reason=f"the rest of {self._total} bytes is lent",
            )
        del self._waiting[call]
        self._lent[call] = size
        return None

    def _someone_waits_in_vain(self) -> Violation | None:
        if not self._waiting:
            return None
        first, waiting = next(iter(self._waiting.items()))
        if self._closed:
            return self._still_waits(PoolClause.CLOSE_RELEASES, first, "the pool is closed")
        if waiting.size <= self._left():
            reason = f"it waits for {waiting.size} bytes, and {self._left()} are not lent"
            return self._still_waits(PoolClause.NO_LOST_WAKE_UP, first, reason)
        for call, waiting in self._waiting.items():
            if waiting.deadline_ms <= self.now_ms:
                reason = f"its deadline was {waiting.deadline_ms} ms, and it is {self.now_ms} ms"
                return self._still_waits(PoolClause.WAIT_IS_BOUNDED, call, reason)
            if call in self._interrupted:
                reason = "it was interrupted"
                return self._still_waits(PoolClause.INTERRUPTION_ENDS_THE_WAIT, call, reason)
        return None

    def _still_waits(self, clause: PoolClause, call: CallKey, reason: str) -> Violation:
        return Violation(
            rule=clause, expected=f"{call!r} has ended", observed=f"{call!r} waits", reason=reason
        )
