"""A piece of a partition's log.

Logs grow without end and are cut from the end. In segments neither costs more than the last one.

>>> from wheelproof.replication.log_results import LogRecord
>>> from wheelproof.replication.log_segment import LogSegment
>>> segment = LogSegment(10)
>>> def record(offset: int) -> LogRecord:
...     return LogRecord(offset=offset, batch_offset=offset, leader_epoch=1, value=b"value")
>>> segment.append([record(10), record(11)])
>>> segment.next_offset
12
>>> segment.up_to(11).next_offset
11

Invariants:

- Offsets in a segment follow on each other; a batch lies in one segment.
- `_positions` and `_begins` have one entry more than there are records.
"""

from bisect import bisect_right
from collections.abc import Sequence

from wheelproof.replication.log_results import LogOffsetMetadata, LogRecord


class LogSegment:
    """Consecutive records that are read together; answers never span two (standard 5.2).

    What is appended together is a batch. Bytes are counted by whole batches: a record lies where
    its batch begins.
    """

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self._records: list[LogRecord] = []
        # One more than there are records: where the batch of each begins, in bytes, and where the
        # last batch ends.
        self._positions = [0]
        # For each position the number of the record with which its batch begins. The position alone
        # does not tell: batches without a byte lie at the same one.
        self._begins = [0]

    @property
    def next_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + len(self._records)

    @property
    def size(self) -> int:
        """The bytes of all records."""
        return self._positions[-1]

    def append(self, records: Sequence[LogRecord]) -> None:
        """Add a batch of `records`, whose offsets follow on those here."""
        first, begin, inner = len(self._records), self.size, len(records) - 1
        end = begin + sum(len(record.value) for record in records)
        # Not by calls: no signal comes between the three.
        self._records += records
        self._positions += [*(begin,) * inner, end]
        self._begins += [*(first,) * inner, first + inner + 1]

    def up_to(self, offset: int) -> "LogSegment":
        """Return a segment with the records before `offset`, which lies here or at the end.

        What is left of a batch is a shorter batch.
        """
        kept = offset - self.base_offset
        left = self._records[self._begins[kept] : kept]
        end = self._positions[kept] + sum(len(record.value) for record in left)
        segment = LogSegment(self.base_offset)
        segment._records = self._records[:kept]
        segment._positions = [*self._positions[:kept], end]
        segment._begins = [*self._begins[:kept], kept]
        return segment

    def offset_metadata(self, offset: int) -> LogOffsetMetadata:
        """Return where the batch of `offset` is, which lies in this segment or at its end."""
        number = offset - self.base_offset
        return LogOffsetMetadata(
            message_offset=self.base_offset + self._begins[number],
            segment_base_offset=self.base_offset,
            relative_position_in_segment=self._positions[number],
        )

    def read(
        self, offset: int, *, end_offset: int, max_bytes: int, at_least_one: bool
    ) -> tuple[tuple[LogRecord, ...], int]:
        """Return the records from `offset` on of the batches that were read, and how many bytes.

        At most `max_bytes` are read, up to the batch of `end_offset`; the last batch may be cut
        off, and is not returned then. With `at_least_one` the first is read even if it does not
        fit, so that a reader with a small limit is not stuck before a large batch for ever;
        without it nothing is read then.
        """
        first = offset - self.base_offset
        begin = self._positions[first]
        last = max(first, min(end_offset - self.base_offset, len(self._records)))
        following = min(bisect_right(self._begins, self._begins[first]), len(self._records))
        whole_first = self._positions[following] - begin
        if whole_first > max_bytes:
            max_bytes = whole_first if at_least_one else 0
        size = min(self._positions[last] - begin, max_bytes)
        cut_off = bisect_right(self._positions, begin + size) - 1
        end = min(self._begins[cut_off], self._begins[last])
        return tuple(self._records[first:end]), size
