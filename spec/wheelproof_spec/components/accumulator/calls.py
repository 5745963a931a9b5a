"""What can be asked of a record accumulator, and what it answers: when driven, and in a history."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from wheelproof_spec.base.codec.vocabulary import (
    ABSENT,
    DRIVEN,
    NEEDED_WHEN_DRIVEN,
    RECORDED,
    About,
    Absent,
    Count,
    Name,
)
from wheelproof_spec.base.component import Call

Partition = Annotated[Count, DRIVEN] | Annotated[Name, RECORDED]
"""A partition: when driven the number of one of a topic, in a history a name."""

FAILED = "Failed"
EXPIRED = "Expired"
ABORTED = "Aborted"
"""What a callback is told when its batch failed for good, was too late, was closed by force."""


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
