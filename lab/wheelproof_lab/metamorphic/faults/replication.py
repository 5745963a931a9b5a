"""The faults of broker histories: each breaks one clause of a correct history."""

from wheelproof_lab.metamorphic.recording import Scene
from wheelproof_lab.metamorphic.relations import Metamorphic, acted
from wheelproof_spec.base.calls import Gauge, NumDelayed, PurgeCompleted, Watched
from wheelproof_spec.components.replication.component import (
    KAFKA,
    WHEELPROOF,
    AppendRecords,
    BecomeLeader,
    ErrorCode,
    NewRecord,
    PartitionProduceResponse,
    PartitionRecords,
    ProduceResponse,
    ReplicationClause,
)

_PARTITION = "new partition"
_LEAD = BecomeLeader(partition=_PARTITION, leader_epoch=0, replica_ids=(1, 2), in_sync_ids=(1, 2))
_TOO_MANY = Gauge(count=1_000)


def _produced(scene: Scene, *offsets: int) -> Scene:
    """Lead a new partition and append to it; the request is answered with each of the offsets."""
    name = scene.name()
    record = NewRecord(size=10, value=f"of {name}")
    asked = AppendRecords(
        request=name,
        required_acks=1,
        timeout_ms=0,
        entries=(PartitionRecords(partition=_PARTITION, records=(record,)),),
    )
    scene.call(_LEAD).begin(asked)
    for offset in offsets:
        _answers(scene, name, offset)
    return scene.answer(AppendRecords)


def _answers(scene: Scene, request: str, offset: int) -> Scene:
    told = PartitionProduceResponse(partition=_PARTITION, error=ErrorCode.NONE, base_offset=offset)
    return scene.begin(ProduceResponse(request=request, partitions=(told,)))


METAMORPHIC = Metamorphic(
    faults=(
        acted(ReplicationClause.ANSWERED_AT_MOST_ONCE, lambda scene: _produced(scene, 0, 0)),
        acted(ReplicationClause.ANSWERED_WHEN_IT_CAN_BE, _produced),
        acted(
            ReplicationClause.NOT_ANSWERED_BEFORE,
            lambda scene: _answers(scene.call(_LEAD), scene.name(), 0),
        ),
        acted(ReplicationClause.ANSWER_IS_RIGHT, lambda scene: _produced(scene, 7)),
        acted(
            ReplicationClause.DELAYED_ARE_THE_WAITING,
            # By a real clock, an unrecorded advance may be moving time-outs.
            lambda scene: scene.clock == "virtual" and scene.call(NumDelayed(), _TOO_MANY),
        ),
        acted(
            ReplicationClause.NOTHING_IS_KEPT,
            lambda scene: scene.call(PurgeCompleted()).call(Watched(), _TOO_MANY),
        ),
        acted(ReplicationClause.KEEPS_TO_ITS_DOMAIN, lambda scene: scene.call(_LEAD).call(_LEAD)),
    ),
    looks=frozenset({"watched", "num_delayed", "num_keys", "read_log"}),
    profiles=dict.fromkeys((WHEELPROOF, KAFKA), lambda recording: recording),
)
