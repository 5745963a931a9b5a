"""Where records wait for the sender, in batches: RecordAccumulator."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from wheelproof import sync
from wheelproof.clock import Clock, SystemClock
from wheelproof.domain import require_integer
from wheelproof.producer import readiness
from wheelproof.producer.appends_in_progress import AppendsInProgress
from wheelproof.producer.buffer_pool import BufferPool
from wheelproof.producer.byte_buffer import ByteBuffer
from wheelproof.producer.cluster import Cluster, NodeId, TopicPartition
from wheelproof.producer.errors import (
    DeliveryTimeoutError,
    IllegalStateError,
    ProducerAbortedError,
    ProducerClosedError,
)
from wheelproof.producer.future_record_metadata import FutureRecordMetadata
from wheelproof.producer.incomplete_batches import IncompleteBatches
from wheelproof.producer.partition_queues import PartitionQueue, PartitionQueues
from wheelproof.producer.producer_batch import Callback, ProducerBatch
from wheelproof.producer.record import Record
from wheelproof.units import MAX_MILLIS, Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorConfig:
    """Sizes in bytes, times in milliseconds; the names are those of Kafka's configuration.

    A batch is sent when it is full or `linger_ms` old, tried again after `retry_backoff_ms`, which
    doubles up to `retry_backoff_max_ms`, and given up after `delivery_timeout_ms`.
    """

    batch_size: int
    linger_ms: int = 0
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    delivery_timeout_ms: int = 120_000

    def __post_init__(self) -> None:
        require_integer("batch_size", self.batch_size, 1)
        require_integer("linger_ms", self.linger_ms, 0)
        require_integer("retry_backoff_max_ms", self.retry_backoff_max_ms, 0)
        require_integer("retry_backoff_ms", self.retry_backoff_ms, 0, self.retry_backoff_max_ms)
        require_integer("delivery_timeout_ms", self.delivery_timeout_ms, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAppendResult:
    """What became of a record; if a batch is full or new, the sender is to be woken."""

    future: FutureRecordMetadata
    batch_is_full: bool
    new_batch_created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCheckResult:
    """Which nodes can be sent to now, when to ask again, and whose leaders are not known."""

    ready_nodes: frozenset[NodeId]
    next_ready_check_delay_ms: int
    unknown_leader_topics: frozenset[str]


def _place(batch: ProducerBatch) -> tuple[int, ...]:
    return batch.place


class RecordAccumulator:
    """Batches of records for many partitions, in the memory of a pool.

    Any number of threads may append, flush and close. One thread, the sender, does everything else.

    Unlike Kafka's, a flush also waits for the records of batches that are split meanwhile
    (KAFKA-9312), the memory of a batch goes back to the pool only when no request can be reading it
    any more (KAFKA-19012), and the callbacks of a partition run in the order of its appends also
    when batches expire or are aborted; docs/findings.md has the counterexamples.
    TLA+: RecordAccumulator.
    """

    _batch_class: ClassVar[type[ProducerBatch]] = ProducerBatch

    def __init__(
        self, free: BufferPool, config: AccumulatorConfig, *, clock: Clock | None = None
    ) -> None:
        """Make an empty accumulator over the pool `free`; `clock` is the system's by default."""
        self.config = config
        self._free = free
        self._clock = SystemClock() if clock is None else clock
        self._closed = sync.volatile(False, "RecordAccumulator.closed")
        self._flushes_in_progress = sync.atomic_integer(0, "RecordAccumulator.flushes_in_progress")
        self._appends_in_progress = AppendsInProgress()
        self._queues = PartitionQueues()
        self._incomplete = IncompleteBatches()
        # The sender's own.
        self._muted: set[TopicPartition] = set()
        self._drain_index: dict[NodeId, int] = {}
        self._in_flight: dict[ProducerBatch, None] = {}

    def append(
        self,
        partition: TopicPartition,
        record: Record,
        callback: Callback | None = None,
        *,
        max_time_to_block_ms: int = MAX_MILLIS,
    ) -> RecordAppendResult:
        """Add a record, waiting at most `max_time_to_block_ms` for memory (semantics.md 4.1).

        Raises ProducerClosedError once closed, and what `BufferPool.allocate` raises; then the
        record was not taken, and its callback is not called.
        TLA+: TryAppend, Allocate and AppendNew of RecordAccumulator.
        """
        self._appends_in_progress.begin()
        unused: ByteBuffer | None = None
        try:
            queue = self._queues.get_or_create(partition)
            with queue.monitor:
                result = self._try_append(queue, record, callback)
            if result is None:
                size = max(self.config.batch_size, record.batch_size_upper_bound())
                # Without the monitor: this may wait for what only the sender can give back.
                unused = self._free.allocate(size, max_time_to_block_ms)
                with queue.monitor:
                    # Another thread may have made a batch meanwhile.
                    result = self._try_append(queue, record, callback)
                    if result is None:
                        result = self._append_new_batch(queue, partition, unused, record, callback)
                        unused = None
            return result
        finally:
            self._give_back_unused(unused)
            self._appends_in_progress.end()

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

    def complete_batch(self, batch: ProducerBatch, base_offset: int) -> bool:
        """Take note of a response: stored at `base_offset`; False if it had failed before.

        TLA+: Complete of RecordAccumulator.
        """
        self._require_in_flight(batch)
        self._request_is_over(batch)
        return self._ended(batch, batch.complete(base_offset))

    def fail_batch(self, batch: ProducerBatch, error: Exception) -> bool:
        """Take note of a response with an error that is final; False if it had failed before.

        TLA+: Fail of RecordAccumulator.
        """
        self._require_in_flight(batch)
        self._request_is_over(batch)
        return self._ended(batch, batch.complete_exceptionally(error))

    def reenqueue(self, batch: ProducerBatch, now_ms: Millis) -> None:
        """Take note of a response after which the batch is tried again (semantics.md 4.6).

        Raises IllegalStateError if the batch has ended or is not in flight.
        TLA+: Reenqueue of RecordAccumulator.
        """
        self._require_to_be_tried_again(batch)
        self._request_is_over(batch)
        batch.reenqueued(now_ms)
        queue = self._queues.get_or_create(batch.partition)
        with queue.monitor:
            queue.batches.appendleft(batch)

    def split_and_reenqueue(self, batch: ProducerBatch) -> int:
        """Take note of a response that calls the batch too large (semantics.md 4.6).

        Its records go to the head of the queue in smaller batches, the number of which is returned.
        Raises IllegalStateError if the batch has ended, is not in flight or has one record only.
        TLA+: Split of RecordAccumulator.
        """
        self._require_to_be_tried_again(batch)
        children = batch.split(self.config.batch_size)
        self._request_is_over(batch)
        for child in reversed(children):
            # Incomplete before the parent leaves: a flush finds one or the other.
            self._incomplete.add(child)
            queue = self._queues.get_or_create(batch.partition)
            with queue.monitor:
                queue.batches.appendleft(child)
        self.deallocate(batch)
        return len(children)

    def expired_batches(self, now_ms: Millis) -> list[ProducerBatch]:
        """Return what can no longer be delivered in time, queued or in flight (semantics.md 4.5).

        What was queued is taken out. The caller hands each batch to `expire`, in this order and
        outside every monitor. TLA+: Expire of RecordAccumulator.
        """
        expired = [batch for batch in self._in_flight if self._has_expired(batch, now_ms)]
        for queue in self._queues.all().values():
            with queue.monitor:
                while queue.batches and self._has_expired(queue.batches[0], now_ms):
                    batch = queue.batches.popleft()
                    batch.close_for_record_appends()
                    expired.append(batch)
        return self._in_order_of_appends(expired)

    def expire(self, batch: ProducerBatch) -> bool:
        """End a batch whose time is over, by a DeliveryTimeoutError.

        If it is in flight, its memory comes back with the response.
        """
        self._in_flight.pop(batch, None)
        error = DeliveryTimeoutError(
            f"records for {batch.partition} were not delivered within "
            f"{self.config.delivery_timeout_ms} ms"
        )
        return self._ended(batch, batch.complete_exceptionally(error))

    def deallocate(self, batch: ProducerBatch) -> None:
        """Forget a batch that has ended, and give its memory back (semantics.md 4.7).

        Raises IllegalStateError if the batch is not incomplete.
        """
        self._incomplete.remove(batch)
        self._give_memory_back(batch)

    def begin_flush(self) -> None:
        """Make everything ready, until `await_flush_completion` returns (semantics.md 4.8)."""
        self._flushes_in_progress.add_and_get(1)

    def await_flush_completion(self) -> None:
        """Wait for every record that has been accepted up to now.

        Raises ThreadInterruptedError if interrupted; the flush is over in any case.
        TLA+: AwaitFlush of RecordAccumulator.
        """
        try:
            self._await_incomplete()
        finally:
            self._flushes_in_progress.add_and_get(-1)

    def flush_in_progress(self) -> bool:
        """Tell whether a thread is flushing."""
        return self._flushes_in_progress.get() > 0

    def close(self) -> None:
        """Accept no more records; what is queued becomes ready (semantics.md 4.9).

        TLA+: Close of RecordAccumulator.
        """
        self._closed.set(True)
        self._free.close()

    def abort_incomplete_batches(self) -> None:
        """End every batch by a ProducerAbortedError (semantics.md 4.10).

        Goes on until no append is under way, so it ends only if the accumulator has been closed or
        nobody appends without end. Kafka spins meanwhile; this waits.
        TLA+: Abort of RecordAccumulator.
        """
        appending = True
        while appending:
            completed = self._appends_in_progress.completed()
            self._abort_batches()
            appending = self._appends_in_progress.await_another(completed)
        # The last of them may have made a batch after the others were aborted.
        self._abort_batches()

    def has_undrained(self) -> bool:
        """Tell whether a batch waits in a queue."""
        for queue in self._queues.all().values():
            with queue.monitor:
                if queue.batches:
                    return True
        return False

    def has_incomplete(self) -> bool:
        """Tell whether a record has been accepted and has no outcome yet."""
        return not self._incomplete.is_empty()

    def in_flight(self) -> tuple[ProducerBatch, ...]:
        """Return the batches that wait for a response and have not ended; the sender's to ask."""
        return tuple(self._in_flight)

    def _try_append(
        self, queue: PartitionQueue, record: Record, callback: Callback | None
    ) -> RecordAppendResult | None:
        """Add a record to the last batch; closes that if there is no room."""
        if self._closed.get():
            raise ProducerClosedError("the accumulator has been closed; it takes no more records")
        if not queue.batches:
            return None
        last = queue.batches[-1]
        future = last.try_append(record, callback)
        if future is None:
            last.close_for_record_appends()
            return None
        return RecordAppendResult(
            future=future,
            batch_is_full=len(queue.batches) > 1 or last.is_full(),
            new_batch_created=False,
        )

    def _append_new_batch(
        self,
        queue: PartitionQueue,
        partition: TopicPartition,
        buffer: ByteBuffer,
        record: Record,
        callback: Callback | None,
    ) -> RecordAppendResult:
        batch = self._batch_class(
            partition,
            buffer,
            created_ms=self._clock.hi_res_clock_ms(),
            clock=self._clock,
            monitor=queue.monitor,
            place=queue.next_place(),
        )
        future = batch.try_append(record, callback)
        if future is None:
            raise IllegalStateError("a new batch has no room for its first record")
        queue.batches.append(batch)
        self._incomplete.add(batch)
        return RecordAppendResult(
            future=future,
            batch_is_full=len(queue.batches) > 1 or batch.is_full(),
            new_batch_created=True,
        )

    def _give_back_unused(self, buffer: ByteBuffer | None) -> None:
        self._free.deallocate(buffer)

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

    def _has_expired(self, batch: ProducerBatch, now_ms: Millis) -> bool:
        return batch.has_reached_delivery_timeout(self.config.delivery_timeout_ms, now_ms)

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

    def _request_is_over(self, batch: ProducerBatch) -> None:
        batch.in_flight = False
        self._in_flight.pop(batch, None)

    def _ended(self, batch: ProducerBatch, now: bool) -> bool:
        if now:
            self.deallocate(batch)
        else:
            # It had expired or been aborted on its way; only its memory was still kept.
            self._give_memory_back(batch)
        return now

    def _give_memory_back(self, batch: ProducerBatch) -> None:
        if self._may_be_read(batch):
            return
        buffer, batch.buffer = batch.buffer, None
        if not batch.is_split_batch:
            self._free.deallocate(buffer)

    def _may_be_read(self, batch: ProducerBatch) -> bool:
        return batch.in_flight

    def _require_in_flight(self, batch: ProducerBatch) -> None:
        if not batch.in_flight:
            raise IllegalStateError(f"no request with this batch of {batch.partition} is under way")

    def _require_to_be_tried_again(self, batch: ProducerBatch) -> None:
        self._require_in_flight(batch)
        if batch.is_done():
            raise IllegalStateError(f"the batch of {batch.partition} has ended: fail it instead")

    def _await_incomplete(self) -> None:
        for result in self._incomplete.request_results():
            result.await_all()

    def _abort_batches(self) -> None:
        error = ProducerAbortedError("the producer was closed by force")
        for batch in self._in_order_of_appends(self._incomplete.copy_all()):
            queue = self._queues.get_or_create(batch.partition)
            with queue.monitor:
                batch.close_for_record_appends()
                self._remove_from_queue(queue, batch)
            self._in_flight.pop(batch, None)
            batch.abort(error)
            self.deallocate(batch)

    def _in_order_of_appends(self, batches: Iterable[ProducerBatch]) -> list[ProducerBatch]:
        """Sort batches that are going to end, for the order of a partition's callbacks (4.11)."""
        return sorted(batches, key=_place)

    def _remove_from_queue(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        if batch in queue.batches:
            queue.batches.remove(batch)
