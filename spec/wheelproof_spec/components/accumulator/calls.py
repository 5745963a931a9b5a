"""The calls and the answers of a record accumulator, in driven cases and in histories."""

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
"""A partition: its number in a driven case, its name in a history."""

FAILED = "Failed"
EXPIRED = "Expired"
ABORTED = "Aborted"
"""The error of a callback whose batch failed for good, expired, or was aborted."""


NEVER_MS = 2**62 - 1
"""This number and all greater ones mean never, as Kafka's greatest long does."""


class AppendRefusal(StrEnum):
    """The reason why an append was refused."""

    EXHAUSTED = "exhausted"
    CLOSED = "closed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class AppendFault(StrEnum):
    """A fault that a test injects into an append."""

    ALLOCATOR = "allocator"
    """There is no memory for the buffer."""
    SMALL_BUFFER = "small_buffer"
    """The buffer has no room for any record: the append fails while it holds the buffer."""


class CallbackFault(StrEnum):
    """What a record's callback does in addition to recording its outcome."""

    RAISES = "raises"
    SENDS_AGAIN = "sends_again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Append(Call):
    """The append of a record (standard 4.1); a driven case runs it on a thread of its own."""

    record: Annotated[Name, About("the record; no other record has its name")]
    partition: Annotated[Partition, About("its partition: driven, a number; in a history, a name")]
    size: Annotated[Count, About("its size in bytes; when driven that of its value")]
    max_time_to_block_ms: Annotated[Count, About("the longest wait for memory in ms")]
    fault: Annotated[AppendFault | None, DRIVEN, About("what fails in this call")] = None
    callback: Annotated[
        CallbackFault | None, DRIVEN, About("what its callback does beside taking note")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """The answer of an append that accepted its record."""

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
    """The run of a record's callback (standard 4.11)."""

    record: Annotated[Name, About("the record")]
    offset: Annotated[
        Count | None,
        About(
            "its offset; null if it failed. In a history without drains no two records of a "
            "partition have the same"
        ),
    ]
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
    """The question to which nodes the sender can send (standard 4.2)."""

    leaders: Annotated[
        Annotated[Mapping[Count, Count], DRIVEN] | Annotated[Mapping[Name, Count], RECORDED],
        About("the node of each partition; a partition not named has no leader"),
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
    """The sender's drain of batches (standard 4.3); a driven case mutes their partitions.

    A history may leave out the fields of the call. Then it is not judged whether each partition
    gets its turn.
    """

    node: Annotated[Count, NEEDED_WHEN_DRIVEN, About("the node that the batches are for")] = 0
    partitions: Annotated[
        Annotated[tuple[Count, ...], DRIVEN] | Annotated[tuple[Name, ...], RECORDED],
        NEEDED_WHEN_DRIVEN,
        About(
            "the partitions that it leads, always in one order, which need not be that of the "
            "drains; none if it is not drained"
        ),
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
            "its name, which no other batch has; when it is drained again, in a history the same "
            "or a new one"
        ),
    ]
    partition: Annotated[Partition, About("its partition: driven, a number; in a history, a name")]
    records: Annotated[tuple[Name, ...], About("its records in their order")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """The answer of a drain."""

    batches: Annotated[tuple[DrainedBatch, ...], About("what it took, in order")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfBatch(Call):
    """The base of responses to a drained batch; a driven case unmutes the batch's partition."""

    batch: Annotated[Name, About("the batch")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond(OfBatch):
    """The broker's final answer, or an error: it ends a batch and gives its memory back."""

    offset: Annotated[
        Count | None, DRIVEN, About("where its first record is stored; absent: it failed")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reenqueue(OfBatch):
    """The return of a batch to its queue for another attempt (standard 4.6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(OfBatch):
    """The split of a batch, whose parts return to its queue (standard 4.6)."""

    size: Annotated[
        Count, DRIVEN, About("the size of the parts in bytes; a larger record has its own")
    ] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire(Call):
    """The expiry of every batch that is too old, queued or in flight (standard 4.5).

    The sender may have read the clock before this call, but after its last call of this kind.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute(Call):
    """The muting of a partition: it is not drained any more (standard 4.4)."""

    partition: Annotated[Partition, About("the partition")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmute(Call):
    """The unmuting of a partition: it may be drained again (standard 4.4)."""

    partition: Annotated[Partition, About("the partition")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flush(Call):
    """The wait for all incomplete batches (standard 4.8), on a thread of its own."""

    flush: Annotated[Name, DRIVEN, About("the name of the call")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abort(Call):
    """The abort of all incomplete batches: a forced close (standard 4.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HasIncomplete(Call):
    """The question whether a batch has not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushInProgress(Call):
    """The question whether a thread flushes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YesOrNo:
    """The answer to a yes-or-no question."""

    yes: Annotated[bool, About("whether the answer is yes")]
