"""What is recorded of the record accumulator."""

from dataclasses import dataclass
from typing import Annotated, Literal

from wheelproof_spec.base.codec.definitions import CallDefinition, ComponentDefinition
from wheelproof_spec.base.codec.vocabulary import ABSENT, About, Absent, Count, Name, Positive, Time
from wheelproof_spec.components.buffer_pool.events import MEMORY
from wheelproof_spec.components.timer.events import TICK


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorSettings:
    """How the accumulator was made, and what is claimed of it."""

    batch_size: Annotated[Positive, About("the size of a batch in bytes")]
    total: Annotated[Count, About("the memory of its pool in bytes")]
    linger_ms: Annotated[Count | Absent, About("how long a batch waits for more, in ms")] = ABSENT
    start_ms: Annotated[
        Time | Absent, About("where a virtual clock begins, in ms; 0 if absent")
    ] = ABSENT
    delivery_timeout_ms: Annotated[
        Count | Absent,
        About("how old a batch has to be to expire, in ms; absent: that is not judged"),
    ] = ABSENT
    callbacks: Annotated[
        Literal["in_order"] | Absent,
        About(
            "`in_order`: callbacks of a partition run in the order of its appends, and whoever "
            "recorded answered its batches in the order in which they were drained"
        ),
    ] = ABSENT
    gives_back: Annotated[
        Literal["at_once", "later"] | Absent,
        About(
            "`at_once`: with no call of the sender under way, whatever has ended and is not being "
            "sent has given its memory back. `later` (the default): a full pool is not judged"
        ),
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendAsked:
    """append is called."""

    record: Annotated[Name, About("the record, whose name nothing else has")]
    partition: Annotated[Name, About("where it goes")]
    bytes: Annotated[Count, About("its size in bytes")]
    max_block_ms: Annotated[Count, About("the longest wait for memory in ms")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendAnswer:
    """append returned."""

    batch_is_full: Annotated[bool | Absent, About("whether a batch is full")] = ABSENT
    new_batch: Annotated[bool | Absent, About("whether a batch was made")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackAsked:
    """The callback of a record runs."""

    record: Annotated[Name, About("the record")]
    offset: Annotated[Count | None, About("its offset; null if it failed")]
    error: Annotated[
        Name | None,
        About("why it failed, `Expired` if its time was out; null if it did not fail"),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainedBatch:
    """A batch that a drain has taken."""

    batch: Annotated[Name, About("its name, which no other batch has; the same when drained again")]
    partition: Annotated[Name, About("where it goes")]
    records: Annotated[tuple[Name, ...], About("its records in their order")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainAnswer:
    """drain returned."""

    batches: Annotated[tuple[DrainedBatch, ...], About("what it took, in order")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAsked:
    """Something is asked about one partition."""

    partition: Annotated[Name, About("the partition")]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAsked:
    """Something is asked about a batch that was drained."""

    batch: Annotated[Name, About("the batch")]


_ACCUMULATOR_CALLS = (
    CallDefinition(
        f="append",
        about="a record is appended (semantics.md 4.1)",
        asked=AppendAsked,
        answered=AppendAnswer,
    ),
    CallDefinition(
        f="callback",
        about="the callback of a record runs (semantics.md 4.11)",
        asked=CallbackAsked,
        happens=True,
    ),
    CallDefinition(f="flush", about="all that is incomplete is waited for (semantics.md 4.8)"),
    CallDefinition(
        f="drain",
        about="the sender takes batches (semantics.md 4.3)",
        answered=DrainAnswer,
    ),
    CallDefinition(
        f="respond",
        about="the answer of a broker, or an error, ends a batch and gives its memory back",
        asked=BatchAsked,
    ),
    CallDefinition(
        f="reenqueue",
        about="a batch goes back to be sent again (semantics.md 4.6)",
        asked=BatchAsked,
    ),
    CallDefinition(
        f="split",
        about="a batch is split, and its parts go back (semantics.md 4.6)",
        asked=BatchAsked,
    ),
    CallDefinition(
        f="expire", about="whatever is too old is looked for and ended (semantics.md 4.5)"
    ),
    CallDefinition(
        f="mute", about="a partition is not to be drained (semantics.md 4.4)", asked=PartitionAsked
    ),
    CallDefinition(
        f="unmute",
        about="a partition may be drained again (semantics.md 4.4)",
        asked=PartitionAsked,
    ),
    CallDefinition(f="abort", about="forced close (semantics.md 4.10)"),
    MEMORY,
    TICK,
    CallDefinition(f="close", about="the component is closed"),
)


ACCUMULATOR = ComponentDefinition(
    name="accumulator", config=AccumulatorSettings, calls=_ACCUMULATOR_CALLS, actions=(), steps=()
)
