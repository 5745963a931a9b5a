"""The record accumulator: its calls, its observations, and its clauses.

In a driven case each append and each flush has its own thread, where it may block. The sender's
calls are made one after the other. An answer comes once every thread waits or has ended, and tells
what has happened since the last answer. Batches are named when they are drained: b1, b2, ...
In a history the sender is a process like any other.
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
from wheelproof_spec.base.component import Capability, ComponentDefinition, Config, Operation
from wheelproof_spec.base.port import Port
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Append,
    Appended,
    AppendedRecord,
    AppendRefusal,
    Callback,
    Drain,
    Drained,
    DrainedBatch,
    Expire,
    Flush,
    FlushInProgress,
    HasIncomplete,
    Mute,
    Partition,
    Readiness,
    Ready,
    Reenqueue,
    Respond,
    Split,
    Unmute,
    YesOrNo,
)

WHEELPROOF = "wheelproof"
"""The profile of the reference: callbacks in the order of the appends, however batches end."""
KAFKA = "kafka"
"""Kafka's profile: batches that expire or abort at one time have no order (docs/findings.md)."""
TOPIC = "topic"
"""The topic of a partition for which the configuration names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorConfig(Config):
    """The configuration and the claims of an accumulator; its pool keeps buffers of a batch."""

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
        About("how old a batch has to be to expire, in ms; absent: expiry is not judged"),
    ] = ABSENT
    start_ms: Annotated[Time, About("what a virtual clock shows first, in ms")] = 0
    topics: Annotated[
        Annotated[Mapping[Count, Name], DRIVEN] | Annotated[Mapping[Name, Name], RECORDED] | Absent,
        About("the topic of each partition; `topic` for a partition that is not named"),
    ] = ABSENT
    callbacks: Annotated[
        Literal["in_order"] | Absent,
        RECORDED,
        About(
            "`in_order`: callbacks of a partition run in the order of its appends, and the recorded"
            " program answered its batches in the order in which they were drained"
        ),
    ] = ABSENT
    gives_back: Annotated[
        Literal["at_once", "later"] | Absent,
        RECORDED,
        About(
            "`at_once`: while no call of the sender is under way, each batch that has ended and is "
            "not being sent is complete, and its memory is back. `later` (the default): a full pool"
            " and a batch that stays incomplete are not judged"
        ),
    ] = ABSENT

    def topic_of(self, partition: Partition) -> str:
        """Return the topic of a partition."""
        if isinstance(self.topics, Absent):
            return TOPIC
        return next((topic for name, topic in self.topics.items() if name == partition), TOPIC)


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
    """The observation after a call; a gauge is None if the accumulator does not report it."""

    called_back: Annotated[
        tuple[Callback, ...], About("the callbacks that ran since the last answer, in their order")
    ] = ()
    appended: Annotated[
        tuple[AppendedRecord, ...],
        About("the appends accepted since the last answer, in the order of their records"),
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
        About("in how many ms to look again at nodes that are not ready; never: 2^62 - 1 or more"),
    ] = None
    next_expiry_ms: Annotated[
        Count | None,
        About("when the next incomplete batch expires, in ms; never: 2^62 - 1 or more"),
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
    """The clauses that an accumulator promises to keep."""

    COMPLETES_ONCE = (
        "Accumulator.RecordCompletesExactlyOnce",
        Said(rule="4.11", promise="A record that was accepted is called back once."),
    )
    IN_ORDER = (
        "Accumulator.CallbacksInTheOrderOfTheAppends",
        Said(
            rule="4.11",
            promise=(
                "Callbacks of a partition run in the order of its appends; in profile kafka those "
                "of expired and aborted records need not."
            ),
        ),
    )
    RIGHT_OUTCOME = (
        "Accumulator.RecordGetsTheOutcomeOfItsBatch",
        Said(
            rule="4.11",
            promise=(
                "A record is told the outcome of its batch: the batch's offset plus its place, or "
                "the error."
            ),
        ),
    )
    OFFSET_OR_ERROR = (
        "Accumulator.AnswersWithAnOffsetOrAnError",
        Said(rule="4.11", promise="A callback has an offset or an error, and not both."),
    )
    APPEND_FINDS_ROOM = (
        "Accumulator.AppendUsesTheLastBatchIfItHasRoom",
        Said(
            rule="4.1",
            promise=(
                "A record goes into the last batch of its partition if that has room, or into a "
                "new one."
            ),
            driven_alone="how full a batch is depends on bytes and an order that no history has",
        ),
    )
    REFUSES_AFTER_CLOSE = (
        "Accumulator.RefusesAfterClose",
        Said(rule="4.1, 4.9", promise="No record is accepted after close."),
    )
    APPEND_ENDS_FOR_A_REASON = (
        "Accumulator.AppendEndsForAReason",
        Said(
            rule="4.1",
            promise=(
                "An append is refused only if its time is out and memory was short, if the "
                "accumulator is closed, or if it was interrupted or failed; and then it does not "
                "wait on."
            ),
        ),
    )
    NO_APPEND_WAITS_IN_VAIN = (
        "Accumulator.NoAppendWaitsForWhatIsThere",
        Said(
            rule="3.9, 4.9",
            promise=(
                "No append waits for memory that is available, or for an accumulator that is "
                "closed."
            ),
            driven_alone=(
                "an append that waits looks like one that is slow; if it gives up, "
                "AppendEndsForAReason is judged"
            ),
        ),
    )
    DRAINS_THE_HEADS = (
        "Accumulator.DrainTakesTheHeadsOfTheQueues",
        Said(
            rule="4.3 - 4.6",
            promise=(
                "A drain takes the first batch of each partition that is neither muted nor backing "
                "off, up to one that does not fit in its size."
            ),
        ),
    )
    DRAIN_IS_FAIR = (
        "Accumulator.DrainPassesNobodyOverForLong",
        Said(
            rule="4.3",
            promise="A partition is passed over at most once for each other one of its node.",
        ),
    )
    SPLITS_BY_SIZE = (
        "Accumulator.SplitMakesBatchesOfTheSize",
        Said(
            rule="4.6",
            promise="A split makes as few batches as its size allows.",
            driven_alone="how many batches a split may make depends on bytes that no history has",
        ),
    )
    READY_TELLS_THE_TRUTH = (
        "Accumulator.ReadyTellsTheTruth",
        Said(
            rule="4.2",
            promise=("A node is ready if, and only if, it has a batch that can be sent now."),
        ),
    )
    NAMES_TOPICS = (
        "Accumulator.ReadyNamesTheTopicsWithoutALeader",
        Said(
            rule="4.2",
            promise=(
                "ready names the topics that have records in a partition without a leader, and no "
                "others."
            ),
        ),
    )
    CHECKS_AGAIN_IN_TIME = (
        "Accumulator.ReadyTellsWhenToLookAgain",
        Said(
            rule="4.2",
            promise=(
                "ready returns the shortest time after which a batch of a node that is not ready "
                "may become ready."
            ),
        ),
    )
    TELLS_NEXT_EXPIRY = (
        "Accumulator.ExpiryTellsWhenTheNextIsDue",
        Said(
            rule="4.5",
            promise=(
                "The time of the next expiry is the time when the oldest batch that has not ended "
                "expires."
            ),
            driven_alone="no history tells when the batch of a record was made",
        ),
    )
    EXPIRES_IN_TIME = (
        "Accumulator.ExpiresWhatIsLate",
        Said(
            rule="4.5",
            promise=(
                "A batch expires if it is older than the delivery timeout, and no other batch does."
            ),
        ),
    )
    FLUSH_WAITS = (
        "Accumulator.FlushWaitsForWhatWasAccepted",
        Said(
            rule="4.8",
            promise=(
                "When a flush returns, each record that was accepted before it began has been "
                "called back."
            ),
        ),
    )
    FLUSH_ENDS = (
        "Accumulator.FlushEndsAndCountsNoMore",
        Said(
            rule="4.8",
            promise=(
                "A flush ends when it has no record left to wait for; from then on it makes no "
                "batch ready."
            ),
        ),
    )
    NOTHING_IS_LEFT = (
        "Accumulator.NothingThatEndedIsLeft",
        Said(
            rule="4.5 - 4.7",
            promise="A batch that has ended is not queued, not incomplete and not in flight.",
        ),
    )
    MEMORY_IS_CONSERVED = (
        "Accumulator.MemoryIsConserved",
        Said(
            rule="3.9, 4.7",
            promise=("Available memory and the memory of batches add up to the total."),
        ),
    )
    NOT_OVERWRITTEN = (
        "Accumulator.ARequestIsNotOverwritten",
        Said(
            rule="4.7",
            promise="The memory of a batch in flight is left alone until its response.",
            driven_alone="the bytes of a batch are not recorded",
        ),
    )
    KEEPS_TO_ITS_DOMAIN = (
        "Accumulator.KeepsToItsDomain",
        Said(
            rule="4.1, 4.6",
            promise="A call that the rules allow is carried out, and any other is refused.",
            driven_alone=(
                "whether a call of the sender lay in the domain depends on calls that overlap it; "
                "appends have clauses of their own"
            ),
        ),
    )


class AccumulatorLimit(StrEnum):
    """A part of the domain that some implementations are known not to support."""

    MEMORY_FAULTS = "Domain.MemoryThatFails"
    SPLIT = "Domain.SplitBelowTheBatchSize"
    SPLIT_OF_ONE = "Domain.SplitOfOneRecord"
    GROWING_BACKOFF = "Domain.BackoffThatGrows"


class AccumulatorCapability(Capability):
    """A capability that a driver of an accumulator may declare."""

    INTERRUPTION = "interruption", "a thread that waits can be interrupted"
    CLOSE = "close", "the component can be closed"
    FLUSH = "flush", "a caller can wait for all incomplete records"
    FAULTS = "faults", "a call fails where its `fault` asks for it"
    EXACT_TIME = "exact_time", "what is due at a millisecond has happened when the clock shows it"
    MEMORY = "memory", "records take the memory of a pool, and wait for it"
    KAFKA_SIZES = "kafka_sizes", "records and batches have the sizes that Kafka reckons with"
    READY = "ready", "it can be asked which nodes are ready; a drain leaves nothing to linger"
    MAX_SIZE = "max_size", "a drain keeps to a size"
    EXPIRE = "expire", "what is later than the delivery timeout can be ended"
    REENQUEUE = "reenqueue", "a batch can be tried again"
    SPLIT = "split", "a batch that is too large can be split"
    MANY_BATCHES = "many_batches", "an append need not wait until a full batch is drained"


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
