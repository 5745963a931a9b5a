"""Compares the answer to a fetch with the known log that the fetch has read (5.2)."""

from dataclasses import dataclass

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.component import (
    ErrorCode,
    FetchPartition,
    PartitionFetchResponse,
    Record,
    ReplicationClause,
)
from wheelproof_spec.components.replication.history.partition import PartitionHistory
from wheelproof_spec.components.replication.history.requests import Fetch, Reading


@dataclass(frozen=True, slots=True)
class Part:
    """One partition of an answered fetch; `read` are the bytes of the partitions before it."""

    reading: Reading
    asked: FetchPartition
    answer: PartitionFetchResponse
    read: int
    high: int
    """The upper bound of the high watermark."""

    @property
    def _end(self) -> int:
        """The offset after the last record of the answer."""
        return self.asked.fetch_offset + len(self.answer.records)

    def refusal_is_wrong(self, partition: PartitionHistory) -> Violation | None:
        """Judge whether it is refused exactly if it must be; the partition was not disturbed."""
        asked, answer, fetch = self.asked, self.answer, self.reading.fetch
        expected = refusal_of(fetch, asked, partition)
        offset = asked.fetch_offset
        # A fetcher may also know an epoch that the log does not know.
        beyond = not 0 <= offset <= self._floor() or asked.last_fetched_epoch is not None
        within = 0 <= offset <= partition.places.end_high
        if expected is not ErrorCode.NONE or answer.error not in (
            ErrorCode.NONE,
            ErrorCode.OFFSET_OUT_OF_RANGE,
        ):
            right = answer.error is expected
        elif answer.diverging_epoch is not None:
            right = asked.last_fetched_epoch is not None
        else:
            right = beyond if answer.error is ErrorCode.OFFSET_OUT_OF_RANGE else within
        if right:
            return None
        return self._wrong(
            f"{expected.value}, or out of range if so",
            answer.error.value,
            f"answered {answer.error.value}, but {expected.value} is right, or out of range: the "
            f"log ends at {partition.places.end_high} or before",
        )

    def high_watermark_is_wrong(self, partition: PartitionHistory) -> Violation | None:
        """Judge the high watermark of the answer."""
        least, most = self.reading.fetch.seen[self.asked.partition].high_watermark, partition.high
        if self.answer.error is not ErrorCode.NONE:
            least = most = -1
        told = self.answer.high_watermark
        if least <= told <= most:
            return None
        return self._wrong(
            f"a high watermark of {least} to {most}",
            f"{told}",
            f"the high watermark is {told}, but all in-sync replicas have {least} to {most}",
        )

    def needs(self) -> int:
        """Return the offset up to which the log must be known to judge the records."""
        fetch = self.reading.fetch
        if fetch.call.replica_id is None:
            return max(self._end, self.answer.high_watermark)
        return self._end + (self._floor() > self._end)

    def records_are_wrong(self, partition: PartitionHistory) -> Violation | None:
        """Judge the records; the log is known up to the offset that `needs` returns."""
        offset, end = self.asked.fetch_offset, self._end
        if self.reading.fetch.call.replica_id is None:
            least = offset + len(self._read(partition, max(offset, self.answer.high_watermark)))
            # Kafka answers the high watermark from before the read, which may have risen since.
            right = least <= end <= max(offset, self.high) if partition.as_kafka else least == end
        else:
            # The log's end at the read is unknown: between two appends, not before the floor.
            ended_there = self._floor() <= end and partition.places.is_boundary(end)
            right = ended_there or not self._has_room(partition)
        found = self._read(partition, end)
        if (right or not self._knows_its_room(partition)) and found == self.answer.records:
            return None
        return self._wrong(
            "the records of one segment that fit, up to where it may read",
            f"{[record.value for record in self.answer.records]} from {offset} on",
            f"the records are {[record.value for record in self.answer.records]}, but the log has "
            f"{[record.value for record in found]} there",
        )

    def is_open(self, partition: PartitionHistory) -> bool:
        """Tell whether it may have ended at the end of a segment that is not known."""
        return self._end >= partition.places.unsure_from

    def could_grow(self, partition: PartitionHistory) -> bool:
        """Tell whether a later answer can have had more: surely it did not end its segment.

        A consumer's fetch that may be beyond the high watermark does not wait either. In Kafka a
        fetch that came before its segment began counts as a fetch from the previous segment.
        """
        log, offset, most = partition.log, self.asked.fetch_offset, self._most(partition)
        fetch = self.reading.fetch
        if (
            fetch.call.replica_id is None
            and offset > fetch.seen[self.asked.partition].high_watermark
        ):
            return False
        if partition.as_kafka and 0 < offset == log.segment_base(offset):
            return False
        is_known = most < log.end or log.end == partition.places.end_high
        is_known = is_known and most < partition.places.unsure_from
        return is_known and log.segment_base(offset) == log.segment_base(max(offset, most))

    def available(self, partition: PartitionHistory) -> int:
        """Return the most bytes that can have been available."""
        log, offset, most = partition.log, self.asked.fetch_offset, self._most(partition)
        read = log.bytes_read(offset, most, self.asked.max_bytes, at_least_one=True)
        return max(min(log.bytes_between(offset, most), self.asked.max_bytes), read)

    def _most(self, partition: PartitionHistory) -> int:
        """Return the highest offset up to which it can have read."""
        if self.reading.fetch.call.replica_id is None:
            told = self.high if partition.as_kafka else self.answer.high_watermark
            return min(told, partition.log.end)
        ended = self._knows_its_room(partition) and self._has_room(partition)
        return self._end if ended else partition.log.end

    def _has_room(self, partition: PartitionHistory) -> bool:
        """Tell whether the next batch would have fitted too."""
        log, end = partition.log, self._end
        if end >= log.end:
            return False
        return len(self._read(partition, log.batch_end(end))) > len(self.answer.records)

    def _knows_its_room(self, partition: PartitionHistory) -> bool:
        """Tell whether the partitions before it surely took no room from it.

        A batch that is cut off takes room, but is not in the answer.
        """
        call, used = self.reading.fetch.call, 0
        for asked in call.partitions:
            if asked is self.asked:
                break
            used += max(asked.max_bytes, partition.segment_bytes)
        return used == 0 or used + self.asked.max_bytes <= call.max_bytes

    def _read(self, partition: PartitionHistory, end: int) -> tuple[Record, ...]:
        """Return the records that are read from a log that ends at `end`."""
        offset = self.asked.fetch_offset
        return partition.log.read(offset, end, self._room, at_least_one=not self.read)

    @property
    def _room(self) -> int:
        """The most bytes that it may return."""
        return min(max(0, self.reading.fetch.call.max_bytes - self.read), self.asked.max_bytes)

    def _floor(self) -> int:
        """Return the lower bound of the log's end when it was read."""
        seen = self.reading.fetch.seen[self.asked.partition]
        return max(seen.end, self.answer.high_watermark)

    def _wrong(self, expected: str, observed: str, reason: str) -> Violation:
        where = f"{self.reading.fetch.name} in {self.asked.partition!r}"
        return ReplicationClause.ANSWER_IS_RIGHT.broken(
            f"{where}: {expected}", f"{where}: {observed}", f"{where}: {reason}"
        )


def refusal_of(fetch: Fetch, asked: FetchPartition, partition: PartitionHistory) -> ErrorCode:
    """Return why a fetch is refused, before its offset is checked; NONE if it is not."""
    claimed, replica = asked.current_leader_epoch, fetch.call.replica_id
    if not partition.exists:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if claimed is not None and claimed < partition.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if claimed is not None and claimed > partition.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    if not partition.leads:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if replica is None or replica in partition.reign.followers:
        return ErrorCode.NONE
    told = claimed is not None
    return ErrorCode.UNKNOWN_LEADER_EPOCH if told else ErrorCode.NOT_LEADER_OR_FOLLOWER
