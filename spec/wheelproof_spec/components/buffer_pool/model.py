"""The sequential specification of a buffer pool: a ledger and a queue, and effects with guards.

`LedgerPool` says what the operations of a pool mean, one effect after the other. Each effect is a
method; where an outcome may be wrong, a guard names the clause that it breaks. FifoAllocator.tla
has the same effects: LendAtOnce is `ask` and `lend`, Enqueue is `ask` and `enqueue`, LendToTheFirst
is `lend`, Leave is `leave`, GiveBack is `give_back`, and Close is `close`.

`oracle` judges driven cases by it. It makes all effects of a call before the next call, in the
order that the observation shows. Then no thread can continue, and whoever waits needs a reason. A
recorded history does not show when a call takes effect: `history.states` has its steps.

The ledger has no free list, and no memory that a waiting thread has gathered: all memory that is
not lent is available to the first call in the queue.
"""

from collections.abc import Mapping
from typing import NamedTuple

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    KAFKA,
    CallId,
    PoolCapability,
    PoolClause,
    PoolConfig,
    PoolFault,
    PoolOutcome,
)


class Request(NamedTuple):
    """An allocation that has asked for `size` bytes, and has not ended."""

    size: int
    deadline_ms: int = 0
    latest_ms: int = 0
    """When it must have ended: a clock that does not count in whole milliseconds may be late."""
    fault: PoolFault | None = None
    interrupted: bool = False
    waits: bool = False
    """Whether it is in the queue for certain; before that it is a newcomer."""


class LedgerPool:
    """A pool on which every effect is instantaneous. The clock moves only by `move_clock`."""

    __slots__ = ("_barging", "_closed", "_config", "_lent", "_now_ms", "_requests", "_tally")

    def __init__(self, config: PoolConfig, profile: str, tally: Tally | None = None) -> None:
        """Make a pool of which nothing is lent, with the contract `profile`.

        `tally` counts the tested clauses; its known limits are not judged.
        """
        self._config = config
        self._barging = profile == KAFKA
        self._tally = tally or Tally()
        self._now_ms = config.start_ms
        self._closed = False
        self._requests: dict[CallId, Request] = {}
        """The allocations that have not ended, the longest-waiting first."""
        self._lent: dict[CallId, int] = {}
        """The size of each buffer that is on loan, in bytes."""

    def __str__(self) -> str:
        lent = ", ".join(f"{buffer} of {size} bytes" for buffer, size in sorted(self._lent.items()))
        sizes = ", ".join(str(request.size) for request in self._requests.values())
        return f"[{lent or 'nothing'} lent; asked for: {sizes or 'nothing'}]"

    @property
    def now_ms(self) -> int:
        """The time that the pool's clock shows, in milliseconds."""
        return self._now_ms

    @property
    def requests(self) -> Mapping[CallId, Request]:
        """The allocations that have not ended, the longest-waiting first."""
        return self._requests

    @property
    def lent(self) -> Mapping[CallId, int]:
        """The size of each buffer that is on loan, in bytes."""
        return self._lent

    @property
    def closed(self) -> bool:
        """Whether the pool lends no more."""
        return self._closed

    def left(self) -> int:
        """Return how many bytes are not lent."""
        return self._config.total_memory - sum(self._lent.values())

    def in_domain(self, size: int) -> bool:
        """Tell whether the pool can ever lend `size` bytes (standard 3.1)."""
        return 0 <= size <= self._config.total_memory

    # Effects that are always right

    def ask(self, call: CallId, request: Request) -> None:
        """Let an allocation begin: it is behind all that have not ended."""
        self._requests[call] = request

    def interrupt(self, call: CallId) -> None:
        """Interrupt an allocation; one that has ended is left alone."""
        request = self._requests.get(call)
        if request is not None:
            self._requests[call] = request._replace(interrupted=True)

    def move_clock(self, to_ms: int) -> None:
        """Move the clock to `to_ms` milliseconds; it never goes back."""
        self._now_ms = max(self._now_ms, to_ms)

    def close(self) -> None:
        """Close the pool."""
        self._closed = True

    def give_back(self, buffer: CallId) -> bool:
        """Take a buffer back, and tell whether it was on loan (standard 3.7)."""
        return self._lent.pop(buffer, None) is not None

    def leave(self, call: CallId) -> None:
        """Let an allocation end without memory; `forbids_end` tells whether it may."""
        del self._requests[call]

    # Effects with guards

    def lend(self, call: CallId, buffer: CallId) -> Violation | None:
        """Lend `buffer` to an allocation; return the violation, if any (standard 3.2, 3.10)."""
        size, tests = self._requests[call].size, self._tally.tests
        may_overtake = size == 0 or (self._barging and not self._requests[call].waits)
        if tests(PoolClause.LONGEST_WAITING_FIRST) and not may_overtake:
            first = next(iter(self._requests))
            if first != call:
                return PoolClause.LONGEST_WAITING_FIRST.broken(
                    f"{first!r}, which has waited longer, is served before {call!r}",
                    f"{call!r} got {size} bytes",
                    f"{first!r} waits for {self._requests[first].size} bytes",
                )
        tests(PoolClause.NO_MORE_THAN_TOTAL)
        left = self.left()
        if size > left:
            return PoolClause.NO_MORE_THAN_TOTAL.broken(
                f"at most {left} bytes are lent to {call!r}",
                f"it got {size} bytes",
                f"the rest of {self._config.total_memory} bytes is lent",
            )
        del self._requests[call]
        self._lent[buffer] = size
        return None

    def enqueue(self, call: CallId) -> Violation | None:
        """Let a newcomer wait: there is too little, or somebody was there before it."""
        in_vain = self._closed or self._need_not_wait(call)
        self._requests[call] = self._requests[call]._replace(waits=True)
        return self._waits_in_vain(call) if in_vain else None

    def forbids_end(self, call: CallId, outcome: PoolOutcome) -> Violation | None:
        """Return why an allocation may not end like this, if so; it changes nothing.

        For a buffer `lend` has more guards.
        """
        tests = self._tally.tests
        request = self._requests.get(call)
        tests(PoolClause.ENDS_ONCE)
        if request is None:
            return PoolClause.ENDS_ONCE.broken(
                f"calls that wait end: {list(self._requests)}",
                f"{call!r} ended: {outcome}",
                f"{call!r} does not wait",
            )
        if self._closed and outcome is PoolOutcome.BUFFER:
            tests(PoolClause.CLOSE_RELEASES)
            return PoolClause.CLOSE_RELEASES.broken(
                f"{call!r} gets no memory", f"{call!r} ended: {outcome}", "the pool is closed"
            )
        tests(PoolClause.ENDS_FOR_A_REASON)
        fails = request.fault is PoolFault.METRIC and request.waits
        if fails and outcome is not PoolOutcome.METRIC_FAILED:
            return PoolClause.ENDS_FOR_A_REASON.broken(
                f"{call!r} ends by {PoolOutcome.METRIC_FAILED}",
                f"{call!r} ended: {outcome}",
                "it has waited, and its metric fails, whatever else ends it (standard 3.11)",
            )
        if outcome is PoolOutcome.EXHAUSTED and (wrong := self._need_not_be_exhausted(call)):
            return wrong
        if self._has_reason(request, outcome):
            return None
        return PoolClause.ENDS_FOR_A_REASON.broken(
            f"{call!r} does not end by {outcome}",
            f"{call!r} ended: {outcome}",
            f"it is {self._now_ms} ms, and its deadline {request.deadline_ms} ms",
        )

    def _need_not_be_exhausted(self, call: CallId) -> Violation | None:
        request, observed = self._requests[call], f"{call!r} ended: {PoolOutcome.EXHAUSTED}"
        if request.fault is PoolFault.INTERRUPTED_BEFORE:
            self._tally.tests(PoolClause.INTERRUPTION_ENDS_THE_WAIT)
            return PoolClause.INTERRUPTION_ENDS_THE_WAIT.broken(
                f"{call!r} ends by {PoolOutcome.INTERRUPTED}",
                observed,
                "its thread was interrupted before the call, which ends the first wait, also one "
                "without time (standard 3.5)",
            )
        if request.waits or self._closed or not self._need_not_wait(call):
            return None
        return PoolClause.NO_LOST_WAKE_UP.broken(
            f"{call!r} ends by {PoolOutcome.BUFFER}",
            observed,
            f"nobody else waits, and {self.left()} bytes are not lent (standard 3.2)",
        )

    def _need_not_wait(self, call: CallId) -> bool:
        """Tell whether nobody else has asked, and there is enough for `call`."""
        return len(self._requests) == 1 and self._requests[call].size <= self.left()

    def _has_reason(self, request: Request, outcome: PoolOutcome) -> bool:
        match outcome:
            case PoolOutcome.BUFFER:
                return True
            case PoolOutcome.EXHAUSTED:
                return self._now_ms >= request.deadline_ms
            case PoolOutcome.CLOSED:
                return self._closed
            case PoolOutcome.INTERRUPTED:
                return request.interrupted
            case PoolOutcome.OUT_OF_MEMORY:
                return request.fault is PoolFault.ALLOCATOR
            case PoolOutcome.METRIC_FAILED:
                return request.fault is PoolFault.METRIC

    # When no thread can continue

    def judge_rest(self) -> Violation | None:
        """Judge, when no thread can continue, whether whoever waits has a reason to."""
        if not self._requests:
            return None
        first, request = next(iter(self._requests.items()))
        if self._closed or request.size <= self.left():
            return self._waits_in_vain(first)
        for call, request in self._requests.items():
            if request.deadline_ms <= self._now_ms < request.latest_ms:
                self._tally.tests(PoolCapability.EXACT_TIME)
            elif request.deadline_ms <= self._now_ms:
                reason = f"its deadline was {request.deadline_ms} ms, and it is {self._now_ms} ms"
                return _still_waits(PoolClause.WAIT_IS_BOUNDED, call, reason)
            if request.interrupted:
                clause = PoolClause.INTERRUPTION_ENDS_THE_WAIT
                return _still_waits(clause, call, "it was interrupted")
        return None

    def _waits_in_vain(self, call: CallId) -> Violation:
        if self._closed:
            return _still_waits(PoolClause.CLOSE_RELEASES, call, "the pool is closed")
        size = self._requests[call].size
        reason = f"it waits for {size} bytes, and {self.left()} are not lent"
        return _still_waits(PoolClause.NO_LOST_WAKE_UP, call, reason)

    def judge_queued(self, queued: int | None) -> Violation | None:
        """Judge how many threads are said to wait."""
        if queued is None or not self._tally.tests(PoolClause.WAITERS_ARE_LIVE):
            return None
        if queued == len(self._requests):
            return None
        return PoolClause.WAITERS_ARE_LIVE.broken(
            f"{len(self._requests)} threads wait",
            f"queued: {queued}",
            "the queue has a thread that does not wait, or lacks one that does",
        )

    def judge_memory(self, available: int | None, unallocated: int | None) -> Violation | None:
        """Judge how much is said to be available, and how much of it to be no buffer, in bytes."""
        if available is None or not self._tally.tests(PoolClause.MEMORY_IS_CONSERVED):
            return None
        # A thread that waits may have gathered less than it needs.
        most = self.left()
        gathered = sum(max(request.size - 1, 0) for request in self._requests.values())
        least = max(most - gathered, 0)
        pooled = 0 if unallocated is None else available - unallocated
        whole = pooled >= 0 and pooled % self._config.poolable_size == 0
        if least <= available <= most and whole:
            return None
        return PoolClause.MEMORY_IS_CONSERVED.broken(
            f"{least} to {most} bytes available, in the free list whole buffers",
            f"{available} available, {unallocated} of them not in the free list",
            f"of {self._config.total_memory} bytes {sum(self._lent.values())} are lent",
        )


def _still_waits(clause: PoolClause, call: CallId, reason: str) -> Violation:
    return clause.broken(f"{call!r} has ended", f"{call!r} waits", reason)
