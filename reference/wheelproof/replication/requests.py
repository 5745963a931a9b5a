"""What clients and followers ask of a replica manager, and what it answers.

A request names many partitions, and each has an answer of its own.

>>> from wheelproof.replication.error_code import ErrorCode
>>> from wheelproof.replication.requests import FetchPartitionData
>>> FetchPartitionData(error=ErrorCode.NONE).is_refusal
False
>>> FetchPartitionData(error=ErrorCode.OFFSET_OUT_OF_RANGE).is_refusal
True
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from wheelproof.errors import PurgatoryClosedError
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.replication.error_code import ErrorCode
from wheelproof.replication.log_results import EpochEndOffset, LogRecord
from wheelproof.topic_partition import TopicPartition

_OperationT = TypeVar("_OperationT", bound=DelayedOperation)

ALL_ACKS = -1
"""The producer waits until every in-sync replica has the records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionProduceResponse:
    """The answer of one partition; `base_offset` is that of the first record, -1 if none is."""

    error: ErrorCode
    base_offset: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPartition:
    """Where to read in one partition, and at most how many bytes.

    `current_leader_epoch` is the epoch that the fetcher takes for current, `last_fetched_epoch`
    that of its last record; None: it does not tell.
    """

    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int | None = None
    last_fetched_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchParams:
    """How long to wait for how much: at most `max_wait_ms` milliseconds for `min_bytes` bytes.

    With a `max_wait_ms` of 0 or less the answer is what there is (standard 5.2).
    `replica_id` is the follower's broker, or None for a consumer; `max_bytes` bounds the answer.
    """

    replica_id: int | None
    max_wait_ms: int
    min_bytes: int
    max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPartitionData:
    """The answer of one partition; `high_watermark` is -1 if this broker cannot tell.

    `diverging_epoch` is where the fetcher's log parts from the leader's: it has to truncate there.
    """

    error: ErrorCode
    high_watermark: int = -1
    records: tuple[LogRecord, ...] = ()
    bytes_read: int = 0
    """The bytes of all batches, the last of which may be cut off and without its records."""
    diverging_epoch: EpochEndOffset | None = None

    @property
    def is_refusal(self) -> bool:
        """Whether the fetcher has to do something else before it can read here."""
        return self.error is not ErrorCode.NONE or self.diverging_epoch is not None


ProduceCallback = Callable[[Mapping[TopicPartition, PartitionProduceResponse]], None]
"""Takes the answer of a produce request; called exactly once."""

FetchCallback = Callable[[Mapping[TopicPartition, FetchPartitionData]], None]
"""Takes the answer of a fetch request; called exactly once."""


def await_in(
    purgatory: DelayedOperationPurgatory[_OperationT],
    request: _OperationT,
    keys: Sequence[TopicPartition],
) -> None:
    """Let a request wait that has had its effect; behind a close nobody answers it (standard 5.6).

    Kafka: a purgatory takes whatever is handed in, also after its shutdown.
    Here:  it refuses, and the refusal ends here if a close has come since the request was taken.
    Why:   who is refused may ask another broker, and the records would be in two logs.
    """
    try:
        purgatory.try_complete_else_watch(request, keys)
    except PurgatoryClosedError:
        # What a callback raises comes from a request that has been answered.
        if request.is_done():
            raise
