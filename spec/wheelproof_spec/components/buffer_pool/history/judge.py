"""Judges the history of a buffer pool by a sweep over its ledger (standard 3).

Between the return of `allocate` and the invocation of `deallocate` memory is lent for certain; from
the invocation of `allocate` to the return of `deallocate` it may be lent. An order of effects that
never lends more than the total exists exactly if the memory lent for certain never exceeds it: let
every allocation take effect as late as possible and every deallocation as early as possible. A
refusal for exhausted memory needs a moment at which memory was exhausted, or other waiting threads.
"""

from collections import Counter

from wheelproof_spec.base.calls import AvailableMemory, Close, Interrupt, Memory
from wheelproof_spec.base.history.clock import NEVER, MonotonicClock
from wheelproof_spec.base.history.judging import CLOSED, EXHAUSTED, ILLEGAL, INTERRUPTED
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolClause,
    PoolConfig,
    Queued,
    WaitingThreads,
)
from wheelproof_spec.components.buffer_pool.history.loans import Ledger, Loans
from wheelproof_spec.components.buffer_pool.history.queue import BusyPeriod, Request, WaitingQueue
from wheelproof_spec.components.buffer_pool.model import can_ever_lend


class PoolHistoryJudge:
    """The judge that returns, event by event, the first violation."""

    goes_on_after = frozenset(PoolClause)

    def __init__(
        self, config: PoolConfig, clock: MonotonicClock | None, tally: Tally, *, in_turn: bool
    ) -> None:
        """Begin; without a real clock the lengths of waits are not judged.

        `in_turn` says that a new caller must queue behind the threads that wait.
        """
        self._tests = tally.tests
        self._clock = clock
        self._total = config.total_memory
        self._ledger = Ledger(config.total_memory)
        self._loans = Loans(self._ledger, tally)
        self._requests: dict[int, Request] = {}
        self._closes = 0
        """The calls of close that have begun, and have not been refused."""
        self._closed: int | None = None
        self._busy = BusyPeriod()
        self._undecided = 0
        self._exhausted = 0
        self._queue = WaitingQueue(tally, in_turn=in_turn)
        self._in_turn = in_turn
        self._interrupts: Counter[str] = Counter()
        """The interruptions of each process that no call has reported yet."""

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """Record that a call began."""
        value = op.value
        if isinstance(value, Allocate):
            self._request(op, value)
        elif isinstance(value, Deallocate):
            self._loans.begins_to_return(op.index, value)
        elif isinstance(value, AvailableMemory):
            self._ledger.begin_read(op.index)
        elif isinstance(value, Queued):
            self._queue.begin_read(op.index)
        elif isinstance(value, Interrupt):
            self._interrupts[value.name] += 1
        elif isinstance(value, Close):
            self._closes += 1
        return None

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Ignore the end of an event that is not a call: no rule depends on it."""
        del op
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call returned with an answer."""
        value, answer = asked.value, op.value
        if isinstance(value, Allocate):
            assert isinstance(answer, Allocated)
            wrong = self._lend(asked, value, answer)
            self._loans.answered(asked.index)
            left = self._total - self._ledger.certain
            overtaken = self._queue.granted(asked.index, op.index, left)
            return wrong or overtaken or self._loans.judge_strange()
        if isinstance(value, Deallocate):
            return self._loans.returned(asked.index, value)
        if isinstance(answer, Memory):
            return self._judge_read(asked.index, answer.size)
        if isinstance(answer, WaitingThreads):
            return self._queue.end_read(asked.index, op.index, answer.count)
        if isinstance(value, Close) and self._closed is None:
            self._closed = op.index
        return None

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call was refused and had no effect."""
        value = asked.value
        if isinstance(value, Allocate):
            request = self._requests.pop(asked.index)
            self._ledger.change(0, -request.size)
            overtaken = self._queue.refused(asked.index)
            wrong = self._judge_refusal(request, value, op)
            self._loans.answered(asked.index)
            return wrong or overtaken or self._loans.judge_strange()
        if isinstance(value, Deallocate):
            return self._loans.refused(asked, value)
        if isinstance(value, Close):
            self._closes -= 1
        if isinstance(value, Interrupt):
            self._interrupts[value.name] -= 1
        self._forget_read(asked.index)
        return None

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Record that a call's outcome is unknown: its memory may stay lent for ever."""
        del op
        request = self._requests.pop(asked.index, None)
        if request is not None:
            self._granted(request)
            self._queue.ends(asked.index)
        self._forget_read(asked.index)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """End the history; every loan may still be out."""
        del end, index
        # An answer with its own violation may have excluded the last call that may own a buffer.
        return self._loans.judge_strange()

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return notes on what was not judged."""
        del end
        found: list[str] = []
        if not self._in_turn:
            found.append("who among those who wait is served first was not judged")
        elif not self._queue.tested:
            found.append(
                "nobody is known to have waited before others were served or refused: who is "
                "served first was not judged"
            )
        if self._undecided:
            found.append(
                f"{self._undecided} of {self._exhausted} refusals for exhausted memory depend on "
                "when overlapping returns took effect; they were taken to be right"
            )
        return tuple(found)

    def _request(self, op: HistoryOp[object], value: Allocate) -> None:
        ledger, clock = self._ledger, self._clock
        until = -NEVER
        if clock is not None:
            clock.at(op.time_ns)
            until = clock.least + value.max_time_to_block_ms
        alone = not self._requests
        size = value.size if self._is_possible(value) else 0
        mine = Request(op.index, size, ledger.certain, ledger.possible, until, alone)
        for other in self._requests.values():
            other.alone = False
        self._requests[op.index] = mine
        self._loans.asks(op.index, size)
        # What is 0 bytes, or can never be lent, does not wait.
        if size:
            self._queue.asks(op.index, size)
        ledger.change(0, size)

    def _is_possible(self, value: Allocate) -> bool:
        return can_ever_lend(self._total, value.size, value.max_time_to_block_ms)

    def _granted(self, request: Request) -> None:
        """Record that a request got memory; all other open requests may have waited behind it."""
        if not request.size:
            # Nobody waits behind 0 bytes.
            self._end_busy_period()
            return
        certain = self._ledger.certain
        for other in self._requests.values():
            other.met_grant = True
            other.certain = max(other.certain, certain)
        busy = self._busy
        busy.excused = True
        busy.refused = [index for index in busy.refused if index < request.call]
        self._end_busy_period()

    def _end_busy_period(self) -> bool:
        """End the period if no request is open; return whether it has unexplained refusals."""
        if self._requests:
            return False
        busy, self._busy = self._busy, BusyPeriod()
        if busy.excused:
            self._undecided += len(busy.refused)
            return False
        return bool(busy.refused)

    def _lend(
        self, asked: HistoryOp[object], value: Allocate, answer: Allocated
    ) -> Violation | None:
        ledger, call = self._ledger, asked.index
        request = self._requests.pop(call)
        wrong = self._wrongly_lent(call, value, answer)
        ledger.change(0, max(answer.size, value.size) - request.size)
        self._loans.lent(asked, value.size, answer.buffer, disputed=wrong is not None)
        self._granted(request)
        if wrong is not None:
            return wrong
        self._tests(PoolClause.NO_MORE_THAN_TOTAL)
        if ledger.certain > self._total:
            return PoolClause.NO_MORE_THAN_TOTAL.broken(
                f"at most {self._total} bytes are lent",
                f"at least {ledger.certain} bytes are lent",
                f"{answer.buffer!r} of {value.size} bytes was lent, though at most "
                f"{self._total - ledger.certain + value.size} bytes can have been left",
            )
        if not self._is_possible(value):
            self._tests(PoolClause.KEEPS_TO_ITS_DOMAIN)
            return PoolClause.KEEPS_TO_ITS_DOMAIN.broken(
                "the allocation is refused",
                f"{answer.buffer!r} was lent",
                f"{answer.buffer!r} was lent to a call that may wait {value.max_time_to_block_ms} "
                "ms, which is no valid limit (standard 6.1)",
            )
        if not self._came_after_close(call):
            return None
        return PoolClause.CLOSE_RELEASES.broken(
            "the allocation is refused",
            f"{answer.buffer!r} was lent",
            f"{answer.buffer!r} was lent to a call that began after close had returned",
        )

    def _wrongly_lent(self, call: int, value: Allocate, answer: Allocated) -> Violation | None:
        self._tests(PoolClause.LENDS_WHAT_WAS_ASKED)
        if answer.size != value.size:
            return PoolClause.LENDS_WHAT_WAS_ASKED.broken(
                f"a buffer of {value.size} bytes",
                f"{answer.buffer!r} of {answer.size} bytes",
                f"{answer.buffer!r} has {answer.size} bytes, but {value.size} were asked for",
            )
        self._tests(PoolClause.LENDS_ONCE)
        if not self._loans.excludes(call, answer.buffer):
            return None
        return PoolClause.LENDS_ONCE.broken(
            f"a buffer that is not lent, so not {answer.buffer!r}",
            f"{answer.buffer!r} was lent again",
            f"{answer.buffer!r} was lent again before it was given back",
        )

    def _came_after_close(self, call: int) -> bool:
        """Tell whether an allocation began after close had returned: it must be refused."""
        if self._closed is None or self._closed > call:
            return False
        return self._tests(PoolClause.CLOSE_RELEASES)

    def _judge_refusal(
        self, request: Request, value: Allocate, op: HistoryOp[object]
    ) -> Violation | None:
        self._tests(PoolClause.ENDS_FOR_A_REASON)
        self._tests(PoolClause.KEEPS_TO_ITS_DOMAIN)
        after_close = self._came_after_close(request.call)
        is_possible = self._is_possible(value)
        if op.error == EXHAUSTED and is_possible:
            wrong = self._judge_exhausted(request, op.index) or self._gave_up_early(request, op)
            return wrong or (_untold() if after_close else None)
        self._busy.excused = self._busy.excused or is_possible
        self._end_busy_period()
        if not is_possible:
            return _not_refused_at_once(value, op.error)
        clause = PoolClause.ENDS_FOR_A_REASON
        if op.error == CLOSED and not self._closes:
            observed = "refused because the pool is closed"
            reason = f"an allocation of {request.size} bytes was refused as closed, but nobody had "
            reason += "called close"
        elif op.error == INTERRUPTED and not self._interrupts[op.process]:
            observed = "the call ended as if its thread had been interrupted"
            reason = f"a call of {op.process!r} ended as interrupted, but no interrupt of "
            reason += f"{op.process!r} was left for it"
        elif op.error == ILLEGAL:
            clause = PoolClause.KEEPS_TO_ITS_DOMAIN
            observed = "refused as too much"
            reason = f"an allocation of {request.size} bytes was refused as too much, but the pool "
            reason += f"has {self._total} bytes"
        else:
            self._interrupts[op.process] -= op.error == INTERRUPTED
            return None
        expected = f"{request.size} bytes are lent"
        return clause.broken(expected, observed, reason)

    def _judge_exhausted(self, request: Request, index: int) -> Violation | None:
        self._exhausted += 1
        self._tests(PoolClause.NO_LOST_WAKE_UP)
        busy = self._busy
        if not request.size:
            return PoolClause.NO_LOST_WAKE_UP.broken(
                "0 bytes are lent",
                "refused because memory is exhausted",
                "an allocation of 0 bytes was refused as exhausted, but never needs to wait "
                "(standard 3.1)",
            )
        if request.met_grant or request.certain + request.size > self._total:
            busy.excused = True
        else:
            busy.refused.append(index)
            # Deallocations that were under way when the request began may have taken effect late.
            busy.excused = busy.excused or request.possible + request.size > self._total
        if not self._end_busy_period():
            return None
        others = "nobody else asked" if request.alone else "all others were refused as well"
        return PoolClause.NO_LOST_WAKE_UP.broken(
            f"{request.size} bytes are lent",
            "refused because memory is exhausted",
            f"an allocation of {request.size} bytes was refused as exhausted, but at most "
            f"{request.possible} of {self._total} bytes can have been lent, and {others}",
        )

    def _gave_up_early(self, request: Request, op: HistoryOp[object]) -> Violation | None:
        clock = self._clock
        if clock is None:
            return None
        clock.at(op.time_ns)
        self._tests(PoolClause.WAIT_IS_BOUNDED)
        if clock.high >= request.patient_until_ms:
            return None
        return PoolClause.WAIT_IS_BOUNDED.broken(
            f"the allocation of {request.size} bytes waits until its limit",
            f"refused {request.patient_until_ms - clock.high} ms earlier, or more",
            f"an allocation of {request.size} bytes gave up at least "
            f"{request.patient_until_ms - clock.high} ms before its limit (standard 3.3, 7)",
        )

    def _forget_read(self, call: int) -> None:
        self._ledger.reads.pop(call, None)
        self._queue.forget_read(call)

    def _judge_read(self, call: int, size: int) -> Violation | None:
        least, most = self._ledger.reads.pop(call)
        self._tests(PoolClause.MEMORY_IS_CONSERVED)
        if least <= size <= most:
            return None
        return PoolClause.MEMORY_IS_CONSERVED.broken(
            f"{least} to {most} bytes are available",
            f"{size} bytes are available",
            f"available_memory() returned {size}; with what is lent that is not the total of "
            f"{self._total} bytes",
        )


def _untold() -> Violation:
    return PoolClause.CLOSE_RELEASES.broken(
        "the allocation is refused since the pool is closed",
        "refused because memory is exhausted",
        "an allocation began after close had returned, and was told that memory is exhausted",
    )


def _not_refused_at_once(value: Allocate, error: object) -> Violation | None:
    """Return the violation if what can never be lent was refused for what comes later."""
    if error not in (EXHAUSTED, CLOSED, INTERRUPTED):
        return None
    return PoolClause.KEEPS_TO_ITS_DOMAIN.broken(
        f"refused as {ILLEGAL}",
        f"refused as {error}",
        f"an allocation of {value.size} bytes within {value.max_time_to_block_ms} ms can never be "
        f"served, but was refused as {error} (standard 3.1)",
    )
