"""Who is caught up stays in sync: a recorded shrink excuses no early acknowledgement (5.4.4)."""

from collections.abc import Sequence
from typing import Literal

import pytest

from support.agreement.small_histories import History, Line, history_of
from support.history.history_scripts import Lines, begin, call, judged
from support.history.variants import padded
from wheelproof_spec.base.calls import Tick
from wheelproof_spec.base.codec.vocabulary import Absent, Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    KAFKA,
    WHEELPROOF,
    AppendRecords,
    BecomeLeader,
    ErrorCode,
    FetchMessages,
    FetchPartition,
    FetchResponse,
    MaybeShrinkInSync,
    NewRecord,
    PartitionFetchResponse,
    PartitionProduceResponse,
    PartitionRecords,
    ProduceResponse,
    Record,
    ReplicationClause,
    ReplicationConfig,
)

_LAG_MS = 50
_CONFIG = ReplicationConfig(replica_lag_time_max_ms=_LAG_MS)
_NS = 1_000_000
Clock = Literal["virtual", "none"]


def _plain(process: str, asked: Call, *inside: Lines) -> Lines:
    return call(process, asked, Nothing(), *inside)


def _tick(to_ms: int) -> Lines:
    return _plain("clock", Tick(to_ms=to_ms))


def _lead(epoch: int = 0, partition: str = "t") -> Lines:
    asked = BecomeLeader(
        partition=partition, leader_epoch=epoch, replica_ids=(1, 2), in_sync_ids=(1, 2)
    )
    return _plain("c", asked)


def _append(name: str, acks: int = ALL_ACKS, partition: str = "t") -> AppendRecords:
    records = (NewRecord(size=1, value=name),)
    entry = PartitionRecords(partition=partition, records=records)
    return AppendRecords(request=name, required_acks=acks, timeout_ms=9_000, entries=(entry,))


def _told(name: str, base: int, partition: str = "t") -> Lines:
    answer = PartitionProduceResponse(partition=partition, error=ErrorCode.NONE, base_offset=base)
    response = ProduceResponse(request=name, partitions=(answer,))
    return begin("p", response.name_on_the_wire(), response)


def _wait(name: str, partition: str = "t") -> Lines:
    return _plain("p", _append(name, partition=partition))


def _fetch(name: str, offset: int, high_watermark: int, *values: str) -> Lines:
    asked = FetchPartition(partition="t", fetch_offset=offset, max_bytes=100)
    fetch = FetchMessages(
        request=name,
        replica_id=2,
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=100,
        partitions=(asked,),
    )
    records = tuple(
        Record(offset=place, leader_epoch=0, size=1, value=value)
        for place, value in enumerate(values, start=offset)
    )
    answer = PartitionFetchResponse(
        partition="t", error=ErrorCode.NONE, high_watermark=high_watermark, records=records
    )
    response = FetchResponse(request=name, partitions=(answer,))
    return _plain("f", fetch, begin("f", response.name_on_the_wire(), response))


def _shrink(*inside: Lines) -> Lines:
    return _plain("s", MaybeShrinkInSync(), *inside)


_BEHIND = (_lead(), _wait("x"))
_CAUGHT_UP_AT_30 = (
    _lead(),
    _plain("p", _append("w", acks=1), _told("w", 0)),
    _fetch("f", 0, 0, "w"),
    _tick(30),
    _fetch("g", 1, 1),
    _wait("x"),
)

_RIGHT: dict[str, Sequence[Lines]] = {
    "it lags": (*_BEHIND, _tick(_LAG_MS + 1), _shrink(_told("x", 0))),
    "it lags once the clock has moved meanwhile": (
        *_BEHIND,
        _shrink(_tick(_LAG_MS + 1), _told("x", 0)),
    ),
    "the clock is about to move": (
        *_BEHIND,
        _shrink(begin("clock", "tick", Tick(to_ms=_LAG_MS + 1)), _told("x", 0)),
    ),
    "it was caught up later, and lags again": (
        *_CAUGHT_UP_AT_30,
        _tick(31 + _LAG_MS),
        _shrink(_told("x", 1)),
    ),
    "it lags where the broker leads since the shrink began": (
        _lead(),
        _tick(10),
        begin("s", "maybe_shrink_in_sync", MaybeShrinkInSync()),
        _lead(partition="u"),
        _wait("x", partition="u"),
        _tick(11 + _LAG_MS),
        _told("x", 0, partition="u"),
        (Line("s", "ok", "maybe_shrink_in_sync", Nothing()),),
    ),
    "it stays, and reads": (*_BEHIND, _shrink(), _fetch("f", 0, 0, "x")),
}
_WRONG: dict[str, Sequence[Lines]] = {
    "it is in sync since now": (*_BEHIND, _shrink(_told("x", 0))),
    "it may lag as long as that": (*_BEHIND, _tick(_LAG_MS), _shrink(_told("x", 0))),
    "it was caught up when it fetched last": (
        *_CAUGHT_UP_AT_30,
        _tick(30 + _LAG_MS),
        _shrink(_told("x", 1)),
    ),
    "it is in sync since the election": (
        _lead(),
        _tick(30),
        _lead(1),
        _wait("x"),
        _tick(30 + _LAG_MS),
        _shrink(_told("x", 0)),
    ),
    "the shrink was over before it could lag": (
        *_BEHIND,
        _shrink(),
        _tick(_LAG_MS + 1),
        _told("x", 0),
    ),
}


def _history(lines: Sequence[Lines], times: Sequence[int | Absent] = ()) -> History:
    flat = [line for some in lines for line in some]
    clock: Clock = "virtual"
    return history_of("replication", _CONFIG, flat, quiet=False, clock=clock, times=times)


def _rules(history: History, profile: str) -> list[str]:
    verdict = judged(history, profile)
    return [] if verdict.violation is None else [verdict.violation.rule]


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("profile", [WHEELPROOF, KAFKA])
@pytest.mark.parametrize("name", _RIGHT)
def test_nobody_waits_for_who_may_have_left(name: str, profile: str, *, pad: bool) -> None:
    history = _history(_RIGHT[name])
    assert _rules(padded(history) if pad else history, profile) == []


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("profile", [WHEELPROOF, KAFKA])
@pytest.mark.parametrize("name", _WRONG)
def test_whoever_is_caught_up_is_waited_for(name: str, profile: str, *, pad: bool) -> None:
    history = _history(_WRONG[name])
    expected = [ReplicationClause.ANSWER_IS_RIGHT]
    assert _rules(padded(history) if pad else history, profile) == expected


@pytest.mark.parametrize(("ms", "is_right"), [(_LAG_MS - 5, False), (_LAG_MS + 5, True)])
def test_a_real_clock_tells_who_lags(ms: int, is_right: bool) -> None:
    lines = (*_BEHIND, _shrink(_told("x", 0)))
    count = sum(map(len, lines))
    # All of it happens at once, but for the answer and the end of the shrink.
    times = [1_000 * _NS] * (count - 2) + [(1_000 + ms) * _NS] * 2
    expected = [] if is_right else [ReplicationClause.ANSWER_IS_RIGHT]
    assert _rules(_history(lines, times), WHEELPROOF) == expected


def test_without_a_clock_anybody_may_have_left_and_notes_say_what_was_not_judged() -> None:
    flat = [line for some in (*_BEHIND, _shrink(_told("x", 0))) for line in some]
    verdict = judged(history_of("replication", _CONFIG, flat, quiet=False), WHEELPROOF)
    assert verdict.violation is None
    assert "without a clock every shrink may drop any replica that lags" in verdict.notes
    timed = judged(_history(_RIGHT["it lags"]), WHEELPROOF)
    assert timed.notes == ("a shrink was held to drop only those replicas that surely lagged",)
    by_kafka = judged(_history(_RIGHT["it lags"]), KAFKA)
    assert by_kafka.notes == ("whether a shrink drops all replicas that lag was not judged",)
