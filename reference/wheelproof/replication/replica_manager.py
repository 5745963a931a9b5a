"""A broker's partitions, and the produce and fetch requests that wait for them.

An append lets fetches go, and a fetch of a follower lets appends go. Each completes operations of
the other kind; done under a lock of a partition this deadlocks (KAFKA-7697).

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
>>> from wheelproof.replication.requests import ALL_ACKS, FetchParams, FetchPartition
>>> def answered(responses):
...     print(responses[payments].error.value, responses[payments].base_offset)
>>> manager.append_records(
...     timeout_ms=30_000,
...     required_acks=ALL_ACKS,
...     entries={payments: [b"value"]},
...     callback=answered,
... )
>>> params = FetchParams(replica_id=2, max_wait_ms=0, min_bytes=1, max_bytes=1_000)
>>> for offset in (0, 1):
...     asked = {payments: FetchPartition(fetch_offset=offset, max_bytes=1_000)}
...     manager.fetch_messages(params, asked, lambda data: None)
NONE 0
>>> manager.close()

Invariants:

- No operation is completed while a lock of a partition, or of the changes of roles, is held.
- A request is answered once, by its time-out at the latest.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from wheelproof import sync
from wheelproof.clock import Clock, SystemClock
from wheelproof.closing import Closing
from wheelproof.domain import require_integer
from wheelproof.errors import DelayedOperationError, PurgatoryClosedError
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.purgatory.watchers import raise_failures
from wheelproof.replication.delayed_fetch import DelayedFetch
from wheelproof.replication.delayed_produce import DelayedProduce
from wheelproof.replication.fetch_handler import FetchHandler, require_fetch
from wheelproof.replication.log_results import LogRecord
from wheelproof.replication.partition import (
    DEFAULT_REPLICA_LAG_TIME_MAX_MS,
    Partition,
    PartitionAppendResult,
)
from wheelproof.replication.partition_log import DEFAULT_SEGMENT_BYTES
from wheelproof.replication.partitions import Partitions
from wheelproof.replication.produce_handler import ProduceHandler, refusal_of_acks, require_entries
from wheelproof.replication.requests import (
    FetchCallback,
    FetchParams,
    FetchPartition,
    ProduceCallback,
)
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import Millis

_Purgatory = DelayedOperationPurgatory[DelayedProduce] | DelayedOperationPurgatory[DelayedFetch]


class ReplicaManager(Closing):
    """Appends and fetches, which drive each other through two purgatories (standard 5.3).

    An append gives fetches their data; a follower's fetch tells how far it has come, which raises
    the high watermark, which answers produce requests and gives consumers their data. Whatever can
    make a waiting request's condition true is followed by a check of the purgatories, always
    without a lock (KAFKA-7697).

    Lock order: purgatory's operation, partition, replica, log. TLA+: ProduceFetch.
    """

    _fetch_handler_class: ClassVar[type[FetchHandler]] = FetchHandler
    _partition_class: ClassVar[type[Partition]] = Partition

    def __init__(
        self,
        broker_id: int,
        *,
        produce_purgatory: DelayedOperationPurgatory[DelayedProduce],
        fetch_purgatory: DelayedOperationPurgatory[DelayedFetch],
        clock: Clock | None = None,
        min_in_sync_replicas: int = 1,
        segment_bytes: int = DEFAULT_SEGMENT_BYTES,
        replica_lag_time_max_ms: int = DEFAULT_REPLICA_LAG_TIME_MAX_MS,
    ) -> None:
        """Make the replica manager of a broker that has no partitions yet.

        `segment_bytes` bounds each segment of each log. A replica that has not caught up for
        `replica_lag_time_max_ms` milliseconds leaves the in-sync set.

        Raises IllegalArgumentError for numbers outside their domain.
        """
        self.broker_id = require_integer("broker_id", broker_id, 0)
        self._produce_purgatory = produce_purgatory
        self._fetch_purgatory = fetch_purgatory
        self._clock = SystemClock() if clock is None else clock
        self._min_in_sync_replicas = require_integer(
            "min_in_sync_replicas", min_in_sync_replicas, 1
        )
        self._segment_bytes = require_integer("segment_bytes", segment_bytes, 1)
        self._replica_lag_time_max_ms = Millis(
            require_integer("replica_lag_time_max_ms", replica_lag_time_max_ms, 1)
        )
        self._state_change = sync.monitor("ReplicaManager.replica_state_change_lock")
        self._closed = sync.volatile(False, "ReplicaManager.closed")
        self._partitions = Partitions()
        self.produce = ProduceHandler(self._partitions, produce_purgatory)
        self.fetch = self._fetch_handler_class(self._partitions, fetch_purgatory)

    def __repr__(self) -> str:
        """Return whose manager this is."""
        return f"{type(self).__name__}(broker_id={self.broker_id})"

    def partition(self, topic_partition: TopicPartition) -> Partition | None:
        """Return the partition, if this broker has it."""
        return self._partitions.get(topic_partition)

    def become_leader(
        self,
        topic_partition: TopicPartition,
        leader_epoch: int,
        *,
        replica_ids: Collection[int],
        in_sync_ids: Collection[int],
    ) -> None:
        """Lead a partition in a new epoch, made here if this broker does not have it.

        Raises IllegalArgumentError as `Partition.make_leader` does.
        TLA+: Promote of ProduceFetch.
        """
        with self._state_change:
            partition = self.partition(topic_partition) or self._new_partition(topic_partition)
            partition.make_leader(leader_epoch, replica_ids=replica_ids, in_sync_ids=in_sync_ids)
            self._partitions.put(partition)
        self._complete_delayed([topic_partition])

    def become_follower(
        self, topic_partition: TopicPartition, leader_epoch: int, leader_id: int
    ) -> None:
        """Follow another leader; requests that wait here are answered that this one does not lead.

        Raises IllegalArgumentError as `Partition.make_follower` does.
        TLA+: Demote of ProduceFetch.
        """
        with self._state_change:
            partition = self.partition(topic_partition) or self._new_partition(topic_partition)
            partition.make_follower(leader_epoch, leader_id)
            self._partitions.put(partition)
        self._complete_delayed([topic_partition])

    def stop_replica(self, topic_partition: TopicPartition) -> None:
        """Forget a partition; requests that wait for it are answered that it is unknown."""
        with self._state_change:
            self._partitions.remove(topic_partition)
        self._complete_delayed([topic_partition])

    def append_as_follower(
        self,
        topic_partition: TopicPartition,
        records: Sequence[LogRecord],
        leader_high_watermark: int,
    ) -> None:
        """Append what a fetch from the leader gave.

        Raises IllegalArgumentError if this broker does not follow here, or the records leave a gap.
        """
        self._partitions.require(topic_partition).append_records_to_follower(
            records, leader_high_watermark
        )

    def truncate_as_follower(self, topic_partition: TopicPartition, offset: int) -> None:
        """Drop a log from `offset` on, where the leader says that it diverges.

        Raises IllegalArgumentError if this broker does not follow here, or the log ends before.
        """
        self._partitions.require(topic_partition).truncate_to(offset)

    def maybe_shrink_in_sync(self) -> None:
        """Drop replicas that have fallen behind from every in-sync set."""
        shrunk = [
            topic_partition
            for topic_partition, partition in self._partitions.all().items()
            if partition.maybe_shrink_in_sync()
        ]
        self._complete_delayed(shrunk)

    def append_records(
        self,
        *,
        timeout_ms: int,
        required_acks: int,
        entries: Mapping[TopicPartition, Sequence[bytes]],
        callback: ProduceCallback,
    ) -> None:
        """Append to each partition and answer by `callback`: at once, or when the replicas have it.

        `required_acks` is 0 or 1, answered after the local append, or -1, answered when the in-sync
        replicas have the records or after `timeout_ms` milliseconds (standard 5.1). Any other
        number is answered with INVALID_REQUIRED_ACKS for each partition, and nothing is appended.

        Raises IllegalArgumentError for a negative time-out and for values that are no bytes,
        PurgatoryClosedError after `close`, and what callbacks raise.
        """
        require_integer("timeout_ms", timeout_ms, 0)
        require_entries(entries)
        self._require_open()
        refusal = refusal_of_acks(entries, required_acks)
        if refusal is not None:
            callback(refusal)
            return
        results: dict[TopicPartition, PartitionAppendResult] = {}
        try:
            for topic_partition, values in entries.items():
                results[topic_partition] = self.produce.append(
                    topic_partition, values, required_acks
                )
            self.produce.answer(
                results, timeout_ms=timeout_ms, required_acks=required_acks, callback=callback
            )
        finally:
            self._complete_after_append(results)

    def fetch_messages(
        self,
        params: FetchParams,
        requests: Mapping[TopicPartition, FetchPartition],
        callback: FetchCallback,
    ) -> None:
        """Read from each partition and answer by `callback`: at once, or when there is enough.

        Answered at once: no wait asked for, nothing requested, enough bytes, an error, a diverging
        log. A follower's fetch also says how far its log has come (standard 5.2, 5.3).

        Raises IllegalArgumentError for negative numbers in `params` and negative limits in
        `requests`, PurgatoryClosedError after `close`, and what callbacks raise.
        """
        require_fetch(params, requests)
        self._require_open()
        data = self.fetch.read(params, requests)
        risen = self.fetch.update_follower_state(params, requests)
        try:
            self.fetch.answer(params, requests, data, callback)
        finally:
            self._complete_delayed(risen)

    def close(self) -> None:
        """Stop both purgatories; what waits there is never answered (standard 2.11, 5.6)."""
        self._closed.set(True)
        self._produce_purgatory.close()
        self._fetch_purgatory.close()

    def _require_open(self) -> None:
        if self._closed.get():
            raise PurgatoryClosedError("the replica manager has been shut down; make a new one")

    def _new_partition(self, topic_partition: TopicPartition) -> Partition:
        return self._partition_class(
            topic_partition,
            broker_id=self.broker_id,
            clock=self._clock,
            min_in_sync_replicas=self._min_in_sync_replicas,
            segment_bytes=self._segment_bytes,
            replica_lag_time_max_ms=self._replica_lag_time_max_ms,
        )

    def _complete_after_append(
        self, results: Mapping[TopicPartition, PartitionAppendResult]
    ) -> None:
        """Complete what an append lets go.

        TLA+: operator `Checks` and Trigger of ProduceFetch.
        """
        appended = [key for key, result in results.items() if result.append is not None]
        risen = [key for key, result in results.items() if result.high_watermark_rose]
        self._check(
            [(self._fetch_purgatory, key) for key in appended]
            + [(self._produce_purgatory, key) for key in risen]
        )

    def _complete_delayed(self, topic_partitions: Collection[TopicPartition]) -> None:
        self._check(
            [
                (purgatory, topic_partition)
                for topic_partition in topic_partitions
                for purgatory in (self._produce_purgatory, self._fetch_purgatory)
            ]
        )

    def _check(self, waiting: Sequence[tuple[_Purgatory, TopicPartition]]) -> None:
        """Check all that waits, also after a callback has raised; report those at the end."""
        failures: list[BaseException] = []
        completed = 0
        for purgatory, topic_partition in waiting:
            try:
                completed += purgatory.check_and_complete(topic_partition)
            except DelayedOperationError as error:
                failures += error.failures
                completed += error.num_completed
            except BaseException as stop:
                failures.append(stop)
        raise_failures(failures, completed)
