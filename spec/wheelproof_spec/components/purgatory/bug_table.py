"""The known bugs of the purgatory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof_spec.base.known_bug import KnownBug, read_bugs
from wheelproof_spec.components.purgatory import bugs


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryBug(KnownBug):
    """A defect of the purgatory, of a discipline, or of what surrounds them.

    `purgatory_class`, `operation_class`, `discipline` and `holds` are what has the defect, where it
    is theirs: the purgatory, its operations, the discipline of each operation, and how a predicate
    is made of the ways in which an operation can end. A defect of code around a purgatory is in
    `users`.
    """

    purgatory_class: type[DelayedOperationPurgatory[DelayedOperation]] = DelayedOperationPurgatory
    operation_class: type[object] = DelayedOperation
    discipline: Callable[[], CompletionDiscipline] = ExclusiveDiscipline
    holds: Callable[[Sequence[bool]], bool] = bugs.any_case


BUGS = read_bugs(
    __file__,
    "purgatory",
    PurgatoryBug,
    {
        "KAFKA-385": {"discipline": bugs.NoLockDiscipline},
        "KAFKA-664": {"purgatory_class": bugs.HandKeptCounterPurgatory},
        "KAFKA-2160": {"purgatory_class": bugs.KeepsEmptyKeysPurgatory},
        "KAFKA-2253/list-then-map": {"purgatory_class": bugs.RemovalUnderListMonitorPurgatory},
        "KAFKA-2253/get-then-add": {"purgatory_class": bugs.GetThenAddPurgatory},
        "KAFKA-3994": {"purgatory_class": bugs.HeldWhileTryingPurgatory},
        "KAFKA-6653": {"discipline": TryLockOnceDiscipline},
        "KAFKA-6653/first-fix": {"discipline": bugs.RetryOnceDiscipline},
        "KAFKA-8334": {"discipline": PendingFlagDiscipline},
        "KAFKA-8334/first-fix": {"discipline": bugs.LateLockDiscipline},
        "KAFKA-19312": {"discipline": BlockingDiscipline},
        "KAFKA-19567": {"holds": bugs.first_case_only},
        "stop-at-error": {"purgatory_class": bugs.StopAtErrorPurgatory},
        "left-at-error": {"purgatory_class": bugs.LeftAtErrorPurgatory},
        "cancels-timeout-only": {"purgatory_class": bugs.CancelsTimeoutOnlyPurgatory},
        "estimate-overwritten": {"purgatory_class": bugs.EstimateOverwrittenPurgatory},
        "timeout-half-added": {"operation_class": bugs.EagerCancelOperation},
        "tail-not-tested": {"operation_class": bugs.TailNotTestedOperation},
    },
)
