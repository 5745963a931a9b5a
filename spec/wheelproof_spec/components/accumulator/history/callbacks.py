"""Judges the outcomes, the times and the order of callbacks (standard 4.5, 4.11)."""

from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import ABORTED, EXPIRED, Callback, Partition
from wheelproof_spec.components.accumulator.component import AccumulatorClause, AccumulatorConfig
from wheelproof_spec.components.accumulator.history.queues import FirstOwed
from wheelproof_spec.components.accumulator.history.record import Record


class Callbacks:
    """The judge of callbacks, and the records that wait for their callbacks."""

    def __init__(
        self,
        config: AccumulatorConfig,
        clock: HistoryClock,
        tally: Tally,
        *,
        ends_in_order: bool,
    ) -> None:
        """Begin; `ends_in_order` says that what expires or is aborted keeps the order, too."""
        self._tests = tally.tests
        self._ends_in_order = ends_in_order
        self._latest: dict[Partition, Record] = {}
        """The record of each partition whose append began last, of those that kept the order."""
        self._told: dict[tuple[Partition, int], str] = {}
        """The record that was told each offset of each partition, while no drain is recorded."""
        self.has_drains = False
        """Whether a drain has begun: from then on the batches of records are known."""
        self.has_responses = False
        """Whether the response to a batch has come: from then on responses are recorded."""
        self.has_aborts = False
        """Whether an abort has begun."""
        self._told_last: dict[Partition, tuple[int, int]] = {}
        """The last place in the queue of each partition, as drains show it, that was told."""
        self.open_drains = 0
        """How many drains have no answer; what they have taken is not known."""
        self.alone = 0
        """How many records were told an outcome though no drain has shown their batch."""
        self._clock = clock
        self._timeout_ms = config.delivery_timeout_ms
        self._in_order = FirstOwed() if config.callbacks == "in_order" else None
        self._owed: dict[Record, None] = {}
        self._checked_ms: int | None = None
        """The earliest time when the last expiry check can have ended; None before the first."""
        self._oldest: dict[Partition, dict[Record, None]] = {}

    @property
    def has_checked(self) -> bool:
        """Whether an expiry check has ended."""
        return self._checked_ms is not None

    def oldest_ms(self, partition: Partition) -> int:
        """Return the earliest time at which the batch of a new record can have been made."""
        oldest = next(iter(self._oldest.get(partition, ())), None)
        return self._clock.least if oldest is None else oldest.oldest_ms

    def asked(self, record: Record) -> None:
        """Record that an append began."""
        self._oldest.setdefault(record.partition, {})[record] = None

    def accepted(self, record: Record) -> None:
        """Record that an append was accepted before its callback ran."""
        self._owed[record] = None
        if self._in_order is not None:
            self._in_order.add(record)

    def refused(self, record: Record) -> Violation | None:
        """Record that an append was refused; its record must not have been called back."""
        self._oldest[record.partition].pop(record, None)
        if record.called_back is None:
            return None
        return _wrongly(record.name, "was called back, and then its append was refused")

    def give_up(self, record: Record, index: int) -> None:
        """Stop waiting for the callback of a record."""
        record.called_back = index
        self._owed.pop(record, None)
        self._oldest[record.partition].pop(record, None)

    def first_owed(self, until: int) -> Record | None:
        """Return the first record without a callback whose append had returned by event `until`."""
        self._tests(AccumulatorClause.COMPLETES_ONCE)
        return self._owed_since(until)

    def waits_for(self, call: int) -> bool:
        """Tell whether a flush that began at event `call` has something to wait for."""
        return self._owed_since(call) is not None

    def _owed_since(self, until: int) -> Record | None:
        first = next(iter(self._owed), None)
        if first is None or first.returned is None or first.returned > until:
            return None
        return first

    def left_late(self, *, alone: bool) -> Record | None:
        """Return a record that an expiry check left, though it was late when the last check ended.

        The sender read the clock for this check after the end of the last check; nothing later is
        certain. The check is judged only if it is `alone`: no other sender call overlaps it.
        """
        timeout_ms, checked_ms = self._timeout_ms, self._checked_ms
        self._checked_ms = self._clock.least
        if not alone or checked_ms is None or not isinstance(timeout_ms, int):
            return None
        self._tests(AccumulatorClause.EXPIRES_IN_TIME)
        first = next(iter(self._owed), None)
        return first if first and first.accepted_ms + timeout_ms <= checked_ms else None

    def judge(self, record: Record | None, value: Callback, index: int) -> Violation | None:
        """Record that a callback ran, and return what is wrong with it."""
        self._tests(AccumulatorClause.COMPLETES_ONCE)
        if record is None:
            return _wrongly(value.record, "was called back, but never appended")
        if record.refused or record.called_back is not None:
            observed = "was called back, but its append had been refused"
            if not record.refused:
                observed = f"was called back by event {record.called_back}, and again by {index}"
            return _wrongly(value.record, observed)
        self._tests(AccumulatorClause.OFFSET_OR_ERROR)
        unclear = (value.offset is None) is (value.error is None)
        overtakes = self._overtakes(record) if self._ends_in_order else self._is_late(record, value)
        violation = overtakes or self._is_out_of_place(record, value)
        violation = violation or self._is_early(record, value)
        self.give_up(record, index)
        if unclear:
            return AccumulatorClause.OFFSET_OR_ERROR.broken(
                "an offset or an error",
                f"offset {value.offset}, error {value.error}",
                f"{record.name!r} was told {'both' if value.error else 'neither'} an offset and an "
                "error (standard 4.11)",
            )
        outcome = self._judge_outcome(record, value)
        return violation or outcome

    def _overtakes(self, record: Record) -> Violation | None:
        if self._in_order is None:
            return None
        self._tests(AccumulatorClause.IN_ORDER)
        earlier = self._in_order.before(record, undrained=False)
        if earlier is None or earlier is record:
            return None
        return AccumulatorClause.IN_ORDER.broken(
            f"{earlier.name!r} is called back before {record.name!r}",
            f"{record.name!r} is called back, {earlier.name!r} is not",
            f"{record.name!r} overtook {earlier.name!r} in {record.partition!r}: its append began, "
            f"event {record.asked}, after that of {earlier.name!r} had returned (standard 4.11)",
        )

    def _is_late(self, record: Record, value: Callback) -> Violation | None:
        """Return the violation if a later record was called back before this one.

        Neither of them may have expired or been aborted: those have no order here. So this is known
        only once the record that was overtaken has its outcome.
        """
        if self._in_order is None or value.error in (EXPIRED, ABORTED):
            return None
        self._tests(AccumulatorClause.IN_ORDER)
        latest = self._latest.get(record.partition)
        if latest is None or latest.asked < record.asked:
            self._latest[record.partition] = record
        if latest is None or record.returned is None or latest.asked < record.returned:
            return None
        return AccumulatorClause.IN_ORDER.broken(
            f"{record.name!r} is called back before {latest.name!r}",
            f"{record.name!r} is called back after {latest.name!r}",
            f"{latest.name!r} overtook {record.name!r} in {record.partition!r}: its append began, "
            f"event {latest.asked}, after that of {record.name!r} had returned (standard 4.11)",
        )

    def _is_out_of_place(self, record: Record, value: Callback) -> Violation | None:
        """Return the violation if a record that a drain shows behind this one was told before.

        Appends that overlap may be queued either way; the drained batch shows which way it was.
        """
        place = record.order
        has_order = self._ends_in_order or value.error not in (EXPIRED, ABORTED)
        if self._in_order is None or place is None or not has_order:
            return None
        self._tests(AccumulatorClause.IN_ORDER)
        last = self._told_last.get(record.partition, place)
        self._told_last[record.partition] = max(last, place)
        if last <= place:
            return None
        return AccumulatorClause.IN_ORDER.broken(
            f"{record.name!r} is called back before the records behind it",
            f"a record behind {record.name!r} was called back first",
            f"{record.name!r} was called back after a record that stood behind it in "
            f"{record.partition!r}, as the drains show (standard 4.11)",
        )

    def _is_early(self, record: Record, value: Callback) -> Violation | None:
        timeout_ms = self._timeout_ms
        judged = value.error == EXPIRED and self._clock.judges_times
        if not judged or not isinstance(timeout_ms, int):
            return None
        self._tests(AccumulatorClause.EXPIRES_IN_TIME)
        age_ms = self._clock.high - record.oldest_ms
        if age_ms >= timeout_ms:
            return None
        return AccumulatorClause.EXPIRES_IN_TIME.broken(
            f"{record.name!r} does not expire before its batch is {timeout_ms} ms old",
            f"{record.name!r} expires, {age_ms} ms old at most",
            f"{record.name!r} expired after {age_ms} ms at most; its delivery timeout is "
            f"{timeout_ms} ms (standard 4.5)",
        )

    def _judge_outcome(self, record: Record, value: Callback) -> Violation | None:
        """Compare the outcome of a record with the outcomes of others in its batch."""
        batch = record.batch
        if batch is None:
            self.alone += value.error not in (EXPIRED, ABORTED)
            return self._told_the_same(record, value) or self._never_drained(record, value)
        self._tests(AccumulatorClause.RIGHT_OUTCOME)
        failed = value.offset is None
        if value.error == ABORTED and self.has_responses and not self.has_aborts:
            expected = "no abort, since nobody has begun one"
            return _wrong_outcome(record, batch.name, expected, f"error {value.error!r}")
        if not failed and self.has_responses and not batch.answered:
            expected = "an offset once the response has come"
            return _wrong_outcome(record, batch.name, expected, f"offset {value.offset} before")
        if batch.failed is not None and batch.failed is not failed:
            told = ("an offset", "an error")
            expected = f"{told[batch.failed]}, like the others"
            return _wrong_outcome(record, batch.name, expected, told[failed])
        first_error, batch.error = batch.error or value.error, value.error
        batch.failed = failed
        if first_error != value.error:
            return _wrong_outcome(
                record, batch.name, f"error {first_error!r}", f"error {value.error!r}"
            )
        if value.offset is None:
            return None
        base = value.offset - record.place
        if batch.base is not None and batch.base != base:
            expected = f"offset {batch.base + record.place}"
            return _wrong_outcome(record, batch.name, expected, f"offset {value.offset}")
        batch.base = base
        return None

    def _told_the_same(self, record: Record, value: Callback) -> Violation | None:
        """Return the violation if another record of the partition has this offset.

        Drains show the batches. Two batches of one offset are the broker's doing, not the
        accumulator's.
        """
        if value.offset is None or self.has_drains:
            return None
        self._tests(AccumulatorClause.RIGHT_OUTCOME)
        first = self._told.setdefault((record.partition, value.offset), record.name)
        if first == record.name:
            return None
        return AccumulatorClause.RIGHT_OUTCOME.broken(
            "an offset that no other record has",
            f"offset {value.offset}, as {first!r}",
            f"{record.name!r} and {first!r}, both of {record.partition!r}, were told the same "
            f"offset {value.offset} (standard 4.11)",
        )

    def _never_drained(self, record: Record, value: Callback) -> Violation | None:
        """Return the violation if a record is stored that no drain has taken."""
        if value.offset is None or not self.has_drains or self.open_drains:
            return None
        self._tests(AccumulatorClause.RIGHT_OUTCOME)
        return AccumulatorClause.RIGHT_OUTCOME.broken(
            f"{record.name!r} is told an offset once its batch was drained",
            f"offset {value.offset}",
            f"{record.name!r} was told offset {value.offset}, but no drain had taken its batch "
            "(standard 4.11)",
        )


def never_called_back(record: Record, why: str) -> Violation:
    """Return the violation that the callback of a record is missing."""
    return AccumulatorClause.COMPLETES_ONCE.broken(
        f"{record.name!r} is called back",
        f"{record.name!r} was not called back",
        f"{record.name!r} was accepted by event {record.returned} and never called back: {why}",
    )


def _wrongly(name: str, observed: str) -> Violation:
    return AccumulatorClause.COMPLETES_ONCE.broken(
        f"one callback of {name!r}, after its append began, unless that is refused",
        f"{name!r} {observed}",
        f"{name!r} {observed} (standard 4.11)",
    )


def _wrong_outcome(record: Record, batch: str, expected: str, observed: str) -> Violation:
    return AccumulatorClause.RIGHT_OUTCOME.broken(
        expected,
        observed,
        f"{record.name!r}, of batch {batch!r} at place {record.place}, was told {observed}; right "
        f"is: {expected} (standard 4.11)",
    )
