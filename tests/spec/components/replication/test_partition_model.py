"""The model of a partition: its copies, and the search that takes its effects."""

from collections.abc import Sequence

import pytest

from support.agreement.small_brokers import CONFIG, FOLLOWER, LEAD
from support.agreement.small_histories import Line, history_of
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.judging import Searched, WholeHistory
from wheelproof_spec.components.replication.component import (
    WHEELPROOF,
    AppendRecords,
    ErrorCode,
    FetchMessages,
    FetchPartition,
    NewRecord,
    PartitionProduceResponse,
    PartitionRecords,
    ProduceResponse,
    ReplicationClause,
)
from wheelproof_spec.components.replication.history.search import search
from wheelproof_spec.components.replication.model import LedgerLog, LedgerPartition


def _partition() -> LedgerPartition:
    partition = LedgerPartition(CONFIG, as_kafka=False, log=LedgerLog(CONFIG.segment_bytes))
    partition.become_leader(LEAD, 0)
    return partition


def test_a_copy_goes_its_own_way() -> None:
    partition = _partition()
    appended, noted = partition.copy(), partition.copy()
    assert partition.key() == appended.key() == noted.key()
    assert appended.log.append((NewRecord(size=10),), 0) == 0
    assert noted.note_follower(FOLLOWER, noted.begin(0, FOLLOWER), 0)
    assert (partition.log.end, partition.followers[FOLLOWER].end.offset) == (0, -1)
    assert len({one.key() for one in (partition, appended, noted)}) == 3


def _call(process: str, call: Call, *inside: Line) -> Sequence[Line]:
    name = call.name_on_the_wire()
    return (
        Line(process, "invoke", name, call),
        *inside,
        Line(process, "ok", name, Nothing()),
    )


def _searched(*calls: Sequence[Line]) -> Searched:
    lines = [line for call in (_call("p", LEAD), *calls) for line in call]
    history = history_of("replication", CONFIG, lines, quiet=True, clock="virtual")
    found = search(
        WholeHistory(header=history.header, profile=WHEELPROOF, ops=history.ops, quiet=True)
    )
    assert found is not None
    return found


@pytest.mark.parametrize(("size", "right"), [(0, True), (1, False)])
def test_a_fetch_waits_on_for_records_of_0_bytes(size: int, right: bool) -> None:
    entry = PartitionRecords(partition="t", records=(NewRecord(size=size, value="v"),))
    append = AppendRecords(request="a", required_acks=1, timeout_ms=5, entries=(entry,))
    answer = ProduceResponse(
        request="a",
        partitions=(PartitionProduceResponse(partition="t", error=ErrorCode.NONE, base_offset=0),),
    )
    fetch = FetchMessages(
        request="f",
        replica_id=FOLLOWER,
        max_wait_ms=5,
        min_bytes=1,
        max_bytes=100,
        partitions=(FetchPartition(partition="t", fetch_offset=0, max_bytes=100),),
    )
    said = Line("p", "invoke", answer.name_on_the_wire(), answer)
    found = _searched(_call("q", fetch), _call("p", append, said))
    broken = found.violation and found.violation.rule
    assert broken is (None if right else ReplicationClause.ANSWERED_WHEN_IT_CAN_BE)
