"""What the callbacks of records may say, and when (semantics.md 4.5, 4.11)."""

from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.accumulator.events import (
    AccumulatorSettings,
    CallbackAsked,
)
from wheelproof_spec.components.accumulator.history.queues import FirstOwed
from wheelproof_spec.components.accumulator.history.record import Record
from wheelproof_spec.components.accumulator.history.violations import (
    called_back_out_of_order,
    called_back_wrongly,
    expired_early,
    neither_offset_nor_error,
    wrong_outcome,
)

EXPIRED = "Expired"


class Callbacks:
    """Judges callbacks one by one, and knows who waits for one."""

    def __init__(self, settings: AccumulatorSettings, clock: HistoryClock) -> None:
        self._clock = clock
        self._timeout_ms = settings.delivery_timeout_ms
        self._in_order = FirstOwed() if settings.callbacks == "in_order" else None
        self._owed: dict[Record, None] = {}
        self._oldest: dict[str, dict[Record, None]] = {}

    def oldest_ms(self, partition: str) -> int:
        """Return when the batch of a new record was made, at the least."""
        oldest = next(iter(self._oldest.get(partition, ())), None)
        return self._clock.low if oldest is None else oldest.oldest_ms

    def asked(self, record: Record) -> None:
        """An append begins."""
        self._oldest.setdefault(record.partition, {})[record] = None

    def accepted(self, record: Record) -> None:
        """An append has returned, and its callback has not come yet."""
        self._owed[record] = None
        if self._in_order is not None:
            self._in_order.add(record)

    def refused(self, record: Record) -> None:
        """An append was refused."""
        self._oldest[record.partition].pop(record, None)

    def first_owed(self) -> Record | None:
        """Return who waits for its callback, of all the one whose append returned first."""
        return next(iter(self._owed), None)

    def judge(self, record: Record | None, value: CallbackAsked, index: int) -> Violation | None:
        """A callback runs."""
        if record is None:
            return called_back_wrongly(value.record, "it was never appended")
        if record.refused or record.called_back is not None:
            observed = "its append was refused" if record.refused else "it is called back again"
            return called_back_wrongly(value.record, observed)
        if (value.offset is None) is (value.error is None):
            return neither_offset_nor_error(value.offset, value.error)
        violation = self._overtakes(record) or self._is_early(record, value)
        record.called_back = index
        self._owed.pop(record, None)
        self._oldest[record.partition].pop(record, None)
        return violation or _judge_outcome(record, value)

    def _overtakes(self, record: Record) -> Violation | None:
        earlier = None if self._in_order is None else self._in_order.before(record, undrained=False)
        if earlier is None or earlier is record:
            return None
        return called_back_out_of_order(record.name, earlier.name)

    def _is_early(self, record: Record, value: CallbackAsked) -> Violation | None:
        timeout_ms, age_ms = self._timeout_ms, self._clock.high - record.oldest_ms
        judged = value.error == EXPIRED and self._clock.judges_times
        if judged and isinstance(timeout_ms, int) and age_ms < timeout_ms:
            return expired_early(record.name, age_ms, timeout_ms)
        return None


def _judge_outcome(record: Record, value: CallbackAsked) -> Violation | None:
    """Compare what a record is told with what others of its batch were told."""
    batch = record.batch
    if batch is None:
        return None
    failed = value.offset is None
    if batch.failed is not None and batch.failed is not failed:
        expected = "an error, like the others" if batch.failed else "an offset, like the others"
        observed = "an error" if failed else "an offset"
        return wrong_outcome(record.name, batch.name, expected, observed)
    batch.failed = failed
    if value.offset is None:
        return None
    base = value.offset - record.place
    if batch.base is not None and batch.base != base:
        expected = f"offset {batch.base + record.place}"
        return wrong_outcome(record.name, batch.name, expected, f"offset {value.offset}")
    batch.base = base
    return None
