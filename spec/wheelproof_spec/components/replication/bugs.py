"""Variants of the replica manager, each with one real defect."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from wheelproof.replication import DelayedFetch, LogAppendInfo, ReplicaManager, TopicPartition
from wheelproof.replication.fetch_handler import FetchHandler
from wheelproof.replication.log_results import FetchProgress
from wheelproof.replication.partition import Partition, PartitionAppendResult
from wheelproof_spec.base.known_bug import KnownBug, read_bugs


class SegmentBlindFetch(DelayedFetch):
    """KAFKA-19567: one of the ways in which a fetch can end is not asked for."""

    def _segment_is_complete(self, progress: FetchProgress) -> bool:
        del progress
        return False


class _SegmentBlindHandler(FetchHandler):
    _delayed_fetch_class: ClassVar[type[DelayedFetch]] = SegmentBlindFetch


class SegmentBlindManager(ReplicaManager):
    """KAFKA-19567, in the place where a user sees it."""

    _fetch_handler_class: ClassVar[type[FetchHandler]] = _SegmentBlindHandler


class SilentAppendManager(ReplicaManager):
    """An append is not followed by a check: fetches learn of it by their time-out."""

    def _complete_after_append(
        self, results: Mapping[TopicPartition, PartitionAppendResult]
    ) -> None:
        """Leave them waiting."""
        del results


class EpochBlindPartition(Partition):
    """Kafka: whether the records of an append are still there is not asked."""

    def _holds(self, append: LogAppendInfo) -> bool:
        del append
        return True


class EpochBlindManager(ReplicaManager):
    """Acknowledges an offset, whoever's record stands there."""

    _partition_class: ClassVar[type[Partition]] = EpochBlindPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationBug(KnownBug):
    """A defect of delayed produce or fetch, with the replica manager that has it."""

    manager_class: type[ReplicaManager] = ReplicaManager


BUGS = read_bugs(__file__, "replication", ReplicationBug, globals())
