"""Which batches can be sent, and taking them (semantics.md 4.2 - 4.4)."""

from collections.abc import Iterable
from dataclasses import dataclass

from wheelproof.domain import require_integer
from wheelproof.producer import readiness
from wheelproof.producer.accumulator_state import AccumulatorState
from wheelproof.producer.cluster import Cluster, NodeId, TopicPartition
from wheelproof.producer.producer_batch import ProducerBatch
from wheelproof.units import MAX_MILLIS, Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCheckResult:
    """Which nodes can be sent to now, when to ask again, and whose leaders are not known."""

    ready_nodes: frozenset[NodeId]
    next_ready_check_delay_ms: int
    unknown_leader_topics: frozenset[str]


class BatchDraining(AccumulatorState):
    """The part of a record accumulator that the sender asks for batches."""

    def ready(self, cluster: Cluster, now_ms: Millis) -> ReadyCheckResult:
        """Tell to which nodes something can be sent at `now_ms` (semantics.md 4.2).

        TLA+: Ready of RecordAccumulator.
        """
        ready_nodes: set[NodeId] = set()
        unknown: set[str] = set()
        next_check_ms: int = MAX_MILLIS
        hurried = self._is_hurried()
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

    def drain(
        self, cluster: Cluster, nodes: Iterable[NodeId], max_size: int, now_ms: Millis
    ) -> dict[NodeId, list[ProducerBatch]]:
        """Take batches of at most `max_size` bytes for each node (semantics.md 4.3).

        They are in flight until `complete_batch`, `fail_batch`, `reenqueue` or
        `split_and_reenqueue`. Raises IllegalArgumentError for a node that the cluster does not
        have. TLA+: Drain of RecordAccumulator.
        """
        require_integer("max_size", max_size, 0)
        led = {node: cluster.partitions_for_node(node) for node in nodes}
        return {
            node: self._drain_node(node, partitions, max_size, now_ms)
            for node, partitions in led.items()
        }

    def mute_partition(self, partition: TopicPartition) -> None:
        """Neither report nor drain `partition`; its batches still expire (semantics.md 4.4)."""
        self._muted.add(partition)

    def unmute_partition(self, partition: TopicPartition) -> None:
        """Report and drain `partition` again."""
        self._muted.discard(partition)

    def _is_hurried(self) -> bool:
        return self._free.queued() > 0 or self._closed.get() or self.flush_in_progress()

    def _time_left_ms(self, batch: ProducerBatch, now_ms: Millis, sendable: bool) -> int | None:
        """Return how long the first batch of a partition has to wait, None if it is ready."""
        waited_ms = batch.waited_ms(now_ms)
        backoff_ms = self._backoff_ms(batch)
        backing_off = readiness.backing_off(batch.attempts, waited_ms, backoff_ms)
        to_wait_ms = readiness.time_to_wait_ms(backing_off, backoff_ms, self.config.linger_ms)
        left_ms = readiness.time_left_ms(waited_ms, to_wait_ms)
        return None if (sendable or left_ms == 0) and not backing_off else left_ms

    def _backoff_ms(self, batch: ProducerBatch) -> int:
        return readiness.retry_backoff_ms(
            batch.attempts, self.config.retry_backoff_ms, self.config.retry_backoff_max_ms
        )

    def _is_backing_off(self, batch: ProducerBatch, now_ms: Millis) -> bool:
        waited_ms = batch.waited_ms(now_ms)
        return readiness.backing_off(batch.attempts, waited_ms, self._backoff_ms(batch))

    def _drain_node(
        self,
        node: NodeId,
        partitions: tuple[TopicPartition, ...],
        max_size: int,
        now_ms: Millis,
    ) -> list[ProducerBatch]:
        drained: list[ProducerBatch] = []
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
                if drained and size + first.estimated_size_in_bytes() > max_size:
                    break
                queue.batches.popleft()
                first.close_for_record_appends()
            size += first.estimated_size_in_bytes()
            drained.append(first)
            first.in_flight = True
            self._in_flight[first] = None
        return drained
