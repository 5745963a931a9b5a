"""The log of a partition as the judges keep it: a list of records, and where segments begin."""

from bisect import bisect_right
from collections.abc import Sequence

from wheelproof_spec.components.replication.component import EpochEnd, NewRecord, Record


class LedgerLog:
    """Records in segments; an append goes into one segment, and begins one if it finds no room."""

    def __init__(self, segment_bytes: int) -> None:
        self._segment_bytes = segment_bytes
        self._records: list[Record] = []
        # Where each record begins, in bytes of the whole log, and where the last one ends.
        self._positions = [0]
        self._bases = [0]
        # The first offset of each epoch, also of one in which nothing was written.
        self._epochs: list[tuple[int, int]] = []
        self.high_watermark = 0

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return len(self._records)

    def begin_epoch(self, epoch: int) -> None:
        """Note that what follows is written in `epoch`."""
        self._epochs.append((epoch, self.end))

    def append(self, records: Sequence[NewRecord], epoch: int) -> int:
        """Append records and return the offset of the first."""
        first = self.end
        used = self.bytes_between(self._bases[-1], first)
        if used > 0 and used + sum(record.size for record in records) > self._segment_bytes:
            self._bases.append(first)
        for offset, record in enumerate(records, start=first):
            self._records.append(
                Record(offset=offset, leader_epoch=epoch, size=record.size, value=record.value)
            )
            self._positions.append(self._positions[-1] + record.size)
        return first

    def truncate(self, offset: int) -> None:
        """Drop every record from `offset` on."""
        del self._records[offset:]
        del self._positions[offset + 1 :]
        self._bases = [0, *(base for base in self._bases[1:] if base < offset)]
        self._epochs = [(epoch, start) for epoch, start in self._epochs if start < offset]
        self.high_watermark = min(self.high_watermark, offset)

    def raise_high_watermark(self, offset: int) -> None:
        """Raise the high watermark to `offset`, if that is higher."""
        self.high_watermark = max(self.high_watermark, offset)

    def bytes_between(self, start: int, end: int) -> int:
        """Return the bytes from one offset to another; 0 if that is not after it."""
        return max(self._positions[end] - self._positions[start], 0)

    def segment_base(self, offset: int) -> int:
        """Return where the segment of `offset` begins."""
        return self._bases[bisect_right(self._bases, offset) - 1]

    def read(
        self, offset: int, end: int, max_bytes: int, *, at_least_one: bool
    ) -> tuple[Record, ...]:
        """Return records of one segment that fit into `max_bytes`, or the first all the same."""
        last = offset
        while last < end and self.segment_base(last) == self.segment_base(offset):
            fits = self.bytes_between(offset, last + 1) <= max_bytes
            if not fits and not (at_least_one and last == offset):
                break
            last += 1
        return tuple(self._records[offset:last])

    def holds(self, epoch: int, end: int) -> bool:
        """Tell whether the records of `epoch` before `end` are still there."""
        ends = self._end_of(epoch)
        return ends is not None and ends.leader_epoch == epoch and end <= ends.end_offset

    def diverging(self, offset: int, last_epoch: int | None) -> EpochEnd | None:
        """Return where a log parts that ends at `offset` in `last_epoch`.

        None if it does not part, or does not tell its epoch.
        """
        if last_epoch is None:
            return None
        found = self._end_of(last_epoch)
        if found is None:
            return EpochEnd(leader_epoch=-1, end_offset=0)
        return found if found.leader_epoch < last_epoch or found.end_offset < offset else None

    def _end_of(self, epoch: int) -> EpochEnd | None:
        """Return the largest epoch up to this one, and where it ends."""
        later = bisect_right(self._epochs, epoch, key=lambda begun: begun[0])
        if not later:
            return None
        is_last = later == len(self._epochs)
        end = self.end if is_last else self._epochs[later][1]
        return EpochEnd(leader_epoch=self._epochs[later - 1][0], end_offset=end)
