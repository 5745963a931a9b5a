"""What a log says of itself: records in their places, offsets, ends, results of reads.

Offsets count records, positions count bytes, and a fetch that waits compares both of two moments.

>>> from wheelproof.replication.log_results import LogOffsetMetadata
>>> first = LogOffsetMetadata(
...     message_offset=3, segment_base_offset=0, relative_position_in_segment=120
... )
>>> second = LogOffsetMetadata(
...     message_offset=5, segment_base_offset=0, relative_position_in_segment=200
... )
>>> second.position_diff(first), first.on_older_segment(second)
(80, False)
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """A record in its place: `value` takes `len(value)` bytes of the log.

    `batch_offset` is the offset of the first record of its batch, which is what one request
    appended.
    """

    offset: int
    batch_offset: int
    leader_epoch: int
    value: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOffsetMetadata:
    """An offset and where it is: the segment, and the bytes of the segment before it."""

    message_offset: int
    segment_base_offset: int
    relative_position_in_segment: int

    def on_older_segment(self, that: "LogOffsetMetadata") -> bool:
        """Tell whether this offset is on an older segment than `that` one."""
        return self.segment_base_offset < that.segment_base_offset

    def position_diff(self, that: "LogOffsetMetadata") -> int:
        """Return the bytes from `that` offset to this one, both on the same segment."""
        return self.relative_position_in_segment - that.relative_position_in_segment


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAppendInfo:
    """Where an append went: its first offset, the one after its last, its epoch, and the log.

    `log` is the PartitionLog: a partition that is stopped and made again has a new one, which may
    begin in the same epoch.
    """

    first_offset: int
    next_offset: int
    leader_epoch: int
    log: object = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchProgress:
    """From where to where a fetcher may read at one moment."""

    start: LogOffsetMetadata
    end: LogOffsetMetadata

    @property
    def is_beyond_the_end(self) -> bool:
        """Whether the fetcher stands where it may not read yet."""
        return self.start.message_offset > self.end.message_offset


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEndOffset:
    """The largest epoch of a log up to the one asked for, and the offset where it ends."""

    leader_epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochStart:
    """A leader epoch and the offset of the first record written in it."""

    leader_epoch: int
    start_offset: int
