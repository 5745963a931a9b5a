"""The sequential specification of one partition of a broker: its log, its leader, its followers.

`LedgerPartition` is the one place that says what a broker reads, appends and knows of its followers
(standard 5.1 - 5.5). `oracle` judges driven cases by it: it makes all effects of a call at once. In
`history.search` an append, a read and the note of a follower's end take turns.

What one request appends is a batch. Bytes are counted by whole batches: a record lies where its
batch begins.
"""

from bisect import bisect_right
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    BecomeLeader,
    EpochEnd,
    ErrorCode,
    FetchPartition,
    NewRecord,
    PartitionFetchResponse,
    PartitionRecords,
    Record,
    ReplicationConfig,
)


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

    def copy(self) -> Self:
        """Return a log with the same records."""
        other = object.__new__(type(self))
        other._segment_bytes, other.high = self._segment_bytes, self.high
        other._records, other._positions = self._records[:], self._positions[:]
        other._begins, other._bases = self._begins[:], self._bases[:]
        other._epochs = self._epochs[:]
        return other

    def key(self) -> Hashable:
        """Return what two logs have in common if no effect can tell them apart."""
        places = tuple(self._positions), tuple(self._begins), tuple(self._bases)
        return self.high, tuple(self._records), places, tuple(self._epochs)

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


_NOWHERE = Place(-1, -1)


@dataclass(frozen=True, slots=True)
class Follower:
    """The leader's knowledge about a follower; `end` is -1 before it has fetched."""

    caught_up_ms: int | None
    end: Place = _NOWHERE
    fetched_ms: int | None = None
    leader_end: int = 0

    def after_fetch(self, begin: Place, leader_end: int, now_ms: int) -> "Follower":
        """Return what is known after a fetch that begins there.

        A follower that has the log end of its previous fetch was caught up at that fetch.
        """
        caught_up_ms = self.caught_up_ms
        if begin.offset >= leader_end:
            caught_up_ms = now_ms
        elif begin.offset >= self.leader_end and self.fetched_ms is not None:
            caught_up_ms = max(self.fetched_ms, caught_up_ms or 0)
        return Follower(caught_up_ms, begin, now_ms, max(self.leader_end, leader_end))


@dataclass(slots=True)
class LedgerPartition:
    """A partition of a broker, by the rules of Kafka (`as_kafka`) or of the reference."""

    config: ReplicationConfig
    as_kafka: bool
    log: LedgerLog
    leads: bool = False
    epoch: int = -1
    epoch_start: int = 0
    # Both are replaced, and shared with copies.
    followers: Mapping[int, Follower] = field(default_factory=dict[int, Follower])
    in_sync: frozenset[int] = frozenset()

    def copy(self) -> Self:
        """Return a partition in the same state."""
        return replace(self, log=self.log.copy())

    def key(self) -> Hashable:
        """Return what two partitions have in common if no effect can tell them apart."""
        knows = frozenset(self.followers.items()), self.in_sync
        return self.leads, self.epoch, self.epoch_start, knows, self.log.key()

    def become_leader(self, call: BecomeLeader, now_ms: int) -> None:
        """Lead; known are the replicas in sync, and their ends if the broker led just before."""
        before, in_sync = self.followers, {*call.in_sync_ids}
        self.followers = {
            replica: Follower(
                now_ms if replica in in_sync else None,
                before[replica].end if replica in before else _NOWHERE,
            )
            for replica in {*call.replica_ids} - {self.config.broker_id}
        }
        self.leads, self.epoch, self.epoch_start = True, call.leader_epoch, self.log.end
        self.log.begin_epoch(call.leader_epoch)
        self.in_sync = frozenset(call.in_sync_ids)

    def become_follower(self, epoch: int) -> None:
        """Follow another broker."""
        self.leads, self.epoch = False, epoch
        self.followers, self.in_sync = {}, frozenset()

    def behind(self, now_ms: int) -> Collection[int]:
        """Return the replicas in sync that have not been caught up for too long."""
        return {
            replica
            for replica in self.in_sync - {self.config.broker_id}
            if not self._is_caught_up(self.followers[replica], now_ms)
        }

    def has_enough_in_sync(self) -> bool:
        """Tell whether the minimum is in sync: all replicas, if there are fewer than that."""
        least = min(self.config.min_in_sync_replicas, 1 + len(self.followers))
        return len(self.in_sync) >= least

    def raise_high_watermark(self, now_ms: int) -> bool:
        """Raise it to the least end of the replicas in sync or caught up a short time ago.

        With too few replicas in sync it stays where it is. Return whether it rose.
        """
        if not self.has_enough_in_sync():
            return False
        place = self.log.place(self.log.end)
        for replica, follower in self.followers.items():
            counts = replica in self.in_sync or self._is_caught_up(follower, now_ms)
            if counts and follower.end.offset < place.offset:
                place = follower.end
        return self.log.raise_high_watermark(place)

    def note_follower(self, replica: int, begin: Place, now_ms: int) -> bool:
        """Record a follower's fetch; tell whether its end has moved, or it is in sync again."""
        before = self.followers[replica]
        after = before.after_fetch(begin, self.log.end, now_ms)
        self.followers = {**self.followers, replica: after}
        moved = before.end.offset != begin.offset
        joins = begin.offset >= max(self.log.high_watermark, self.epoch_start)
        if not joins or replica in self.in_sync:
            return moved
        self.in_sync |= {replica}
        return True

    def refusal_of_append(self, entry: PartitionRecords, acks: int) -> ErrorCode:
        """Return why an append with valid `acks` is refused."""
        if not self.leads:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if acks == ALL_ACKS and not self.has_enough_in_sync():
            return ErrorCode.NOT_ENOUGH_REPLICAS
        if entry.size > self.config.segment_bytes:
            return ErrorCode.RECORD_LIST_TOO_LARGE
        return ErrorCode.NONE

    def outcome(self, epoch: int, end: int) -> ErrorCode | None:
        """Return the outcome of an append of an epoch, up to `end`; None while it is open."""
        if not self.leads or not (self.as_kafka or self.log.holds(epoch, end)):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if self.log.high_watermark < end:
            return None
        enough = self.has_enough_in_sync()
        return ErrorCode.NONE if enough else ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND

    def refusal_of_fetch(self, fetched: FetchPartition, replica: int | None) -> ErrorCode:
        """Return why a fetch is refused, before its offset is checked; NONE if it is not."""
        claimed = fetched.current_leader_epoch
        if claimed is not None and claimed < self.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if claimed is not None and claimed > self.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if not self.leads:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if replica is None or replica in self.followers:
            return ErrorCode.NONE
        # An unknown replica that knows this leader's epoch has newer metadata.
        knows = claimed is not None
        return ErrorCode.UNKNOWN_LEADER_EPOCH if knows else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def end(self, replica: int | None) -> Place:
        """Return the place up to which may be read; Kafka's is the one noted when it rose."""
        if replica is not None:
            return self.log.place(self.log.end)
        return self.log.high if self.as_kafka else self.log.place(self.log.high_watermark)

    def begin(self, offset: int, replica: int | None) -> Place:
        """Return the place where a fetch at `offset` begins that comes now."""
        end = self.end(replica)
        return end if offset == end.offset else self.log.place(offset)

    def read(
        self, fetched: FetchPartition, replica: int | None, room: int, *, at_least_one: bool
    ) -> tuple[PartitionFetchResponse, int]:
        """Return an answer of at most `room` bytes, and how many were read for it."""
        partition, offset, log = fetched.partition, fetched.fetch_offset, self.log
        error = self.refusal_of_fetch(fetched, replica)
        if error is not ErrorCode.NONE:
            return PartitionFetchResponse(partition=partition, error=error), 0
        answer = PartitionFetchResponse(
            partition=partition, error=error, high_watermark=log.high_watermark
        )
        if offset >= 0 and log.knows(fetched.last_fetched_epoch):
            diverging = log.diverging(offset, fetched.last_fetched_epoch)
            if diverging is not None:
                return replace(answer, diverging_epoch=diverging), 0
            if offset <= log.end:
                room, end = min(room, fetched.max_bytes), self.end(replica).offset
                size = log.bytes_read(offset, end, room, at_least_one=at_least_one)
                records = log.read(offset, end, room, at_least_one=at_least_one)
                return replace(answer, records=records), size
        return PartitionFetchResponse(partition=partition, error=ErrorCode.OFFSET_OUT_OF_RANGE), 0

    def available(self, fetched: FetchPartition, replica: int | None, begin: Place) -> int | None:
        """Return how many bytes a fetch from `begin` on can get; None if it need not wait.

        The rule is 2.14. Kafka counts from `begin`, which was noted when the fetch came.
        """
        if self.refusal_of_fetch(fetched, replica) is not ErrorCode.NONE:
            return None
        log, offset, end = self.log, fetched.fetch_offset, self.end(replica)
        if begin.offset > end.offset or (offset > log.end and not self.as_kafka):
            return None
        begin = begin if self.as_kafka else log.place(offset)
        if begin.offset < end.offset and begin.segment < end.segment:
            return None
        last = fetched.last_fetched_epoch
        if not log.knows(last) or log.diverging(offset, last) is not None:
            return None
        return min(log.bytes_between(begin.offset, end.offset), fetched.max_bytes)

    def _is_caught_up(self, follower: Follower, now_ms: int) -> bool:
        """Tell whether a follower has everything, or had a short time ago."""
        if follower.end.offset == self.log.end:
            return True
        since_ms = follower.caught_up_ms
        return since_ms is not None and now_ms - since_ms <= self.config.replica_lag_time_max_ms
