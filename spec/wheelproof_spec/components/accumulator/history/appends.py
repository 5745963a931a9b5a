"""Judges how appends end (standard 4.1, 4.9)."""

from collections import Counter

from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.history.judging import CLOSED, EXHAUSTED, ILLEGAL, INTERRUPTED
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.accumulator.calls import NEVER_MS, Append, Appended
from wheelproof_spec.components.accumulator.component import AccumulatorClause
from wheelproof_spec.components.accumulator.history.callbacks import Callbacks
from wheelproof_spec.components.accumulator.history.checks import Checks
from wheelproof_spec.components.accumulator.history.holdings import Holdings
from wheelproof_spec.components.accumulator.history.queues import Queues
from wheelproof_spec.components.accumulator.history.record import Record
from wheelproof_spec.components.accumulator.history.turns import Turns


class Appends:
    """The judge of appends: accepted, refused for a reason, and never accepted after close."""

    def __init__(
        self,
        clock: HistoryClock,
        records: dict[str, Record],
        callbacks: Callbacks,
        holdings: Holdings,
        queues: Queues,
        turns: Turns,
        checks: Checks,
        interrupts: Counter[str],
        tally: Tally,
    ) -> None:
        """Begin; the appends add to `records`."""
        self._clock = clock
        self._records = records
        self._callbacks = callbacks
        self._holdings = holdings
        self._queues = queues
        self._turns = turns
        self._checks = checks
        self._interrupts = interrupts
        self._tests = tally.tests
        self.closing = False
        """Whether a close or an abort has begun."""
        self.closed: int | None = None
        """The event at which a close had returned first."""

    def asked(self, value: Append, index: int) -> None:
        """Record that an append began; raises MalformedError if its record has a used name."""
        if value.record in self._records:
            raise MalformedError(
                f"appends the record {value.record!r} again; each has its own name"
            )
        need = self._holdings.need(value.size)
        self._turns.asked(value.partition, need)
        record = self._records[value.record] = Record(
            name=value.record,
            partition=value.partition,
            size=value.size,
            asked=index,
            oldest_ms=self._callbacks.oldest_ms(value.partition),
            patient_until_ms=self._clock.least + value.max_time_to_block_ms,
            holds=need,
            is_in_domain=value.max_time_to_block_ms <= NEVER_MS,
        )
        self._callbacks.asked(record)
        self._holdings.asked(record)
        self._checks.asked(record)

    def accepted(self, name: str, answer: Appended, index: int) -> Violation | None:
        """Record that an append was accepted at event `index`."""
        record = self._records[name]
        record.returned = index
        record.accepted_ms = self._clock.ceiling
        if record.called_back is None:
            self._callbacks.accepted(record)
            self._queues.accepted(record)
        new, full = answer.new_batch_created, answer.batch_is_full
        record.new_batch = new if isinstance(new, bool) else None
        record.batch_is_full = full if isinstance(full, bool) else None
        self._checks.ended(record, index)
        violation = self._holdings.accepted(record, new_batch=record.new_batch)
        if self.came_after_close(record):
            return taken_after_close(record, "close had returned before its append began")
        if record.shut_out and record.new_batch:
            why = "close had returned before there was memory for the batch that it made"
            return taken_after_close(record, why)
        return violation

    def refused(self, name: str, op: HistoryOp[object]) -> Violation | None:
        """Record that an append was refused."""
        record = self._records[name]
        clause = AccumulatorClause.APPEND_ENDS_FOR_A_REASON
        self._tests(clause)
        self.came_after_close(record)
        record.refused = True
        self._checks.ended(record, op.index)
        self._checks.gone([record])
        exhausted = op.error == EXHAUSTED
        violation = self._holdings.refused(record, exhausted=exhausted)
        wrongly = self._callbacks.refused(record) or self.unprovoked(op, clause)
        if wrongly is not None:
            return wrongly
        if op.error == CLOSED and not self.closing:
            return clause.broken(
                f"{record.name!r} is accepted, or memory is exhausted",
                f"{record.name!r} was refused because the accumulator is closed",
                f"{record.name!r} was refused as closed, but nobody had called close or abort",
            )
        if exhausted and self._clock.high < record.patient_until_ms:
            return clause.broken(
                f"the append of {record.name!r} waits for memory as long as it may",
                f"{record.name!r} was refused earlier because memory is exhausted",
                f"the append of {record.name!r} gave up at least "
                f"{record.patient_until_ms - self._clock.high} ms before its limit (standard 3.3)",
            )
        if op.error == ILLEGAL and self._is_in_domain(record) and not self.closing:
            return clause.broken(
                f"{record.name!r} is accepted, or memory is exhausted",
                f"{record.name!r} was refused as if it could never be accepted",
                f"{record.name!r} was refused as too large, but has {record.size} bytes, and the "
                "pool has more (standard 4.1)",
            )
        return violation

    def _is_in_domain(self, record: Record) -> bool:
        return record.is_in_domain and self._holdings.fits(record)

    def came_after_close(self, record: Record) -> bool:
        """Tell whether an append began after close had returned, and so must be refused."""
        if self.closed is None or self.closed > record.asked:
            return False
        return self._tests(AccumulatorClause.REFUSES_AFTER_CLOSE)

    def unprovoked(self, op: HistoryOp[object], clause: AccumulatorClause) -> Violation | None:
        """Return a violation if a call ends as interrupted without an interrupt."""
        if op.error != INTERRUPTED:
            return None
        self._tests(clause)
        if self._interrupts[op.process]:
            self._interrupts[op.process] -= 1
            return None
        return clause.broken(
            f"{op.f!r} waits",
            f"{op.f!r} ended as if its thread had been interrupted",
            f"{op.f!r} of {op.process!r} ended as interrupted, but no interrupt of {op.process!r} "
            "was left for it",
        )

    def close(self, index: int) -> None:
        """Record that close has returned, and which appends had no memory by then."""
        if self.closed is not None:
            return
        self.closed = index
        for record in self._holdings.under_way():
            record.shut_out = self._holdings.has_no_memory_for(record)


def taken_after_close(record: Record, why: str) -> Violation:
    """Return the violation that an append was accepted though the accumulator was closed."""
    return AccumulatorClause.REFUSES_AFTER_CLOSE.broken(
        f"the append of {record.name!r} is refused",
        f"{record.name!r} is accepted",
        f"{record.name!r} was accepted, but {why} (standard 4.1, 4.9)",
    )
