"""The known bugs of the replica manager."""

from dataclasses import dataclass

from wheelproof.replication import ReplicaManager
from wheelproof_spec.base.known_bug import KnownBug, read_bugs
from wheelproof_spec.components.replication import bugs


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationBug(KnownBug):
    """A defect of delayed produce or fetch, with the replica manager that has it."""

    manager_class: type[ReplicaManager] = ReplicaManager


BUGS = read_bugs(
    __file__,
    "replication",
    ReplicationBug,
    {
        "KAFKA-19567/fetch": {"manager_class": bugs.SegmentBlindManager},
        "silent-append": {"manager_class": bugs.SilentAppendManager},
        "epoch-blind-acknowledgement": {"manager_class": bugs.EpochBlindManager},
    },
)
