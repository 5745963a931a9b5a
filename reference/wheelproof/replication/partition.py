"""One partition on one broker: its log, who leads it, which replicas are in sync.

One broker leads a partition, the others copy it, and this may change at any moment. Whether a
record may be acknowledged depends on who is in sync in which epoch.

>>> from wheelproof.clock import ManualClock
>>> from wheelproof.replication.partition import Partition
>>> from wheelproof.topic_partition import TopicPartition
>>> payments = TopicPartition("payments", 0)
>>> partition = Partition(payments, broker_id=1, clock=ManualClock())
>>> partition.make_leader(7, replica_ids=[1, 2], in_sync_ids=[1, 2])
False
>>> sorted(partition.in_sync_replica_ids), partition.leader_epoch
([1, 2], 7)

Invariants:

- `_in_sync` and `_remote_replicas` are empty unless this broker leads; then it is in sync itself.
- The high watermark is not beyond the end of any replica in sync, as the leader knows it.
- The epoch only rises, also over a stop.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.domain import require_integer
from wheelproof.errors import IllegalArgumentError
from wheelproof.replication.error_code import ErrorCode
from wheelproof.replication.log_results import (
    EpochEndOffset,
    FetchProgress,
    LogAppendInfo,
    LogRecord,
)
from wheelproof.replication.partition_log import DEFAULT_SEGMENT_BYTES, PartitionLog
from wheelproof.replication.replica import NEVER_MS, Replica
from wheelproof.replication.requests import FetchPartition, FetchPartitionData
from wheelproof.sync import GuardedBy
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import Millis

DEFAULT_REPLICA_LAG_TIME_MAX_MS = Millis(30_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAppendResult:
    """What an append to the leader came to; `append` is None unless the error is NONE."""

    error: ErrorCode
    append: LogAppendInfo | None = None
    high_watermark_rose: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationProgress:
    """Whether an offset is replicated as far as was asked for, and the error if that failed."""

    reached: bool
    error: ErrorCode


class Partition:
    """A replica of a partition, and on the leader the state of the other replicas.

    The read side of the lock is for appends and fetches, which run side by side; the write side for
    changes of the leader and of the in-sync set. No operation here completes a delayed one: callers
    do that once they hold no lock (KAFKA-7697).

    Lock order: purgatory's operation, this lock, replica, log.
    """

    def __init__(
        self,
        topic_partition: TopicPartition,
        *,
        broker_id: int,
        clock: Clock,
        min_in_sync_replicas: int = 1,
        segment_bytes: int = DEFAULT_SEGMENT_BYTES,
        replica_lag_time_max_ms: int = DEFAULT_REPLICA_LAG_TIME_MAX_MS,
    ) -> None:
        """Make a replica that follows nobody yet.

        A replica that has not caught up for `replica_lag_time_max_ms` milliseconds is behind.

        Raises IllegalArgumentError for a minimum or a size below 1.
        """
        self.topic_partition = topic_partition
        self.log = PartitionLog(segment_bytes=segment_bytes)
        self._broker_id = broker_id
        self._clock = clock
        self._min_in_sync_replicas = require_integer(
            "min_in_sync_replicas", min_in_sync_replicas, 1
        )
        self._max_lag_ms = replica_lag_time_max_ms
        self._lock = sync.read_write_lock("Partition.leader_isr_update_lock")
        # `_remote_replicas` and `_in_sync` are empty unless this broker leads; then `_in_sync` has
        # this broker and none but the remote replicas besides.
        self._leader_id: Annotated[int | None, GuardedBy("_lock")] = None
        self._leader_epoch: Annotated[int, GuardedBy("_lock")] = -1
        self._epoch_start_offset: Annotated[int, GuardedBy("_lock")] = 0
        self._remote_replicas: Annotated[dict[int, Replica], GuardedBy("_lock")] = {}
        self._in_sync: Annotated[frozenset[int], GuardedBy("_lock")] = frozenset()

    def __repr__(self) -> str:
        """Return the partition, and whose replica of it this is."""
        return f"{type(self).__name__}({self.topic_partition}, broker_id={self._broker_id})"

    @property
    def in_sync_replica_ids(self) -> frozenset[int]:
        """The brokers whose log reaches the high watermark, as far as the leader knows."""
        with self._lock.read:
            return self._in_sync

    @property
    def leader_epoch(self) -> int:
        """The epoch of the current leader; -1 before the first."""
        with self._lock.read:
            return self._leader_epoch

    def make_leader(
        self, leader_epoch: int, *, replica_ids: Collection[int], in_sync_ids: Collection[int]
    ) -> bool:
        """Lead the partition in `leader_epoch`; returns whether the watermark rose (standard 5.4).

        Raises IllegalArgumentError, and changes nothing, for an epoch that is not newer and for
        in-sync replicas that are no replicas or leave this broker out.
        """
        in_sync, replicas = frozenset(in_sync_ids), frozenset(replica_ids)
        if not {self._broker_id} <= in_sync <= replicas:
            raise IllegalArgumentError(
                f"the in-sync replicas {sorted(in_sync)} have to include this broker, "
                f"{self._broker_id}, and be among the replicas {sorted(replicas)}"
            )
        with self._lock.write:
            self._require_newer(leader_epoch)
            end_offset, now_ms = self.log.log_end_offset, self._clock.hi_res_clock_ms()
            remote_replicas = {
                replica_id: Replica(
                    replica_id,
                    caught_up_ms=now_ms if replica_id in in_sync else NEVER_MS,
                    before=self._remote_replicas.get(replica_id),
                )
                for replica_id in replicas - {self._broker_id}
            }
            # Not by calls: no signal comes in between.
            self._leader_id = self._broker_id
            self._leader_epoch = leader_epoch
            self._epoch_start_offset = end_offset
            self._remote_replicas = remote_replicas
            self._in_sync = in_sync
            self.log.begin_epoch(leader_epoch)
            return self._maybe_increment_high_watermark()

    def make_follower(self, leader_epoch: int, leader_id: int) -> None:
        """Follow `leader_id` from now on.

        Raises IllegalArgumentError for an epoch that is not newer.
        """
        with self._lock.write:
            self._require_newer(leader_epoch)
            self._leader_id = leader_id
            self._leader_epoch = leader_epoch
            self._remote_replicas = {}
            self._in_sync = frozenset()

    def truncate_to(self, offset: int) -> None:
        """Drop the log from `offset` on, as a follower whose log has diverged does.

        Raises IllegalArgumentError on the leader, and for an offset that the log does not reach.
        TLA+: Follow of ProduceFetch.
        """
        with self._lock.write:
            self._require_follower()
            self.log.truncate_to(offset)

    def append_records_to_leader(
        self, values: Sequence[bytes], *, required_acks: int
    ) -> PartitionAppendResult:
        """Append to the log that this broker leads (standard 5.3).

        With `required_acks` -1 the in-sync set has to have its minimum first.
        TLA+: AppendRecord, ReadEnds and Raise of ProduceFetch.
        """
        with self._lock.read:
            if not self._is_leader():
                return PartitionAppendResult(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
            if required_acks == -1 and not self._has_enough_in_sync():
                return PartitionAppendResult(error=ErrorCode.NOT_ENOUGH_REPLICAS)
            append = self.log.append(values, self._leader_epoch)
            if append is None:
                return PartitionAppendResult(error=ErrorCode.RECORD_LIST_TOO_LARGE)
            rose = self._maybe_increment_high_watermark()
            return PartitionAppendResult(
                error=ErrorCode.NONE, append=append, high_watermark_rose=rose
            )

    def append_records_to_follower(
        self, records: Sequence[LogRecord], leader_high_watermark: int
    ) -> bool:
        """Append what the leader gave and take its high watermark; returns whether that rose here.

        Raises IllegalArgumentError on the leader, and for records that leave a gap.
        """
        with self._lock.read:
            self._require_follower()
            self.log.append_as_follower(records)
            return self.log.maybe_increment_high_watermark(leader_high_watermark)

    def read(
        self, request: FetchPartition, *, replica_id: int | None, max_bytes: int, at_least_one: bool
    ) -> FetchPartitionData:
        """Read at most `max_bytes` bytes for a follower, or for a consumer if it is None."""
        with self._lock.read:
            error = self._fetch_error(request, replica_id)
            if error is not ErrorCode.NONE:
                return FetchPartitionData(error=error)
            if self._is_outside(request):
                return FetchPartitionData(error=ErrorCode.OFFSET_OUT_OF_RANGE)
            diverging = self._diverging_epoch(request)
            if diverging is not None:
                return FetchPartitionData(
                    error=ErrorCode.NONE,
                    high_watermark=self.log.high_watermark,
                    diverging_epoch=diverging,
                )
            return self.log.read(
                request.fetch_offset,
                up_to_high_watermark=replica_id is None,
                max_bytes=max_bytes,
                at_least_one=at_least_one,
            )

    def fetch_progress(
        self, request: FetchPartition, replica_id: int | None
    ) -> FetchProgress | None:
        """Return where a fetch stands, or None if waiting makes no sense any more.

        It makes none if this broker does not serve the fetch, or has to tell the fetcher that its
        log diverges or reaches too far (standard 5.2).
        """
        with self._lock.read:
            return self._progress(request, replica_id)

    def update_follower_fetch_state(self, replica_id: int, request: FetchPartition) -> bool:
        """Note that a follower's log ends where it fetches; returns whether the watermark rose.

        A follower that has reached the high watermark and the start of this epoch is in sync again.
        The request is tested again, for the leader may have changed since it was read.
        TLA+: NoteEnd, ReadEnds, Raise and Expand of ProduceFetch.
        """
        with self._lock.read:
            replica = self._remote_replicas.get(replica_id)
            progress = self._progress(request, replica_id)
            if replica is None or progress is None:
                return False
            moved = replica.update_fetch_state(
                log_end_offset=progress.start.message_offset,
                leader_end_offset=progress.end.message_offset,
                now_ms=self._clock.hi_res_clock_ms(),
            )
            rejoins = self._may_rejoin(replica)
            rose = moved and not rejoins and self._maybe_increment_high_watermark()
        return self._expand_in_sync(replica) if rejoins else rose

    def maybe_shrink_in_sync(self) -> bool:
        """Drop replicas that have not caught up for too long.

        Returns whether the high watermark rose, which it may once nobody waits for them.
        TLA+: ShrinkIsr and LeaveOut of ProduceFetch.
        """
        with self._lock.write:
            if not self._is_leader():
                return False
            behind = {
                replica.broker_id
                for replica in self._remote_replicas.values()
                if replica.broker_id in self._in_sync and not self._is_caught_up(replica)
            }
            self._in_sync -= behind
            return bool(behind) and self._maybe_increment_high_watermark()

    def check_enough_replicas_reach_offset(self, append: LogAppendInfo) -> ReplicationProgress:
        """Tell whether the in-sync replicas have all that `append` wrote.

        An error counts as reached: waiting does not help (standard 5.1).
        """
        with self._lock.read:
            # Kafka: asks whether this broker leads.
            # Here:  and whether its log has the records of this append still.
            # Why:   it may have lost them, and others stand at their offsets (finding 18).
            if not self._is_leader() or not self._holds(append):
                return ReplicationProgress(reached=True, error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
            if self.log.high_watermark < append.next_offset:
                return ReplicationProgress(reached=False, error=ErrorCode.NONE)
            enough = self._has_enough_in_sync()
            error = ErrorCode.NONE if enough else ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
            return ReplicationProgress(reached=True, error=error)

    def _holds(self, append: LogAppendInfo) -> bool:
        """Tell whether the log still has the records of an append."""
        return self.log.holds(append)

    def _is_leader(self) -> bool:
        return self._leader_id == self._broker_id

    def _progress(self, request: FetchPartition, replica_id: int | None) -> FetchProgress | None:
        if self._fetch_error(request, replica_id) is not ErrorCode.NONE:
            return None
        if self._is_outside(request) or self._diverging_epoch(request) is not None:
            return None
        return self.log.fetch_progress(
            request.fetch_offset, up_to_high_watermark=replica_id is None
        )

    def _fetch_error(self, request: FetchPartition, replica_id: int | None) -> ErrorCode:
        epoch = request.current_leader_epoch
        if epoch is not None and epoch < self._leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if epoch is not None and epoch > self._leader_epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if not self._is_leader():
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if replica_id is None or replica_id in self._remote_replicas:
            return ErrorCode.NONE
        # A replica that knows this leader and is not known here has newer metadata.
        knows = epoch is not None
        return ErrorCode.UNKNOWN_LEADER_EPOCH if knows else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def _is_outside(self, request: FetchPartition) -> bool:
        """Tell whether the fetcher is outside: before offset 0, or in an epoch newer than all."""
        epoch = request.last_fetched_epoch
        if request.fetch_offset < 0:
            return True
        return epoch is not None and self.log.end_offset_for_epoch(epoch) is None

    def _diverging_epoch(self, request: FetchPartition) -> EpochEndOffset | None:
        if request.last_fetched_epoch is None:
            return None
        end = self.log.end_offset_for_epoch(request.last_fetched_epoch)
        if end is None:
            return None
        parts = end.leader_epoch < request.last_fetched_epoch
        return end if parts or end.end_offset < request.fetch_offset else None

    def _may_rejoin(self, replica: Replica) -> bool:
        return (
            replica.broker_id not in self._in_sync
            and replica.log_end_offset >= self.log.high_watermark
            and replica.log_end_offset >= self._epoch_start_offset
        )

    def _expand_in_sync(self, replica: Replica) -> bool:
        with self._lock.write:
            # Tested again: the leader may have changed between the two sides of the lock.
            is_known = self._remote_replicas.get(replica.broker_id) is replica
            if is_known and self._may_rejoin(replica):
                self._in_sync |= {replica.broker_id}
            return self._is_leader() and self._maybe_increment_high_watermark()

    def _has_enough_in_sync(self) -> bool:
        """Tell whether the minimum is in sync: all replicas, if there are fewer than that."""
        least = min(self._min_in_sync_replicas, 1 + len(self._remote_replicas))
        return len(self._in_sync) >= least

    def _is_caught_up(self, replica: Replica) -> bool:
        return replica.is_caught_up(
            self.log.log_end_offset,
            now_ms=self._clock.hi_res_clock_ms(),
            max_lag_ms=self._max_lag_ms,
        )

    def _maybe_increment_high_watermark(self) -> bool:
        """Raise it to where everybody is who is in sync, or who is about to be (standard 5.5).

        With too few replicas in sync it stays: what is below it is replicated as asked for.
        """
        if not self._has_enough_in_sync():
            return False
        ends = [
            replica.log_end_offset
            for replica in self._remote_replicas.values()
            if replica.broker_id in self._in_sync or self._is_caught_up(replica)
        ]
        return self.log.maybe_increment_high_watermark(min([self.log.log_end_offset, *ends]))

    def _require_newer(self, leader_epoch: int) -> None:
        if leader_epoch <= self._leader_epoch:
            raise IllegalArgumentError(
                f"the leader epoch of {self.topic_partition} is {self._leader_epoch} already; "
                f"{leader_epoch} is not newer"
            )

    def _require_follower(self) -> None:
        if self._is_leader():
            raise IllegalArgumentError(f"this broker leads {self.topic_partition}")
