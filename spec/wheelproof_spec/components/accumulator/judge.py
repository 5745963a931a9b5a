"""Judging an accumulator, call by call, by the oracle's ledger of batches."""

from wheelproof.producer.record_sizes import (
    RECORD_BATCH_OVERHEAD,
    batch_size_upper_bound,
    payload_size,
    record_size,
)
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    AccumulatorCall,
    AccumulatorConfig,
    AccumulatorObservation,
    Advance,
    Append,
    CallbackFault,
    Close,
    Drain,
    Expire,
    Fail,
    Flush,
    Interrupt,
    Ready,
    Reset,
    Retry,
    Split,
    Store,
)
from wheelproof_spec.components.accumulator.oracle import (
    WHEELPROOF_ACCUMULATOR,
    AccumulatorClause,
    AccumulatorContract,
    AccumulatorRules,
    BatchLedger,
    RecordOutcome,
)

CLOSE_TO_NOTHING = AccumulatorConfig(
    total_memory=0,
    batch_size=1,
    linger_ms=0,
    retry_backoff_ms=0,
    retry_backoff_max_ms=0,
    delivery_timeout_ms=0,
)
"""How the accumulator is made that a judge or a port has before the first reset."""

AGAIN = "'"
"""What a record is called that a callback sends: the first one's name and this."""


class ValueSizes:
    """The sizes of records that have a value and nothing else."""

    def empty_batch(self) -> int:
        """Return the size of a batch without records."""
        return RECORD_BATCH_OVERHEAD

    def in_batch(self, number: int, payload: int) -> int:
        """Return what a record takes that has `number` records before it."""
        return record_size(number, 0, payload_size(None, bytes(payload), ()))

    def upper_bound(self, payload: int) -> int:
        """Return what a batch of one record never exceeds."""
        return batch_size_upper_bound(payload_size(None, bytes(payload), ()))


class AccumulatorJudge:
    """Follows one case after another; see `Judge`."""

    def __init__(self, contract: AccumulatorContract = WHEELPROOF_ACCUMULATOR) -> None:
        """Judge by `contract`."""
        self._contract = contract
        self._sizes = ValueSizes()
        self._reset(CLOSE_TO_NOTHING)

    def _reset(self, config: AccumulatorConfig) -> None:
        rules = AccumulatorRules(
            total_memory=config.total_memory,
            batch_size=config.batch_size,
            linger_ms=config.linger_ms,
            retry_backoff_ms=config.retry_backoff_ms,
            retry_backoff_max_ms=config.retry_backoff_max_ms,
            delivery_timeout_ms=config.delivery_timeout_ms,
        )
        self.ledger = BatchLedger(rules, self._sizes, config.start_ms, self._contract)
        self._again: dict[str, Append] = {}

    def waiting(self) -> tuple[str, ...]:
        """Return the appends and the flushes that wait."""
        return (*self.ledger.pending, *self.ledger.flushes)

    def splittable(self) -> tuple[str, ...]:
        """Return the batches in flight that can be split."""
        in_flight = self.ledger.in_flight.items()
        return tuple(
            name for name, batch in in_flight if not batch.ended and len(batch.records) > 1
        )

    def unfinished(self) -> bool:
        """Tell whether anything is queued or in flight."""
        return bool(self.ledger.in_flight) or any(self.ledger.queues.values())

    def judge(self, call: AccumulatorCall, seen: AccumulatorObservation) -> Violation | None:
        """Return the clause that `seen` breaks, if any."""
        if isinstance(call, Reset):
            self._reset(call.config)
            return None
        return (
            self._follow(call, seen)
            or self._observe(seen)
            or self.ledger.settled()
            or self._gauges(seen)
        )

    def judge_refusal(self, call: AccumulatorCall, refusal: RefusedError) -> Violation | None:
        """Return what is wrong with refusing a call, if it lies within the domain."""
        if isinstance(call, Append) and self._too_large(call):
            self.ledger.refuse(call.record, call.partition, call.size)
            return None
        if isinstance(call, Split) and not self._can_be_split(call.batch):
            return None
        if isinstance(call, Retry | Split) and self.ledger.in_flight[call.batch].ended:
            return None
        return unexpected_refusal(AccumulatorClause.KEEPS_TO_ITS_DOMAIN, call, refusal)

    def _follow(self, call: AccumulatorCall, seen: AccumulatorObservation) -> Violation | None:
        ledger = self.ledger
        match call:
            case Append(record=record):
                if call.callback is not None:
                    self._again[record] = call
                ledger.append(
                    record,
                    call.partition,
                    call.size,
                    call.timeout_ms,
                    may_fail=call.fault is not None or self._too_large(call),
                )
            case Ready(leaders=leaders):
                nodes, unknown = ledger.ready(leaders)
                if (nodes, unknown) != (set(seen.ready_nodes), seen.unknown_leaders):
                    return self._differs(
                        AccumulatorClause.READY_TELLS_THE_TRUTH,
                        f"ready nodes {sorted(nodes)}, unknown leaders: {unknown}",
                        f"{sorted(seen.ready_nodes)}, {seen.unknown_leaders}",
                    )
            case Drain():
                return self._drained(call, seen)
            case Store(batch=batch, offset=offset):
                self._unmute(batch)
                ledger.finish(batch, RecordOutcome.STORED, offset)
            case Fail(batch=batch):
                self._unmute(batch)
                ledger.finish(batch, RecordOutcome.FAILED)
            case Retry(batch=batch):
                self._unmute(batch)
                ledger.retry(batch)
            case Split(batch=batch, size=size):
                if not self._can_be_split(batch):
                    return self._differs(
                        AccumulatorClause.KEEPS_TO_ITS_DOMAIN,
                        "a batch of one record is not split",
                        f"{seen.children} batches",
                    )
                self._unmute(batch)
                count = ledger.split(batch, size)
                if count != seen.children:
                    clause = AccumulatorClause.SPLITS_BY_SIZE
                    return self._differs(clause, f"{count} batches", f"{seen.children} batches")
            case Expire():
                ledger.expire()
            case Flush(flush=flush):
                ledger.flush(flush)
            case Interrupt(name=name):
                ledger.interrupted.add(name)
            case Advance(to_ms=to_ms):
                ledger.now_ms = to_ms
            case Close():
                ledger.closed = True
            case Abort():
                ledger.abort()
            case Reset():
                pass
        return None

    def _drained(self, call: Drain, seen: AccumulatorObservation) -> Violation | None:
        ledger = self.ledger
        wrong = ledger.drain(call.partitions, call.most, seen.drained)
        if wrong is not None:
            expected = "the heads of the queues that are neither muted nor backing off"
            return self._differs(AccumulatorClause.DRAINS_THE_HEADS, expected, wrong)
        taken = {ledger.in_flight[name].partition for name in seen.drained}
        forgotten = ledger.passed_over(call.node, call.partitions, taken)
        ledger.muted |= taken
        if forgotten is None:
            return None
        expected = f"partition {forgotten} has its turn among {list(call.partitions)}"
        return self._differs(
            AccumulatorClause.DRAIN_IS_FAIR, expected, f"batches of {sorted(taken)} once more"
        )

    def _observe(self, seen: AccumulatorObservation) -> Violation | None:
        for told in seen.told:
            violation = self.ledger.observe_told(told)
            if violation is not None:
                return violation
            again = self._again.pop(told.record, None)
            if again is not None and again.callback is CallbackFault.SENDS_AGAIN:
                name = told.record + AGAIN
                too_large = self._too_large(again)
                self.ledger.append(name, again.partition, again.size, 0, may_fail=too_large)
        for appended in seen.appended:
            violation = self.ledger.observe_append(appended)
            if violation is not None:
                return violation
        for flush, interrupted in seen.flushed.items():
            violation = self.ledger.observe_flushed(flush, interrupted=interrupted)
            if violation is not None:
                return violation
        return None

    def _gauges(self, seen: AccumulatorObservation) -> Violation | None:
        if seen.in_flight_ended:
            clause = AccumulatorClause.NOTHING_IS_LEFT
            return self._differs(clause, "what is in flight has not ended", "it has")
        if seen.overwritten:
            return self._differs(
                AccumulatorClause.NOT_OVERWRITTEN,
                "the memory of a request is left alone until its response",
                f"that of {', '.join(seen.overwritten)} was reused",
            )
        return self.ledger.gauges(
            available=seen.available,
            undrained=seen.undrained,
            incomplete=seen.incomplete,
            flushing=seen.flushing,
        )

    def _too_large(self, call: Append) -> bool:
        needed = max(self.ledger.rules.batch_size, self._sizes.upper_bound(call.size))
        return needed > self.ledger.rules.total_memory

    def _can_be_split(self, batch: str) -> bool:
        return len(self.ledger.in_flight[batch].records) > 1

    def _unmute(self, batch: str) -> None:
        self.ledger.muted.discard(self.ledger.in_flight[batch].partition)

    def _differs(self, clause: AccumulatorClause, expected: str, observed: str) -> Violation:
        return Violation(
            rule=clause,
            expected=expected,
            observed=observed,
            reason=f"it is {self.ledger.now_ms} ms",
        )
