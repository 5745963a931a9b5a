"""Serving fetch requests of followers and consumers.

A fetch reads at once, and waits only if that is too little; then it reads again at its end.

>>> from wheelproof.clock import ManualClock
>>> from wheelproof.purgatory import DelayedOperationPurgatory
>>> from wheelproof.replication.replica_manager import ReplicaManager
>>> from wheelproof.timer import SystemTimer
>>> from wheelproof.topic_partition import TopicPartition
>>> payments = TopicPartition("payments", 0)
>>> clock = ManualClock()
>>> manager = ReplicaManager(
...     1,
...     produce_purgatory=DelayedOperationPurgatory("produce", SystemTimer("p", clock=clock)),
...     fetch_purgatory=DelayedOperationPurgatory("fetch", SystemTimer("f", clock=clock)),
...     clock=clock,
... )
>>> manager.become_leader(payments, 1, replica_ids=[1, 2], in_sync_ids=[1, 2])
>>> from wheelproof.replication.requests import FetchParams, FetchPartition
>>> params = FetchParams(replica_id=2, max_wait_ms=0, min_bytes=1, max_bytes=1_000)
>>> asked = {payments: FetchPartition(fetch_offset=0, max_bytes=1_000)}
>>> manager.fetch_messages(params, asked, lambda data: print(data[payments].error.value))
NONE
>>> manager.close()

Invariants:

- What is answered was read after the last try of the predicate.
"""

from collections.abc import Mapping
from typing import ClassVar

from wheelproof import sync
from wheelproof.domain import require_integer
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.replication.delayed_fetch import DelayedFetch
from wheelproof.replication.error_code import ErrorCode
from wheelproof.replication.log_results import FetchProgress
from wheelproof.replication.partitions import Partitions
from wheelproof.replication.requests import (
    FetchCallback,
    FetchParams,
    FetchPartition,
    FetchPartitionData,
    await_in,
)
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import MAX_MILLIS


class FetchHandler:
    """Reads from local logs and waits for data (standard 5.2).

    TLA+: the fetch side of ProduceFetch.
    """

    _delayed_fetch_class: ClassVar[type[DelayedFetch]] = DelayedFetch

    def __init__(
        self, partitions: Partitions, purgatory: DelayedOperationPurgatory[DelayedFetch]
    ) -> None:
        """Serve from `partitions`; requests wait in `purgatory`."""
        self._partitions = partitions
        self._purgatory = purgatory
        self._follower_expirations = sync.atomic_integer(0, "FetchHandler.follower_expirations")
        self._consumer_expirations = sync.atomic_integer(0, "FetchHandler.consumer_expirations")

    @property
    def follower_expirations(self) -> int:
        """The followers' fetches whose time was over, so far."""
        return self._follower_expirations.get()

    @property
    def consumer_expirations(self) -> int:
        """The consumers' fetches whose time was over, so far."""
        return self._consumer_expirations.get()

    def answer(
        self,
        params: FetchParams,
        requests: Mapping[TopicPartition, FetchPartition],
        data: Mapping[TopicPartition, FetchPartitionData],
        callback: FetchCallback,
    ) -> None:
        """Answer with `data` now, or, if that is too little, once there is enough."""
        if _is_answered_at_once(params, data):
            callback(data)
        else:
            self._await_data(params, requests, callback)

    def read(
        self, params: FetchParams, requests: Mapping[TopicPartition, FetchPartition]
    ) -> dict[TopicPartition, FetchPartitionData]:
        """Read in the order of the requests, until `max_bytes` are used up."""
        data: dict[TopicPartition, FetchPartitionData] = {}
        read_bytes = 0
        for topic_partition, request in requests.items():
            partition = self._partitions.get(topic_partition)
            if partition is None:
                data[topic_partition] = FetchPartitionData(
                    error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                )
                continue
            read = partition.read(
                request,
                replica_id=params.replica_id,
                max_bytes=min(max(0, params.max_bytes - read_bytes), request.max_bytes),
                at_least_one=read_bytes == 0,
            )
            data[topic_partition] = read
            read_bytes += read.bytes_read
        return data

    def update_follower_state(
        self,
        params: FetchParams,
        requests: Mapping[TopicPartition, FetchPartition],
    ) -> list[TopicPartition]:
        """Note how far a follower has come; return where the high watermark rose."""
        if params.replica_id is None:
            return []
        risen: list[TopicPartition] = []
        for topic_partition, request in requests.items():
            partition = self._partitions.get(topic_partition)
            if partition is None:
                continue
            if partition.update_follower_fetch_state(params.replica_id, request):
                risen.append(topic_partition)
        return risen

    def _await_data(
        self,
        params: FetchParams,
        requests: Mapping[TopicPartition, FetchPartition],
        callback: FetchCallback,
    ) -> None:
        expirations = (
            self._consumer_expirations if params.replica_id is None else self._follower_expirations
        )
        delayed = self._delayed_fetch_class(
            params,
            requests,
            progress_of=lambda key, request: self._fetch_progress(key, request, params.replica_id),
            read=lambda: self.read(params, requests),
            on_expired=lambda: _count(expirations),
            callback=callback,
        )
        await_in(self._purgatory, delayed, list(requests))

    def _fetch_progress(
        self, topic_partition: TopicPartition, request: FetchPartition, replica_id: int | None
    ) -> FetchProgress | None:
        partition = self._partitions.get(topic_partition)
        return None if partition is None else partition.fetch_progress(request, replica_id)


def require_fetch(params: FetchParams, requests: Mapping[TopicPartition, FetchPartition]) -> None:
    """Raise IllegalArgumentError for a wait outside the domain or a negative limit."""
    require_integer("max_wait_ms", params.max_wait_ms, -MAX_MILLIS)
    require_integer("min_bytes", params.min_bytes, 0)
    require_integer("max_bytes", params.max_bytes, 0)
    for topic_partition, request in requests.items():
        require_integer(f"max_bytes of {topic_partition}", request.max_bytes, 0)


def _count(expirations: sync.AtomicInteger) -> None:
    expirations.add_and_get(1)


def _is_answered_at_once(
    params: FetchParams, data: Mapping[TopicPartition, FetchPartitionData]
) -> bool:
    return (
        params.max_wait_ms <= 0
        or not data
        or any(answer.is_refusal for answer in data.values())
        or sum(answer.bytes_read for answer in data.values()) >= params.min_bytes
    )
