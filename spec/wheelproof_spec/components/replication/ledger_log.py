"""The log of the oracle's broker: a list of records, each with its size and its epoch."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRecord:
    """A record: its offset, the epoch of the leader that wrote it, its size in bytes."""

    offset: int
    epoch: int
    size: int


class LedgerLog:
    """Records in segments; an append goes into one segment, and begins one if it finds no room."""

    def __init__(self, segment_bytes: int) -> None:
        self._segment_bytes = segment_bytes
        self._records: list[LedgerRecord] = []
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

    def append(self, sizes: Sequence[int], epoch: int) -> int:
        """Append records of these sizes and return the offset of the first."""
        first = self.end
        used = self.bytes_between(self._bases[-1], first)
        if used > 0 and used + sum(sizes) > self._segment_bytes:
            self._bases.append(first)
        self._records += [
            LedgerRecord(offset=first + index, epoch=epoch, size=size)
            for index, size in enumerate(sizes)
        ]
        return first

    def truncate(self, offset: int) -> None:
        """Drop every record from `offset` on."""
        del self._records[offset:]
        self._bases = [0, *(base for base in self._bases[1:] if base < offset)]
        self._epochs = [(epoch, start) for epoch, start in self._epochs if start < offset]
        self.high_watermark = min(self.high_watermark, offset)

    def raise_high_watermark(self, offset: int) -> None:
        """Raise the high watermark to `offset`, if that is higher."""
        self.high_watermark = max(self.high_watermark, offset)

    def bytes_between(self, start: int, end: int) -> int:
        """Return the bytes from one offset to another; 0 if that is not after it."""
        return sum(record.size for record in self._records[start:end])

    def segment_base(self, offset: int) -> int:
        """Return where the segment of `offset` begins."""
        return max(base for base in self._bases if base <= offset)

    def read(
        self, offset: int, end: int, max_bytes: int, *, at_least_one: bool
    ) -> tuple[LedgerRecord, ...]:
        """Return records of one segment that fit into `max_bytes`, or the first all the same."""
        found: list[LedgerRecord] = []
        room = max_bytes
        for record in self._records[offset:end]:
            if self.segment_base(record.offset) != self.segment_base(offset):
                break
            room -= record.size
            if room < 0 and not (at_least_one and not found):
                break
            found.append(record)
        return tuple(found)

    def holds(self, epoch: int, end: int) -> bool:
        """Tell whether the records of `epoch` before `end` are still there."""
        ends = self._end_of(epoch)
        return ends is not None and ends[0] == epoch and end <= ends[1]

    def diverging(self, offset: int, last_epoch: int | None) -> tuple[int, int] | None:
        """Return the epoch, and its end, where a log parts that ends at `offset` in `last_epoch`.

        None if it does not part, or does not tell its epoch.
        """
        if last_epoch is None:
            return None
        found = self._end_of(last_epoch)
        if found is None:
            return -1, 0
        return found if found[0] < last_epoch or found[1] < offset else None

    def _end_of(self, epoch: int) -> tuple[int, int] | None:
        """Return the largest epoch up to this one, and where it ends."""
        known = [index for index, (begun, _) in enumerate(self._epochs) if begun <= epoch]
        if not known:
            return None
        index = known[-1]
        is_last = index == len(self._epochs) - 1
        return self._epochs[index][0], self.end if is_last else self._epochs[index + 1][1]
