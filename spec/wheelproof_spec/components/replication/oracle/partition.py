"""One partition of the oracle's broker: its log, its leader, and the ends of its followers.

The rules are standard 5.1 - 5.5.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    BecomeLeader,
    ErrorCode,
    FetchPartition,
    PartitionFetchResponse,
    PartitionRecords,
    ReplicationConfig,
)
from wheelproof_spec.components.replication.oracle.log import LedgerLog, Place

_NOWHERE = Place(-1, -1)


@dataclass(slots=True)
class Follower:
    """The leader's knowledge about a follower; `end` is -1 before it has fetched."""

    caught_up_ms: int | None
    end: Place = _NOWHERE
    fetched_ms: int | None = None
    leader_end: int = 0

    def fetches(self, begin: Place, leader_end: int, now_ms: int) -> bool:
        """Record a fetch, and tell whether the follower's end has moved.

        A follower that has the log end of its previous fetch was caught up at that fetch.
        """
        moved = self.end.offset != begin.offset
        if begin.offset >= leader_end:
            self.caught_up_ms = now_ms
        elif begin.offset >= self.leader_end and self.fetched_ms is not None:
            self.caught_up_ms = max(self.fetched_ms, self.caught_up_ms or 0)
        self.end, self.fetched_ms = begin, now_ms
        self.leader_end = max(self.leader_end, leader_end)
        return moved


@dataclass(slots=True)
class LedgerPartition:
    """A partition of the oracle, by the rules of Kafka (`as_kafka`) or of the reference."""

    config: ReplicationConfig
    as_kafka: bool
    log: LedgerLog
    leads: bool = False
    epoch: int = -1
    epoch_start: int = 0
    followers: dict[int, Follower] = field(default_factory=dict[int, Follower])
    in_sync: frozenset[int] = frozenset()

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
        moved = self.followers[replica].fetches(begin, self.log.end, now_ms)
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
