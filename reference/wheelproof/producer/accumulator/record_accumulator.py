"""Where records wait for the sender, in batches: RecordAccumulator.

Sending each record by itself is slow, and holding them back costs memory. So records of a partition
gather in batches, until one is full or old enough; and the memory of all batches is bounded.

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
>>> accumulator
RecordAccumulator(batch_size=200, free=BufferPool(total_memory=1000, poolable_size=200))
>>> future = accumulator.append(payments, Record(timestamp_ms=0, value=b"value")).future
>>> [batch] = accumulator.drain(cluster, accumulator.ready(cluster, 0).ready_nodes, 1_000, 0)[3]
>>> accumulator.complete_batch(batch, 42)
True
>>> future.get().offset
42

Invariants:

- A batch that has not ended is in one queue, in flight, or in the sender's hands.
- Memory that was allocated belongs to a batch, is on its way there, or goes back to the pool.
- Callbacks of a partition run in the order of its appends.
- Nothing is accepted after `close` has returned.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from wheelproof import sync
from wheelproof.clock import Clock, SystemClock
from wheelproof.closing import Closing
from wheelproof.domain import require_integer
from wheelproof.producer.accumulator.accumulator_config import AccumulatorConfig
from wheelproof.producer.accumulator.appends_in_progress import AppendsInProgress
from wheelproof.producer.accumulator.batch_drainer import BatchDrainer, ReadyCheckResult
from wheelproof.producer.accumulator.future_record_metadata import FutureRecordMetadata
from wheelproof.producer.accumulator.in_flight_batches import InFlightBatches
from wheelproof.producer.accumulator.incomplete_batches import IncompleteBatches
from wheelproof.producer.accumulator.partition_queues import PartitionQueue, PartitionQueues
from wheelproof.producer.accumulator.producer_batch import Callback, ProducerBatch
from wheelproof.producer.buffer_pool import BufferPool
from wheelproof.producer.byte_buffer import ByteBuffer
from wheelproof.producer.cluster import Cluster, NodeId
from wheelproof.producer.errors import (
    DeliveryTimeoutError,
    IllegalStateError,
    ProducerAbortedError,
    ProducerClosedError,
)
from wheelproof.producer.record import Record
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import MAX_MILLIS, Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAppendResult:
    """What became of a record. If a batch is full or new, the caller wakes the sender."""

    future: FutureRecordMetadata
    batch_is_full: bool
    new_batch_created: bool


class RecordAccumulator(Closing):
    """Batches of records for many partitions, in the memory of a pool.

    Any number of threads may append, flush and close. One thread, the sender, does everything else.

    A flush also waits for the records of batches that are split meanwhile (KAFKA-9312), and the
    memory of a batch goes back to the pool only when no request can be reading it any more
    (KAFKA-19012), as in Kafka since these were mended.
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
        # A batch is in here from its first record to its end. Until then it is in one queue, in
        # flight, or in the sender's hands.
        self._incomplete = IncompleteBatches()
        # The sender's own.
        self._drainer = BatchDrainer(self._queues, config)
        self._in_flight = InFlightBatches()
        self._next_expiry_ms = Millis(MAX_MILLIS)

    def __repr__(self) -> str:
        """Return the size of a batch, and the pool."""
        return f"{type(self).__name__}(batch_size={self.config.batch_size}, free={self._free!r})"

    def append(
        self,
        partition: TopicPartition,
        record: Record,
        callback: Callback | None = None,
        *,
        max_time_to_block_ms: int = MAX_MILLIS,
    ) -> RecordAppendResult:
        """Add a record, waiting at most `max_time_to_block_ms` for memory (standard 4.1).

        Raises ProducerClosedError once closed, and what `BufferPool.allocate` raises; then the
        record was not taken, and its callback is not called.
        TLA+: BeginAppend, TestClosed, TryAppend, Allocate, AllocateFails, AllocateRaises,
        AppendNew, AppendRaises and EndAppend of RecordAccumulator.
        """
        self._appends_in_progress.begin()
        unused: list[ByteBuffer] = []
        try:
            queue = self._queues.get_or_create(partition)
            with queue.monitor:
                result = self._try_append(queue, record, callback)
            if result is None:
                size = max(self.config.batch_size, record.batch_size_upper_bound())
                # Without the monitor: this may wait for what only the sender can give back.
                unused += (self._free.allocate(size, max_time_to_block_ms),)
                with queue.monitor:
                    # Another thread may have made a batch meanwhile.
                    result = self._try_append(queue, record, callback)
                    if result is None:
                        result = self._append_new_batch(queue, partition, unused, record, callback)
            return result
        finally:
            ended: list[bool] = []
            try:
                try:
                    self._give_back_unused(unused)
                except BaseException:
                    # A signal, here and below: what it cut off is done all the same.
                    if unused and unused[0].receipt is not None:
                        self._give_back_unused(unused)
                    raise
            finally:
                try:
                    self._appends_in_progress.end(ended)
                except BaseException:
                    if not ended:
                        self._appends_in_progress.end(ended)
                    raise

    def begin_flush(self) -> None:
        """Make everything ready, until `await_flush_completion` returns (standard 4.8).

        TLA+: BeginFlush of RecordAccumulator.
        """
        self._flushes_in_progress.add_and_get(1)

    def await_flush_completion(self) -> None:
        """Wait for every record that has been accepted up to now.

        Raises ThreadInterruptedError if interrupted; the flush is over in any case.
        TLA+: LookAtIncomplete, AwaitFlush and FlushInterrupted of RecordAccumulator.
        """
        try:
            self._await_incomplete()
        finally:
            try:
                self._flushes_in_progress.add_and_get(-1)
            except BaseException:
                # A signal came first, and nothing may stay hurried for good.
                self._flushes_in_progress.add_and_get(-1)
                raise

    def flush_in_progress(self) -> bool:
        """Tell whether a thread is flushing."""
        return self._flushes_in_progress.get() > 0

    def close(self) -> None:
        """Accept no more records; what is queued becomes ready (standard 4.9).

        TLA+: Close and ClosePool of RecordAccumulator.
        """
        self._closed.set(True)
        self._free.close()

    def ready(self, cluster: Cluster, now_ms: int) -> ReadyCheckResult:
        """Tell to which nodes something can be sent at `now_ms` (standard 4.2).

        TLA+: Ready of RecordAccumulator.
        """
        return self._drainer.ready(cluster, now_ms, hurried=self._is_hurried())

    def drain(
        self, cluster: Cluster, nodes: Iterable[NodeId], max_size: int, now_ms: int
    ) -> dict[NodeId, list[ProducerBatch]]:
        """Take batches of at most `max_size` bytes for each node (standard 4.3).

        They are in flight until `complete_batch`, `fail_batch`, `reenqueue` or
        `split_and_reenqueue`. Raises IllegalArgumentError for a node that the cluster does not
        have. TLA+: Drain of RecordAccumulator.
        """
        require_integer("max_size", max_size, 0)
        led = {node: cluster.partitions_for_node(node) for node in nodes}
        drained: dict[NodeId, list[ProducerBatch]] = {node: [] for node in led}
        taken: list[ProducerBatch] = []
        try:
            for node, partitions in led.items():
                for batch in self._drainer.take(node, partitions, max_size, now_ms, taken):
                    self._in_flight.add(batch)
                    drained[node] += (batch,)
            return drained
        except BaseException:
            # A signal: the sender does not get them, so they go back.
            for batch in reversed(taken):
                self._in_flight.answered(batch)
                self._put_first(batch)
            raise

    def mute_partition(self, partition: TopicPartition) -> None:
        """Neither report nor drain `partition`; its batches still expire (standard 4.4)."""
        self._drainer.mute(partition)

    def unmute_partition(self, partition: TopicPartition) -> None:
        """Report and drain `partition` again."""
        self._drainer.unmute(partition)

    def complete_batch(
        self, batch: ProducerBatch, base_offset: int, log_append_time_ms: int | None = None
    ) -> bool:
        """Note that a broker stored the batch at `base_offset`; False if the batch had failed.

        `log_append_time_ms` is the broker's time, if the topic's records take that.

        Raises IllegalStateError if the batch is not in flight.
        TLA+: Complete and CompleteEnded of RecordAccumulator.
        """
        self._in_flight.require(batch)
        return self._answered(batch, lambda: batch.complete(base_offset, log_append_time_ms))

    def fail_batch(self, batch: ProducerBatch, error: Exception) -> bool:
        """Note that a broker answered with a final error; False if the batch had failed before.

        Raises IllegalStateError if the batch is not in flight.
        TLA+: Complete and CompleteEnded of RecordAccumulator, whatever the response says.
        """
        self._in_flight.require(batch)
        return self._answered(batch, lambda: batch.complete_exceptionally(error))

    def reenqueue(self, batch: ProducerBatch, now_ms: int) -> None:
        """Take note of a response after which the batch is tried again (standard 4.6).

        Raises IllegalStateError if the batch has ended or is not in flight.
        TLA+: Reenqueue of RecordAccumulator.
        """
        self._require_to_be_tried_again(batch)
        try:
            self._in_flight.answered(batch)
            batch.reenqueued(now_ms)
            self._put_first(batch)
        except BaseException:
            # A signal: if it came first, the response can be taken note of again.
            queue = self._queues.get_or_create(batch.partition)
            with queue.monitor:
                is_queued = batch in queue.batches
            if not is_queued:
                self._in_flight.add(batch)
            raise

    def split_and_reenqueue(
        self, batch: ProducerBatch, *, split_batch_size: int | None = None
    ) -> int:
        """Take note of a response that calls the batch too large (standard 4.6).

        Its records go to the head of the queue in smaller batches, the number of which is returned:
        batches of `split_batch_size` bytes. By default that is the batch size at first, and half of
        the batch when it has come from a split itself. So a second split makes two batches at
        least.
        Raises IllegalStateError if the batch has ended, is not in flight or has one record only,
        and IllegalArgumentError for a size below 1.
        TLA+: Split, EnqueueChild and Forget of RecordAccumulator.
        """
        self._require_to_be_tried_again(batch)
        if split_batch_size is None and batch.is_split_batch:
            # Kafka: batches of the largest record's upper bound, or of half the size.
            # Here:  half the size.
            # Why:   all records may have room in the first: it is split into itself (finding 52).
            children = batch.split_in_halves()
        else:
            size = self.config.batch_size if split_batch_size is None else split_batch_size
            children = batch.split(require_integer("split_batch_size", size, 1))
        self._in_flight.answered(batch)
        for child in reversed(children):
            # Incomplete before the parent leaves: a flush finds one or the other.
            self._incomplete.add(child)
            self._put_first(child)
        self.deallocate(batch)
        return len(children)

    def expired_batches(self, now_ms: int) -> list[ProducerBatch]:
        """Return what can no longer be delivered in time, queued or in flight (standard 4.5).

        What was queued is taken out. The caller hands each batch to `expire`, in this order and
        outside every monitor. TLA+: ExpireQueued and ExpireInAir of RecordAccumulator.
        """
        self._next_expiry_ms = Millis(MAX_MILLIS)
        expired = self._late(self._in_flight.all(), now_ms)
        for queue in self._queues.all().values():
            with queue.monitor:
                for batch in self._late(queue.batches, now_ms):
                    queue.batches.remove(batch)
                    batch.close_for_record_appends()
                    expired.append(batch)
        return self._in_order_of_appends(expired)

    def next_expiry_time_ms(self) -> Millis:
        """Return when the next batch expires, as far as the last call of `expired_batches` saw.

        MAX_MILLIS if there was no such call. The sender does not sleep longer (standard 4.5).
        """
        return self._next_expiry_ms

    def expire(self, batch: ProducerBatch) -> bool:
        """End a batch whose time is over, by a DeliveryTimeoutError.

        If it is in flight, its memory comes back with the response.
        TLA+: Expire of RecordAccumulator.
        """
        self._in_flight.discard(batch)
        error = DeliveryTimeoutError(
            f"records for {batch.partition} were not delivered within "
            f"{self.config.delivery_timeout_ms} ms"
        )
        return self._end(batch, lambda: batch.complete_exceptionally(error))

    def deallocate(self, batch: ProducerBatch) -> None:
        """Forget a batch that has ended, and give its memory back (standard 4.7).

        Raises IllegalStateError if the batch is not incomplete.
        TLA+: Forget of RecordAccumulator.
        """
        self._incomplete.remove(batch)
        self._give_memory_back(batch)

    def abort_incomplete_batches(self) -> None:
        """End every batch by a ProducerAbortedError (standard 4.10).

        Goes on until no append is under way, so it ends only if the accumulator has been closed or
        nobody appends without end.
        TLA+: Abort, AbortBatch, AbortEnd and AbortAwait of RecordAccumulator.
        """
        raised: list[BaseException] = []
        appending = True
        while appending:
            completed = self._appends_in_progress.completed()
            self._abort_batches(raised)
            # Kafka: goes round in this loop until no append is under way.
            # Here:  sleeps until one has ended.
            # Why:   an append may wait for memory, for as long as it likes.
            appending = self._appends_in_progress.await_another(completed)
        # The last of them may have made a batch after the others were aborted.
        self._abort_batches(raised)
        if raised:
            raise raised[0]

    def in_flight(self) -> tuple[ProducerBatch, ...]:
        """Return the batches that wait for a response and have not ended; the sender's to ask."""
        return self._in_flight.all()

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
        unused: list[ByteBuffer],
        record: Record,
        callback: Callback | None,
    ) -> RecordAppendResult:
        """Make a batch of the buffer, which is `unused` no longer. With the queue's monitor."""
        batch = self._batch_class(
            partition,
            unused[0],
            created_ms=self._clock.hi_res_clock_ms(),
            clock=self._clock,
            monitor=queue.monitor,
            place=queue.next_place(),
        )
        future = batch.try_append(record, callback)
        if future is None:
            raise IllegalStateError("a new batch has no room for its first record")
        try:
            queue.batches.append(batch)
            self._incomplete.add(batch)
            unused.clear()
            return RecordAppendResult(
                future=future,
                batch_is_full=len(queue.batches) > 1 or batch.is_full(),
                new_batch_created=True,
            )
        except BaseException:
            # A signal. A flush or a forced close may have found the batch: then it stays.
            if self._incomplete.has(batch):
                unused.clear()
            elif batch in queue.batches:
                queue.batches.remove(batch)
            raise

    def _give_back_unused(self, unused: Iterable[ByteBuffer]) -> None:
        """Return the buffer that an append did not need. TLA+: GiveBack of RecordAccumulator."""
        for buffer in unused:
            self._free.deallocate(buffer)

    def _await_incomplete(self) -> None:
        for result in self._incomplete.request_results():
            result.await_all()

    def _is_hurried(self) -> bool:
        return self._free.queued() > 0 or self._closed.get() or self.flush_in_progress()

    def _put_first(self, batch: ProducerBatch) -> None:
        queue = self._queues.get_or_create(batch.partition)
        with queue.monitor:
            queue.batches.appendleft(batch)

    def _require_to_be_tried_again(self, batch: ProducerBatch) -> None:
        self._in_flight.require(batch)
        if batch.is_done():
            raise IllegalStateError(f"the batch of {batch.partition} has ended: fail it instead")

    def _late(self, batches: Iterable[ProducerBatch], now_ms: int) -> list[ProducerBatch]:
        """Return what has expired; what was sent again can stand behind what is younger."""
        # Kafka: looks at the oldest ones of a queue, and stops at the first that is not late.
        # Here:  looks at all.
        # Why:   a younger batch hides one that was sent again (finding 51).
        return [batch for batch in batches if self._has_expired(batch, now_ms)]

    def _has_expired(self, batch: ProducerBatch, now_ms: int) -> bool:
        timeout_ms = self.config.delivery_timeout_ms
        if batch.has_reached_delivery_timeout(timeout_ms, now_ms):
            return True
        self._next_expiry_ms = min(self._next_expiry_ms, Millis(batch.created_ms + timeout_ms))
        return False

    def _in_order_of_appends(self, batches: Iterable[ProducerBatch]) -> list[ProducerBatch]:
        """Sort batches that are going to end for a partition's callbacks (standard 4.11)."""
        # Kafka: those in flight first, then those in queues; at a forced close in no order.
        # Here:  in the order of their appends.
        # Why:   callbacks of a partition come in the order of the sends (findings 23, 24).
        return sorted(batches, key=_place)

    def _abort_batches(self, raised: list[BaseException]) -> None:
        """Abort what is incomplete; puts what callbacks raise again into `raised`."""
        error = ProducerAbortedError("the producer was closed by force")
        for batch in self._in_order_of_appends(self._incomplete.copy_all()):
            queue = self._queues.get_or_create(batch.partition)
            with queue.monitor:
                batch.close_for_record_appends()
                self._remove_from_queue(queue, batch)
            self._in_flight.discard(batch)
            try:
                now = batch.abort(error)
            except BaseException as failure:
                raised += (failure,)
                # Not yet if a signal came before it could end.
                now = batch.is_done() or batch.abort(error)
            if now:
                try:
                    self.deallocate(batch)
                except IllegalStateError:
                    raise
                except BaseException:
                    self._settle(batch)
                    raise

    def _remove_from_queue(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        """Take an aborted batch out of its queue."""
        if batch in queue.batches:
            queue.batches.remove(batch)

    def _answered(self, batch: ProducerBatch, end: Callable[[], bool]) -> bool:
        """End a batch by the response to its request."""
        try:
            self._in_flight.answered(batch)
            return self._end(batch, end)
        except BaseException:
            if not batch.is_done():
                # A signal: the response can be taken note of again.
                self._in_flight.add(batch)
            raise

    def _end(self, batch: ProducerBatch, end: Callable[[], bool]) -> bool:
        """End a batch and settle what it holds, also if one of its callbacks raises."""
        try:
            now = end()
        except IllegalStateError:
            raise
        except BaseException:
            # Not if a signal came before it could end.
            if batch.is_done():
                self._ended(batch, now=True)
            raise
        try:
            return self._ended(batch, now)
        except IllegalStateError:
            raise
        except BaseException:
            if now:
                self._settle(batch)
            raise

    def _settle(self, batch: ProducerBatch) -> None:
        """Do what a signal cut off of forgetting a batch that has ended."""
        self._incomplete.discard(batch)
        self._give_memory_back(batch)

    def _ended(self, batch: ProducerBatch, now: bool) -> bool:
        """Settle what a batch holds; `now` says whether it ended just now. Returns `now`."""
        if now:
            self.deallocate(batch)
        else:
            # It had expired or been aborted on its way; only its memory was still kept.
            self._give_memory_back(batch)
        return now

    def _give_memory_back(self, batch: ProducerBatch) -> None:
        """Return a batch's memory, or keep it.

        TLA+: operator `ReturnMemory` of RecordAccumulator.
        """
        if self._may_be_read(batch):
            return
        buffer, batch.buffer = batch.buffer, None
        if batch.is_split_batch:
            return
        try:
            self._free.deallocate(buffer)
        except BaseException:
            # A signal, unless the loan is another pool's.
            if buffer is not None and buffer.receipt is not None:
                self._free.deallocate(buffer)
            raise

    def _may_be_read(self, batch: ProducerBatch) -> bool:
        """Tell whether a request may be reading the batch's memory.

        TLA+: operator `MayBeRead` of RecordAccumulator.
        """
        return batch.in_flight


def _place(batch: ProducerBatch) -> tuple[int, ...]:
    return batch.place
