"""A small replica manager: the calls, the answers and the clauses of a broker.

Produce and fetch requests have names. The broker answers a request when it can: at once, or inside
another call. In a driven case the answer to a call has the requests answered since the last call;
in a history each answer is a line of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from wheelproof_spec.base.calls import (
    Advance,
    AdvanceClock,
    Advanced,
    Gauge,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Reset,
    Tick,
    Watched,
)
from wheelproof_spec.base.clause import Clause, Said
from wheelproof_spec.base.codec.vocabulary import (
    ABSENT,
    DRIVEN,
    RECORDED,
    About,
    Absent,
    Count,
    Name,
    Positive,
    Time,
    Wire,
)
from wheelproof_spec.base.component import Call, ComponentDefinition, Config, Operation

PartitionName = str
RequestName = str

WHEELPROOF = "wheelproof"
"""The profile of the reference: it acknowledges no records that the log has lost."""
KAFKA = "kafka"
"""The profile of Kafka, whose design differs from the reference's: findings 18 and 30 to 32."""
ALL_ACKS = -1
"""The producer waits until every in-sync replica has the records."""

_Partition = Annotated[Name, About("the partition")]
_Epoch = Annotated[Count, About("the epoch of the leader")]
_Request = Annotated[Name, About("the name of the request; no two requests have the same")]


class ErrorCode(StrEnum):
    """The result of a request for one partition, named as in Kafka's protocol."""

    NONE = "NONE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    INVALID_REQUIRED_ACKS = "INVALID_REQUIRED_ACKS"
    NOT_ENOUGH_REPLICAS = "NOT_ENOUGH_REPLICAS"
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"
    OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
    RECORD_LIST_TOO_LARGE = "RECORD_LIST_TOO_LARGE"
    REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"


_Error = Annotated[ErrorCode, About("how it went")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationConfig(Config):
    """The settings of a broker."""

    component: ClassVar[str] = "replication"

    broker_id: Annotated[Count, About("its id; other ids are replicas on other brokers")] = 1
    segment_bytes: Annotated[Positive, About("the most bytes of a segment of a log")] = 100
    min_in_sync_replicas: Annotated[
        Positive, About("how many replicas have to be in sync for acks = all")
    ] = 1
    replica_lag_time_max_ms: Annotated[
        Positive, About("how long a replica may lag and stay in sync, in ms; 50 if absent")
    ] = 50
    start_ms: Annotated[Time, DRIVEN, About("what its clock shows first, in ms")] = 0
    lateness_ms: Annotated[
        Count | Absent,
        RECORDED,
        About("how late a request may be answered by a real clock; absent: not judged"),
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class BecomeLeader(Call):
    """Lead a partition in a new epoch (standard 5.4)."""

    partition: _Partition
    leader_epoch: _Epoch
    replica_ids: Annotated[tuple[Count, ...], About("the replicas of the partition")]
    in_sync_ids: Annotated[tuple[Count, ...], About("those in sync, this broker among them")]


@dataclass(frozen=True, slots=True, kw_only=True)
class BecomeFollower(Call):
    """Follow another broker in a new epoch (standard 5.4)."""

    partition: _Partition
    leader_epoch: _Epoch
    leader_id: Annotated[Count, About("the broker that leads")]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReplica(Call):
    """Forget a partition and its log (standard 5.4)."""

    partition: _Partition


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateAsFollower(Call):
    """Drop the records of a followed partition from an offset on (standard 5.4)."""

    partition: _Partition
    offset: Annotated[int, About("the new end of the log")]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaybeShrinkInSync(Call):
    """Drop replicas that have fallen behind from every in-sync set (standard 5.4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """A record to be appended."""

    size: Annotated[Count, About("its size in bytes")]
    value: Annotated[Name, RECORDED, About("what it says, as no other record does")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRecords:
    """The records that are appended to one partition."""

    partition: _Partition
    records: Annotated[tuple[NewRecord, ...], About("the records in their order, one at least")]

    @property
    def size(self) -> int:
        """The size of all records in bytes."""
        return sum(record.size for record in self.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendRecords(Call):
    """A produce request: append, and answer as soon as `required_acks` says (standard 5.1)."""

    request: _Request
    required_acks: Annotated[int, About("-1: all in-sync replicas; 0 or 1: the leader alone")]
    timeout_ms: Annotated[Count, About("the longest wait for the replicas in ms")]
    entries: Annotated[tuple[PartitionRecords, ...], About("the records to append, by partition")]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPartition:
    """The place where a fetch reads in one partition, and the most bytes that it reads."""

    partition: _Partition
    fetch_offset: Annotated[int, About("the offset of the first record that is asked for")]
    max_bytes: Annotated[Count, About("the most bytes of this partition")]
    current_leader_epoch: Annotated[
        Count | None, About("the epoch that the fetcher takes for current, if it tells")
    ] = None
    last_fetched_epoch: Annotated[
        Count | None, About("the epoch of the fetcher's last record, if it tells")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchMessages(Call):
    """A fetch request: answer as soon as there is enough, or no more to come (standard 5.2).

    A follower's fetch also tells the end of its log (standard 5.3).
    """

    request: _Request
    replica_id: Annotated[Count | None, About("the follower that fetches; none: a consumer")] = None
    max_wait_ms: Annotated[Count, About("the longest wait in ms")]
    min_bytes: Annotated[Count, About("the broker answers once it has this many bytes")]
    max_bytes: Annotated[Count, About("the most bytes of the whole answer")]
    partitions: Annotated[
        tuple[FetchPartition, ...], About("the places that it reads, in this order")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionProduceResponse:
    """The answer to a produce request for one partition."""

    partition: _Partition
    error: _Error
    base_offset: Annotated[int, About("the offset of its first record; -1: nothing was appended")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceResponse(Call):
    """A produce request is answered (standard 5.1)."""

    request: _Request
    partitions: Annotated[tuple[PartitionProduceResponse, ...], About("by partition")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record of a log."""

    offset: Annotated[Count, About("its offset")]
    leader_epoch: Annotated[Count, About("the epoch in which it was appended")]
    size: Annotated[Count, About("its size in bytes")]
    value: Annotated[Name, RECORDED, About("what it says")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLog(Call):
    """A whole log is read, but not by a follower or a consumer (standard 5.4)."""

    partition: _Partition


@dataclass(frozen=True, slots=True, kw_only=True)
class LogContent:
    """The content of a log."""

    records: Annotated[tuple[Record, ...], About("its records, from offset 0 to its end")]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEnd:
    """An epoch of a log and where it ends."""

    leader_epoch: Annotated[int, About("the epoch; -1 if the log has none as old")]
    end_offset: Annotated[Count, About("the offset after its last record")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFetchResponse:
    """The answer to a fetch request for one partition."""

    partition: _Partition
    error: _Error
    high_watermark: Annotated[int, About("the high watermark; -1 if the broker cannot tell")] = -1
    records: Annotated[tuple[Record, ...], About("the records, of one segment")] = ()
    diverging_epoch: Annotated[
        EpochEnd | None, About("where the fetcher's log parts from the leader's, if it does")
    ] = None

    @property
    def size(self) -> int:
        """The size of all records in bytes."""
        return sum(record.size for record in self.records)

    @property
    def is_refusal(self) -> bool:
        """Whether the fetcher has to do something else before it can read here."""
        return self.error is not ErrorCode.NONE or self.diverging_epoch is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResponse(Call):
    """A fetch request is answered (standard 5.2)."""

    request: _Request
    partitions: Annotated[tuple[PartitionFetchResponse, ...], About("by partition")]


Response = ProduceResponse | FetchResponse

Control = BecomeLeader | BecomeFollower | StopReplica | TruncateAsFollower
"""A call that changes the leader of a partition, or its log."""

ReplicationCall = (
    Reset[ReplicationConfig]
    | Control
    | MaybeShrinkInSync
    | AppendRecords
    | FetchMessages
    | PurgeCompleted
    | Advance
)
"""A call that a driven case makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationObservation:
    """The observation after a call; a gauge is None if the broker does not tell it."""

    produced: Annotated[
        tuple[ProduceResponse, ...], About("the produce requests answered since the last answer")
    ] = ()
    fetched: Annotated[
        tuple[FetchResponse, ...], About("the fetch requests answered since the last answer")
    ] = ()
    num_delayed: Annotated[int | None, About("how many requests wait")] = None
    watched: Annotated[int | None, About("requests times partitions in the purgatories")] = None
    num_keys: Annotated[int | None, About("partitions with requests, of each purgatory")] = None


class ReplicationClause(Clause):
    """The promises of a broker."""

    ANSWERED_AT_MOST_ONCE = (
        "Replication.AnsweredAtMostOnce",
        Said(rule="2.1", promise="A request is answered once."),
    )
    ANSWERED_WHEN_IT_CAN_BE = (
        "Replication.AnsweredWhenItCanBe",
        Said(
            rule="5.1 - 5.3",
            promise=(
                "A request is answered by the call that makes its answer possible, or when its "
                "time is over."
            ),
        ),
    )
    NOT_ANSWERED_BEFORE = (
        "Replication.NotAnsweredBefore",
        Said(
            rule="5.1, 5.2",
            promise="No request is answered before its condition holds or its time is over.",
        ),
    )
    ANSWER_IS_RIGHT = (
        "Replication.AnswerIsRight",
        Said(
            rule="5.1, 5.2, 5.4",
            promise=(
                "An answer says what the log, its leader and its replicas were at some moment; "
                "what is acknowledged is in the log, and its replicas have it."
            ),
        ),
    )
    DELAYED_ARE_THE_WAITING = (
        "Replication.DelayedAreTheWaiting",
        Said(rule="2.10", promise="The timers have the requests that wait, and no others."),
    )
    NOTHING_IS_KEPT = (
        "Replication.NothingIsKept",
        Said(
            rule="2.10",
            promise=("After a purge the lists have the requests that wait, and no others."),
        ),
    )
    KEEPS_TO_ITS_DOMAIN = (
        "Replication.KeepsToItsDomain",
        Said(rule="5.4", promise="A call outside the domain is refused, and no other call is."),
    )


class ReplicationLimit(StrEnum):
    """A part of the domain that some implementations are known not to support."""

    WRONG_CONTROLLER = "Domain.WhatNoControllerSays"


def names_twice(partitions: Iterable[PartitionRecords | FetchPartition]) -> bool:
    """Tell whether a request names a partition twice, which is not allowed."""
    names = [named.partition for named in partitions]
    return len(set(names)) < len(names)


_ANSWERS = ("produced", "fetched")

DEFINITION: ComponentDefinition[ReplicationCall, ReplicationObservation] = ComponentDefinition(
    name="replication",
    config=ReplicationConfig,
    operations=(
        Operation(call=BecomeLeader, tells=_ANSWERS),
        Operation(call=BecomeFollower, tells=_ANSWERS),
        Operation(call=StopReplica, tells=_ANSWERS),
        Operation(call=TruncateAsFollower, tells=_ANSWERS),
        Operation(call=MaybeShrinkInSync, tells=_ANSWERS),
        Operation(call=AppendRecords, tells=_ANSWERS),
        Operation(call=FetchMessages, tells=_ANSWERS),
        Operation(call=ProduceResponse, wire=Wire.RECORDED, happens=True),
        Operation(call=FetchResponse, wire=Wire.RECORDED, happens=True),
        Operation(call=ReadLog, returns=LogContent, wire=Wire.RECORDED),
        Operation(call=PurgeCompleted, tells=_ANSWERS, may_tell=("watched", "num_keys")),
        Operation(call=Watched, returns=Gauge, wire=Wire.RECORDED),
        Operation(call=NumDelayed, returns=Gauge, wire=Wire.RECORDED),
        Operation(call=NumKeys, returns=Gauge, wire=Wire.RECORDED),
        Operation(call=Advance, tells=_ANSWERS, wire=Wire.DRIVEN),
        Operation(call=Tick, wire=Wire.RECORDED),
        Operation(call=AdvanceClock, returns=Advanced, wire=Wire.RECORDED),
    ),
    observation=ReplicationObservation,
    always=("num_delayed",),
    clauses=ReplicationClause,
    limits=ReplicationLimit,
    profiles=(WHEELPROOF, KAFKA),
)
