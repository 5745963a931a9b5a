"""Serving produce requests.

An append is local and quick; what takes time is the replicas. So it appends first, and what waits
is the answer alone.

>>> from wheelproof.replication.produce_handler import refusal_of_acks
>>> from wheelproof.topic_partition import TopicPartition
>>> payments = TopicPartition("payments", 0)
>>> refusal_of_acks({payments: [b"value"]}, -1) is None
True
>>> refusal_of_acks({payments: [b"value"]}, 2)[payments].error.value
'INVALID_REQUIRED_ACKS'

Invariants:

- Each request is answered once, in this call or from the purgatory.
"""

from collections.abc import Mapping, Sequence

from wheelproof import sync
from wheelproof.errors import IllegalArgumentError
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.replication.delayed_produce import DelayedProduce, status_of_append
from wheelproof.replication.error_code import ErrorCode
from wheelproof.replication.log_results import LogAppendInfo
from wheelproof.replication.partition import PartitionAppendResult, ReplicationProgress
from wheelproof.replication.partitions import Partitions
from wheelproof.replication.requests import (
    ALL_ACKS,
    PartitionProduceResponse,
    ProduceCallback,
    await_in,
)
from wheelproof.topic_partition import TopicPartition


class ProduceHandler:
    """Appends to local logs and waits for the replicas (standard 5.1).

    TLA+: the produce side of ProduceFetch.
    """

    def __init__(
        self, partitions: Partitions, purgatory: DelayedOperationPurgatory[DelayedProduce]
    ) -> None:
        """Serve from `partitions`; requests wait in `purgatory`."""
        self._partitions = partitions
        self._purgatory = purgatory
        self._expirations = sync.atomic_integer(0, "ProduceHandler.expirations")

    @property
    def expirations(self) -> int:
        """The partitions that were not replicated in time, so far."""
        return self._expirations.get()

    def append(
        self, topic_partition: TopicPartition, values: Sequence[bytes], required_acks: int
    ) -> PartitionAppendResult:
        """Append to a partition, if this broker leads it."""
        partition = self._partitions.get(topic_partition)
        if partition is None:
            return PartitionAppendResult(error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return partition.append_records_to_leader(values, required_acks=required_acks)

    def answer(
        self,
        results: Mapping[TopicPartition, PartitionAppendResult],
        *,
        timeout_ms: int,
        required_acks: int,
        callback: ProduceCallback,
    ) -> None:
        """Answer now, or, if replicas are to have something that was appended, once they do."""
        appended = any(result.append is not None for result in results.values())
        if required_acks == ALL_ACKS and appended:
            self._await_replicas(timeout_ms, results, callback)
        else:
            callback({key: _answer_at_once(result) for key, result in results.items()})

    def _await_replicas(
        self,
        timeout_ms: int,
        results: Mapping[TopicPartition, PartitionAppendResult],
        callback: ProduceCallback,
    ) -> None:
        delayed = DelayedProduce(
            timeout_ms,
            {
                topic_partition: status_of_append(result.error, result.append)
                for topic_partition, result in results.items()
            },
            progress_of=self._replication_progress,
            on_expired=self._count_expired,
            callback=callback,
        )
        await_in(self._purgatory, delayed, list(results))

    def _replication_progress(
        self, topic_partition: TopicPartition, append: LogAppendInfo
    ) -> ReplicationProgress:
        partition = self._partitions.get(topic_partition)
        if partition is None:
            return ReplicationProgress(reached=True, error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return partition.check_enough_replicas_reach_offset(append)

    def _count_expired(self, partitions: int) -> None:
        self._expirations.add_and_get(partitions)


def require_entries(entries: Mapping[TopicPartition, Sequence[bytes]]) -> None:
    """Raise IllegalArgumentError unless each partition gets at least one record, of bytes."""
    for topic_partition, values in entries.items():
        if not values or any(type(value) is not bytes for value in values):
            raise IllegalArgumentError(
                f"the records of {topic_partition} have to be a sequence of bytes, at least one"
            )


def refusal_of_acks(
    entries: Mapping[TopicPartition, Sequence[bytes]], required_acks: int
) -> dict[TopicPartition, PartitionProduceResponse] | None:
    """Return the answer if `required_acks` is none of 0, 1 and -1; None if it is one of them."""
    if required_acks in (0, 1, ALL_ACKS):
        return None
    refused = PartitionProduceResponse(error=ErrorCode.INVALID_REQUIRED_ACKS)
    return dict.fromkeys(entries, refused)


def _answer_at_once(result: PartitionAppendResult) -> PartitionProduceResponse:
    base_offset = -1 if result.append is None else result.append.first_offset
    return PartitionProduceResponse(error=result.error, base_offset=base_offset)
