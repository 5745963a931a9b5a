"""What the checker says of brokers' histories that keep, or break, one rule each."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from support.agreement.small_histories import Line, history_of
from support.history.history_scripts import (
    Lines,
    begin,
    broken_rule,
    broken_rules,
    call,
    end,
    judged,
    refuse,
)
from wheelproof_spec.base.calls import (
    AdvanceClock,
    Advanced,
    Gauge,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Tick,
    Watched,
)
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.vocabulary import Nothing, Wire
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    KAFKA,
    WHEELPROOF,
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    ErrorCode,
    FetchMessages,
    FetchPartition,
    FetchResponse,
    LogContent,
    MaybeShrinkInSync,
    NewRecord,
    PartitionFetchResponse,
    PartitionProduceResponse,
    PartitionRecords,
    ProduceResponse,
    ReadLog,
    Record,
    ReplicationClause,
    ReplicationConfig,
    StopReplica,
    TruncateAsFollower,
)

_CONFIG = ReplicationConfig(segment_bytes=30, min_in_sync_replicas=1)
_SIZE = 10
_WAIT_MS = 5
_ILLEGAL = "IllegalArgument"


# A broker's calls


def lead(epoch: int = 0, in_sync: tuple[int, ...] = (1, 2)) -> BecomeLeader:
    return BecomeLeader(partition="t", leader_epoch=epoch, replica_ids=(1, 2), in_sync_ids=in_sync)


def follow(epoch: int) -> BecomeFollower:
    return BecomeFollower(partition="t", leader_epoch=epoch, leader_id=2)


def truncate(offset: int) -> TruncateAsFollower:
    return TruncateAsFollower(partition="t", offset=offset)


def append(name: str, records: int = 1, acks: int = 1, size: int = _SIZE) -> AppendRecords:
    values = tuple(NewRecord(size=size, value=f"{name}{number}") for number in range(records))
    return AppendRecords(
        request=name,
        required_acks=acks,
        timeout_ms=_WAIT_MS,
        entries=(PartitionRecords(partition="t", records=values),),
    )


def fetch(
    name: str,
    offset: int,
    *,
    replica: int | None = 2,
    wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1_000,
    epoch: int | None = None,
) -> FetchMessages:
    asked = FetchPartition(
        partition="t", fetch_offset=offset, max_bytes=max_bytes, current_leader_epoch=epoch
    )
    return FetchMessages(
        request=name,
        replica_id=replica,
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        max_bytes=1_000,
        partitions=(asked,),
    )


# What happens


def produced(name: str, base: int, error: ErrorCode = ErrorCode.NONE, process: str = "p") -> Lines:
    answer = PartitionProduceResponse(partition="t", error=error, base_offset=base)
    response = ProduceResponse(request=name, partitions=(answer,))
    return begin(process, response.name_on_the_wire(), response)


def fetched(
    name: str,
    offset: int,
    high_watermark: int,
    *values: str,
    error: ErrorCode = ErrorCode.NONE,
    process: str = "f",
    epoch: int = 0,
) -> Lines:
    records = tuple(
        Record(offset=at, leader_epoch=epoch, size=_SIZE, value=value)
        for at, value in enumerate(values, start=offset)
    )
    answer = PartitionFetchResponse(
        partition="t", error=error, high_watermark=high_watermark, records=records
    )
    response = FetchResponse(request=name, partitions=(answer,))
    return begin(process, response.name_on_the_wire(), response)


def asks(process: str, asked: Call) -> Lines:
    return begin(process, asked.name_on_the_wire(), asked)


def over(process: str, asked: Call) -> Lines:
    return end(process, asked.name_on_the_wire())


def control(*calls: Call) -> Lines:
    return tuple(line for asked in calls for line in made("c", asked))


def denied(asked: Call) -> Lines:
    return asks("c", asked) + refuse("c", asked.name_on_the_wire(), _ILLEGAL)


def made(process: str, asked: Call, *inside: Lines) -> Lines:
    """A call without an answer of its own, and what happens inside it."""
    return call(process, asked, Nothing(), *inside)


def put(name: str, base: int, records: int = 1) -> Lines:
    """Append with acks = 1."""
    return made("p", append(name, records), produced(name, base))


def wait(name: str, base: int | None = None, records: int = 1) -> Lines:
    """Append with acks = all; it is acknowledged at once if a base is given."""
    inside = () if base is None else produced(name, base)
    return made("p", append(name, records, ALL_ACKS), inside)


def replicate(
    name: str, offset: int, high_watermark: int, *values: str, inside: Lines = ()
) -> Lines:
    """Fetch as the follower, without waiting; others may be answered inside."""
    return made("f", fetch(name, offset), fetched(name, offset, high_watermark, *values), inside)


def look(name: str, offset: int, high_watermark: int, *values: str) -> Lines:
    """Read as a consumer, without waiting."""
    asked = fetch(name, offset, replica=None)
    return made("f", asked, fetched(name, offset, high_watermark, *values))


def whole_log(*values: str, inside: Lines = ()) -> Lines:
    """Look at the whole log."""
    records = tuple(
        Record(offset=offset, leader_epoch=0, size=_SIZE, value=value)
        for offset, value in enumerate(values)
    )
    return call("l", ReadLog(partition="t"), LogContent(records=records), inside)


def tick(to_ms: int) -> Lines:
    expire = AdvanceClock(timeout_ms=0)
    return made("r", Tick(to_ms=to_ms)) + call("r", expire, Advanced())


def gauges(num_delayed: int, watched: int, num_keys: int) -> Lines:
    return (
        call("l", NumDelayed(), Gauge(count=num_delayed))
        + made("l", PurgeCompleted())
        + call("l", Watched(), Gauge(count=watched))
        + call("l", NumKeys(), Gauge(count=num_keys))
    )


_LEAD = control(lead())
_ALONE = control(lead(in_sync=(1,)))
_MINE = append("x", acks=ALL_ACKS)
_OF_TWO = replace(
    append("x", records=2, acks=ALL_ACKS),
    entries=(
        *append("x", records=2).entries,
        PartitionRecords(partition="u", records=(NewRecord(size=_SIZE, value="u0"),)),
    ),
)


def _lost_of_two(base: int) -> Lines:
    answers = (
        PartitionProduceResponse(
            partition="t", error=ErrorCode.NOT_LEADER_OR_FOLLOWER, base_offset=base
        ),
        PartitionProduceResponse(
            partition="u", error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, base_offset=-1
        ),
    )
    response = ProduceResponse(request="x", partitions=answers)
    return begin("q", response.name_on_the_wire(), response)


"""An append that waits, for the follower."""
_READER = fetch("y", 0, replica=None, wait_ms=_WAIT_MS)
"""A consumer that waits for the first record."""

_RIGHT: dict[str, Sequence[Lines]] = {
    "produce and fetch drive each other": (
        _LEAD,
        made("g", _READER),
        wait("x"),
        replicate("a", 0, 0, "x0"),
        replicate("b", 1, 0, inside=produced("x", 0) + fetched("y", 0, 1, "x0")),
        gauges(0, 0, 0),
    ),
    "answered by another call, after the one that made it so": (
        _LEAD,
        wait("x"),
        replicate("a", 0, 0, "x0"),
        asks("p", append("z")),
        replicate("b", 1, 0),
        produced("x", 0),
        produced("z", 1),
        over("p", append("z")),
    ),
    "read before it is acknowledged, and before others that are": (
        _LEAD,
        asks("p", _MINE),
        asks("q", append("z")),
        produced("z", 1, process="q"),
        over("q", append("z")),
        replicate("a", 0, 0, "x0", "z0"),
        over("p", _MINE),
    ),
    "two appends at once, in either order": (
        _LEAD,
        asks("p", append("x")),
        asks("q", append("z")),
        produced("z", 0, process="q"),
        produced("x", 1),
        over("q", append("z")),
        over("p", append("x")),
    ),
    "a follower inside a batch, whose place in the log is not shown yet": (
        _LEAD,
        asks("q", append("w")),
        made("p", append("x", 2), produced("x", 1)),
        replicate("a", 2, 0, "x1"),
        look("b", 1, 1),
        produced("w", 0, process="q"),
        over("q", append("w")),
    ),
    "a read that began before an append and ended after it": (
        _LEAD,
        asks("f", fetch("a", 0)),
        put("x", 0),
        fetched("a", 0, 0),
        over("f", fetch("a", 0)),
    ),
    "a follower that asks twice at once, and is noted where it was before": (
        _LEAD,
        wait("x"),
        replicate("a", 0, 0, "x0"),
        asks("f", fetch("b", 1)),
        asks("g", fetch("d", 0)),
        fetched("b", 1, 0),
        over("f", fetch("b", 1)),
        fetched("d", 0, 1, "x0", process="g"),
        produced("x", 0, process="g"),
        over("g", fetch("d", 0)),
    ),
    "a follower that begins anew holds nobody back who was told": (
        _LEAD,
        wait("x"),
        replicate("a", 0, 0, "x0"),
        replicate("b", 1, 0, inside=produced("x", 0)),
        replicate("d", 0, 1, "x0"),
    ),
    "the watermark is told before anybody is acknowledged": (
        _LEAD,
        wait("x"),
        replicate("a", 0, 0, "x0"),
        asks("f", fetch("b", 1)),
        made(
            "g",
            fetch("e", 0, replica=None),
            fetched("e", 0, 1, "x0", process="g"),
        ),
        produced("x", 0, process="f"),
        fetched("b", 1, 0),
        over("f", fetch("b", 1)),
    ),
    "alone in sync, what is appended is replicated": (_ALONE, wait("x", 0), look("a", 0, 1, "x0")),
    "timed out, by its time": (
        _LEAD,
        wait("x"),
        tick(_WAIT_MS),
        produced("x", 0, ErrorCode.REQUEST_TIMED_OUT, process="r"),
        gauges(0, 0, 0),
    ),
    "replicated as its time was over": (
        _LEAD,
        wait("x"),
        replicate("a", 0, 0, "x0"),
        tick(_WAIT_MS),
        replicate("b", 1, 0),
        produced("x", 0, ErrorCode.REQUEST_TIMED_OUT, process="r"),
    ),
    "the time-out that an advance moves may stay in a timer": (
        _LEAD,
        made("g", _READER),
        wait("x"),
        replicate("a", 0, 0, "x0"),
        asks("r", AdvanceClock(timeout_ms=0)),
        replicate("b", 1, 0, inside=produced("x", 0) + fetched("y", 0, 1, "x0")),
        over("r", AdvanceClock(timeout_ms=0)),
        gauges(2, 0, 0),
    ),
    "a fetch ends with its segment": (
        _LEAD,
        put("x", 0, records=2),
        put("z", 2, records=2),
        made(
            "f",
            fetch("a", 0, wait_ms=_WAIT_MS, min_bytes=99),
            fetched("a", 0, 0, "x0", "x1"),
        ),
    ),
    "as many records as fit, and one at least": (
        _LEAD,
        put("x", 0),
        put("z", 1),
        made("f", fetch("a", 0, max_bytes=19), fetched("a", 0, 0, "x0")),
        made("f", fetch("b", 0, max_bytes=1), fetched("b", 0, 0, "x0")),
    ),
    "a batch that does not fit, as a whole": (
        _LEAD,
        put("x", 0, records=2),
        made("f", fetch("a", 0, max_bytes=19), fetched("a", 0, 0, "x0", "x1")),
        made("f", fetch("b", 1, max_bytes=1), fetched("b", 1, 0, "x1")),
    ),
    "a consumer beyond the high watermark does not wait": (
        _LEAD,
        put("x", 0),
        made("g", fetch("a", 1, replica=None, wait_ms=_WAIT_MS), fetched("a", 1, 0)),
    ),
    "a log that rolls lets go who stands at the end of its segment": (
        _LEAD,
        put("x", 0, records=3),
        made("f", fetch("a", 3, wait_ms=_WAIT_MS, min_bytes=11)),
        made("p", append("z"), produced("z", 3), fetched("a", 3, 0, "z0")),
    ),
    "refused by who does not lead, and by who leads in another epoch": (
        made("f", fetch("a", 0), fetched("a", 0, -1, error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)),
        control(lead(), follow(1)),
        made("f", fetch("b", 0), fetched("b", 0, -1, error=ErrorCode.NOT_LEADER_OR_FOLLOWER)),
        made("p", append("x"), produced("x", -1, ErrorCode.NOT_LEADER_OR_FOLLOWER)),
        control(lead(2)),
        made(
            "f",
            fetch("d", 0, epoch=1),
            fetched("d", 0, -1, error=ErrorCode.FENCED_LEADER_EPOCH),
        ),
        made(
            "f",
            fetch("e", 0, epoch=3),
            fetched("e", 0, -1, error=ErrorCode.UNKNOWN_LEADER_EPOCH),
        ),
        made("f", fetch("g", 1), fetched("g", 1, -1, error=ErrorCode.OFFSET_OUT_OF_RANGE)),
    ),
    "the leader changes while it is asked": (
        _LEAD,
        asks("p", append("x")),
        control(follow(1)),
        produced("x", -1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        over("p", append("x")),
    ),
    "lost with its leader, and others stand there now": (
        _LEAD,
        wait("x"),
        asks("c", follow(1)),
        produced("x", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER, process="c"),
        over("c", follow(1)),
        control(truncate(0), lead(2, in_sync=(1,))),
        put("z", 0),
        made("f", fetch("a", 0), fetched("a", 0, 1, "z0", epoch=2)),
    ),
    "appended by the last leader, and shown only after the log was truncated behind it": (
        _LEAD,
        asks("q", _MINE),
        put("z", 1),
        control(follow(1), truncate(1), lead(2, in_sync=(1,))),
        produced("x", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER, process="q"),
        over("q", _MINE),
        put("w", 1),
        made("g", fetch("a", 1), fetched("a", 1, 2, "w0", epoch=2)),
    ),
    "a segment that began where the log was truncated stays, and shows what begins it late": (
        _LEAD,
        put("y", 0, records=2),
        asks("q", append("x", records=2, acks=ALL_ACKS)),
        control(follow(1), truncate(2), lead(2, in_sync=(1,))),
        put("w", 2),
        made("f", fetch("a", 0), fetched("a", 0, 3, "y0", "y1")),
        produced("x", 2, ErrorCode.NOT_LEADER_OR_FOLLOWER, process="q"),
        over("q", append("x", records=2, acks=ALL_ACKS)),
    ),
    "such a segment is there, and the one before it has an end, though nothing more is appended": (
        _LEAD,
        put("y", 0, records=2),
        made("q", _OF_TWO),
        control(follow(1), truncate(2), lead(2, in_sync=(1,))),
        made("q", MaybeShrinkInSync(), _lost_of_two(2)),
        made("f", fetch("a", 0, wait_ms=1, min_bytes=900), fetched("a", 0, 2, "y0", "y1")),
    ),
    "acknowledged by the leader after next": (
        _LEAD,
        wait("x"),
        replicate("a", 0, 0, "x0"),
        control(lead(1)),
        made("f", fetch("b", 1), fetched("b", 1, 0), produced("x", 0)),
    ),
    "nobody knows what becomes of an append, until it is read": (
        _LEAD,
        asks("p", append("x")),
        (Line("p", "info", "append_records", Nothing()),),
        replicate("a", 0, 0, "x0"),
    ),
    "calls that change the leader meet, and nothing more is known": (
        asks("c", lead()),
        asks("d", lead(1)),
        refuse("c", "become_leader", _ILLEGAL),
        over("d", lead(1)),
        look("a", 0, 7),
    ),
    "too few in sync, once one may have been left out": (
        _LEAD,
        tick(51),
        control(MaybeShrinkInSync()),
        made("p", _MINE, produced("x", 0, ErrorCode.NONE)),
    ),
    "a look at the log shows who stands where": (
        _LEAD,
        asks("q", _MINE),
        put("z", 0),
        over("q", _MINE),
        whole_log("z0", "x0"),
        whole_log("z0", "x0", inside=put("w", 2)),
        whole_log("z0", "x0", "w0"),
    ),
    "what is outside is refused": (
        _LEAD,
        denied(lead()),
        denied(lead(1, in_sync=(2,))),
        denied(truncate(0)),
        control(follow(1)),
        denied(truncate(1)),
    ),
}

_WRONG: dict[str, tuple[ReplicationClause, Sequence[Lines]]] = {
    "a follower inside a batch does not count as far as the batch before": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            asks("q", append("w")),
            made("p", append("x", 2), produced("x", 1)),
            replicate("a", 2, 0, "x1"),
            look("b", 0, 0),
        ),
    ),
    "answered twice": (
        ReplicationClause.ANSWERED_AT_MOST_ONCE,
        (_LEAD, put("x", 0), produced("x", 0)),
    ),
    "a fetch is answered twice": (
        ReplicationClause.ANSWERED_AT_MOST_ONCE,
        (_LEAD, look("a", 0, 0), fetched("a", 0, 0)),
    ),
    "answered, and nobody asked": (
        ReplicationClause.NOT_ANSWERED_BEFORE,
        (_LEAD, produced("x", 0)),
    ),
    "timed out before its time": (
        ReplicationClause.NOT_ANSWERED_BEFORE,
        (
            _LEAD,
            wait("x"),
            tick(_WAIT_MS - 1),
            produced("x", 0, ErrorCode.REQUEST_TIMED_OUT),
        ),
    ),
    "a fetch is answered with nothing before its time": (
        ReplicationClause.NOT_ANSWERED_BEFORE,
        (_LEAD, made("g", _READER), tick(_WAIT_MS - 1), fetched("y", 0, 0)),
    ),
    "a fetch is answered with too little": (
        ReplicationClause.NOT_ANSWERED_BEFORE,
        (
            _LEAD,
            put("x", 0),
            made("f", fetch("a", 0, wait_ms=_WAIT_MS, min_bytes=11), fetched("a", 0, 0, "x0")),
        ),
    ),
    "acknowledged, and the follower has not got it": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, wait("x", 0)),
    ),
    "acknowledged, and the follower has half of it": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            wait("x", records=2),
            replicate("a", 0, 0, "x0", "x1"),
            replicate("b", 1, 0, "x1", inside=produced("x", 0)),
        ),
    ),
    "acknowledged, and others stand there": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            asks("p", _MINE),
            control(follow(1), truncate(0), lead(2, in_sync=(1,))),
            made("q", append("z"), produced("z", 0, process="q")),
            produced("x", 0),
        ),
    ),
    "acknowledged first, and others stand there": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            asks("p", _MINE),
            control(follow(1), truncate(0), lead(2, in_sync=(1,))),
            asks("q", append("z")),
            produced("x", 0),
            produced("z", 0, process="q"),
        ),
    ),
    "two at one offset": (ReplicationClause.ANSWER_IS_RIGHT, (_LEAD, put("x", 0), put("z", 0))),
    "two at one offset, beyond a gap": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, wait("w"), put("x", 1), put("z", 1)),
    ),
    "a later append stands before an earlier one": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, wait("x"), put("z", 0), replicate("a", 0, 0, "z0", "x0")),
    ),
    "more is passed over than was appended": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 1)),
    ),
    "refused, and it was read": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            asks("p", append("x")),
            replicate("a", 0, 0, "x0"),
            produced("x", -1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ),
    ),
    "refused, and it is read": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            made("p", append("x", acks=2), produced("x", -1, ErrorCode.INVALID_REQUIRED_ACKS)),
            replicate("a", 0, 0, "x0"),
        ),
    ),
    "refused by the leader": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, made("p", append("x"), produced("x", -1, ErrorCode.NOT_LEADER_OR_FOLLOWER))),
    ),
    "given up by the leader": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, made("p", _MINE, produced("x", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER))),
    ),
    "appended by who follows": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (control(lead(), follow(1)), put("x", 0)),
    ),
    "too large, and it is not": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, made("p", append("x"), produced("x", -1, ErrorCode.RECORD_LIST_TOO_LARGE))),
    ),
    "larger than a segment, and taken": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0, records=4)),
    ),
    "too few in sync, and there are enough": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, made("p", _MINE, produced("x", -1, ErrorCode.NOT_ENOUGH_REPLICAS))),
    ),
    "a watermark that no follower has told": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0), look("a", 0, 1, "x0")),
    ),
    "a watermark that falls": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_ALONE, put("x", 0), look("a", 0, 1, "x0"), look("b", 0, 0)),
    ),
    "a watermark that does not rise": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0), replicate("a", 1, 0), look("b", 0, 0)),
    ),
    "a consumer reads beyond the watermark": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0), look("a", 0, 0, "x0")),
    ),
    "a record that nobody appended": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0), replicate("a", 0, 0, "x0", "z0")),
    ),
    "a record at another offset": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0, records=2), replicate("a", 0, 0, "x1")),
    ),
    "a record of another epoch": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0), made("f", fetch("a", 0), fetched("a", 0, 0, "x0", epoch=3))),
    ),
    "half an append": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0, records=2), replicate("a", 0, 0, "x0")),
    ),
    "what is there is not read": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0), replicate("a", 0, 0)),
    ),
    "records of two segments": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            put("x", 0, records=2),
            put("z", 2, records=2),
            replicate("a", 0, 0, "x0", "x1", "z0", "z1"),
        ),
    ),
    "more than fits": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            put("x", 0),
            put("z", 1),
            made("f", fetch("a", 0, max_bytes=19), fetched("a", 0, 0, "x0", "z0")),
        ),
    ),
    "half a batch is read": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0, records=2), replicate("a", 0, 0, "x0")),
    ),
    "a consumer beyond the high watermark waits": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (
            _LEAD,
            put("x", 0),
            made("g", fetch("a", 1, replica=None, wait_ms=_WAIT_MS)),
            put("z", 1),
        ),
    ),
    "out of range, with a high watermark": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            made("f", fetch("a", 1), fetched("a", 1, 0, error=ErrorCode.OFFSET_OUT_OF_RANGE)),
        ),
    ),
    "an append is not in the log": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, put("x", 0), put("z", 1), whole_log("x0")),
    ),
    "the log has half an append": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, wait("x", records=2), whole_log("x0")),
    ),
    "the log has others than were read": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            asks("p", append("x")),
            asks("q", append("z")),
            replicate("a", 0, 0, "x0"),
            whole_log("z0", "x0"),
        ),
    ),
    "out of range, and within it": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (
            _LEAD,
            put("x", 0),
            made("f", fetch("a", 1), fetched("a", 1, -1, error=ErrorCode.OFFSET_OUT_OF_RANGE)),
        ),
    ),
    "read by who does not lead": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (control(lead(), follow(1)), look("a", 0, 0)),
    ),
    "the answer of another request": (
        ReplicationClause.ANSWER_IS_RIGHT,
        (_LEAD, made("p", append("x"), fetched("x", 0, 0))),
    ),
    "an append with acks = 1 is not answered": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (_LEAD, made("p", append("x"))),
    ),
    "an append is not acknowledged when the follower has it": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (_LEAD, wait("x"), replicate("a", 0, 0, "x0"), replicate("b", 1, 0)),
    ),
    "wherever it is, the follower has it": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (_LEAD, wait("x"), replicate("b", 1, 0)),
    ),
    "it is told that it timed out though the follower had it before": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (
            _LEAD,
            asks("p", _MINE),
            over("p", _MINE),
            replicate("b", 1, 0),
            tick(_WAIT_MS),
            produced("x", 0, ErrorCode.REQUEST_TIMED_OUT),
        ),
    ),
    "a consumer is not told of what it may read": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (_LEAD, made("g", _READER), put("x", 0), replicate("a", 1, 0)),
    ),
    "a follower is not told of an append": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (_LEAD, made("f", fetch("a", 0, wait_ms=_WAIT_MS)), put("x", 0)),
    ),
    "a fetch whose segment has ended waits": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (
            _LEAD,
            made("f", fetch("a", 0, wait_ms=_WAIT_MS, min_bytes=99)),
            put("x", 0, records=2),
            put("z", 2, records=2),
        ),
    ),
    "a fetch waits for who leads no more": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (_LEAD, made("g", _READER), control(follow(1))),
    ),
    "an append waits for a partition that is gone": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (_LEAD, wait("x"), control(StopReplica(partition="t"))),
    ),
    "a fetch waits where it is out of range": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (_LEAD, made("f", fetch("a", 1, wait_ms=_WAIT_MS))),
    ),
    "nobody is told that the time is over": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
        (_LEAD, made("g", _READER), tick(_WAIT_MS)),
    ),
    "a time-out stays": (
        ReplicationClause.DELAYED_ARE_THE_WAITING,
        (_LEAD, put("x", 0), gauges(1, 0, 0)),
    ),
    "who waits is in no timer": (
        ReplicationClause.DELAYED_ARE_THE_WAITING,
        (_LEAD, made("g", _READER), gauges(0, 1, 1)),
    ),
    "a watch stays": (ReplicationClause.NOTHING_IS_KEPT, (_LEAD, put("x", 0), gauges(0, 1, 1))),
    "a key stays": (ReplicationClause.NOTHING_IS_KEPT, (_LEAD, put("x", 0), gauges(0, 0, 1))),
    "who waits is in no list": (
        ReplicationClause.NOTHING_IS_KEPT,
        (_LEAD, made("g", _READER), gauges(1, 0, 0)),
    ),
    "an old epoch is accepted": (ReplicationClause.KEEPS_TO_ITS_DOMAIN, (_LEAD, _LEAD)),
    "a leader that is not in sync is accepted": (
        ReplicationClause.KEEPS_TO_ITS_DOMAIN,
        (control(lead(in_sync=(2,))),),
    ),
    "the leader's log is truncated": (
        ReplicationClause.KEEPS_TO_ITS_DOMAIN,
        (_LEAD, control(truncate(0))),
    ),
    "a log is truncated where it does not reach": (
        ReplicationClause.KEEPS_TO_ITS_DOMAIN,
        (control(lead(), follow(1), truncate(1)),),
    ),
    "a new epoch is refused": (ReplicationClause.KEEPS_TO_ITS_DOMAIN, (_LEAD, denied(follow(1)))),
    "an append is refused as outside": (
        ReplicationClause.KEEPS_TO_ITS_DOMAIN,
        (_LEAD, asks("p", append("x")), refuse("p", "append_records", _ILLEGAL)),
    ),
}


@pytest.mark.parametrize("name", _RIGHT)
def test_a_strange_right_history_passes(name: str) -> None:
    # Finding 31: Kafka compares places that were noted before the log rolled.
    kafka_alone = name == "a log that rolls lets go who stands at the end of its segment"
    for profile in (KAFKA,) if kafka_alone else (WHEELPROOF, KAFKA):
        assert broken_rules(_CONFIG, _RIGHT[name], quiet=False, profile=profile) == []


@pytest.mark.parametrize(
    "name", ["acknowledged, and others stand there", "acknowledged first, and others stand there"]
)
def test_kafka_acknowledges_by_the_offset(name: str) -> None:
    # Finding 18: another record stands there, and the replicas have that.
    assert broken_rules(_CONFIG, _WRONG[name][1], quiet=False, profile=KAFKA) == []


@pytest.mark.parametrize("name", _WRONG)
def test_a_wrong_history_breaks_its_clause(name: str) -> None:
    clause, lines = _WRONG[name]
    quiet = name.startswith("nobody is told")
    assert broken_rules(_CONFIG, lines, quiet=quiet, profile=WHEELPROOF) == [clause]


def test_every_clause_is_broken_by_some_history() -> None:
    broken = {clause for clause, _ in _WRONG.values()}
    assert broken == {*clauses_of(ReplicationClause, Wire.RECORDED, WHEELPROOF)}


def test_every_clause_is_counted_where_it_is_tested() -> None:
    lines = [line for some in _RIGHT["produce and fetch drive each other"] for line in some]
    history = history_of("replication", _CONFIG, lines, quiet=True, clock="virtual")
    checked = judged(history).checked
    assert {clause for clause, times in checked.items() if not times} == set()


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ((put("x", 0), put("x", 1)), "names the request 'x' again"),
        ((put("x1", 0), put("x", 1, records=11)), "appends the record 'x10' again"),
    ],
)
def test_a_name_that_is_used_again_is_malformed(lines: Sequence[Lines], problem: str) -> None:
    with pytest.raises(MalformedError, match=problem):
        broken_rule(_CONFIG, (_LEAD, *lines))
