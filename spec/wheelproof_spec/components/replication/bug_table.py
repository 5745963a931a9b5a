"""The known bugs of the replica manager."""

from dataclasses import dataclass

from wheelproof.replication import ReplicaManager
from wheelproof_spec.base.known_bug import Finder, KnownBug, Sight
from wheelproof_spec.components.replication import bugs as replication


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationBug(KnownBug):
    """A defect of delayed produce or fetch, with the replica manager that has it."""

    manager_class: type[ReplicaManager]


BUGS: tuple[ReplicationBug, ...] = (
    ReplicationBug(
        id="KAFKA-19567/fetch",
        component="replication",
        trigger="the log rolls to a new segment while a fetch waits on the old one",
        broken="a fetch whose answer cannot grow is answered",
        source="KAFKA-19567, semantics.md 2.14",
        finders=(Finder.SEQUENTIAL, Finder.THREADS),
        models=(),
        seen=(Sight.DRIVEN, Sight.RECORDED),
        manager_class=replication.SegmentBlindManager,
    ),
    ReplicationBug(
        id="silent-append",
        component="replication",
        trigger="an append is not followed by a check of the waiting requests",
        broken="a fetch with enough bytes is answered",
        source="semantics.md 2.15",
        finders=(Finder.SEQUENTIAL, Finder.THREADS, Finder.EXPLORE),
        models=(),
        seen=(Sight.DRIVEN, Sight.RECORDED),
        manager_class=replication.SilentAppendManager,
    ),
    ReplicationBug(
        id="epoch-blind-acknowledgement",
        component="replication",
        trigger="between an append and its watch the broker loses the partition, truncates its "
        "log, and leads again",
        broken="an acknowledged record is in the log",
        source="docs/findings.md",
        finders=(Finder.EXPLORE,),
        models=(),
        seen=(Sight.RECORDED,),
        manager_class=replication.EpochBlindManager,
    ),
)
