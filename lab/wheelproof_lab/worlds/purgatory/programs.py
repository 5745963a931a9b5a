"""The programs of one purgatory with one flag, which all operations wait for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.bugs import purgatory_variants as bugs
from wheelproof_lab.bugs.purgatory import BUGS, PurgatoryBug
from wheelproof_lab.worlds.purgatory.faults import FaultyWorld
from wheelproof_lab.worlds.purgatory.purgatory import AnyPurgatory, FlagOperation, PurgatoryWorld
from wheelproof_lab.worlds.tables import (
    Pairs,
    ProgramRow,
    act,
    failing_with_faults,
    faults_of,
    pairs_of,
    programs_of,
    scenario_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryRow(ProgramRow[PurgatoryWorld]):
    """Threads that use one purgatory, which has a purge interval, and a timer or none."""

    purge_interval: int = 0
    timer_enabled: bool = True


# Operations are known by the order in which they were made.
_ROWS: Mapping[str, PurgatoryRow] = {
    "purgatory-watch-trigger": PurgatoryRow(
        summary=(
            "An operation is handed in while its trigger comes: it is completed without its "
            "time-out."
        ),
        before=(act(PurgatoryWorld.operation),),
        threads={
            "watch": act(PurgatoryWorld.hand_in, 0, "key"),
            "trigger": act(PurgatoryWorld.trigger, "key"),
        },
        bugs=("timeout-half-added", "tail-not-tested"),
        fault_bugs=("left-at-refusal",),
    ),
    "purgatory-watch-two-triggers": PurgatoryRow(
        summary="An operation of two keys is handed in while both of them are triggered.",
        before=(act(PurgatoryWorld.operation),),
        threads={
            "watch": act(PurgatoryWorld.hand_in, 0, "key", "other key"),
            "trigger": act(PurgatoryWorld.trigger, "key"),
            "other trigger": act(PurgatoryWorld.trigger, "other key"),
        },
    ),
    "purgatory-watch-expiry": PurgatoryRow(
        summary="An operation is handed in, expires and is purged at the same time.",
        before=(act(PurgatoryWorld.operation),),
        threads={
            "watch": act(PurgatoryWorld.hand_in, 0, "key"),
            "reaper": act(PurgatoryWorld.advance),
        },
        check=PurgatoryWorld.check_fates,
    ),
    "purgatory-watch-trigger-expiry": PurgatoryRow(
        summary="Watch against trigger against expiry.",
        purge_interval=100,
        before=(act(PurgatoryWorld.operation),),
        threads={
            "watch": act(PurgatoryWorld.hand_in, 0, "key"),
            "trigger": act(PurgatoryWorld.trigger, "key"),
            "reaper": act(PurgatoryWorld.advance),
        },
    ),
    "purgatory-watch-trigger-purge": PurgatoryRow(
        summary="Watch against trigger against purge.",
        before=(act(PurgatoryWorld.operation),),
        threads={
            "watch": act(PurgatoryWorld.hand_in, 0, "key"),
            "trigger": act(PurgatoryWorld.trigger, "key"),
            "purge": act(PurgatoryWorld.purge),
        },
    ),
    "purgatory-trigger-expiry-purge": PurgatoryRow(
        summary="A watched operation is triggered while it expires and is purged.",
        before=(act(PurgatoryWorld.watched, "key"),),
        threads={
            "trigger": act(PurgatoryWorld.trigger, "key"),
            "reaper": act(PurgatoryWorld.advance),
        },
    ),
    "purgatory-watch-removal": PurgatoryRow(
        summary=(
            "The key's last operation leaves while another one is handed in: that one can be "
            "reached."
        ),
        before=(
            act(PurgatoryWorld.watched, "key"),
            act(PurgatoryWorld.force, 0),
            act(PurgatoryWorld.operation),
        ),
        threads={
            "watch": act(PurgatoryWorld.hand_in, 1, "key"),
            "check": act(PurgatoryWorld.check_key, "key"),
        },
        check=PurgatoryWorld.check_reachable,
        bugs=("KAFKA-2253/list-then-map", "KAFKA-2253/get-then-add"),
    ),
    "purgatory-watch-purge-of-key": PurgatoryRow(
        summary="The key's last operation is purged while two others are handed in.",
        before=(
            act(PurgatoryWorld.watched, "key"),
            act(PurgatoryWorld.force, 0),
            act(PurgatoryWorld.operation),
            act(PurgatoryWorld.operation),
        ),
        threads={
            "watch": act(PurgatoryWorld.hand_in, 1, "key"),
            "watch too": act(PurgatoryWorld.hand_in, 2, "key"),
            "purge": act(PurgatoryWorld.purge),
        },
        check=PurgatoryWorld.check_reachable,
    ),
    "purgatory-cancel-watch": PurgatoryRow(
        summary=(
            "The key is cancelled while an operation is handed in: it expires or was cancelled."
        ),
        before=(act(PurgatoryWorld.operation),),
        threads={
            "watch": act(PurgatoryWorld.hand_in, 0, "key"),
            "cancel": act(PurgatoryWorld.cancel, "key"),
        },
        check=PurgatoryWorld.check_fates,
        bugs=("cancels-timeout-only",),
    ),
    "purgatory-cancel-expiry": PurgatoryRow(
        summary="The key is cancelled while its operation expires.",
        before=(act(PurgatoryWorld.watched, "key", "other key"),),
        threads={
            "cancel": act(PurgatoryWorld.cancel, "key"),
            "reaper": act(PurgatoryWorld.advance),
        },
        check=PurgatoryWorld.check_fates,
    ),
    "purgatory-cancel-trigger": PurgatoryRow(
        summary="Both keys of an operation are cancelled while it is triggered.",
        before=(act(PurgatoryWorld.watched, "key", "other key"),),
        threads={
            "cancel": act(PurgatoryWorld.cancel, "key"),
            "other cancel": act(PurgatoryWorld.cancel, "other key"),
            "trigger": act(PurgatoryWorld.trigger, "key"),
        },
        check=PurgatoryWorld.check_fates,
    ),
    # When nobody is being added, what is left after a pass does not exceed the purge interval.
    "purgatory-purge-counts": PurgatoryRow(
        summary=(
            "Operations come and are completed while the reaper decides to purge: garbage "
            "stays bounded."
        ),
        before=(act(PurgatoryWorld.watched, "key"), act(PurgatoryWorld.force, 0)),
        threads={
            "reaper": act(PurgatoryWorld.advance),
            "come and go": act(PurgatoryWorld.come_and_go, "other key"),
        },
        check=PurgatoryWorld.check_no_garbage,
        bugs=("estimate-overwritten",),
    ),
    "purgatory-two-counted": PurgatoryRow(
        summary=(
            "Two operations come and are completed: more than the purge interval, so they are "
            "purged."
        ),
        purge_interval=1,
        before=(act(PurgatoryWorld.operation), act(PurgatoryWorld.operation)),
        threads={
            "one": (
                act(PurgatoryWorld.hand_in, 0, "key"),
                act(PurgatoryWorld.force, 0),
            ),
            "other": (
                act(PurgatoryWorld.hand_in, 1, "key"),
                act(PurgatoryWorld.force, 1),
            ),
        },
        check=PurgatoryWorld.check_purged_in_time,
    ),
    "purgatory-two-purges": PurgatoryRow(
        summary="Two threads purge at once: what is dropped is taken from the estimate once.",
        purge_interval=1,
        before=(act(PurgatoryWorld.watched, "key"), act(PurgatoryWorld.force, 0)),
        threads={"purge": act(PurgatoryWorld.purge), "other": act(PurgatoryWorld.purge)},
        check=PurgatoryWorld.check_purged_in_time,
    ),
    "purgatory-purge-recounts": PurgatoryRow(
        summary=(
            "An operation comes and is completed while the reaper purges: it is counted all "
            "the same."
        ),
        before=(
            act(PurgatoryWorld.watched, "key"),
            act(PurgatoryWorld.force, 0),
            act(PurgatoryWorld.operation),
        ),
        threads={
            "reaper": act(PurgatoryWorld.advance),
            "other": (
                act(PurgatoryWorld.hand_in, 1, "other key"),
                act(PurgatoryWorld.force, 1),
            ),
        },
        check=PurgatoryWorld.check_no_garbage,
    ),
    "purgatory-without-timer": PurgatoryRow(
        summary="Without a timer an operation does not expire, whoever advances the clock.",
        timer_enabled=False,
        before=(act(PurgatoryWorld.operation),),
        threads={
            "watch": act(PurgatoryWorld.hand_in, 0, "key"),
            "reaper": act(PurgatoryWorld.advance),
        },
        check=PurgatoryWorld.check_never_expires,
    ),
    # A purge must not take from the estimate what a canceller has in hand and has not yet
    # cancelled.
    "purgatory-cancel-purge": PurgatoryRow(
        summary=(
            "A key is cancelled while lists are purged: what is left under the other key is "
            "not forgotten."
        ),
        before=(act(PurgatoryWorld.watched, "key", "other key"),),
        threads={"cancel": act(PurgatoryWorld.cancel, "key"), "purge": act(PurgatoryWorld.purge)},
        check=PurgatoryWorld.check_no_garbage,
    ),
    "purgatory-shutdown-watch": PurgatoryRow(
        summary=(
            "The purgatory is shut down while an operation is handed in: refused, or left waiting."
        ),
        before=(act(PurgatoryWorld.operation),),
        threads={
            "watch": act(PurgatoryWorld.hand_in_or_be_refused, 0, "key"),
            "shutdown": act(PurgatoryWorld.shut_down),
        },
        check=PurgatoryWorld.check_shut_down,
    ),
    "purgatory-error-trigger": PurgatoryRow(
        summary="An operation raises in its second check: nothing of it is left behind.",
        before=(act(PurgatoryWorld.raising),),
        threads={
            "watch": act(PurgatoryWorld.hand_in_raising, "key"),
            "flag": act(PurgatoryWorld.raise_flag),
        },
        check=PurgatoryWorld.check_raised,
        bugs=("left-at-error",),
    ),
    "purgatory-error-cancel": PurgatoryRow(
        summary="The same while its key is cancelled, which may have given it up before.",
        before=(act(PurgatoryWorld.raising),),
        threads={
            "watch": act(PurgatoryWorld.hand_in_raising, "key"),
            "other": (
                act(PurgatoryWorld.raise_flag),
                act(PurgatoryWorld.cancel, "key"),
            ),
        },
        check=PurgatoryWorld.check_raised,
    ),
    "purgatory-error-walk": PurgatoryRow(
        summary="An operation raises while two threads trigger: who stands behind it is completed.",
        before=(
            act(PurgatoryWorld.raising),
            act(PurgatoryWorld.hand_in_raising, "key"),
            act(PurgatoryWorld.watched, "key"),
        ),
        threads={
            "trigger": act(PurgatoryWorld.trigger_in_spite_of_errors, "key"),
            "trigger too": act(PurgatoryWorld.trigger_in_spite_of_errors, "key"),
        },
        check=PurgatoryWorld.check_behind,
        bugs=("stop-at-error",),
    ),
}

# Every two public methods of the purgatory against each other; `each` is what a thread may do.
_PAIRS: Mapping[str, Pairs[PurgatoryRow, PurgatoryWorld]] = {
    "purgatory": Pairs(
        row=PurgatoryRow(
            summary="An operation waits under two keys",
            before=(
                act(PurgatoryWorld.watched, "key", "other"),
                act(PurgatoryWorld.operation),
                act(PurgatoryWorld.operation),
            ),
            check=PurgatoryWorld.check_at_most_once,
        ),
        each={
            "watch": act(PurgatoryWorld.hand_in_or_be_refused, 1, "key"),
            "trigger": act(PurgatoryWorld.trigger, "key"),
            "cancel": act(PurgatoryWorld.cancel, "key"),
            "advance": act(PurgatoryWorld.advance),
            "purge": act(PurgatoryWorld.purge),
            "force": act(PurgatoryWorld.force, 0),
            "shutdown": act(PurgatoryWorld.shut_down),
            "look": act(PurgatoryWorld.look),
            "misuse": act(PurgatoryWorld.misuse),
        },
    ),
}


class EagerCancelFlagOperation(FlagOperation, bugs.EagerCancelOperation):
    """A flag operation that has the defect."""

    __slots__ = ()


class TailNotTestedFlagOperation(FlagOperation, bugs.TailNotTestedOperation):
    """A flag operation that has the defect."""

    __slots__ = ()


Classes = tuple[type[AnyPurgatory], type[FlagOperation]]
_SOUND: Classes = (DelayedOperationPurgatory, FlagOperation)
_OF_OPERATIONS = {
    "timeout-half-added": EagerCancelFlagOperation,
    "tail-not-tested": TailNotTestedFlagOperation,
}
"""The defects that are in operations, not in the purgatory."""


def _build(row: PurgatoryRow, classes: Classes) -> Scenario:
    world = PurgatoryWorld(
        *classes, purge_interval=row.purge_interval, timer_enabled=row.timer_enabled
    )
    return scenario_of(row, world)


def _classes(bug: PurgatoryBug) -> Classes:
    return bug.purgatory_class, _OF_OPERATIONS.get(bug.id, FlagOperation)


PURGATORY, _FAILING_PURGATORY = programs_of(
    _ROWS,
    _build,
    _SOUND,
    [(bug, _classes(bug)) for bug in BUGS],
)
PAIRS = pairs_of(_PAIRS, _build, _SOUND)


def _build_with_faults(row: PurgatoryRow, purgatory_class: type[AnyPurgatory]) -> Scenario:
    world = FaultyWorld(purgatory_class, row.purge_interval, timer_enabled=row.timer_enabled)
    return scenario_of(replace(row, check=None), world)


FAILING_PURGATORY = (
    *_FAILING_PURGATORY,
    *failing_with_faults(_ROWS, _build_with_faults, [(bug, bug.purgatory_class) for bug in BUGS]),
)


def faults_with(purgatory_class: type[AnyPurgatory]) -> tuple[Program, ...]:
    """Return the programs and the pairs with predicates and callbacks that raise now and then."""
    # The others have operations that always raise.
    rows = {name: row for name, row in _ROWS.items() if not name.startswith("purgatory-error")}
    return faults_of(rows, _PAIRS, _build_with_faults, purgatory_class)
