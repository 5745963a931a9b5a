"""A piece of a partition's log."""

from bisect import bisect_left
from collections.abc import Sequence

from wheelproof.replication.log_results import LogOffsetMetadata, LogRecord


class LogSegment:
    """Consecutive records that are read together; answers never span two (semantics.md 2.14)."""

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self._records: list[LogRecord] = []
        # One more than there are records: where each begins, in bytes, and where the last one ends.
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
        """Add `records`, whose offsets follow on those here."""
        for record in records:
            self._records.append(record)
            self._positions.append(self.size + len(record.value))

    def truncate_to(self, offset: int) -> None:
        """Drop every record from `offset` on."""
        kept = max(0, offset - self.base_offset)
        del self._records[kept:]
        del self._positions[kept + 1 :]

    def offset_metadata(self, offset: int) -> LogOffsetMetadata:
        """Return where `offset` is, which lies within this segment or at its end."""
        return LogOffsetMetadata(
            message_offset=offset,
            segment_base_offset=self.base_offset,
            relative_position_in_segment=self._positions[offset - self.base_offset],
        )

    def read(
        self, offset: int, *, end_offset: int, max_bytes: int, at_least_one: bool
    ) -> tuple[LogRecord, ...]:
        """Return the records from `offset` up to `end_offset` that fit into `max_bytes`.

        With `at_least_one` the first is returned even if it does not fit, so that a reader with a
        small limit is not stuck before a large record for ever.
        """
        first = offset - self.base_offset
        # The last position that is within the limit, counted from the first record's.
        last = bisect_left(self._positions, self._positions[first] + max_bytes + 1, lo=first) - 1
        if at_least_one:
            last = max(last, first + 1)
        return tuple(self._records[first : min(last, end_offset - self.base_offset)])
