"""A produce request that waits for the replicas.

acks = all promises that every replica in sync has the record. The leader has it at once, the others
fetch it later, so the answer waits for them.

>>> from wheelproof.replication.delayed_produce import status_of_append
>>> from wheelproof.replication.error_code import ErrorCode
>>> status = status_of_append(ErrorCode.NOT_LEADER_OR_FOLLOWER, None)
>>> status.acks_pending, status.response.error.value
(False, 'NOT_LEADER_OR_FOLLOWER')

Invariants:

- A partition that has stopped waiting stays as it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from wheelproof.purgatory import DelayedOperation
from wheelproof.replication.error_code import ErrorCode
from wheelproof.replication.log_results import LogAppendInfo
from wheelproof.replication.partition import ReplicationProgress
from wheelproof.replication.requests import PartitionProduceResponse, ProduceCallback
from wheelproof.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducePartitionStatus:
    """The answer of one partition as it stands, and what it still waits for, if anything."""

    response: PartitionProduceResponse
    append: LogAppendInfo | None
    acks_pending: bool


def status_of_append(error: ErrorCode, append: LogAppendInfo | None) -> ProducePartitionStatus:
    """Return the status after the local append: REQUEST_TIMED_OUT until the replicas have it."""
    if append is None:
        return ProducePartitionStatus(
            response=PartitionProduceResponse(error=error), append=None, acks_pending=False
        )
    response = PartitionProduceResponse(
        error=ErrorCode.REQUEST_TIMED_OUT, base_offset=append.first_offset
    )
    return ProducePartitionStatus(response=response, append=append, acks_pending=True)


class DelayedProduce(DelayedOperation):
    """Completes once every partition is replicated or has failed (standard 5.1).

    A partition that has stopped waiting stays so: what try_complete has found is kept, and an
    expiry answers with what was found until then.
    TLA+: FirstTry, LastTry, GetAnswer and Expire of ProduceFetch, for Producers.
    """

    def __init__(
        self,
        timeout_ms: int,
        statuses: Mapping[TopicPartition, ProducePartitionStatus],
        *,
        progress_of: Callable[[TopicPartition, LogAppendInfo], ReplicationProgress],
        on_expired: Callable[[int], None],
        callback: ProduceCallback,
    ) -> None:
        """Make a request that waits at most `timeout_ms` milliseconds.

        `on_expired` is told how many partitions had not answered when the time was over.
        """
        super().__init__(timeout_ms)
        self._statuses = dict(statuses)
        self._progress_of = progress_of
        self._on_expired = on_expired
        self._callback = callback

    def try_complete(self) -> bool:
        """Look at each partition that is still waited for."""
        for topic_partition, status in self._statuses.items():
            if status.acks_pending and status.append is not None:
                progress = self._progress_of(topic_partition, status.append)
                if progress.reached:
                    self._statuses[topic_partition] = _answered(status, progress.error)
        if any(status.acks_pending for status in self._statuses.values()):
            return False
        return self.force_complete()

    def on_complete(self) -> None:
        """Answer with the statuses as they are."""
        self._callback({key: status.response for key, status in self._statuses.items()})

    def on_expiration(self) -> None:
        """Count the partitions that were not replicated in time."""
        self._on_expired(sum(status.acks_pending for status in self._statuses.values()))


def _answered(status: ProducePartitionStatus, error: ErrorCode) -> ProducePartitionStatus:
    return replace(status, acks_pending=False, response=replace(status.response, error=error))
