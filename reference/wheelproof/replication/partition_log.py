"""The log of one partition: records in segments, and the epochs in which they were written.

Followers find out where their log parts from a new leader's by the epochs in which records were
written. So a log has records, and beside them where each epoch began.

>>> from wheelproof.replication.partition_log import PartitionLog
>>> log = PartitionLog()
>>> appended = log.append([b"first", b"second"], leader_epoch=1)
>>> appended.first_offset, log.log_end_offset, log.high_watermark
(0, 2, 0)
>>> log.maybe_increment_high_watermark(1), log.high_watermark
(True, 1)

Invariants:

- Offsets have no gap. The epochs and their starts rise.
- The high watermark lies between 0 and the end of the log.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby
from typing import Annotated

from wheelproof import sync
from wheelproof.domain import require_integer
from wheelproof.errors import IllegalArgumentError
from wheelproof.replication.error_code import ErrorCode
from wheelproof.replication.log_results import (
    EpochEndOffset,
    EpochStart,
    FetchProgress,
    LogAppendInfo,
    LogOffsetMetadata,
    LogRecord,
)
from wheelproof.replication.log_segment import LogSegment
from wheelproof.replication.requests import FetchPartitionData
from wheelproof.sync import GuardedBy

DEFAULT_SEGMENT_BYTES = 1 << 30


class PartitionLog:
    """Records, each with an offset one above the last, in segments of bounded size.

    Every operation is atomic under the log's monitor. The high watermark only rises, except that a
    truncation takes it down to the new end.
    """

    def __init__(self, *, segment_bytes: int = DEFAULT_SEGMENT_BYTES) -> None:
        """Make an empty log whose segments hold at most `segment_bytes` bytes each.

        Raises IllegalArgumentError for a size below 1.
        """
        self._segment_bytes = require_integer("segment_bytes", segment_bytes, 1)
        self._monitor = sync.monitor("PartitionLog.monitor")
        # At least one segment; each begins at the offset where the one before ends.
        self._segments: Annotated[list[LogSegment], GuardedBy("_monitor")] = [LogSegment(0)]
        # Epochs and start offsets rise: an epoch without records gives way to the next one.
        self._epochs: Annotated[list[EpochStart], GuardedBy("_monitor")] = []
        # Never beyond the end of the last segment.
        self._high_watermark: Annotated[int, GuardedBy("_monitor")] = 0

    @property
    def log_end_offset(self) -> int:
        """The offset of the next record."""
        with self._monitor:
            return self._segments[-1].next_offset

    @property
    def high_watermark(self) -> int:
        """The offset up to which every in-sync replica has the log; consumers read below it."""
        with self._monitor:
            return self._high_watermark

    def fetch_progress(self, offset: int, *, up_to_high_watermark: bool) -> FetchProgress | None:
        """Return where a read at `offset` starts and ends now; None if the log does not reach it.

        For a consumer between the high watermark and the end the start is beyond the end.
        """
        with self._monitor:
            if not 0 <= offset <= self._end():
                return None
            end = self._high_watermark if up_to_high_watermark else self._end()
            return FetchProgress(start=self._metadata(offset), end=self._metadata(end))

    def append(self, values: Sequence[bytes], leader_epoch: int) -> LogAppendInfo | None:
        """Append one record a value, all in one segment; None if they fit into no segment."""
        size = sum(len(value) for value in values)
        if size > self._segment_bytes:
            return None
        with self._monitor:
            first = self._end()
            segment = self._segment_with_room(size)
            self._begin_epoch(leader_epoch, first)
            segment.append(
                [
                    LogRecord(
                        offset=first + index,
                        batch_offset=first,
                        leader_epoch=leader_epoch,
                        value=value,
                    )
                    for index, value in enumerate(values)
                ]
            )
            return LogAppendInfo(
                first_offset=first,
                next_offset=segment.next_offset,
                leader_epoch=leader_epoch,
                log=self,
            )

    def holds(self, append: LogAppendInfo) -> bool:
        """Tell whether what was appended is still there, and not another leader's records."""
        if append.log is not self:
            return False
        end = self.end_offset_for_epoch(append.leader_epoch)
        return (
            end is not None
            and end.leader_epoch == append.leader_epoch
            and append.next_offset <= end.end_offset
        )

    def append_as_follower(self, records: Sequence[LogRecord]) -> None:
        """Append what was fetched from the leader, in the leader's batches.

        Who fetches here later, if this replica leads, is told the same sizes and places.

        Raises IllegalArgumentError, and appends nothing, if the offsets do not follow on the log's.
        """
        with self._monitor:
            end = self._end()
            if [record.offset for record in records] != list(range(end, end + len(records))):
                raise IllegalArgumentError(f"the records do not follow on offset {end}")
            for _, batch in groupby(records, lambda record: record.batch_offset):
                together = list(batch)
                segment = self._segment_with_room(sum(len(record.value) for record in together))
                self._begin_epoch(together[0].leader_epoch, together[0].offset)
                segment.append(together)

    def begin_epoch(self, leader_epoch: int) -> None:
        """Note that what follows is written in `leader_epoch`, even before anything is."""
        with self._monitor:
            self._begin_epoch(leader_epoch, self._end())

    def read(
        self, offset: int, *, up_to_high_watermark: bool, max_bytes: int, at_least_one: bool
    ) -> FetchPartitionData:
        """Return records from `offset` on, of one segment and at most `max_bytes` bytes.

        A consumer reads up to the high watermark, a follower up to the end. OFFSET_OUT_OF_RANGE
        below 0 and beyond the end.
        """
        with self._monitor:
            high_watermark = self._high_watermark
            if not 0 <= offset <= self._end():
                return FetchPartitionData(error=ErrorCode.OFFSET_OUT_OF_RANGE)
            records, bytes_read = self._segment_of(offset).read(
                offset,
                end_offset=high_watermark if up_to_high_watermark else self._end(),
                max_bytes=max_bytes,
                at_least_one=at_least_one,
            )
            return FetchPartitionData(
                error=ErrorCode.NONE,
                high_watermark=high_watermark,
                records=records,
                bytes_read=bytes_read,
            )

    def truncate_to(self, offset: int) -> None:
        """Drop every record from `offset` on; the high watermark comes down with the end.

        A segment that begins there stays, and is empty.

        Raises IllegalArgumentError if the log does not reach there.
        """
        with self._monitor:
            require_integer("offset", offset, 0, self._end())
            # The first segment begins at 0.
            segments = [one for one in self._segments if one.base_offset <= offset]
            segments[-1] = segments[-1].up_to(offset)
            epochs = [epoch for epoch in self._epochs if epoch.start_offset < offset]
            high_watermark = min(self._high_watermark, offset)
            # Not by calls: no signal comes between the three.
            self._segments = segments
            self._epochs = epochs
            self._high_watermark = high_watermark

    def maybe_increment_high_watermark(self, offset: int) -> bool:
        """Raise the high watermark to `offset`, or to the end if that is lower; tell if it rose."""
        with self._monitor:
            raised = min(offset, self._end())
            if raised <= self._high_watermark:
                return False
            self._high_watermark = raised
            return True

    def end_offset_for_epoch(self, leader_epoch: int) -> EpochEndOffset | None:
        """Return where the largest epoch up to `leader_epoch` ends; None if all are older.

        An epoch that is older than all of these ends where the first of them begins.
        """
        with self._monitor:
            later = bisect_right([epoch.leader_epoch for epoch in self._epochs], leader_epoch)
            found = self._epochs[later - 1].leader_epoch if later else leader_epoch
            if later < len(self._epochs):
                end = self._epochs[later].start_offset
                return EpochEndOffset(leader_epoch=found, end_offset=end)
            if not later or found < leader_epoch:
                return None
            return EpochEndOffset(leader_epoch=found, end_offset=self._end())

    def _end(self) -> int:
        return self._segments[-1].next_offset

    def _segment_of(self, offset: int) -> LogSegment:
        later = bisect_right([segment.base_offset for segment in self._segments], offset)
        return self._segments[later - 1]

    def _segment_with_room(self, size: int) -> LogSegment:
        segment = self._segments[-1]
        if segment.size + size > self._segment_bytes and segment.size > 0:
            segment = LogSegment(segment.next_offset)
            self._segments.append(segment)
        return segment

    def _begin_epoch(self, leader_epoch: int, start_offset: int) -> None:
        if not self._epochs or self._epochs[-1].leader_epoch < leader_epoch:
            if self._epochs and self._epochs[-1].start_offset == start_offset:
                self._epochs.pop()
            self._epochs.append(EpochStart(leader_epoch=leader_epoch, start_offset=start_offset))

    def _metadata(self, offset: int) -> LogOffsetMetadata:
        return self._segment_of(offset).offset_metadata(offset)
