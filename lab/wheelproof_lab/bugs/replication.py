"""Variants of the replica manager, each with one real defect."""

from collections.abc import Mapping
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
)
