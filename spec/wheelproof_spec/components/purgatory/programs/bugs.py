"""Programs that have to fail: the known bugs of the purgatory, each in the world that shows it."""

from functools import partial

from wheelproof.purgatory import (
    BlockingDiscipline,
    DelayedOperationPurgatory,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof_spec.components.purgatory import bugs
from wheelproof_spec.components.purgatory.programs import (
    completion,
    purgatory,
)
from wheelproof_spec.components.purgatory.programs import (
    users as purgatory_users,
)
from wheelproof_spec.components.purgatory.programs.purgatory import FlagOperation
from wheelproof_spec.components.purgatory.users import CheckInsideReadLockPartition
from wheelproof_spec.engines.explore.program import Program
from wheelproof_spec.engines.explore.programs.making import program


class EagerCancelFlagOperation(bugs.EagerCancelOperation, FlagOperation):
    """A flag operation that has the defect."""

    __slots__ = ()


class TailNotTestedFlagOperation(bugs.TailNotTestedOperation, FlagOperation):
    """A flag operation that has the defect."""

    __slots__ = ()


_OF_COMPLETION = {
    "KAFKA-385": partial(completion.triggers_exclude, bugs.NoLockDiscipline, 2),
    "KAFKA-6653": partial(completion.triggers, TryLockOnceDiscipline, 2),
    "KAFKA-6653/first-fix": partial(completion.triggers, bugs.RetryOnceDiscipline, 3),
    "KAFKA-8334": partial(completion.holder_from_outside, PendingFlagDiscipline, 1),
    "KAFKA-19312": partial(completion.completion_excludes, BlockingDiscipline, 1),
}
_OF_PURGATORY = {
    "KAFKA-2253/list-then-map": partial(
        purgatory.watch_and_removal, bugs.RemovalUnderListMonitorPurgatory
    ),
    "KAFKA-2253/get-then-add": partial(purgatory.watch_and_removal, bugs.GetThenAddPurgatory),
    "stop-at-error": partial(purgatory.error_in_a_walk, bugs.StopAtErrorPurgatory),
    "left-at-error": partial(purgatory.error_and_trigger, bugs.LeftAtErrorPurgatory),
    "cancels-timeout-only": partial(purgatory.cancel_and_watch, bugs.CancelsTimeoutOnlyPurgatory),
    "estimate-overwritten": partial(purgatory.purge_counts, bugs.EstimateOverwrittenPurgatory),
    "timeout-half-added": partial(
        purgatory.watch_and_trigger, DelayedOperationPurgatory, EagerCancelFlagOperation
    ),
    "tail-not-tested": partial(
        purgatory.watch_and_trigger, DelayedOperationPurgatory, TailNotTestedFlagOperation
    ),
}
_OF_USERS = {
    "KAFKA-3994": partial(purgatory_users.watch_inside_group, bugs.HeldWhileTryingPurgatory),
    "KAFKA-5970": partial(purgatory_users.group_triggers, bugs.private_lock),
    "KAFKA-6042": partial(purgatory_users.two_groups, inside=True),
    "KAFKA-7697": partial(purgatory_users.appends_and_leaders, CheckInsideReadLockPartition),
    "KAFKA-8334/first-fix": partial(
        purgatory_users.watch_inside_read_lock, bugs.LateLockDiscipline
    ),
}


def purgatory_bug_programs() -> dict[str, Program]:
    """Return a program for each known bug that the checker finds, by the bug's id."""
    builders = {**_OF_COMPLETION, **_OF_PURGATORY, **_OF_USERS}
    return {bug: program(f"bug/{bug}", build) for bug, build in builders.items()}


EXCLUSIVE_EXPIRY = program(
    "exclusive-expiry-private-lock",
    partial(purgatory_users.group_triggers_expiry, bugs.private_lock),
)
"""What the fix of KAFKA-19312 makes possible: an expiry waits for a group (docs/findings.md)."""
