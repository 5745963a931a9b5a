"""The buffer pool as a component: its calls, its observations, and its clauses.

In a driven case an allocation that blocks waits on its own thread. The answer to a call comes once
every thread waits or has ended; it tells which allocations have ended since the last answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar

from wheelproof_spec.base.calls import Advance, AvailableMemory, Close, Interrupt, Memory, Reset
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
from wheelproof_spec.base.component import Call, Capability, ComponentDefinition, Config, Operation

CallId = str
"""The name of an allocation in a driven case, and of the buffer that it got."""

LONGEST_WAITING_FIRST = "longest-waiting-first"
"""The profile of the reference, and the promise of Kafka's documentation (standard 3.10)."""
KAFKA = "kafka"
"""Kafka's own: a new caller is served if there is enough, ahead of waiters (standard 3.2)."""


class PoolOutcome(StrEnum):
    """How an allocation ended."""

    BUFFER = "buffer"
    EXHAUSTED = "exhausted"
    CLOSED = "closed"
    INTERRUPTED = "interrupted"
    OUT_OF_MEMORY = "out_of_memory"
    METRIC_FAILED = "metric_failed"


class PoolFault(StrEnum):
    """A fault that the test injects into an allocation."""

    ALLOCATOR = "allocator"
    METRIC = "metric"
    INTERRUPTED_BEFORE = "interrupted_before"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig(Config):
    """The configuration of a pool."""

    component: ClassVar[str] = "buffer_pool"

    total_memory: Annotated[Count, About("its memory in bytes")]
    poolable_size: Annotated[
        Positive, About("the size of the buffers that the pool keeps, in bytes")
    ]
    start_ms: Annotated[Time, DRIVEN, About("what its clock shows first, in ms")] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocate(Call):
    """A buffer is asked for (standard 3.1 - 3.4), when driven on a thread of its own."""

    buffer: Annotated[Name, DRIVEN, About("the name of the call, and of the buffer it gets")] = ""
    size: Annotated[int, About("the size in bytes")]
    max_time_to_block_ms: Annotated[Count, About("the longest wait in ms")]
    fault: Annotated[
        PoolFault | None,
        DRIVEN,
        About("what fails in this call, or that its thread is interrupted before it begins"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocated:
    """The answer of allocate: a buffer."""

    buffer: Annotated[Name, About("a name that no other buffer has while this one is lent")]
    size: Annotated[Count, About("its capacity, the size that was asked for, in bytes")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deallocate(Call):
    """A buffer is given back (standard 3.7)."""

    buffer: Annotated[
        Name, About("the buffer; a thread returns its last loan with this name, no older one")
    ]
    size: Annotated[Count | Absent, RECORDED, About("the size that is given back, in bytes")] = (
        ABSENT
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued(Call):
    """The number of waiting threads is asked for (standard 3.9)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingThreads:
    """The answer of queued: the number of threads that wait."""

    count: Annotated[Count, About("how many wait")]


PoolCall = Reset[PoolConfig] | Allocate | Deallocate | Interrupt | Advance | Close
"""A call that a driven case makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolObservation:
    """The observation after a call; a gauge is None if the pool does not have it."""

    ended: Annotated[
        Mapping[Name, PoolOutcome], About("the allocations that ended since the last answer")
    ] = field(default_factory=dict[str, PoolOutcome])
    available_memory: Annotated[int | None, About("what could be lent, in bytes")] = None
    unallocated_memory: Annotated[
        int | None, About("the part of it outside the free list, in bytes")
    ] = None
    queued: Annotated[int | None, About("how many threads wait")] = None
    wait_time_ns_total: Annotated[
        int | None, About("how long threads have waited, all waits together, in ns")
    ] = None
    wait_ratio_ppm: Annotated[
        int | None, About("the share of the last 30 to 90 s that was waited, in millionths")
    ] = None


class PoolClause(Clause):
    """The promises of a pool."""

    ENDS_ONCE = (
        "BufferPool.CallEndsOnce",
        Said(
            rule="3.1",
            promise="An allocation ends once.",
            driven_alone="a line that ends a call twice is malformed, and rejected",
        ),
    )
    ENDS_FOR_A_REASON = (
        "BufferPool.CallEndsForAReason",
        Said(
            rule="3.3 - 3.6",
            promise=(
                "An allocation is refused only if its time is out, the pool is closed, or it "
                "failed."
            ),
        ),
    )
    LONGEST_WAITING_FIRST = (
        "BufferPool.LongestWaitingFirst",
        Said(
            rule="3.10",
            promise=(
                "Memory goes to whoever has waited longest; in profile kafka a newcomer may be "
                "first."
            ),
        ),
    )
    NO_MORE_THAN_TOTAL = (
        "BufferPool.LendsNoMoreThanTheTotal",
        Said(rule="3.9", promise="The pool does not lend more memory than it has."),
    )
    LENDS_ONCE = (
        "BufferPool.LendsABufferOnce",
        Said(
            rule="3.9",
            promise="A buffer that is lent is not lent again.",
            recorded_alone="a driver names buffers by the calls that got them, not by their memory",
        ),
    )
    LENDS_WHAT_WAS_ASKED = (
        "BufferPool.LendsWhatWasAskedFor",
        Said(
            rule="3.1",
            promise="A buffer has the size that was asked for.",
            recorded_alone="a driver does not tell the size of a buffer",
        ),
    )
    TAKES_BACK_WHAT_IT_LENT = (
        "BufferPool.TakesBackWhatItLent",
        Said(
            rule="3.7",
            promise="A buffer that is lent can be given back, with its whole size.",
            recorded_alone="driven, a return that is refused breaks KeepsToItsDomain",
        ),
    )
    TAKES_BACK_ONLY_LOANS = (
        "BufferPool.TakesBackOnlyWhatIsLent",
        Said(
            rule="3.7",
            promise="A buffer that is not lent cannot be given back.",
            recorded_alone="driven, a wrong return that is accepted breaks KeepsToItsDomain",
        ),
    )
    NO_LOST_WAKE_UP = (
        "BufferPool.NobodyWaitsForWhatIsThere",
        Said(
            rule="3.9",
            promise=(
                "While there is enough memory for the first waiting thread, no thread waits or is "
                "told that memory is exhausted."
            ),
        ),
    )
    WAIT_IS_BOUNDED = (
        "BufferPool.WaitIsBounded",
        Said(rule="3.3", promise="An allocation waits as long as it may, and no longer."),
    )
    CLOSE_RELEASES = (
        "BufferPool.CloseReleasesEveryone",
        Said(
            rule="3.8",
            promise="No thread waits for memory of a closed pool, and none gets any.",
        ),
    )
    INTERRUPTION_ENDS_THE_WAIT = (
        "BufferPool.InterruptionEndsTheWait",
        Said(
            rule="3.4",
            promise="A call that is interrupted does not wait on.",
            driven_alone="no recording shows how soon a thread takes note of an interruption",
        ),
    )
    MEMORY_IS_CONSERVED = (
        "BufferPool.MemoryIsConserved",
        Said(rule="3.9", promise="Available memory and lent memory add up to the total."),
    )
    WAITERS_ARE_LIVE = (
        "BufferPool.WaitersAreLiveThreads",
        Said(rule="3.9", promise="The queue has the threads that wait, and no others."),
    )
    KEEPS_BUFFERS = (
        "BufferPool.KeepsBuffers",
        Said(
            rule="3.2, 3.7",
            promise=(
                "A buffer of the poolable size is kept, and broken up only if its bytes are needed."
            ),
            driven_alone="no recorded call tells how much memory is in no buffer",
        ),
    )
    COUNTS_WAITS = (
        "BufferPool.CountsTheTimeWaited",
        Said(
            rule="3.11",
            promise=(
                "The total wait time is the sum of all waits; the ratio is the share that waits "
                "have of recent time."
            ),
            driven_alone="no history shows how much of a call was a wait",
        ),
    )
    KEEPS_TO_ITS_DOMAIN = (
        "BufferPool.KeepsToItsDomain",
        Said(
            rule="3.1, 3.7",
            promise=(
                "A size of at most the total is not refused as too large; a larger size is refused."
            ),
        ),
    )


class PoolLimit(StrEnum):
    """A part of the domain that some implementations are known not to support."""

    TWO_GIB = "Domain.TwoGiBOfPooledBuffers"
    GIVEN_BACK_TWICE = "Domain.BufferGivenBackTwice"
    SIZE_OUTSIDE = "Domain.SizeOutsideThePool"
    NEGATIVE_SIZE = "Domain.NegativeSize"


class PoolCapability(Capability):
    """The capabilities that a driver of a pool may declare."""

    INTERRUPTION = "interruption", "a thread that waits can be interrupted"
    CLOSE = "close", "the component can be closed"
    ANY_SIZE = "any_size", "buffers of other sizes than the poolable one are lent"
    FAULTS = "faults", "a call fails where its `fault` asks for it"
    EXACT_TIME = "exact_time", "what is due at a millisecond has happened when the clock shows it"


_GAUGES = (
    "available_memory",
    "unallocated_memory",
    "queued",
    "wait_time_ns_total",
    "wait_ratio_ppm",
)

DEFINITION: ComponentDefinition[PoolCall, PoolObservation] = ComponentDefinition(
    name="buffer_pool",
    config=PoolConfig,
    operations=(
        Operation(call=Allocate, returns=Allocated, tells=("ended",)),
        Operation(call=Deallocate, tells=("ended",)),
        Operation(call=AvailableMemory, returns=Memory, wire=Wire.RECORDED),
        Operation(call=Queued, returns=WaitingThreads, wire=Wire.RECORDED),
        Operation(call=Interrupt, tells=("ended",)),
        Operation(call=Advance, tells=("ended",), wire=Wire.DRIVEN),
        Operation(call=Close, tells=("ended",)),
    ),
    observation=PoolObservation,
    always=_GAUGES,
    clauses=PoolClause,
    profiles=(LONGEST_WAITING_FIRST, KAFKA),
    limits=PoolLimit,
    optional=PoolCapability,
    skippable=(PoolClause.MEMORY_IS_CONSERVED, PoolClause.WAITERS_ARE_LIVE),
)
