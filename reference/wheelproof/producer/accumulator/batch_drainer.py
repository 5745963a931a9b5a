"""Which batches can be sent, and taking them (standard 4.2 - 4.4).

A request has room for some batches and not for all. The first partitions of a node would always
win, so each drain begins where the last one stopped.

>>> from wheelproof.clock import ManualClock
>>> from wheelproof.producer.accumulator.accumulator_config import AccumulatorConfig
>>> from wheelproof.producer.accumulator.record_accumulator import RecordAccumulator
>>> from wheelproof.producer.buffer_pool import BufferPool
>>> from wheelproof.producer.cluster import Cluster
>>> from wheelproof.producer.record import Record
>>> from wheelproof.topic_partition import TopicPartition
>>> payments = TopicPartition("payments", 0)
>>> clock, cluster = ManualClock(), Cluster(leaders={payments: 3})
>>> config = AccumulatorConfig(batch_size=200)
>>> accumulator = RecordAccumulator(BufferPool(1_000, 200), config, clock=clock)
>>> future = accumulator.append(payments, Record(timestamp_ms=0, value=b"value")).future
>>> sorted(accumulator.ready(cluster, 0).ready_nodes)
[3]
>>> accumulator.mute_partition(payments)
>>> sorted(accumulator.ready(cluster, 0).ready_nodes)
[]

Invariants:

- Nothing of a muted partition is taken, and nothing whose back-off is not over.
- A batch that is yielded is closed, is in no queue, and was the head of its queue.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from wheelproof.producer.accumulator import readiness
from wheelproof.producer.accumulator.accumulator_config import AccumulatorConfig
from wheelproof.producer.accumulator.partition_queues import PartitionQueues
from wheelproof.producer.accumulator.producer_batch import ProducerBatch
from wheelproof.producer.cluster import Cluster, NodeId
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import MAX_MILLIS


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCheckResult:
    """Which nodes can be sent to now, when to ask again, and whose leaders are not known."""

    ready_nodes: frozenset[NodeId]
    next_ready_check_delay_ms: int
    unknown_leader_topics: frozenset[str]


class BatchDrainer:
    """Looks at the heads of the queues for the sender, and takes them in turn.

    It belongs to the sender alone; the queues are shared, each under its monitor.
    """

    __slots__ = ("_config", "_drain_index", "_muted", "_queues")

    def __init__(self, queues: PartitionQueues, config: AccumulatorConfig) -> None:
        self._queues = queues
        self._config = config
        self._muted: set[TopicPartition] = set()
        # Node -> where its last drain stopped, as an index into the partitions that it leads.
        self._drain_index: dict[NodeId, int] = {}

    def mute(self, partition: TopicPartition) -> None:
        """Leave `partition` out until it is unmuted."""
        self._muted.add(partition)

    def unmute(self, partition: TopicPartition) -> None:
        """Include `partition` again."""
        self._muted.discard(partition)

    def ready(self, cluster: Cluster, now_ms: int, *, hurried: bool) -> ReadyCheckResult:
        """Tell to which nodes something can be sent at `now_ms` (standard 4.2).

        If `hurried`, no batch waits for more records; it still waits for its next attempt.
        """
        ready_nodes: set[NodeId] = set()
        unknown: set[str] = set()
        next_check_ms: int = MAX_MILLIS
        for partition, queue in self._queues.all().items():
            with queue.monitor:
                first = queue.batches[0] if queue.batches else None
                full = first is not None and (len(queue.batches) > 1 or first.is_full())
            if first is None:
                continue
            leader = cluster.leader_for(partition)
            if leader is None:
                unknown.add(partition.topic)
            elif leader not in ready_nodes and partition not in self._muted:
                left_ms = self._time_left_ms(first, now_ms, full or hurried)
                if left_ms is None:
                    ready_nodes.add(leader)
                else:
                    next_check_ms = min(next_check_ms, left_ms)
        return ReadyCheckResult(
            ready_nodes=frozenset(ready_nodes),
            next_ready_check_delay_ms=next_check_ms,
            unknown_leader_topics=frozenset(unknown),
        )

    def take(
        self,
        node: NodeId,
        partitions: tuple[TopicPartition, ...],
        max_size: int,
        now_ms: int,
        taken: list[ProducerBatch],
    ) -> Iterator[ProducerBatch]:
        """Take batches of at most `max_size` bytes together from what `node` leads (standard 4.3).

        At most one of each partition. The first fits in whatever its size. Each is out of its queue
        and closed when it is yielded, and no monitor is held. It goes to the end of `taken` as it
        leaves its queue, so that a signal loses none (standard 6.8).
        """
        size = 0
        start = self._drain_index.get(node, 0)
        for step in range(len(partitions)):
            # Kept, so that the next drain begins where this one stops.
            self._drain_index[node] = index = (start + step) % len(partitions)
            queue = self._queues.get(partitions[index])
            if queue is None or partitions[index] in self._muted:
                continue
            with queue.monitor:
                first = queue.batches[0] if queue.batches else None
                if first is None or self._is_backing_off(first, now_ms):
                    continue
                # Every batch has a header, so only the first one finds a size of 0.
                if size and size + first.estimated_size_in_bytes() > max_size:
                    break
                first.close_for_record_appends()
                del queue.batches[0]
                taken += (first,)
            size += first.estimated_size_in_bytes()
            yield first

    def _time_left_ms(self, batch: ProducerBatch, now_ms: int, sendable: bool) -> int | None:
        """Return how long the first batch of a partition has to wait, None if it is ready."""
        waited_ms = batch.waited_ms(now_ms)
        backoff_ms = self._backoff_ms(batch)
        backing_off = readiness.backing_off(batch.attempts, waited_ms, backoff_ms)
        to_wait_ms = readiness.time_to_wait_ms(backing_off, backoff_ms, self._config.linger_ms)
        left_ms = readiness.time_left_ms(waited_ms, to_wait_ms)
        return None if (sendable or left_ms == 0) and not backing_off else left_ms

    def _is_backing_off(self, batch: ProducerBatch, now_ms: int) -> bool:
        waited_ms = batch.waited_ms(now_ms)
        return readiness.backing_off(batch.attempts, waited_ms, self._backoff_ms(batch))

    def _backoff_ms(self, batch: ProducerBatch) -> int:
        return readiness.retry_backoff_ms(
            batch.attempts, self._config.retry_backoff_ms, self._config.retry_backoff_max_ms
        )
