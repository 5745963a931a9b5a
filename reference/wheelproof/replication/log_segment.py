"""A piece of a partition's log."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from wheelproof.replication.log_results import LogOffsetMetadata, LogRecord


class LogSegment:
    """Consecutive records that are read together; answers never span two (semantics.md 2.14).

    What is appended together is a batch. Bytes are counted by whole batches: a record lies where
    its batch begins.
    """

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self._records: list[LogRecord] = []
        # One more than there are records: where the batch of each begins, in bytes, and where the
        # last batch ends.
        self._positions = [0]

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
        begin = self.size
        self._records += records
        self._positions += [begin] * (len(records) - 1)
        self._positions.append(begin + sum(len(record.value) for record in records))

    def truncate_to(self, offset: int) -> None:
        """Drop every record from `offset` on."""
        kept = max(0, offset - self.base_offset)
        del self._records[kept:]
        del self._positions[kept + 1 :]

    def offset_metadata(self, offset: int) -> LogOffsetMetadata:
        """Return where the batch of `offset` is, which lies in this segment or at its end."""
        position = self._positions[offset - self.base_offset]
        return LogOffsetMetadata(
            message_offset=self.base_offset + self._batch_at(position),
            segment_base_offset=self.base_offset,
            relative_position_in_segment=position,
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
        last = min(end_offset - self.base_offset, len(self._records))
        available = self._positions[max(last, first)] - begin
        whole_first = self._positions[bisect_right(self._positions, begin) % len(self._positions)]
        if whole_first - begin > max_bytes:
            max_bytes = whole_first - begin if at_least_one else 0
        size = min(available, max_bytes)
        end = self._batch_at(self._positions[bisect_right(self._positions, begin + size) - 1])
        return tuple(self._records[first:end]), size

    def _batch_at(self, position: int) -> int:
        """Return the number of the first record of the batch that begins there, or of the end."""
        return bisect_left(self._positions, position)
