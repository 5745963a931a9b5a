"""The record accumulator: what can be asked of it, what it shows, and what it promises.

In a driven case appends and flushes that block are left to wait on threads of their own; the
sender's calls are made one after the other. The answer to a call tells what has happened since the
last answer, once every thread waits or has ended. Batches are named when they are drained: b1, b2,
... In a history the sender is a process like any other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from wheelproof_spec.base.calls import (
    Advance,
    AvailableMemory,
    Close,
    Interrupt,
    Memory,
    Reset,
    Tick,
)
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import (
    ABSENT,
    DRIVEN,
    NEEDED_WHEN_DRIVEN,
    RECORDED,
    About,
    Absent,
    Count,
    Name,
    Positive,
    Time,
    Wire,
)
from wheelproof_spec.base.component import (
    Call,
    Capability,
    ComponentDefinition,
    Config,
    Operation,
)
from wheelproof_spec.base.port import Port

WHEELPROOF = "wheelproof"
"""The profile of the reference: callbacks in the order of the appends, however batches end."""
KAFKA = "kafka"
"""Kafka's own: no order among what expires, or is aborted, at the same time (docs/findings.md)."""

Partition = Annotated[Count, DRIVEN] | Annotated[Name, RECORDED]
"""A partition: when driven the number of one of a topic, in a history a name."""

FAILED = "Failed"
EXPIRED = "Expired"
ABORTED = "Aborted"
"""What a callback is told when its batch failed for good, was too late, was closed by force."""


TOPIC = "topic"
"""The topic of a partition for which the configuration names none."""

NEVER_MS = 2**62 - 1
"""What is not less means never, as Kafka's greatest long does."""


class AppendRefusal(StrEnum):
    """Why an append was not accepted."""

    EXHAUSTED = "exhausted"
    CLOSED = "closed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class AppendFault(StrEnum):
    """What goes wrong in an append because the test wants it to."""

    ALLOCATOR = "allocator"
    """There is no memory for the buffer."""
    SMALL_BUFFER = "small_buffer"
    """The buffer has no room for anything: the append fails with the buffer in its hands."""


class CallbackFault(StrEnum):
    """What a record's callback does beside taking note."""

    RAISES = "raises"
    SENDS_AGAIN = "sends_again"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorConfig(Config):
    """How an accumulator is made, and what is claimed of it; its pool keeps buffers of a batch."""

    component: ClassVar[str] = "accumulator"

    total_memory: Annotated[Count, About("the memory of its pool in bytes")]
    batch_size: Annotated[Positive, About("the size of a batch in bytes")]
    linger_ms: Annotated[Count, About("how long a batch waits for more, in ms")] = 0
    retry_backoff_ms: Annotated[
        Count, DRIVEN, About("how long a batch waits before its second attempt, in ms")
    ] = 0
    retry_backoff_max_ms: Annotated[
        Count, DRIVEN, About("what that grows to at most, doubling with each attempt, in ms")
    ] = 0
    delivery_timeout_ms: Annotated[
        Count | Absent,
        About("how old a batch has to be to expire, in ms; absent: that is not judged"),
    ] = ABSENT
    start_ms: Annotated[Time, About("what a virtual clock shows first, in ms")] = 0
    topics: Annotated[
        Annotated[Mapping[Count, Name], DRIVEN] | Annotated[Mapping[Name, Name], RECORDED] | Absent,
        About("the topic of each partition; that of a partition which is not named is `topic`"),
    ] = ABSENT
    callbacks: Annotated[
        Literal["in_order"] | Absent,
        RECORDED,
        About(
            "`in_order`: callbacks of a partition run in the order of its appends, and whoever "
            "recorded answered its batches in the order in which they were drained"
        ),
    ] = ABSENT
    gives_back: Annotated[
        Literal["at_once", "later"] | Absent,
        RECORDED,
        About(
            "`at_once`: with no call of the sender under way, whatever has ended and is not being "
            "sent is complete and has given its memory back. `later` (the default): a full pool "
            "and a batch that stays incomplete are not judged"
        ),
    ] = ABSENT

    def topic_of(self, partition: Partition) -> str:
        """Return the topic of a partition."""
        if isinstance(self.topics, Absent):
            return TOPIC
        return next((topic for name, topic in self.topics.items() if name == partition), TOPIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Append(Call):
    """A record is appended (semantics.md 4.1), when driven on a thread of its own."""

    record: Annotated[Name, About("the record, whose name nothing else has")]
    partition: Annotated[
        Partition, About("where it goes: when driven a number, in a history a name")
    ]
    size: Annotated[Count, About("its size in bytes; when driven that of its value")]
    max_time_to_block_ms: Annotated[Count, About("the longest wait for memory in ms")]
    fault: Annotated[AppendFault | None, DRIVEN, About("what fails in this call")] = None
    callback: Annotated[
        CallbackFault | None, DRIVEN, About("what its callback does beside taking note")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """append accepted the record."""

    batch_is_full: Annotated[bool | Absent, About("whether a batch is full")] = ABSENT
    new_batch_created: Annotated[bool | Absent, About("whether a batch was made")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedRecord:
    """A record that was accepted in a driven case."""

    record: Annotated[Name, About("the record")]
    batch_is_full: Annotated[bool | Absent, About("whether a batch is full")] = ABSENT
    new_batch_created: Annotated[bool | Absent, About("whether a batch was made")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback(Call):
    """The callback of a record runs (semantics.md 4.11)."""

    record: Annotated[Name, About("the record")]
    offset: Annotated[Count | None, About("its offset; null if it failed")]
    error: Annotated[
        Name | None,
        About(
            "why it failed: `Expired` if its time was out, `Aborted` if the accumulator was closed "
            "by force, otherwise `Failed`, or in a history a name; null if it did not fail"
        ),
    ]

    def __str__(self) -> str:
        outcome = "stored" if self.error is None else self.error
        where = "" if self.offset is None else f" at offset {self.offset}"
        return f"{self.record!r} is told: {outcome}{where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready(Call):
    """It is asked to which nodes something can be sent (semantics.md 4.2)."""

    leaders: Annotated[
        Annotated[Mapping[Count, Count], DRIVEN] | Annotated[Mapping[Name, Count], RECORDED],
        About("the node of each partition; one that is not named has no leader"),
    ]

    def led(self) -> dict[Partition, int]:
        """Return the node of each partition that has a leader."""
        return dict(self.leaders.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """The answer to `ready` in a history."""

    ready_nodes: Annotated[tuple[Count, ...], About("the nodes that are ready")]
    unknown_leader_topics: Annotated[
        tuple[Name, ...], About("the topics with data in a partition without a leader")
    ]
    next_ready_check_delay_ms: Annotated[
        Count | Absent,
        About("in how many ms to look again at what is not ready; never: 2^62 - 1 or more"),
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain(Call):
    """The sender takes batches (semantics.md 4.3); when driven what it takes is muted.

    A history may leave out what was asked for: whether all partitions have their turn is not judged
    then.
    """

    node: Annotated[Count, NEEDED_WHEN_DRIVEN, About("the node that they are for")] = 0
    partitions: Annotated[
        Annotated[tuple[Count, ...], DRIVEN] | Annotated[tuple[Name, ...], RECORDED],
        NEEDED_WHEN_DRIVEN,
        About("the partitions that it leads, always in one order; none if it is not drained"),
    ] = ()
    max_size: Annotated[
        Count,
        NEEDED_WHEN_DRIVEN,
        About("the most bytes that are taken; the first batch may be more"),
    ] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainedBatch:
    """A batch that a drain has taken."""

    batch: Annotated[
        Name,
        About(
            "its name, which no other batch has; when it is drained again, in a history the same"
        ),
    ]
    partition: Annotated[
        Partition, About("where it goes: when driven a number, in a history a name")
    ]
    records: Annotated[tuple[Name, ...], About("its records in their order")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """drain returned."""

    batches: Annotated[tuple[DrainedBatch, ...], About("what it took, in order")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfBatch(Call):
    """Base of the responses to a batch that was drained; when driven its partition is unmuted."""

    batch: Annotated[Name, About("the batch")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond(OfBatch):
    """A broker's answer that is final, or an error, ends a batch and gives its memory back."""

    offset: Annotated[
        Count | None, DRIVEN, About("where its first record is stored; absent: it failed")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reenqueue(OfBatch):
    """A batch goes back to be sent again (semantics.md 4.6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(OfBatch):
    """A batch is split, and its parts go back (semantics.md 4.6)."""

    size: Annotated[
        Count, DRIVEN, About("the size of the parts in bytes; a larger record has its own")
    ] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire(Call):
    """Whatever is too old is looked for, queued or in flight, and ended (semantics.md 4.5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute(Call):
    """A partition is not to be drained (semantics.md 4.4)."""

    partition: Annotated[Name, About("the partition")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmute(Call):
    """A partition may be drained again (semantics.md 4.4)."""

    partition: Annotated[Name, About("the partition")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flush(Call):
    """All that is incomplete is waited for (semantics.md 4.8), on a thread of its own."""

    flush: Annotated[Name, DRIVEN, About("the name of the call")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abort(Call):
    """Everything that has not ended is ended: a forced close (semantics.md 4.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HasIncomplete(Call):
    """It is asked whether a batch has not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushInProgress(Call):
    """It is asked whether a thread flushes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YesOrNo:
    """The answer to such a question."""

    yes: Annotated[bool, About("whether it is so")]


AccumulatorCall = (
    Reset[AccumulatorConfig]
    | Append
    | Ready
    | Drain
    | Respond
    | Reenqueue
    | Split
    | Expire
    | Flush
    | Interrupt
    | Advance
    | Close
    | Abort
)
"""A call that a driven case makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorObservation:
    """What is seen after a call; the gauges are None where the accumulator does not tell."""

    called_back: Annotated[
        tuple[Callback, ...], About("the callbacks that ran since the last answer, in their order")
    ] = ()
    appended: Annotated[
        tuple[AppendedRecord, ...],
        About("the appends that were accepted since the last answer, in their order"),
    ] = ()
    refused: Annotated[Mapping[Name, AppendRefusal], About("the appends that ended otherwise")] = (
        field(default_factory=dict[str, AppendRefusal])
    )
    flushed: Annotated[
        Mapping[Name, bool],
        About("the flushes that ended since the last answer, and whether by interruption"),
    ] = field(default_factory=dict[str, bool])
    batches: Annotated[tuple[DrainedBatch, ...], About("what was taken, in order")] = ()
    ready_nodes: Annotated[tuple[Count, ...], About("the nodes that are ready")] = ()
    unknown_leader_topics: Annotated[
        tuple[Name, ...] | None, About("the topics with data in a partition without a leader")
    ] = None
    next_ready_check_delay_ms: Annotated[
        Count | None,
        About("in how many ms to look again at what is not ready; never: 2^62 - 1 or more"),
    ] = None
    next_expiry_ms: Annotated[
        Count | None,
        About("when the next batch expires that has not ended, in ms; never: 2^62 - 1 or more"),
    ] = None
    children: Annotated[int, About("how many batches a split has made")] = 0
    available_memory: Annotated[int | None, About("what the pool could lend, in bytes")] = None
    has_undrained: Annotated[bool | None, About("whether a batch is queued")] = None
    has_incomplete: Annotated[bool | None, About("whether a batch has not ended")] = None
    flush_in_progress: Annotated[bool | None, About("whether a thread flushes")] = None
    in_flight_ended: Annotated[
        bool | None, About("whether a batch that has ended counts as in flight")
    ] = None
    overwritten: Annotated[
        tuple[Name, ...] | None,
        About("the batches in flight whose bytes have changed since the drain"),
    ] = None


AccumulatorPort = Port[AccumulatorCall, AccumulatorObservation]
"""An accumulator under a virtual clock."""


class AccumulatorClause(Clause):
    """What an accumulator promises."""

    COMPLETES_ONCE = "Accumulator.RecordCompletesExactlyOnce"
    IN_ORDER = "Accumulator.CallbacksInTheOrderOfTheAppends"
    RIGHT_OUTCOME = "Accumulator.RecordGetsTheOutcomeOfItsBatch"
    OFFSET_OR_ERROR = "Accumulator.AnswersWithAnOffsetOrAnError"
    APPEND_FINDS_ROOM = "Accumulator.AppendUsesTheLastBatchIfItHasRoom"
    REFUSES_AFTER_CLOSE = "Accumulator.RefusesAfterClose"
    APPEND_ENDS_FOR_A_REASON = "Accumulator.AppendEndsForAReason"
    NO_APPEND_WAITS_IN_VAIN = "Accumulator.NoAppendWaitsForWhatIsThere"
    DRAINS_THE_HEADS = "Accumulator.DrainTakesTheHeadsOfTheQueues"
    DRAIN_IS_FAIR = "Accumulator.DrainPassesNobodyOverForLong"
    SPLITS_BY_SIZE = "Accumulator.SplitMakesBatchesOfTheSize"
    READY_TELLS_THE_TRUTH = "Accumulator.ReadyTellsTheTruth"
    NAMES_TOPICS = "Accumulator.ReadyNamesTheTopicsWithoutALeader"
    CHECKS_AGAIN_IN_TIME = "Accumulator.ReadyTellsWhenToLookAgain"
    TELLS_NEXT_EXPIRY = "Accumulator.ExpiryTellsWhenTheNextIsDue"
    EXPIRES_IN_TIME = "Accumulator.ExpiresWhatIsLate"
    FLUSH_WAITS = "Accumulator.FlushWaitsForWhatWasAccepted"
    FLUSH_ENDS = "Accumulator.FlushEndsAndCountsNoMore"
    NOTHING_IS_LEFT = "Accumulator.NothingThatEndedIsLeft"
    MEMORY_IS_CONSERVED = "Accumulator.MemoryIsConserved"
    NOT_OVERWRITTEN = "Accumulator.ARequestIsNotOverwritten"
    KEEPS_TO_ITS_DOMAIN = "Accumulator.KeepsToItsDomain"


class AccumulatorLimit(StrEnum):
    """A part of the domain that is known to be too much for some implementations."""

    MEMORY_FAULTS = "Domain.MemoryThatFails"
    SPLIT = "Domain.SplitBelowTheBatchSize"
    SPLIT_OF_ONE = "Domain.SplitOfOneRecord"
    GROWING_BACKOFF = "Domain.BackoffThatGrows"


class AccumulatorCapability(Capability):
    """What a driver of an accumulator may declare."""

    INTERRUPTION = "interruption", "a thread that waits can be interrupted"
    CLOSE = "close", "the component can be closed"
    FLUSH = "flush", "all that is incomplete can be waited for"
    FAULTS = "faults", "a call fails where its `fault` asks for it"
    EXACT_TIME = "exact_time", "what is due at a millisecond has happened when the clock shows it"
    MEMORY = "memory", "records take the memory of a pool, and wait for it"
    KAFKA_SIZES = "kafka_sizes", "records and batches have the sizes that Kafka reckons with"


_EVENTS = ("called_back", "appended", "refused", "flushed")
_GAUGES = (
    "available_memory",
    "has_undrained",
    "has_incomplete",
    "flush_in_progress",
    "in_flight_ended",
    "overwritten",
)

DEFINITION: ComponentDefinition[AccumulatorCall, AccumulatorObservation] = ComponentDefinition(
    name="accumulator",
    config=AccumulatorConfig,
    operations=(
        Operation(call=Append, returns=Appended),
        Operation(call=Callback, wire=Wire.RECORDED, happens=True),
        Operation(call=Flush),
        Operation(
            call=Ready,
            returns=Readiness,
            tells=("ready_nodes",),
            may_tell=("unknown_leader_topics", "next_ready_check_delay_ms"),
        ),
        Operation(call=Drain, returns=Drained, tells=("batches",)),
        Operation(call=Respond),
        Operation(call=Reenqueue),
        Operation(call=Split, tells=("children",)),
        Operation(call=Expire, may_tell=("next_expiry_ms",)),
        Operation(call=Mute, wire=Wire.RECORDED),
        Operation(call=Unmute, wire=Wire.RECORDED),
        Operation(call=Abort),
        Operation(call=AvailableMemory, returns=Memory, wire=Wire.RECORDED),
        Operation(call=HasIncomplete, returns=YesOrNo, wire=Wire.RECORDED),
        Operation(call=FlushInProgress, returns=YesOrNo, wire=Wire.RECORDED),
        Operation(call=Interrupt),
        Operation(call=Advance, wire=Wire.DRIVEN),
        Operation(call=Tick, wire=Wire.RECORDED),
        Operation(call=Close),
    ),
    observation=AccumulatorObservation,
    always=(*_EVENTS, *_GAUGES),
    clauses=AccumulatorClause,
    profiles=(WHEELPROOF, KAFKA),
    limits=AccumulatorLimit,
    optional=AccumulatorCapability,
    skippable=(
        AccumulatorClause.NOTHING_IS_LEFT,
        AccumulatorClause.MEMORY_IS_CONSERVED,
        AccumulatorClause.NOT_OVERWRITTEN,
    ),
)
