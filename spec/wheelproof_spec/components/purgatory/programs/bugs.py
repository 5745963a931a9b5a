"""Programs that have to fail: the known bugs of the purgatory, each in the world that shows it."""

from collections.abc import Callable, Mapping
from functools import partial

from wheelproof.purgatory import BlockingDiscipline, PendingFlagDiscipline, TryLockOnceDiscipline
from wheelproof_spec.components.purgatory import bugs
from wheelproof_spec.components.purgatory.programs import completion
from wheelproof_spec.components.purgatory.programs import users as purgatory_users
from wheelproof_spec.components.purgatory.users import CheckInsideReadLockPartition
from wheelproof_spec.engines.explore.program import Program, Scenario
from wheelproof_spec.engines.explore.programs.making import program

_OF_COMPLETION = {
    "KAFKA-385": partial(completion.triggers_exclude, bugs.NoLockDiscipline, 2),
    "KAFKA-6653": partial(completion.triggers, TryLockOnceDiscipline, 2),
    "KAFKA-6653/first-fix": partial(completion.triggers, bugs.RetryOnceDiscipline, 3),
    "KAFKA-8334": partial(completion.holder_from_outside, PendingFlagDiscipline, 1),
    "KAFKA-19312": partial(completion.completion_excludes, BlockingDiscipline, 1),
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


def _programs(builders: Mapping[str, Callable[[], Scenario]]) -> tuple[Program, ...]:
    return tuple(program(f"bug/{bug}", build) for bug, build in builders.items())


FAILING_COMPLETION = _programs(_OF_COMPLETION)
FAILING_USERS = _programs(_OF_USERS)
EXCLUSIVE_EXPIRY = program(
    "exclusive-expiry-private-lock",
    partial(purgatory_users.group_triggers_expiry, bugs.private_lock),
)
"""What the fix of KAFKA-19312 makes possible: an expiry waits for a group (docs/findings.md)."""
