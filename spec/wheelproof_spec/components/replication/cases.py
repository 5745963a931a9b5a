"""The cases of the replica manager: named conversations with a broker, and drawn ones."""

from collections.abc import Iterable

from wheelproof_spec.base.calls import Advance, PurgeCompleted, Reset
from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Scenario, Suite, any_suite
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    DEFINITION,
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    FetchMessages,
    FetchPartition,
    MaybeShrinkInSync,
    NewRecord,
    PartitionRecords,
    ReplicationCall,
    ReplicationConfig,
    ReplicationLimit,
    ReplicationObservation,
    RequestName,
    StopReplica,
    TruncateAsFollower,
)
from wheelproof_spec.components.replication.oracle import ReplicationLedger

_BROKER, _FOLLOWER, _STRANGER = 1, 2, 9
_PLENTY = 1_000
_WAIT_MS = 50


def replication_scenarios() -> tuple[Scenario[ReplicationCall], ...]:
    """Return all named cases of the replica manager."""
    return (*_conversations(), *_errors())


def _conversations() -> Iterable[Scenario[ReplicationCall]]:
    yield Scenario(
        name="produce and fetch drive each other",
        calls=(
            _reset(),
            _lead(0),
            _fetch("consumer"),
            _append("producer", 3, 4),
            _fetch("follower", replica_id=_FOLLOWER),
            _fetch("follower again", replica_id=_FOLLOWER, offset=2),
            Advance(to_ms=_WAIT_MS),
            PurgeCompleted(),
        ),
    )
    yield Scenario(
        name="KAFKA-19567: a fetch waits for more than its segment has, and the log rolls",
        calls=(
            _reset(segment_bytes=40),
            _lead(0, in_sync=(_BROKER,)),
            _fetch("consumer", min_bytes=60),
            _append("first", 20, acks=1),
            _append("second", 30, acks=1),
        ),
    )
    yield Scenario(
        name="2.14: a consumer beyond the high watermark does not wait",
        calls=(
            _reset(),
            _lead(0),
            _append("producer", 3, acks=1),
            _fetch("beyond", offset=1),
            _fetch("at it", offset=0),
            _fetch("follower", replica_id=_FOLLOWER, offset=1),
        ),
    )
    yield Scenario(
        name="what is appended together is read together",
        calls=(
            _reset(),
            _lead(0),
            _append("producer", 3, 4, acks=1),
            _append("another", 5, acks=1),
            _fetch("too small", replica_id=_FOLLOWER, max_bytes=3),
            _fetch("inside", replica_id=_FOLLOWER, offset=1, max_bytes=11),
            _fetch("cut off", replica_id=_FOLLOWER, min_bytes=11, max_bytes=11),
            _fetch("both", replica_id=_FOLLOWER, max_bytes=12),
        ),
    )
    yield Scenario(
        name="the high watermark stays while too few replicas are in sync",
        calls=(
            _reset(min_in_sync_replicas=2),
            _lead(0, in_sync=(_BROKER,)),
            _append("producer", 3, acks=1),
            _fetch("consumer"),
            _fetch("behind", replica_id=_FOLLOWER),
            _fetch("in sync", replica_id=_FOLLOWER, offset=1),
        ),
    )
    yield Scenario(
        name="the high watermark waits for a replica that is about to be in sync",
        calls=(
            _reset(),
            _lead(0, in_sync=(_BROKER,)),
            _append("x", 3, acks=1),
            _fetch("follower", replica_id=_FOLLOWER, offset=0),
            _append("y", 3, acks=1),
            _fetch("with what there was", replica_id=_FOLLOWER, offset=1),
            _append("z", 3, acks=1),
            _fetch("consumer", offset=2),
            _fetch("in sync", replica_id=_FOLLOWER, offset=3),
        ),
    )
    yield Scenario(
        name="a leader that is elected again knows its followers",
        calls=(
            _reset(),
            _lead(0),
            _append("producer", 3, acks=1),
            _fetch("follower", replica_id=_FOLLOWER, offset=1),
            _append("another", 3),
            _lead(1),
            _fetch("follower again", replica_id=_FOLLOWER, offset=2),
            _append("a third", 3),
        ),
    )
    yield Scenario(
        name="partitions that are not replicated in time say so",
        calls=(
            _reset(),
            _lead(0),
            _append("producer", 3, partitions=("t", "unknown")),
            Advance(to_ms=_WAIT_MS - 1),
            Advance(to_ms=_WAIT_MS),
        ),
    )
    yield Scenario(
        name="a fetch that expires answers with what there is",
        calls=(
            _reset(),
            _lead(0, in_sync=(_BROKER,)),
            _append("producer", 3, acks=1),
            _fetch("follower", replica_id=_FOLLOWER, offset=1),
            _fetch("consumer", min_bytes=9),
            Advance(to_ms=_WAIT_MS),
        ),
    )
    yield Scenario(
        name="a replica that has fallen behind is left out, and comes back",
        calls=(
            _reset(replica_lag_time_max_ms=10),
            _lead(0),
            _append("producer", 3),
            Advance(to_ms=10),
            MaybeShrinkInSync(),
            Advance(to_ms=11),
            MaybeShrinkInSync(),
            _append("alone", 3),
            _fetch("follower", replica_id=_FOLLOWER, offset=2),
            _append("together", 3),
        ),
    )
    yield Scenario(
        name="a broker that lost the log does not acknowledge what stood there",
        calls=(
            _reset(),
            _lead(0),
            _append("lost", 3),
            _follow(1),
            TruncateAsFollower(partition="t", offset=0),
            _lead(2, in_sync=(_BROKER,)),
            _append("other", 3, acks=1),
            _fetch("consumer"),
        ),
    )
    yield Scenario(
        name="a follower whose log parts is told where",
        calls=(
            _reset(),
            _lead(0),
            _append("producer", 3, 4, acks=1),
            _lead(2),
            _fetch("parted", replica_id=_FOLLOWER, offset=3, last_epoch=1),
            _fetch("older", replica_id=_FOLLOWER, offset=2, last_epoch=0),
        ),
    )


def _errors() -> Iterable[Scenario[ReplicationCall]]:
    yield Scenario(
        name="acks out of range append nothing",
        calls=(_reset(), _lead(0), _append("producer", 3, acks=2), _fetch("consumer", wait_ms=0)),
    )
    yield Scenario(
        name="too few replicas in sync refuse all acks only",
        calls=(
            _reset(min_in_sync_replicas=2),
            _lead(0, in_sync=(_BROKER,)),
            _append("all", 3),
            _append("one", 3, acks=1),
        ),
    )
    yield Scenario(
        name="records that fit into no segment are refused, those that fill one are not",
        calls=(
            _reset(segment_bytes=40),
            _lead(0),
            _append("more", 41, acks=1),
            _append("all", 40, acks=1),
        ),
    )
    yield Scenario(
        name="a fenced or ahead fetcher, a stranger and one beyond the end are told so",
        calls=(
            _reset(),
            _lead(0),
            _lead(5),
            _fetch("fenced", epoch=4),
            _fetch("ahead", epoch=6),
            _fetch("right", epoch=5),
            _fetch("stranger", replica_id=_STRANGER),
            _fetch("beyond", offset=1),
            StopReplica(partition="t"),
            _fetch("late"),
        ),
    )
    yield Scenario(
        name="what a controller never says is refused",
        limit=ReplicationLimit.WRONG_CONTROLLER,
        calls=(
            _reset(),
            _lead(1),
            _lead(1),
            _lead(2, in_sync=(_FOLLOWER,)),
            _lead(2, in_sync=(_BROKER, _STRANGER)),
            _follow(0),
            TruncateAsFollower(partition="t", offset=0),
            _follow(2),
            TruncateAsFollower(partition="t", offset=1),
        ),
    )
    yield Scenario(
        name="what makes no sense is refused",
        calls=(
            _reset(),
            TruncateAsFollower(partition="unknown", offset=0),
            _lead(0),
            _append("nothing"),
            _append("twice", 1, partitions=("t", "t")),
        ),
    )


def _reset(
    segment_bytes: int = 100, min_in_sync_replicas: int = 1, replica_lag_time_max_ms: int = 50
) -> Reset[ReplicationConfig]:
    return Reset(
        config=ReplicationConfig(
            broker_id=_BROKER,
            segment_bytes=segment_bytes,
            min_in_sync_replicas=min_in_sync_replicas,
            replica_lag_time_max_ms=replica_lag_time_max_ms,
        )
    )


def _lead(epoch: int, in_sync: tuple[int, ...] = (_BROKER, _FOLLOWER)) -> BecomeLeader:
    return BecomeLeader(
        partition="t",
        leader_epoch=epoch,
        replica_ids=(_BROKER, _FOLLOWER),
        in_sync_ids=in_sync,
    )


def _follow(epoch: int) -> BecomeFollower:
    return BecomeFollower(partition="t", leader_epoch=epoch, leader_id=_FOLLOWER)


def _append(
    request: RequestName,
    *sizes: int,
    acks: int = ALL_ACKS,
    partitions: tuple[str, ...] = ("t",),
) -> AppendRecords:
    records = tuple(NewRecord(size=size) for size in sizes)
    return AppendRecords(
        request=request,
        required_acks=acks,
        timeout_ms=_WAIT_MS,
        entries=tuple(PartitionRecords(partition=name, records=records) for name in partitions),
    )


def _fetch(
    request: RequestName,
    *,
    replica_id: int | None = None,
    offset: int = 0,
    min_bytes: int = 1,
    wait_ms: int = _WAIT_MS,
    epoch: int | None = None,
    last_epoch: int | None = None,
    max_bytes: int = _PLENTY,
) -> FetchMessages:
    fetched = FetchPartition(
        partition="t",
        fetch_offset=offset,
        max_bytes=max_bytes,
        current_leader_epoch=epoch,
        last_fetched_epoch=last_epoch,
    )
    return FetchMessages(
        request=request,
        replica_id=replica_id,
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        max_bytes=_PLENTY,
        partitions=(fetched,),
    )


def _fuzz(
    port: SendingPort[ReplicationCall, ReplicationObservation],
    profile: str,
    tally: Tally,
    plan: FuzzPlan,
) -> FuzzReport:
    from wheelproof_spec.components.replication.fuzz.sequential import run_replication_fuzz

    return run_replication_fuzz(
        port,
        profile=profile,
        tally=tally,
        cases=plan.cases,
        seed=plan.seed,
        repeat=plan.repeat,
    )


SUITE = any_suite(
    Suite(
        definition=DEFINITION,
        judge=ReplicationLedger,
        scenarios=replication_scenarios,
        fuzz=_fuzz,
    )
)
