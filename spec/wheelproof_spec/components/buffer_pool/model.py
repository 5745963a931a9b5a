"""The sequential specification of a buffer pool: a ledger with a queue, and effects with guards.

`LedgerPool` is the one place that says what the operations of a pool mean. Each effect is a method;
where an outcome may be wrong, a guard names the clause that it breaks. FifoAllocator.tla has the
same effects: LendAtOnce is `ask` and `lend`, Enqueue is `ask` and `enqueue`, LendToTheFirst is
`lend`, Leave is `leave`, GiveBack is `give_back`, and Close is `close`. It has two uses:

- `oracle` judges driven cases. It makes all effects of a call before the next call, in the order
  that the observation shows. Then no thread can continue, and whoever waits needs a reason.
- `history.search` looks for an order of the effects of calls that overlap: there the effects of the
  calls take turns. Between `reserve` and `lend` others see that the memory is gone.

Its state, and the effects that are always right, are in `ledger`.
"""

from typing import Self

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
from wheelproof_spec.components.buffer_pool.ledger import Ledger, Request

_LONGEST_MS = 2**62 - 1


def can_ever_lend(total: int, size: int, limit_ms: int) -> bool:
    """Tell whether a pool of `total` bytes may lend `size` bytes within a limit (3.1, 6.1)."""
    return 0 <= size <= total and limit_ms <= _LONGEST_MS


class LedgerPool(Ledger):
    """A pool on which every effect is instantaneous. The clock moves only by `move_clock`."""

    __slots__ = ("_barging", "_config", "_tally")

    def __init__(self, config: PoolConfig, profile: str, tally: Tally | None = None) -> None:
        """Make a pool of which nothing is lent, with the contract `profile`.

        `tally` counts the tested clauses; its known limits are not judged.
        """
        super().__init__(config.total_memory, config.start_ms)
        self._config = config
        self._barging = profile == KAFKA
        self._tally = tally or Tally()

    def copy(self, tally: Tally | None = None) -> Self:
        """Return a pool in the same state; it counts in `tally`, by default in this one's."""
        other = super().copy()
        other._config, other._barging = self._config, self._barging
        other._tally = tally or self._tally
        return other

    # Effects with guards

    def reserve(self, call: CallId) -> Violation | None:
        """Make memory an allocation's own; return the violation, if any (standard 3.2, 3.10)."""
        size, tests = self._requests[call].size, self._tally.tests
        may_overtake = size == 0 or (self._barging and not self._requests[call].waits)
        if tests(PoolClause.LONGEST_WAITING_FIRST) and not may_overtake:
            first = next(iter(self._requests))
            if first != call:
                return PoolClause.LONGEST_WAITING_FIRST.broken(
                    f"{first!r}, which has waited longer, is served before {call!r}",
                    f"{call!r} got {size} bytes",
                    f"{call!r} got {size} bytes while {first!r}, which asked before it, waits for "
                    f"{self._requests[first].size}",
                )
        tests(PoolClause.NO_MORE_THAN_TOTAL)
        if size > self._left:
            return PoolClause.NO_MORE_THAN_TOTAL.broken(
                f"at most {self._left} bytes are lent to {call!r}",
                f"it got {size} bytes",
                f"{call!r} got {size} bytes, but only {self._left} of {self._config.total_memory} "
                "were not lent",
            )
        del self._requests[call]
        self._reserved = {**self._reserved, call: size}
        self._left -= size
        return None

    def lend(self, call: CallId, buffer: str, borrower: str = "") -> Violation | None:
        """Lend `buffer` to an allocation, which reserves its memory now if it has not yet."""
        wrong = None if call in self._reserved else self.reserve(call)
        if wrong is None:
            self._lend(call, buffer, borrower)
        return wrong

    def enqueue(self, call: CallId) -> Violation | None:
        """Let a newcomer wait: there is too little, or somebody was there before it."""
        need_not_wait = self._need_not_wait(call)
        self._requests[call] = self._requests[call]._replace(waits=True)
        if self._is_shut:
            return self._waits_in_vain(call)
        if need_not_wait and not self._tally.skips(PoolClause.NO_LOST_WAKE_UP):
            return self._waits_in_vain(call)
        return None

    @property
    def _is_shut(self) -> bool:
        return self._closed and not self._tally.skips(PoolClause.CLOSE_RELEASES)

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
                f"{call!r} ended, but no such call was waiting",
            )
        if self._is_shut and outcome is PoolOutcome.BUFFER:
            tests(PoolClause.CLOSE_RELEASES)
            return PoolClause.CLOSE_RELEASES.broken(
                f"{call!r} gets no memory",
                f"{call!r} ended: {outcome}",
                f"{call!r} got memory of a closed pool",
            )
        tests(PoolClause.ENDS_FOR_A_REASON)
        fails = request.fault is PoolFault.METRIC and request.waits
        if fails and outcome is not PoolOutcome.METRIC_FAILED:
            return PoolClause.ENDS_FOR_A_REASON.broken(
                f"{call!r} ends by {PoolOutcome.METRIC_FAILED}",
                f"{call!r} ended: {outcome}",
                f"{call!r} has waited and its metric fails, but it ended by {outcome} "
                "(standard 3.11)",
            )
        if outcome is PoolOutcome.EXHAUSTED and (wrong := self._need_not_be_exhausted(call)):
            return wrong
        if self._has_reason(request, outcome):
            return self._hides_the_close(call, request, outcome)
        return PoolClause.ENDS_FOR_A_REASON.broken(
            f"{call!r} does not end by {outcome}",
            f"{call!r} ended: {outcome}",
            f"{call!r} ended by {outcome} at {self._now_ms} ms without a reason; its deadline is "
            f"{request.deadline_ms} ms",
        )

    def _need_not_be_exhausted(self, call: CallId) -> Violation | None:
        request, observed = self._requests[call], f"{call!r} ended: {PoolOutcome.EXHAUSTED}"
        if request.fault is PoolFault.INTERRUPTED_BEFORE:
            self._tally.tests(PoolClause.INTERRUPTION_ENDS_THE_WAIT)
            return PoolClause.INTERRUPTION_ENDS_THE_WAIT.broken(
                f"{call!r} ends by {PoolOutcome.INTERRUPTED}",
                observed,
                f"the thread of {call!r} was interrupted before the call, but the call was told "
                "that memory is exhausted (standard 3.5)",
            )
        if request.waits or self._closed or not self._need_not_wait(call):
            return None
        return PoolClause.NO_LOST_WAKE_UP.broken(
            f"{call!r} ends by {PoolOutcome.BUFFER}",
            observed,
            f"{call!r} was told that memory is exhausted, but {self._left} bytes are not lent, and "
            "nobody else waits (standard 3.2)",
        )

    def _hides_the_close(
        self, call: CallId, request: Request, outcome: PoolOutcome
    ) -> Violation | None:
        """Return the violation if a call of a closed pool is told that its time is out (3.8)."""
        may_come_before = request.waits and self._may_be_late(request)
        if outcome is not PoolOutcome.EXHAUSTED or not self._is_shut or may_come_before:
            return None
        self._tally.tests(PoolClause.CLOSE_RELEASES)
        return PoolClause.CLOSE_RELEASES.broken(
            f"{call!r} ends by {PoolOutcome.CLOSED}",
            f"{call!r} ended: {outcome}",
            f"{call!r} was told that its time is over, but the pool is closed",
        )

    def _may_be_late(self, request: Request) -> bool:
        """Tell whether the time of a request is out, and a coarse clock may not show it yet."""
        return request.deadline_ms <= self._now_ms < request.latest_ms

    def _need_not_wait(self, call: CallId) -> bool:
        """Tell whether nobody else has asked, and there is enough for `call`; 0 bytes never wait.

        That is standard 3.1 and 3.2.
        """
        size = self._requests[call].size
        return size == 0 or (len(self._requests) == 1 and size <= self._left)

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
        if self._is_shut or request.size <= self._left:
            return self._waits_in_vain(first)
        for call, request in self._requests.items():
            if self._may_be_late(request):
                self._tally.tests(PoolCapability.EXACT_TIME)
            elif request.deadline_ms <= self._now_ms:
                reason = f"its deadline was {request.deadline_ms} ms, and it is {self._now_ms} ms"
                return _still_waits(PoolClause.WAIT_IS_BOUNDED, call, reason)
            if request.interrupted:
                clause = PoolClause.INTERRUPTION_ENDS_THE_WAIT
                return _still_waits(clause, call, "its thread was interrupted")
        return None

    def may_rest(self) -> bool:
        """Tell whether whoever waits has a reason to, or one whose absence is not judged."""
        wrong = self.judge_rest()
        return wrong is None or self._tally.skips(wrong.rule)

    def _waits_in_vain(self, call: CallId) -> Violation:
        if self._is_shut:
            return _still_waits(PoolClause.CLOSE_RELEASES, call, "the pool is closed")
        size = self._requests[call].size
        reason = f"it needs {size} bytes, and {self._left} are not lent"
        return _still_waits(PoolClause.NO_LOST_WAKE_UP, call, reason)

    def judge_queued(self, queued: int | None) -> Violation | None:
        """Judge how many threads are said to wait."""
        if queued is None or not self._tally.tests(PoolClause.WAITERS_ARE_LIVE):
            return None
        if queued == len(self._requests):
            return None
        return PoolClause.WAITERS_ARE_LIVE.broken(
            f"{len(self._requests)} threads wait",
            f"{queued} threads wait",
            f"queued() returned {queued}, but {len(self._requests)} threads wait: "
            f"{', '.join(map(repr, self._requests)) or 'none'}",
        )

    def judge_memory(self, available: int | None, unallocated: int | None) -> Violation | None:
        """Judge how much is said to be available, and how much of it to be no buffer, in bytes."""
        if available is None or not self._tally.tests(PoolClause.MEMORY_IS_CONSERVED):
            return None
        # The first of the line, and nobody else, may have gathered less than it needs (3.3).
        most = self._left
        first = next(iter(self._requests.values()), None)
        gathered = 0 if first is None else max(first.size - 1, 0)
        least = max(most - gathered, 0)
        pooled = 0 if unallocated is None else available - unallocated
        whole = pooled >= 0 and pooled % self._config.poolable_size == 0
        if least <= available <= most and whole:
            return None
        return PoolClause.MEMORY_IS_CONSERVED.broken(
            f"{least} to {most} bytes available, in the free list whole buffers",
            f"{available} available, {unallocated} of them not in the free list",
            f"the pool reports {available} bytes available, but {self._config.total_memory - most} "
            f"of {self._config.total_memory} are lent",
        )


def _still_waits(clause: PoolClause, call: CallId, reason: str) -> Violation:
    why = f"{call!r} still waits, though {reason}"
    return clause.broken(f"{call!r} has ended", f"{call!r} waits", why)
