"""The purgatory: operations that wait for a condition or for their time-out (standard 2)."""

from wheelproof.purgatory.delayed_operation import DelayedOperation, OperationState
from wheelproof.purgatory.delayed_operation_purgatory import DelayedOperationPurgatory
from wheelproof.purgatory.disciplines import (
    BlockingDiscipline,
    Completable,
    CompletionDiscipline,
    ExclusiveDiscipline,
    MonitorDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof.purgatory.watchers import Watchers, WatcherShard

__all__ = [
    "BlockingDiscipline",
    "Completable",
    "CompletionDiscipline",
    "DelayedOperation",
    "DelayedOperationPurgatory",
    "ExclusiveDiscipline",
    "MonitorDiscipline",
    "OperationState",
    "PendingFlagDiscipline",
    "TryLockOnceDiscipline",
    "WatcherShard",
    "Watchers",
]
