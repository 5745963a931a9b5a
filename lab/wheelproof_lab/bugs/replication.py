"""Variants of the replica manager, each with one real defect."""

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from wheelproof.replication import DelayedFetch, LogAppendInfo, ReplicaManager, TopicPartition
from wheelproof.replication.fetch_handler import FetchHandler
from wheelproof.replication.log_results import FetchProgress
from wheelproof.replication.partition import Partition, PartitionAppendResult
from wheelproof_lab.bugs.known_bug import Finder, KnownBug, Sight


class SegmentBlindFetch(DelayedFetch):
    """KAFKA-19567: a fetch does not test one of its ways to end: a complete segment."""

    def _segment_is_complete(self, progress: FetchProgress) -> bool:
        del progress
        return False


class _SegmentBlindHandler(FetchHandler):
    _delayed_fetch_class: ClassVar[type[DelayedFetch]] = SegmentBlindFetch


class SegmentBlindManager(ReplicaManager):
    """KAFKA-19567, in the manager, where a user sees it."""

    _fetch_handler_class: ClassVar[type[FetchHandler]] = _SegmentBlindHandler


class SilentAppendManager(ReplicaManager):
    """No check follows an append: fetches see the append only at their time-out."""

    def _complete_after_append(
        self, results: Mapping[TopicPartition, PartitionAppendResult]
    ) -> None:
        """Leave the requests waiting."""
        del results


class EpochBlindPartition(Partition):
    """Kafka's partition: it does not test whether the records of an append are still there."""

    def _holds(self, append: LogAppendInfo) -> bool:
        del append
        return True


class EpochBlindManager(ReplicaManager):
    """A manager that acknowledges an offset, even if another record stands there."""

    _partition_class: ClassVar[type[Partition]] = EpochBlindPartition


class LockedCallbacksManager(ReplicaManager):
    """Requests are answered under the lock for changes of roles, which their callbacks may need."""

    def become_leader(
        self,
        topic_partition: TopicPartition,
        leader_epoch: int,
        *,
        replica_ids: Collection[int],
        in_sync_ids: Collection[int],
    ) -> None:
        """Lead a partition."""
        with self._state_change:
            super().become_leader(
                topic_partition, leader_epoch, replica_ids=replica_ids, in_sync_ids=in_sync_ids
            )

    def become_follower(
        self, topic_partition: TopicPartition, leader_epoch: int, leader_id: int
    ) -> None:
        """Follow another leader."""
        with self._state_change:
            super().become_follower(topic_partition, leader_epoch, leader_id)

    def stop_replica(self, topic_partition: TopicPartition) -> None:
        """Forget a partition."""
        with self._state_change:
            super().stop_replica(topic_partition)


class UnlockedStopManager(ReplicaManager):
    """A replica is stopped without the lock that guards the map of partitions."""

    def stop_replica(self, topic_partition: TopicPartition) -> None:
        """Forget a partition."""
        self._partitions.remove(topic_partition)
        self._complete_delayed([topic_partition])


class TwoStepShrinkPartition(Partition):
    """Who has fallen behind is decided under the read side of the lock, and dropped later."""

    def maybe_shrink_in_sync(self) -> bool:
        """Drop replicas that had not caught up for too long."""
        with self._lock.read:
            if not self._is_leader():
                return False
            behind = {
                replica.broker_id
                for replica in self._remote_replicas.values()
                if replica.broker_id in self._in_sync and not self._is_caught_up(replica)
            }
        with self._lock.write:
            self._in_sync -= behind
            return bool(behind) and self._maybe_increment_high_watermark()


class TwoStepShrinkManager(ReplicaManager):
    """A manager of such partitions."""

    _partition_class: ClassVar[type[Partition]] = TwoStepShrinkPartition


class UncheckedAfterErrorManager(ReplicaManager):
    """No check follows an append whose callback raises."""

    def _complete_after_append(
        self, results: Mapping[TopicPartition, PartitionAppendResult]
    ) -> None:
        if sys.exception() is None:
            super()._complete_after_append(results)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationBug(KnownBug):
    """A defect of delayed produce or fetch, with the replica manager that has it."""

    manager_class: type[ReplicaManager] = ReplicaManager

    def variant(self) -> type[ReplicaManager]:
        """Return what `wheelproof fuzz` takes in the place of the reference's class."""
        return self.manager_class


BUGS: tuple[ReplicationBug, ...] = (
    ReplicationBug(
        id="KAFKA-19567/fetch",
        component="replication",
        manager_class=SegmentBlindManager,
        trigger="the log rolls to a new segment while a fetch waits on the old one",
        broken="a fetch whose answer cannot grow is answered",
        source="KAFKA-19567, standard 5.2",
        finders=(
            Finder.SEQUENTIAL,
            Finder.THREADS,
        ),
        seen=(
            Sight.DRIVEN,
            Sight.RECORDED,
        ),
    ),
    ReplicationBug(
        id="silent-append",
        component="replication",
        manager_class=SilentAppendManager,
        trigger="an append is not followed by a check of the waiting requests",
        broken="a fetch with enough bytes is answered",
        source="standard 5.3",
        finders=(
            Finder.SEQUENTIAL,
            Finder.THREADS,
            Finder.EXPLORE,
        ),
        seen=(
            Sight.DRIVEN,
            Sight.RECORDED,
        ),
    ),
    ReplicationBug(
        id="epoch-blind-acknowledgement",
        component="replication",
        manager_class=EpochBlindManager,
        trigger=(
            "between an append and its watch the broker loses the partition, truncates its log, "
            "and leads again"
        ),
        broken="an acknowledged record is in the log",
        source="docs/findings.md",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
        ),
        models=("MCProduceFetch_epoch_blind",),
        seen=(Sight.RECORDED,),
    ),
    ReplicationBug(
        id="callback-under-lock",
        component="replication",
        manager_class=LockedCallbacksManager,
        trigger=(
            "a callback stops a replica while another thread, which stops one as well, waits for "
            "the callback's request"
        ),
        broken="no deadlock",
        source="standard 6.4",
        finders=(Finder.EXPLORE,),
        unseen="only a callback that changes a role shows it; driven and recorded ones never do",
        alone="only a callback that changes a role shows it; in random calls none does",
    ),
    ReplicationBug(
        id="unlocked-stop",
        component="replication",
        manager_class=UnlockedStopManager,
        trigger="a replica is stopped while the broker begins to lead another partition",
        broken="a broker has the partitions that it was given, and no others",
        source="standard 5.4",
        finders=(Finder.EXPLORE,),
        unseen="a load stops no replica, and changes the role of one partition at a time",
        alone="only a replica that is stopped during a call shows it; a load stops none",
    ),
    ReplicationBug(
        id="two-step-shrink",
        component="replication",
        manager_class=TwoStepShrinkManager,
        trigger="the broker leads anew between the decision to drop a replica and the drop",
        broken="a replica that the new epoch says is in sync, and is not behind, stays in sync",
        source="standard 5.5",
        finders=(Finder.EXPLORE,),
        unseen="during a shrink a judge takes every follower for one that may be dropped",
        alone="only a shrink while the leader changes shows it; random calls have one thread",
    ),
    ReplicationBug(
        id="unchecked-after-error",
        component="replication",
        manager_class=UncheckedAfterErrorManager,
        trigger="the callback of a produce request raises while a fetch waits for its record",
        broken="a fetch with enough bytes is answered",
        source="standard 5.3",
        finders=(Finder.EXPLORE,),
        unseen="only a callback that raises shows it; in driven and recorded calls none does",
        alone="only a callback that raises shows it; in random calls none does",
    ),
)
