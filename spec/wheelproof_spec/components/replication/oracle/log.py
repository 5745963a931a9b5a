"""The log of a partition as the judges keep it: a list of records, and where segments begin.

What one request appends is a batch. Bytes are counted by whole batches: a record lies where its
batch begins.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from wheelproof_spec.components.replication.component import EpochEnd, NewRecord, Record


@dataclass(frozen=True, slots=True)
class Place:
    """An offset, and the base of the segment in which it was when it was looked up."""

    offset: int
    segment: int


class LedgerLog:
    """Records in segments; an append goes into one segment, a new one if there is no room."""

    def __init__(self, segment_bytes: int) -> None:
        self._segment_bytes = segment_bytes
        self._records: list[Record] = []
        # Where the batch of each record begins, in bytes of the whole log, and where the last ends.
        self._positions = [0]
        # The offset of the first record of each of these batches: empty ones share a position.
        self._begins = [0]
        self._bases = [0]
        # The first offset of each epoch; the next epoch replaces an epoch without records.
        self._epochs: list[tuple[int, int]] = []
        self.high = Place(0, 0)

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return len(self._records)

    @property
    def high_watermark(self) -> int:
        """The offset up to which consumers read."""
        return self.high.offset

    def place(self, offset: int) -> Place:
        """Return the place of an offset now: the place where its batch begins."""
        return Place(self.batch_base(offset), self.segment_base(offset))

    def begin_epoch(self, epoch: int) -> None:
        """Record that the next records are written in `epoch`."""
        self._epochs = [begun for begun in self._epochs if begun[1] < self.end]
        self._epochs.append((epoch, self.end))

    def append(self, records: Sequence[NewRecord], epoch: int) -> int:
        """Append records and return the offset of the first."""
        first, begin = self.end, self._positions[-1]
        size = sum(record.size for record in records)
        used = begin - self._positions[self._bases[-1]]
        if used > 0 and used + size > self._segment_bytes:
            self._bases.append(first)
            if self.high_watermark == first:
                self.high = Place(first, first)
        for offset, record in enumerate(records, start=first):
            self._records.append(
                Record(offset=offset, leader_epoch=epoch, size=record.size, value=record.value)
            )
        self._positions.extend([begin] * (len(records) - 1))
        self._positions.append(begin + size)
        self._begins.extend([first] * (len(records) - 1))
        self._begins.append(self.end)
        return first

    def truncate(self, offset: int) -> None:
        """Drop every record from `offset` on; a segment that begins there stays, and is empty."""
        left = self._records[self._begins[offset] : offset]
        del self._records[offset:]
        del self._positions[offset + 1 :]
        del self._begins[offset + 1 :]
        self._positions[offset] += sum(record.size for record in left)
        self._begins[offset] = offset
        self._bases = [base for base in self._bases if base <= offset]
        self._epochs = [(epoch, start) for epoch, start in self._epochs if start < offset]
        if self.high_watermark >= offset:
            self.high = self.place(offset)

    def raise_high_watermark(self, place: Place) -> bool:
        """Raise the high watermark to `place`, or to a newer segment; tell whether it rose."""
        high = self.high
        if (place.offset, place.segment) > (high.offset, high.segment):
            self.high = place
        return self.high != high

    def bytes_between(self, start: int, end: int) -> int:
        """Return the bytes from one offset to another; 0 if that is not after it."""
        return max(self._positions[end] - self._positions[start], 0)

    def segment_base(self, offset: int) -> int:
        """Return where the segment of `offset` begins."""
        return self._bases[bisect_right(self._bases, offset) - 1]

    def batch_base(self, offset: int) -> int:
        """Return where the batch of an offset begins, or the end if it lies there."""
        return self._begins[offset]

    def batch_end(self, offset: int) -> int:
        """Return the offset after the batch of an offset before the end."""
        return bisect_right(self._begins, self._begins[offset])

    def bytes_read(self, offset: int, end: int, max_bytes: int, *, at_least_one: bool) -> int:
        """Return how many bytes a read gets from one segment: the last batch may be cut off.

        With `at_least_one` the first batch is whole; without it, 0 if that does not fit.
        """
        if end <= offset:
            return 0
        begin = self._positions[offset]
        available = self._positions[self._last(offset, end)] - begin
        first = self._positions[self.batch_end(offset)] - begin
        if first > max_bytes:
            return min(available, first) if at_least_one else 0
        return min(available, max_bytes)

    def read(
        self, offset: int, end: int, max_bytes: int, *, at_least_one: bool
    ) -> tuple[Record, ...]:
        """Return the records from `offset` on of the whole batches that a read gets."""
        if end <= offset:
            return ()
        size = self.bytes_read(offset, end, max_bytes, at_least_one=at_least_one)
        cut_off = bisect_right(self._positions, self._positions[offset] + size) - 1
        last = min(self._begins[cut_off], self._begins[self._last(offset, end)])
        return tuple(self._records[offset:last])

    def _last(self, offset: int, end: int) -> int:
        """Return where a read ends at the latest: answers never span two segments."""
        following = bisect_right(self._bases, offset)
        return min(end, self._bases[following]) if following < len(self._bases) else end

    def holds(self, epoch: int, end: int) -> bool:
        """Tell whether the records of `epoch` before `end` are still there."""
        has_it = any(begun == epoch for begun, _ in self._epochs)
        return has_it and end <= self._end_of(epoch).end_offset

    def knows(self, last_epoch: int | None) -> bool:
        """Tell whether the log has an epoch that is at least `last_epoch`; True for None."""
        return last_epoch is None or any(epoch >= last_epoch for epoch, _ in self._epochs)

    def diverging(self, offset: int, last_epoch: int | None) -> EpochEnd | None:
        """Return where a log that ends at `offset` in `last_epoch` diverges from this one.

        This log knows that epoch. None if the other does not diverge, or does not tell its epoch.
        """
        if last_epoch is None:
            return None
        found = self._end_of(last_epoch)
        return found if found.leader_epoch < last_epoch or found.end_offset < offset else None

    def _end_of(self, epoch: int) -> EpochEnd:
        """Return the largest epoch up to this one, and where it ends.

        An epoch that is older than the whole log is unknown; it ends where the log begins.
        """
        later = bisect_right(self._epochs, epoch, key=lambda begun: begun[0])
        is_last = later == len(self._epochs)
        end = self.end if is_last else self._epochs[later][1]
        return EpochEnd(leader_epoch=self._epochs[later - 1][0] if later else epoch, end_offset=end)
