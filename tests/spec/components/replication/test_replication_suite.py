"""The named cases of the replica manager: the reference passes all, each known bug fails one."""

import pytest

from wheelproof.replication import ReplicaManager
from wheelproof_lab.bugs.known_bug import Sight
from wheelproof_lab.bugs.replication import BUGS, ReplicationBug
from wheelproof_spec.base.calls import Advance, PurgeCompleted, Reset
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.port import RefusedError, first_violation
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.components.replication.cases import REPLICATION
from wheelproof_spec.components.replication.component import (
    DEFINITION,
    WHEELPROOF,
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    EpochEnd,
    ErrorCode,
    FetchMessages,
    FetchPartition,
    FetchResponse,
    MaybeShrinkInSync,
    NewRecord,
    PartitionFetchResponse,
    PartitionRecords,
    Record,
    ReplicationCall,
    ReplicationClause,
    ReplicationConfig,
    ReplicationObservation,
    StopReplica,
    TruncateAsFollower,
)
from wheelproof_spec.components.replication.oracle import ReplicationLedger
from wheelproof_spec.components.replication.reference import ReferenceReplicationPort
from wheelproof_spec.drive.driver.messages import (
    Refusal,
    format_answer,
    format_request,
    parse_answer,
    parse_request,
)

WIRE = DrivenWire(DEFINITION)
_APPEND = AppendRecords(
    request="r",
    required_acks=-1,
    timeout_ms=5,
    entries=(PartitionRecords(partition="t", records=(NewRecord(size=3), NewRecord(size=0))),),
)
_LEAD = BecomeLeader(partition="t", leader_epoch=0, replica_ids=(1, 2), in_sync_ids=(1,))


def _broken_rule(
    scenario: Scenario[ReplicationCall],
    manager_class: type[ReplicaManager] = ReplicaManager,
    tally: Tally | None = None,
) -> str | None:
    ledger = ReplicationLedger(WHEELPROOF, tally or Tally())
    port = ReferenceReplicationPort(manager_class)
    violation = first_violation(ledger, port, scenario.calls)
    return None if violation is None else violation.rule


@pytest.mark.repeats("br-lag-shrinks", "br-rejoin", "kip-595-diverging")
@pytest.mark.parametrize("scenario", REPLICATION.scenarios(), ids=lambda scenario: scenario.name)
def test_replication_scenario_passes_on_the_reference(
    scenario: Scenario[ReplicationCall],
) -> None:
    assert _broken_rule(scenario) is None


def test_replication_scenarios_test_every_clause() -> None:
    tally = Tally(clauses_of(ReplicationClause, Wire.DRIVEN, WHEELPROOF))
    for scenario in REPLICATION.scenarios():
        assert _broken_rule(scenario, tally=tally) is None
    assert tally.untested() == ()


@pytest.mark.repeats("k-19567")
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.id)
def test_replication_scenarios_show_the_known_bugs_that_calls_show(bug: ReplicationBug) -> None:
    shown = any(_broken_rule(scenario, bug.manager_class) for scenario in REPLICATION.scenarios())
    assert shown == (Sight.DRIVEN in bug.seen)


class _Spoiled(ReferenceReplicationPort):
    """Answers the first produce request in other words."""

    def __init__(self, *observations: ReplicationObservation) -> None:
        super().__init__()
        self._left = list(observations)

    def perform(self, call: ReplicationCall) -> ReplicationObservation:
        seen = super().perform(call)
        return self._left.pop(0) if isinstance(call, AppendRecords | PurgeCompleted) else seen


class _Forgiving(ReferenceReplicationPort):
    """Refuses nothing."""

    def perform(self, call: ReplicationCall) -> ReplicationObservation:
        try:
            return super().perform(call)
        except RefusedError:
            return ReplicationObservation(num_delayed=0)


def _judged(port: ReferenceReplicationPort, *calls: ReplicationCall) -> str | None:
    reset: Reset[ReplicationConfig] = Reset(config=ReplicationConfig())
    ledger = ReplicationLedger(WHEELPROOF, Tally())
    violation = first_violation(ledger, port, (reset, _LEAD, *calls))
    return None if violation is None else violation.rule


def test_an_answer_that_is_not_due_breaks_its_clause() -> None:
    right = ReferenceReplicationPort()
    right.perform(_LEAD)
    answer = right.perform(_APPEND).produced
    twice = ReplicationObservation(produced=(*answer, *answer), num_delayed=0)
    wrong = ReplicationObservation(
        fetched=(FetchResponse(request="r", partitions=()),), num_delayed=0
    )
    early = ReplicationObservation(
        produced=answer, fetched=(FetchResponse(request="y", partitions=()),), num_delayed=0
    )
    for seen, clause in (
        (twice, ReplicationClause.ANSWERED_AT_MOST_ONCE),
        (wrong, ReplicationClause.ANSWER_IS_RIGHT),
        (early, ReplicationClause.NOT_ANSWERED_BEFORE),
        (ReplicationObservation(num_delayed=0), ReplicationClause.ANSWERED_WHEN_IT_CAN_BE),
        (
            ReplicationObservation(produced=answer, num_delayed=1),
            ReplicationClause.DELAYED_ARE_THE_WAITING,
        ),
    ):
        assert _judged(_Spoiled(seen), _APPEND) == clause


@pytest.mark.parametrize(("watched", "num_keys"), [(1, 1), (0, 1)])
def test_what_is_kept_after_a_purge_breaks_its_clause(watched: int, num_keys: int) -> None:
    seen = ReplicationObservation(num_delayed=0, watched=watched, num_keys=num_keys)
    assert _judged(_Spoiled(seen), PurgeCompleted()) == ReplicationClause.NOTHING_IS_KEPT


def test_what_is_outside_and_not_refused_breaks_its_clause() -> None:
    assert _judged(_Forgiving(), _LEAD) == ReplicationClause.KEEPS_TO_ITS_DOMAIN


@pytest.mark.parametrize(
    "call",
    [
        Reset(config=ReplicationConfig(broker_id=4, segment_bytes=7, start_ms=3)),
        _LEAD,
        BecomeFollower(partition="t", leader_epoch=1, leader_id=2),
        StopReplica(partition="t"),
        TruncateAsFollower(partition="t", offset=-1),
        MaybeShrinkInSync(),
        _APPEND,
        FetchMessages(
            request="f",
            max_wait_ms=1,
            min_bytes=2,
            max_bytes=3,
            partitions=(
                FetchPartition(
                    partition="t",
                    fetch_offset=4,
                    max_bytes=5,
                    current_leader_epoch=6,
                    last_fetched_epoch=0,
                ),
            ),
        ),
        PurgeCompleted(),
        Advance(to_ms=3),
    ],
    ids=repr,
)
def test_replication_call_survives_the_wire(call: ReplicationCall) -> None:
    _, operation, fields = parse_request(format_request(1, call))
    assert WIRE.parse_call(operation, fields) == call


def test_replication_answer_survives_the_wire() -> None:
    answer = PartitionFetchResponse(
        partition="t",
        error=ErrorCode.NONE,
        high_watermark=3,
        records=(Record(offset=2, leader_epoch=1, size=4),),
        diverging_epoch=EpochEnd(leader_epoch=-1, end_offset=0),
    )
    seen = ReplicationObservation(
        fetched=(FetchResponse(request="f", partitions=(answer,)),), num_delayed=0
    )
    fields = parse_answer(format_answer(1, WIRE.answer(_APPEND, seen)), 1)
    assert not isinstance(fields, Refusal)
    assert WIRE.parse_answer(fields, _APPEND) == seen


def test_replication_answer_with_an_unknown_error_is_malformed() -> None:
    answer = {"request": "r", "partitions": [{"partition": "t", "error": "GONE"}]}
    with pytest.raises(MalformedError, match="'GONE' that is not 'NONE' or"):
        WIRE.parse_answer({"produced": [], "fetched": [answer]}, _APPEND)
