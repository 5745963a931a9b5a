"""The oracle's accumulator: the outcome of each record, and the appends and flushes that wait.

It follows an implementation: after each call, once no thread can go on, it judges what was
appended, drained and called back (standard 4). TLA+: RecordAccumulator.
"""

from collections.abc import Iterator
from dataclasses import replace

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.codec.vocabulary import Absent
from wheelproof_spec.base.port import RefusedError, UnjudgeableError, unexpected_refusal
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import (
    ABORTED,
    EXPIRED,
    FAILED,
    NEVER_MS,
    Abort,
    Append,
    AppendedRecord,
    AppendRefusal,
    Callback,
    CallbackFault,
    Drain,
    Expire,
    Flush,
    Partition,
    Ready,
    Reenqueue,
    Respond,
    Split,
)
from wheelproof_spec.components.accumulator.component import (
    WHEELPROOF,
    AccumulatorCall,
    AccumulatorCapability,
    AccumulatorClause,
    AccumulatorConfig,
    AccumulatorObservation,
)
from wheelproof_spec.components.accumulator.oracle.batches import (
    Batch,
    PendingAppend,
    PendingFlush,
    Rules,
)
from wheelproof_spec.components.accumulator.oracle.gauges import judge_gauges
from wheelproof_spec.components.accumulator.oracle.queues import Queues
from wheelproof_spec.components.accumulator.oracle.readiness import judge_next_expiry, judge_ready

CLOSE_TO_NOTHING = AccumulatorConfig(total_memory=0, batch_size=1)
"""The configuration of a judge or a port before the first reset."""
AGAIN = "'"
"""The suffix in the name of a record that the callback of another record sends."""

_SIZES, _TIME = AccumulatorCapability.KAFKA_SIZES, AccumulatorCapability.EXACT_TIME


class BatchLedger:
    """An accumulator with atomic operations, which follows one case after another."""

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count in `tally` what is tested."""
        self._ends_in_order = profile == WHEELPROOF
        self._tally = tally
        self._tests = tally.tests
        self.queues: Queues
        self.closed: bool
        self._reset(CLOSE_TO_NOTHING)

    def waiting(self) -> tuple[str, ...]:
        """Return the appends and the flushes that wait."""
        return (*self._pending, *self._flushes)

    def as_possible(self, call: AccumulatorCall) -> AccumulatorCall | None:
        """Return `call` with the batch's own name: b2 stands for the batch drained second.

        Return None if the batch is not in flight, or if the thread never existed.
        """
        match call:
            case Respond(batch=name) | Reenqueue(batch=name) | Split(batch=name):
                if name not in self.queues.in_flight:
                    name = dict(enumerate(self._drained, start=1)).get(_number(name), name)
                return replace(call, batch=name) if name in self.queues.in_flight else None
            case Interrupt(name=name):
                return call if name in self._sizes or name in self._begun else None
            case _:
                return call

    def judge(self, call: AccumulatorCall, seen: AccumulatorObservation) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        if isinstance(call, Reset):
            self._reset(call.config)
            return None
        self._tests(AccumulatorClause.KEEPS_TO_ITS_DOMAIN)
        return (
            self._follow(call, seen)
            or next(self._observe(seen), None)
            or next(self._waits_in_vain(), None)
            or judge_gauges(
                seen,
                self.queues,
                self._tests,
                self._wrong,
                flushing=bool(self._flushes),
                waiting=bool(self._pending),
            )
            or self._judge_next_expiry(seen)
        )

    def judge_refusal(self, call: AccumulatorCall, refusal: RefusedError) -> Violation | None:
        """Return a violation if the call that was refused lies within the domain."""
        self._tests(AccumulatorClause.KEEPS_TO_ITS_DOMAIN)
        in_flight = self.queues.in_flight
        match call:
            case Append(record=record, size=size) if self.queues.rules.is_too_large(size):
                # The append still closes the batch that lacked room for it.
                self._append(call)
                del self._pending[record]
                return None
            case Split(batch=name) if len(in_flight[name].records) == 1:
                return None
            case Reenqueue(batch=name) | Split(batch=name) if in_flight[name].ended:
                return None
            case _:
                return unexpected_refusal(AccumulatorClause.KEEPS_TO_ITS_DOMAIN, call, refusal)

    def _reset(self, config: AccumulatorConfig) -> None:
        self.queues = Queues(Rules.of(config, self._tally))
        self._slack_ms = int(self._tally.skips(_TIME))
        self._next_expiry_ms = NEVER_MS
        self.closed = False
        self._pending: dict[str, PendingAppend] = {}
        self._flushes: dict[str, PendingFlush] = {}
        self._interrupted: set[str] = set()
        # All flushes that began, and the batches in the order of their drains.
        self._begun: set[str] = set()
        self._drained: list[str] = []
        self._sizes: dict[str, int] = {}
        self._again: dict[str, Append] = {}
        # The accepted records of each partition without a callback, in the order of appends.
        self._untold: dict[Partition, list[str]] = {}
        self._expected: dict[str, Callback] = {}

    # What each call does

    def _follow(self, call: AccumulatorCall, seen: AccumulatorObservation) -> Violation | None:
        queues = self.queues
        match call:
            case Append():
                if call.callback is CallbackFault.SENDS_AGAIN:
                    self._again[call.record] = call
                self._append(call)
            case Ready():
                outlook = queues.ready(call.led(), hurried=self._is_hurried())
                return judge_ready(seen, outlook, self._tests, self._wrong, self._slack_ms)
            case Drain():
                return self._judge_drain(call, seen)
            case Respond(batch=name, offset=offset):
                batch = queues.answered(name)
                if not batch.ended:
                    self._end(batch, FAILED if offset is None else None, offset)
            case Reenqueue(batch=name):
                queues.reenqueue(name)
            case Split():
                return self._judge_split(call, seen.children)
            case Expire():
                self._tests(AccumulatorClause.EXPIRES_IN_TIME)
                told = {one.record for one in seen.called_back if one.error == EXPIRED}
                for batch in queues.ending(late_alone=True, told=told):
                    self._end(batch, EXPIRED, None)
                self._next_expiry_ms = queues.next_expiry_ms()
            case Abort():
                for batch in queues.ending(late_alone=False):
                    self._end(batch, ABORTED, None)
            case Flush(flush=flush):
                awaited = {record for records in self._untold.values() for record in records}
                self._flushes[flush] = PendingFlush(awaited)
                self._begun.add(flush)
            case Interrupt(name=name):
                self._interrupted.add(name)
            case Advance(to_ms=to_ms):
                queues.now_ms = to_ms
            case Close():
                self.closed = True
            case Reset():
                pass
        return None

    def _append(self, call: Append) -> None:
        self._sizes[call.record] = call.size
        may_fail = call.fault is not None or self.queues.rules.is_too_large(call.size)
        due_ms = self.queues.now_ms + call.max_time_to_block_ms
        late_ms = call.max_time_to_block_ms > 0 and self._tally.skips(_TIME)
        self._pending[call.record] = PendingAppend(call, due_ms, due_ms + late_ms, may_fail)
        if not self.closed:
            self.queues.lacks_room(call)

    def _end(self, batch: Batch, error: str | None, base: int | None) -> None:
        batch.ended = True
        for place, record in enumerate(batch.records):
            offset = None if base is None else base + place
            self._expected[record] = Callback(record=record, offset=offset, error=error)

    def _judge_next_expiry(self, seen: AccumulatorObservation) -> Violation | None:
        told_ms, right_ms = seen.next_expiry_ms, self._next_expiry_ms
        return judge_next_expiry(told_ms, right_ms, self._tests, self._wrong, self._slack_ms)

    def _judge_drain(self, call: Drain, seen: AccumulatorObservation) -> Violation | None:
        clause = AccumulatorClause.DRAINS_THE_HEADS
        self._tests(clause)
        self._drained += [batch.batch for batch in seen.batches]
        wrong = self.queues.drain(call, seen.batches, hurried=self._is_hurried())
        if wrong is not None:
            expected = "the heads of the queues that are neither muted nor backing off"
            return self._wrong(clause, expected, wrong)
        clause = AccumulatorClause.DRAIN_IS_FAIR
        self._tests(clause)
        forgotten = self.queues.passed_over(call, seen.batches)
        if forgotten is None:
            return None
        expected = f"partition {forgotten} has its turn among {list(call.partitions)}"
        taken = [batch.partition for batch in seen.batches]
        return self._wrong(clause, expected, f"the drain took batches of {taken} once more")

    def _is_hurried(self) -> bool:
        return self.closed or bool(self._flushes) or bool(self._pending)

    def _judge_split(self, call: Split, children: int) -> Violation | None:
        if len(self.queues.in_flight[call.batch].records) == 1:
            clause = AccumulatorClause.KEEPS_TO_ITS_DOMAIN
            expected = "a batch of one record is not split"
            return self._wrong(clause, expected, f"{call.batch!r} was split")
        clause = AccumulatorClause.SPLITS_BY_SIZE
        self._tests(clause)
        count = self.queues.split(call.batch, call.size, self._sizes)
        if count == children:
            return None
        observed = f"the split of {call.batch!r} made {children} batches"
        return self._wrong(clause, f"{count} batches", observed)

    # What was observed; each method yields violations, and only the first one counts

    def _observe(self, seen: AccumulatorObservation) -> Iterator[Violation]:
        for callback in seen.called_back:
            yield from self._call_back(callback)
            again = self._again.pop(callback.record, None)
            if again is not None:
                self._append(
                    Append(
                        record=callback.record + AGAIN,
                        partition=again.partition,
                        size=again.size,
                        max_time_to_block_ms=0,
                    )
                )
        for appended in seen.appended:
            yield from self._accept(appended)
        for record, refusal in seen.refused.items():
            yield from self._refuse(record, refusal)
        for flush, interrupted in seen.flushed.items():
            yield from self._end_flush(flush, interrupted=interrupted)

    def _call_back(self, seen: Callback) -> Iterator[Violation]:
        clause = AccumulatorClause.OFFSET_OR_ERROR
        self._tests(clause)
        if (seen.offset is None) is (seen.error is None):
            yield self._wrong(clause, "an offset or an error", str(seen))
        clause = _clause_of(seen)
        self._tests(clause)
        expected = self._expected.pop(seen.record, None)
        if expected is None:
            yield self._wrong(clause, f"no callback of {seen.record!r} now", str(seen))
        clause = AccumulatorClause.RIGHT_OUTCOME
        self._tests(clause)
        if expected != seen:
            yield self._wrong(clause, str(expected), str(seen))
        clause = AccumulatorClause.IN_ORDER
        self._tests(clause)
        in_order = self._ends_in_order or seen.error not in (EXPIRED, ABORTED)
        for records in self._untold.values():
            if seen.record in records:
                if records[0] != seen.record and in_order:
                    first = f"{records[0]!r}, appended before, is told first"
                    yield self._wrong(clause, first, f"{seen.record!r} was told before it")
                records.remove(seen.record)
        for flush in self._flushes.values():
            flush.awaited.discard(seen.record)
            flush.companions.discard(seen.record)

    def _accept(self, seen: AppendedRecord) -> Iterator[Violation]:
        told = f"append of {seen.record!r} was accepted"
        pending = self._pending.pop(seen.record, None)
        if pending is None:
            clause = AccumulatorClause.APPEND_ENDS_FOR_A_REASON
            yield self._wrong(clause, "only appends that wait end", told)
            return
        if self.closed:
            expected = "appends are refused after close"
            yield self._wrong(AccumulatorClause.REFUSES_AFTER_CLOSE, expected, told)
        clause, queues = AccumulatorClause.APPEND_FINDS_ROOM, self.queues
        roomy, is_new = queues.has_room(pending.call), _told(seen.new_batch_created)
        told_full = _told(seen.batch_is_full)
        if is_new is not None:
            self._tests(_SIZES if roomy is None else clause)
        if roomy is None and is_new is None:
            raise UnjudgeableError(
                f"the driver neither declares {_SIZES} nor tells new_batch_created, so that nobody "
                "knows where its batches end"
            )
        if roomy is is_new:
            expected = f"{'room' if roomy else 'no room'} in the last batch"
            yield self._wrong(clause, expected, f"{told} with {'a' if is_new else 'no'} new batch")
        if is_new or (is_new is None and not roomy):
            queues.begin_batch(pending.call)
        batch, full = queues.put(pending.call, told_full)
        for flush in self._flushes.values():
            if not flush.awaited.isdisjoint(batch.records):
                flush.companions.add(seen.record)
        self._untold.setdefault(pending.call.partition, []).append(seen.record)
        if told_full is not None and full not in (None, told_full):
            expected = f"{'a' if full else 'no'} batch is full"
            yield self._wrong(
                clause, expected, f"{told}; told {'a' if told_full else 'no'} full batch"
            )

    def _refuse(self, record: str, refusal: AppendRefusal) -> Iterator[Violation]:
        clause, told = (
            AccumulatorClause.APPEND_ENDS_FOR_A_REASON,
            f"append of {record!r} was refused: {refusal}",
        )
        self._tests(clause)
        pending = self._pending.pop(record, None)
        if pending is None:
            yield self._wrong(clause, "only appends that wait end", told)
            return
        if self.closed:
            self._tests(AccumulatorClause.REFUSES_AFTER_CLOSE)
        reasons = {
            AppendRefusal.EXHAUSTED: self.queues.now_ms >= pending.deadline_ms,
            AppendRefusal.CLOSED: self.closed,
            AppendRefusal.INTERRUPTED: record in self._interrupted,
            AppendRefusal.FAILED: pending.may_fail,
        }
        if not reasons[refusal]:
            yield self._wrong(clause, f"no reason for {refusal}", told)

    def _end_flush(self, name: str, *, interrupted: bool) -> Iterator[Violation]:
        clause = AccumulatorClause.FLUSH_WAITS
        self._tests(clause)
        flush = self._flushes.pop(name, None)
        if flush is None:
            yield self._wrong(clause, "only flushes that wait end", f"flush {name!r} has ended")
        elif flush.awaited and not (interrupted and name in self._interrupted):
            expected = f"flush {name!r} waits for {sorted(flush.awaited)}"
            yield self._wrong(clause, expected, f"flush {name!r} has ended")

    # What must hold once no thread can go on

    def _waits_in_vain(self) -> Iterator[Violation]:
        """Yield a violation for each event that should have happened by now."""
        for callback in self._expected.values():
            observed = f"{callback.record!r} was not called back"
            yield self._wrong(_clause_of(callback), str(callback), observed)
        for name, flush in self._flushes.items():
            clause = AccumulatorClause.FLUSH_ENDS
            self._tests(clause)
            if not (flush.awaited or flush.companions) or name in self._interrupted:
                yield self._wrong(clause, f"{name!r} has ended", f"flush {name!r} still waits")
        # Where nobody waits for memory, each append waits for its own partition.
        each = self._tally.skips(AccumulatorCapability.MEMORY)
        for number, (record, pending) in enumerate(self._pending.items()):
            if number == 0 or each:
                yield from self._append_waits_in_vain(pending.call)
            clause = AccumulatorClause.APPEND_ENDS_FOR_A_REASON
            self._tests(clause)
            if pending.latest_ms <= self.queues.now_ms or record in self._interrupted:
                expected, observed = f"{record!r} has ended", f"append of {record!r} still waits"
                yield self._wrong(clause, expected, observed)

    def _append_waits_in_vain(self, call: Append) -> Iterator[Violation]:
        clause = AccumulatorClause.NO_APPEND_WAITS_IN_VAIN
        self._tests(clause)
        reason = self.queues.why_not_wait(call, closed=self.closed)
        if reason is not None:
            expected = f"{call.record!r} does not wait ({reason})"
            yield self._wrong(clause, expected, f"append of {call.record!r} still waits")

    def _wrong(self, clause: AccumulatorClause, expected: str, observed: str) -> Violation:
        waiting = ", ".join(map(repr, self._pending)) or "none"
        reason = (
            f"at {self.queues.now_ms} ms {observed}, but right is: {expected}; waiting: {waiting}"
        )
        return Violation(rule=clause, expected=expected, observed=observed, reason=reason)


def _clause_of(callback: Callback) -> AccumulatorClause:
    """Return the clause that a callback breaks if it runs too early, or not at all."""
    if callback.error == EXPIRED:
        return AccumulatorClause.EXPIRES_IN_TIME
    return AccumulatorClause.COMPLETES_ONCE


def _number(name: str) -> int:
    digits = name.removeprefix("b")
    return int(digits) if digits.isdecimal() else 0


def _told(value: bool | Absent) -> bool | None:
    return value if isinstance(value, bool) else None
