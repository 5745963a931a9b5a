"""How a record gets into a batch, in two phases (semantics.md 4.1)."""

from dataclasses import dataclass
from typing import ClassVar

from wheelproof.producer.accumulator_state import AccumulatorState
from wheelproof.producer.byte_buffer import ByteBuffer
from wheelproof.producer.cluster import TopicPartition
from wheelproof.producer.errors import IllegalStateError, ProducerClosedError
from wheelproof.producer.future_record_metadata import FutureRecordMetadata
from wheelproof.producer.partition_queues import PartitionQueue
from wheelproof.producer.producer_batch import Callback, ProducerBatch
from wheelproof.producer.record import Record
from wheelproof.units import MAX_MILLIS


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAppendResult:
    """What became of a record; if a batch is full or new, the sender is to be woken."""

    future: FutureRecordMetadata
    batch_is_full: bool
    new_batch_created: bool


class RecordAppending(AccumulatorState):
    """The part of a record accumulator that any number of threads append to."""

    _batch_class: ClassVar[type[ProducerBatch]] = ProducerBatch

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
