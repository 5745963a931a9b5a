"""Judges what drains take from the queues, and the order (standard 4.3 - 4.6)."""

import heapq
from collections import Counter
from collections.abc import Mapping

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import (
    Drain,
    Drained,
    DrainedBatch,
    Partition,
)
from wheelproof_spec.components.accumulator.component import AccumulatorClause
from wheelproof_spec.components.accumulator.history.record import Batch, Record
from wheelproof_spec.components.accumulator.history.retries import Retries


class FirstOwed:
    """The accepted records of each partition, in the order in which their appends returned."""

    def __init__(self) -> None:
        self._heaps: dict[Partition, list[tuple[int, Record]]] = {}

    def add(self, record: Record) -> None:
        """Add a record whose append was accepted."""
        assert record.returned is not None
        heapq.heappush(self._heaps.setdefault(record.partition, []), (record.returned, record))

    def before(self, record: Record, *, undrained: bool) -> Record | None:
        """Return an owed record whose append had returned when that of `record` began."""
        first = self._first(record.partition, undrained=undrained)
        return first[1] if first is not None and first[0] < record.asked else None

    def first_undrained(self, partition: Partition) -> Record | None:
        """Return the owed record of a partition that was accepted first, and never drained."""
        first = self._first(partition, undrained=True)
        return None if first is None else first[1]

    def _first(self, partition: Partition, *, undrained: bool) -> tuple[int, Record] | None:
        heap = self._heaps.get(partition, [])
        while heap and not (heap[0][1].is_owed and not (undrained and heap[0][1].batch)):
            heapq.heappop(heap)
        return heap[0] if heap else None


class Queues:
    """The batches, as the drains of a history show them."""

    def __init__(self, records: Mapping[str, Record], tally: Tally) -> None:
        self._tests = tally.tests
        self._records = records
        self._batches: dict[str, Batch] = {}
        self._muted: dict[Partition, int] = {}
        self._open_unmutes: Counter[Partition] = Counter()
        self._unmuted: dict[Partition, int] = {}
        """The last event of a call of unmute, by partition."""
        self.waiting = FirstOwed()
        """The records that wait to be drained."""
        self.retries = Retries()
        self._drained = 0

    def batch(self, name: str) -> Batch | None:
        """Return the drained batch of this name, if there is one."""
        return self._batches.get(name)

    def accepted(self, record: Record) -> None:
        """Add a record that waits to be drained."""
        self.waiting.add(record)

    def mute(self, partition: Partition, began: int, since: int) -> None:
        """Record that a partition is muted since event `since`, by a call of event `began`.

        If it overlapped an unmute, that may have come later.
        """
        if not self._open_unmutes[partition] and self._unmuted.get(partition, -1) < began:
            self._muted[partition] = since

    def unmute_begins(self, partition: Partition, index: int) -> None:
        """Record that a partition may no longer be muted."""
        self._muted.pop(partition, None)
        self._open_unmutes[partition] += 1
        self._unmuted[partition] = index

    def unmute_ends(self, partition: Partition, index: int) -> None:
        """Record that a call of unmute has ended."""
        self._open_unmutes[partition] -= 1
        self._unmuted[partition] = index

    def is_muted_since(self, partition: Partition, index: int) -> bool:
        """Tell whether a partition is muted for certain, from event `index` to now."""
        muted = self._muted.get(partition)
        return muted is not None and muted < index

    def back(self, batch: Batch) -> None:
        """Record that a batch returned to its queue, or ended."""
        batch.in_flight = False

    def split(self, batch: Batch) -> None:
        """Record that a batch was split, and forget it."""
        batch.in_flight = False
        del self._batches[batch.name]

    def regained(self, batch: Batch, *, in_flight: bool) -> None:
        """Record that a batch did not go back, or may not have gone back, to its queue."""
        self._batches[batch.name] = batch
        batch.in_flight = in_flight
        for record in batch.records:
            record.batch = record.batch or batch

    def drained(self, began: int, call: Drain, answer: Drained, *, alone: bool) -> Violation | None:
        """Judge a drain that has ended; `alone` if no call that ends batches overlapped it."""
        partitions: set[Partition] = set()
        first = self._too_much(call, answer)
        for taken in answer.batches:
            self._tests(AccumulatorClause.DRAINS_THE_HEADS)
            violation = self._take(began, taken, alone=alone)
            if call.partitions and taken.partition not in call.partitions:
                violation = _drained_wrongly(
                    taken.batch,
                    f"batches of {list(call.partitions)}",
                    f"one of {taken.partition!r}",
                    f"the drain took batch {taken.batch!r} of {taken.partition!r}, which its node "
                    "does not lead (standard 4.3)",
                )
            if taken.partition in partitions:
                violation = _drained_wrongly(
                    taken.batch,
                    f"at most one batch of {taken.partition!r}",
                    "a second one",
                    f"the drain took two batches of {taken.partition!r}, the second is "
                    f"{taken.batch!r} (standard 4.3)",
                )
            partitions.add(taken.partition)
            first = first or violation
        return first

    def _too_much(self, call: Drain, answer: Drained) -> Violation | None:
        """Return the violation if several batches have more bytes than the drain may take."""
        if not call.max_size or not answer.batches[1:]:
            return None
        self._tests(AccumulatorClause.DRAINS_THE_HEADS)
        names = (name for taken in answer.batches for name in taken.records)
        found = [self._records[name] for name in names if name in self._records]
        least = sum(record.size + 1 for record in found)
        if least <= call.max_size:
            return None
        return _drained_wrongly(
            answer.batches[-1].batch,
            f"at most {call.max_size} bytes",
            f"{least} bytes at least, all batches together",
            f"the drain took at least {least} bytes in {len(answer.batches)} batches, of "
            f"{call.max_size} that it may take (standard 4.3)",
        )

    def _take(self, began: int, taken: DrainedBatch, *, alone: bool) -> Violation | None:
        """Record a drained batch, and return what is wrong with it."""
        wrong = self._not_to_be_taken(began, taken)
        found: dict[Record, int] = {}
        for place, name in enumerate(taken.records):
            record = self._records.get(name)
            stranger = _wrong_member(record, began, taken)
            if stranger is None and record is not None and record not in found:
                found[record] = place
                continue
            wrong = wrong or _drained_wrongly(
                taken.batch,
                f"records of {taken.partition!r} that wait",
                f"{name!r} {stranger or 'is in it twice'}",
                f"the drain took batch {taken.batch!r} with {name!r}, which "
                f"{stranger or 'is in it twice'}",
            )
        members = tuple(found)
        new = [record for record in members if record.batch is None]
        wrong = wrong or _not_as_answered(taken, found)
        batch = self._batches[taken.batch] = Batch(taken.batch, taken.partition, members)
        self._drained += 1
        for record, place in found.items():
            record.batch, record.place = batch, place
            record.order = record.order or (self._drained, place)
        if alone and wrong is None:
            wrong = self._out_of_order(taken, members, new)
            wrong = wrong or self.retries.judge(began, taken, members)
        self.retries.drained(taken.partition, members)
        return wrong

    def _not_to_be_taken(self, began: int, taken: DrainedBatch) -> Violation | None:
        if self.is_muted_since(taken.partition, began):
            return _drained_wrongly(
                taken.batch,
                f"no batch of {taken.partition!r}",
                "one of a muted partition",
                f"the drain took batch {taken.batch!r} of {taken.partition!r}, which had been "
                "muted before the drain began (standard 4.4)",
            )
        batch = self._batches.get(taken.batch)
        if batch is None or not batch.in_flight:
            return None
        return _drained_wrongly(
            taken.batch,
            "a batch that waits",
            "one that is being sent already",
            f"the drain took batch {taken.batch!r}, which was drained before and did not go back",
        )

    def _out_of_order(
        self, taken: DrainedBatch, found: tuple[Record, ...], new: list[Record]
    ) -> Violation | None:
        latest = found[0] if found else None
        for record in found:
            assert latest is not None
            if record.returned is not None and record.returned < latest.asked:
                return _overtaken(taken.batch, latest, record)
            if record.asked > latest.asked:
                latest = record
        for record in new:
            earlier = self.waiting.before(record, undrained=True)
            if earlier is not None:
                return _overtaken(taken.batch, record, earlier)
        return None


def _wrong_member(record: Record | None, began: int, taken: DrainedBatch) -> str | None:
    if record is None or record.partition != taken.partition:
        return "was never appended there"
    if record.refused:
        return "was refused"
    if record.called_back is not None and record.called_back < began:
        return "had been called back when the drain began"
    if record.batch is not None and record.batch.in_flight and record.batch.name != taken.batch:
        return f"is being sent with batch {record.batch.name!r}"
    return None


def _not_as_answered(taken: DrainedBatch, found: Mapping[Record, int]) -> Violation | None:
    """Return the violation if answers to appends say that a batch began with another record."""
    for record, place in found.items():
        is_fresh = record.batch is None and not record.was_split
        if is_fresh and record.new_batch is (place > 0):
            made = "made a batch" if record.new_batch else "made no batch"
            return _drained_wrongly(
                taken.batch,
                f"{record.name!r} {'at' if record.new_batch else 'behind'} its beginning",
                f"{record.name!r} has place {place}",
                f"{record.name!r} {made}, as the answer to its append says, but has place {place} "
                f"in batch {taken.batch!r} (standard 4.1)",
            )
    return None


def _overtaken(batch: str, record: Record, earlier: Record) -> Violation:
    return _drained_wrongly(
        batch,
        f"{earlier.name!r} before {record.name!r}",
        f"{record.name!r} comes first",
        f"batch {batch!r} took {record.name!r} before {earlier.name!r}, whose append had returned "
        f"(event {earlier.returned}) when that of {record.name!r} began (event {record.asked})",
    )


def _drained_wrongly(batch: str, expected: str, observed: str, reason: str) -> Violation:
    return AccumulatorClause.DRAINS_THE_HEADS.broken(
        expected, f"the drain takes batch {batch!r}: {observed}", reason
    )
