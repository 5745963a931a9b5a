"""The programs of the replica manager for the model checker."""

from collections.abc import Mapping

from wheelproof.replication import ReplicaManager
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.bugs.replication import BUGS
from wheelproof_lab.worlds.replication.bench import Broker
from wheelproof_lab.worlds.replication.faults import FaultyBroker
from wheelproof_lab.worlds.tables import (
    Pairs,
    ProgramRow,
    act,
    faults_of,
    pairs_of,
    programs_of,
    scenario_of,
)

# Threads that use one broker, which leads a partition; its follower is in sync.
_ROWS: Mapping[str, ProgramRow[Broker]] = {
    "append-and-consume": ProgramRow(
        summary="A consumer's fetch is handed in while the record that it waits for is appended.",
        before=(act(Broker.lead, 1),),
        threads={"produce": act(Broker.produce), "consume": act(Broker.consume)},
        check=Broker.check_all_answered,
        bugs=("silent-append",),
    ),
    "produce-and-replicate": ProgramRow(
        summary="A produce request is handed in while the follower says that it has the record.",
        threads={"produce": act(Broker.produce), "follower": act(Broker.replicate, 1)},
        check=Broker.check_answered_if_replicated,
    ),
    "produce-replicate-consume": ProgramRow(
        summary=(
            "The follower's fetch answers a produce request and a consumer's fetch that comes in."
        ),
        before=(act(Broker.produce),),
        threads={"follower": act(Broker.replicate, 1), "consume": act(Broker.consume)},
        check=Broker.check_all_answered,
    ),
    "replicate-and-expire": ProgramRow(
        summary=(
            "The time of a produce request is over while the follower says that it has the record."
        ),
        before=(act(Broker.produce),),
        threads={"follower": act(Broker.replicate, 1), "reaper": act(Broker.expire_produces)},
        check=Broker.check_produced_once,
    ),
    "rejoin-and-produce": ProgramRow(
        summary=(
            "A follower catches up to be in sync while its leader, which is alone, writes a record."
        ),
        before=(act(Broker.lead, 1),),
        threads={"follower": act(Broker.replicate, 0), "produce": act(Broker.produce)},
        check=Broker.check_in_sync_has_all,
    ),
    "rejoin-and-lead-again": ProgramRow(
        summary=(
            "The broker leads again, in a new epoch, while a follower of the old one is to be "
            "in sync."
        ),
        before=(act(Broker.lead, 1),),
        threads={
            "follower": act(Broker.replicate_in, 1),
            "leader": (
                act(Broker.demote, 2),
                act(Broker.lead, 3),
            ),
        },
        check=Broker.check_alone,
    ),
    "produce-and-lose": ProgramRow(
        summary=(
            "A produce request is handed in while the broker loses the partition, its log, and "
            "is back."
        ),
        threads={"produce": act(Broker.produce), "leader": act(Broker.lose_and_lead_again)},
        check=Broker.check_acknowledged_is_there,
        bugs=("epoch-blind-acknowledgement",),
    ),
    "produce-and-stop": ProgramRow(
        summary=(
            "A produce request is handed in while the replica is stopped, and the partition made "
            "anew leads in the same epoch."
        ),
        threads={
            "produce": act(Broker.produce),
            "leader": act(Broker.stop_and_lead_anew),
        },
        check=Broker.check_acknowledged_is_there,
        bugs=("epoch-blind-acknowledgement",),
    ),
    "follow-and-produce": ProgramRow(
        summary=(
            "A produce request waits for a follower while the broker becomes one, and takes "
            "its log."
        ),
        before=(act(Broker.fill), act(Broker.produce)),
        threads={"follow": act(Broker.follow), "look": act(Broker.look)},
        check=Broker.check_follows,
    ),
    "follow-and-replicate": ProgramRow(
        summary=(
            "A follower of the old epoch fetches while the broker follows, and takes another log."
        ),
        before=(act(Broker.produce),),
        threads={"follow": act(Broker.follow), "follower": act(Broker.replicate_in, 0)},
        check=Broker.check_follows,
    ),
    "follow-another": ProgramRow(
        summary=(
            "A follower takes a record that is replicated while it follows another leader, "
            "whose is not yet."
        ),
        before=(act(Broker.demote, 1),),
        threads={
            "take": act(Broker.try_to, act(Broker.take, 1, 1)),
            "follow": (
                act(Broker.demote, 2),
                act(Broker.try_to, act(Broker.take, 2, 0)),
            ),
        },
        check=Broker.check_told_by_its_leader,
    ),
    "callback-stops-another": ProgramRow(
        summary=(
            "The answer of a produce request stops another replica while its own one is stopped: "
            "nobody waits for ever."
        ),
        before=(act(Broker.lead_another), act(Broker.produce_and_stop_another)),
        threads={"follower": act(Broker.replicate, 1), "leader": act(Broker.stop)},
        check=Broker.check_both_stopped,
        bugs=("callback-under-lock",),
    ),
    "stop-and-lead-another": ProgramRow(
        summary="A replica is stopped while the broker begins to lead another partition.",
        threads={"stop": act(Broker.stop), "leader": act(Broker.lead_another)},
        check=Broker.check_one_stopped,
        bugs=("unlocked-stop",),
    ),
    "shrink-and-lead-again": ProgramRow(
        summary=(
            "A follower is to be dropped as the broker leads again, in an epoch in which it is in "
            "sync."
        ),
        before=(act(Broker.fill), act(Broker.fall_behind)),
        threads={"shrink": act(Broker.shrink), "leader": act(Broker.lead, 1, 2)},
        check=Broker.check_in_sync_again,
        bugs=("two-step-shrink",),
    ),
    "callback-raises-and-consume": ProgramRow(
        summary=(
            "A consumer's fetch is handed in while its record is appended, by a request whose "
            "callback raises."
        ),
        before=(act(Broker.lead, 1),),
        threads={"produce": act(Broker.produce_and_raise), "consume": act(Broker.consume)},
        check=Broker.check_consumed,
        bugs=("unchecked-after-error",),
    ),
}

# Every two public methods of the broker against each other; `each` is what a thread may do.
_PAIRS: Mapping[str, Pairs[ProgramRow[Broker], Broker]] = {
    "broker": Pairs(
        row=ProgramRow(
            summary="A produce request waits for the follower",
            before=(act(Broker.produce),),
            check=Broker.check_at_most_once,
        ),
        each={
            "produce": act(Broker.try_to, act(Broker.produce)),
            "consume": act(Broker.try_to, act(Broker.consume)),
            "replicate": act(Broker.try_to, act(Broker.replicate, 1)),
            "lead": act(Broker.try_to, act(Broker.lead, 2)),
            "follow": act(Broker.try_to, act(Broker.follow)),
            "stop": act(Broker.stop),
            "shrink": act(Broker.shrink),
            "expire": act(Broker.expire),
            "shutdown": act(Broker.shut_down),
            "look": act(Broker.look),
            "misuse": act(Broker.misuse),
        },
    ),
}


def _build(row: ProgramRow[Broker], manager_class: type[ReplicaManager]) -> Scenario:
    return scenario_of(row, Broker(manager_class))


_SOUND: type[ReplicaManager] = ReplicaManager

PROGRAMS, FAILING = programs_of(
    _ROWS, _build, _SOUND, [(bug, bug.manager_class) for bug in BUGS], prefix="replication/"
)
PAIRS = pairs_of(_PAIRS, _build, _SOUND)


def _build_with_faults(row: ProgramRow[Broker], manager_class: type[ReplicaManager]) -> Scenario:
    return scenario_of(row, FaultyBroker(manager_class))


def faults_with(manager_class: type[ReplicaManager]) -> tuple[Program, ...]:
    """Return the programs and the pairs with callbacks that raise now and then."""
    return faults_of(_ROWS, _PAIRS, _build_with_faults, manager_class)
