"""Judges the history of a buffer pool by a sweep over its ledger (semantics.md 3).

Between the return of `allocate` and the invocation of `deallocate` memory is lent for certain; from
the invocation of the one to the return of the other it may be. An order of effects that never lends
more than there is exists exactly if what is lent for certain never exceeds the total: let every
allocation take effect as late as it can and every return as early. Who was told that memory is
exhausted needs a moment at which it was, or others who wait.
"""

from wheelproof_spec.base.history.clock import NEVER, MonotonicClock
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.buffer_pool.events import (
    AllocateAnswer,
    AllocateAsked,
    DeallocateAsked,
    MemoryAnswer,
    PoolSettings,
)
from wheelproof_spec.components.buffer_pool.history.ledger import BusyPeriod, Ledger, Loan, Request

CLOSED = "Closed"
EXHAUSTED = "Exhausted"
TOO_LARGE = "IllegalArgument"


class PoolHistoryJudge:
    """Answers, event by event, which rule is broken first."""

    def __init__(self, settings: PoolSettings, clock: MonotonicClock | None) -> None:
        """Begin; without a real clock, how long anybody waited is not judged."""
        self._clock = clock
        self._total = settings.total
        self._ledger = Ledger(settings.total)
        self._loans: dict[str, Loan] = {}
        self._returns: dict[int, Loan | None] = {}
        self._requests: dict[int, Request] = {}
        self._closing: int | None = None
        self._closed: int | None = None
        self._busy = BusyPeriod()
        self._undecided = 0
        self._exhausted = 0

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """A call begins."""
        value = op.value
        if isinstance(value, AllocateAsked):
            self._request(op, value)
        elif isinstance(value, DeallocateAsked):
            self._begin_return(op.index, value)
        elif op.f == "available_memory":
            self._ledger.look(op.index)
        elif self._closing is None:
            self._closing = op.index
        return None

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Something that happened is over: nothing depends on that."""
        del op
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call returned with an answer."""
        value, answer = asked.value, op.value
        if isinstance(value, AllocateAsked):
            assert isinstance(answer, AllocateAnswer)
            return self._lend(asked.index, value, answer)
        if isinstance(value, DeallocateAsked):
            return self._end_return(asked.index, value)
        if isinstance(answer, MemoryAnswer):
            return self._judge_look(asked.index, answer.bytes)
        if self._closed is None:
            self._closed = op.index
        return None

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call was refused and has had no effect."""
        value = asked.value
        if isinstance(value, AllocateAsked):
            request = self._requests.pop(asked.index)
            self._ledger.change(0, -value.bytes)
            return self._judge_refusal(request, op)
        if isinstance(value, DeallocateAsked):
            return self._refuse_return(asked.index, value)
        self._ledger.looks.pop(asked.index, None)
        return None

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Nobody knows what becomes of a call: its memory may stay lent for ever."""
        del op
        request = self._requests.pop(asked.index, None)
        if request is not None:
            self._granted(request)
        self._ledger.looks.pop(asked.index, None)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """The history ends; every loan may still be out."""
        del end, index
        return None

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        del end
        found = ["who among those who wait is served first was not judged"]
        if self._undecided:
            found.append(
                f"{self._undecided} of {self._exhausted} refusals for exhausted memory depend on "
                "when overlapping returns took effect; they were taken to be right"
            )
        return tuple(found)

    def _request(self, op: HistoryOp[object], value: AllocateAsked) -> None:
        ledger, clock = self._ledger, self._clock
        until = -NEVER
        if clock is not None:
            clock.at(op.time_ns)
            until = clock.low + value.max_block_ms
        alone = not self._requests
        mine = Request(op.index, value.bytes, ledger.certain, ledger.possible, until, alone)
        for other in self._requests.values():
            other.alone = False
        self._requests[op.index] = mine
        ledger.change(0, value.bytes)

    def _granted(self, request: Request) -> None:
        """Somebody got memory, behind whom all others who asked meanwhile may have waited."""
        certain = self._ledger.certain
        for other in self._requests.values():
            other.met_grant = True
            other.certain = max(other.certain, certain)
        busy = self._busy
        busy.excused = True
        busy.refused = [index for index in busy.refused if index < request.call]
        self._end_busy_period()

    def _end_busy_period(self) -> bool:
        """Tell whether refusals are left that nothing explains, if nobody asks any more."""
        if self._requests:
            return False
        busy, self._busy = self._busy, BusyPeriod()
        if busy.excused:
            self._undecided += len(busy.refused)
            return False
        return bool(busy.refused)

    def _lend(self, call: int, value: AllocateAsked, answer: AllocateAnswer) -> Violation | None:
        ledger = self._ledger
        request = self._requests.pop(call)
        if answer.bytes != value.bytes:
            return Violation(
                rule="BufferPool.LendsWhatWasAskedFor",
                expected=f"a buffer of {value.bytes} bytes",
                observed=f"{answer.buffer!r} of {answer.bytes} bytes",
                reason="the size of a buffer is the one that was asked for",
            )
        holder = self._loans.get(answer.buffer)
        if holder is not None and not holder.returning:
            return Violation(
                rule="BufferPool.LendsABufferOnce",
                expected=f"a buffer that is not lent, so not {answer.buffer!r}",
                observed=f"{answer.buffer!r} was lent again",
                reason=f"{answer.buffer!r} has not been given back",
            )
        self._loans[answer.buffer] = Loan(value.bytes)
        ledger.change(value.bytes, 0)
        self._granted(request)
        if ledger.certain > self._total:
            return Violation(
                rule="BufferPool.NeverLendsMoreThanItHas",
                expected=f"at most {self._total} bytes are lent",
                observed=f"{ledger.certain} bytes are lent for certain",
                reason=f"{answer.buffer!r} of {value.bytes} bytes was lent though only "
                f"{self._total - ledger.certain + value.bytes} bytes can have been left",
            )
        if self._closed is not None and self._closed < call:
            return Violation(
                rule="BufferPool.LendsNothingAfterClose",
                expected="the allocation is refused",
                observed=f"{answer.buffer!r} was lent",
                reason="close had returned before the allocation began",
            )
        return None

    def _judge_refusal(self, request: Request, op: HistoryOp[object]) -> Violation | None:
        error = op.error
        if error == CLOSED and self._closing is None:
            return Violation(
                rule="BufferPool.RefusesOnlyAfterClose",
                expected=f"{request.bytes} bytes are lent",
                observed="refused because the pool is closed",
                reason="close has not been called",
            )
        if error == TOO_LARGE and request.bytes <= self._total:
            return Violation(
                rule="BufferPool.AcceptsItsDomain",
                expected=f"{request.bytes} bytes are lent",
                observed="refused as too much",
                reason=f"the pool has {self._total} bytes in all",
            )
        if error != EXHAUSTED:
            self._busy.excused = True
            self._end_busy_period()
            return None
        return self._judge_exhausted(request, op.index) or self._gave_up_early(request, op)

    def _judge_exhausted(self, request: Request, index: int) -> Violation | None:
        self._exhausted += 1
        busy = self._busy
        if request.met_grant or request.certain + request.bytes > self._total:
            busy.excused = True
        else:
            busy.refused.append(index)
            # Returns that were under way when it began may have taken effect late.
            busy.excused = busy.excused or request.possible + request.bytes > self._total
        if not self._end_busy_period():
            return None
        reason = "nobody else asked for any" if request.alone else "all who asked were refused"
        return Violation(
            rule="BufferPool.ExhaustedOnlyWithoutMemory",
            expected=f"{request.bytes} bytes are lent",
            observed="refused because memory is exhausted",
            reason=f"at most {request.possible} of {self._total} bytes can have been lent, and "
            f"{reason}",
        )

    def _gave_up_early(self, request: Request, op: HistoryOp[object]) -> Violation | None:
        clock = self._clock
        if clock is None:
            return None
        clock.at(op.time_ns)
        if clock.high >= request.patient_until_ms:
            return None
        return Violation(
            rule="BufferPool.WaitsAsLongAsItMay",
            expected=f"{request.bytes} bytes are waited for as long as that is allowed",
            observed=f"refused {request.patient_until_ms - clock.high} ms earlier, or more",
            reason="a time-out lasts at least its limit (semantics.md 3.3, 5)",
        )

    def _begin_return(self, call: int, value: DeallocateAsked) -> None:
        loan = self._loans.get(value.buffer)
        self._returns[call] = loan
        if loan is not None:
            if not loan.returning:
                self._ledger.change(-loan.bytes, 0)
            loan.returning += 1

    def _end_return(self, call: int, value: DeallocateAsked) -> Violation | None:
        loan = self._returns.pop(call)
        if loan is None or loan.returned:
            return Violation(
                rule="BufferPool.TakesBackOnlyWhatIsLent",
                expected=f"the return of {value.buffer!r} is refused",
                observed=f"{value.buffer!r} was taken back",
                reason=f"{value.buffer!r} is not lent"
                if loan is None
                else f"{value.buffer!r} has been given back by another call",
            )
        loan.returned = True
        loan.returning -= 1
        self._ledger.change(0, -loan.bytes)
        if self._loans.get(value.buffer) is loan:
            del self._loans[value.buffer]
        if isinstance(value.bytes, int) and value.bytes != loan.bytes:
            return Violation(
                rule="BufferPool.TakesBackWhatItLent",
                expected=f"{value.buffer!r} is given back with {loan.bytes} bytes",
                observed=f"{value.bytes} bytes were taken back",
                reason="the ledger no longer adds up to the total",
            )
        return None

    def _refuse_return(self, call: int, value: DeallocateAsked) -> Violation | None:
        loan = self._returns.pop(call)
        if loan is None or loan.returned:
            return None
        loan.returning -= 1
        if loan.returning:
            return None
        self._ledger.change(loan.bytes, 0)
        return Violation(
            rule="BufferPool.TakesBackWhatItLent",
            expected=f"{value.buffer!r} is taken back",
            observed="its return was refused",
            reason=f"{value.buffer!r} is lent, and no other call has given it back",
        )

    def _judge_look(self, call: int, size: int) -> Violation | None:
        least, most = self._ledger.looks.pop(call)
        if least <= size <= most:
            return None
        return Violation(
            rule="BufferPool.MemoryIsConserved",
            expected=f"{least} to {most} bytes are available",
            observed=f"{size} bytes",
            reason="what is available and what is lent add up to the total",
        )
