"""Defects of the record accumulator: each class brings one of them back."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from wheelproof.producer import (
    ByteBuffer,
    Cluster,
    ProducerBatch,
    ReadyCheckResult,
    Record,
    RecordAccumulator,
    TopicPartition,
)
from wheelproof.producer.accumulator.partition_queues import PartitionQueue
from wheelproof.producer.accumulator.produce_request_result import ProduceRequestResult
from wheelproof.producer.accumulator.producer_batch import Callback, FinalState
from wheelproof.producer.accumulator.record_accumulator import RecordAppendResult
from wheelproof.units import MAX_MILLIS
from wheelproof_lab.bugs.known_bug import Finder, KnownBug, Sight


class RecyclingAccumulator(RecordAccumulator):
    """KAFKA-19012: the memory of a batch that expires in flight is reused at once."""

    def _may_be_read(self, batch: ProducerBatch) -> bool:
        del batch
        return False


class KeptByAbortAccumulator(RecordAccumulator):
    """KAFKA-3147: a forced close leaves the closed batch in its queue."""

    def _remove_from_queue(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        """Leave the batch in its queue."""


class EndlessFlushAccumulator(RecordAccumulator):
    """KAFKA-3655: an interrupted flush still counts as in progress."""

    def await_flush_completion(self) -> None:
        """Wait for every record that has been accepted up to now."""
        self._await_incomplete()
        self._flushes_in_progress.add_and_get(-1)


class LeakingAccumulator(RecordAccumulator):
    """KAFKA-4741: an error between the allocation and the queue leaks the buffer."""

    def _give_back_unused(self, unused: Iterable[ByteBuffer]) -> None:
        if sys.exception() is None:
            super()._give_back_unused(unused)


class ForgettingSplitBatch(ProducerBatch):
    """KAFKA-9312: a thread that waits for a split batch does not wait for its children."""

    __slots__ = ()

    def _finish_parent(self, children: tuple[ProduceRequestResult, ...]) -> None:
        del children
        super()._finish_parent(())


class ForgettingSplitAccumulator(RecordAccumulator):
    """KAFKA-9312, KAFKA-19479: an accumulator of such batches."""

    _batch_class = ForgettingSplitBatch


class CallbackEndsBatch(ProducerBatch):
    """Kafka's batch: what is no Exception leaves it half done, and an interrupt is dropped."""

    __slots__ = ()

    def _done(
        self,
        state: FinalState,
        base_offset: int,
        error: Exception | None,
        log_append_time_ms: int | None = None,
    ) -> bool:
        if not self._become(state):
            return False
        for thunk in self.thunks:
            told = None if error else thunk.future.metadata(base_offset, log_append_time_ms)
            if thunk.callback is not None:
                with suppress(Exception):
                    thunk.callback(told, error)
        self.result.done(base_offset, error, log_append_time_ms=log_append_time_ms)
        return True


class CallbackEndsBatchAccumulator(RecordAccumulator):
    """An accumulator of such batches."""

    _batch_class = CallbackEndsBatch


class SplitInFlightAccumulator(RecordAccumulator):
    """KAFKA-8202: a batch that was split still counts as in flight."""

    def split_and_reenqueue(
        self, batch: ProducerBatch, *, split_batch_size: int | None = None
    ) -> int:
        """Put the records of `batch` at the head of its queue in smaller batches."""
        count = super().split_and_reenqueue(batch, split_batch_size=split_batch_size)
        self._in_flight.add(batch)
        return count


class RetriedInFlightAccumulator(RecordAccumulator):
    """A batch that waits for another attempt still counts as in flight."""

    def reenqueue(self, batch: ProducerBatch, now_ms: int) -> None:
        """Put `batch` at the head of its queue."""
        super().reenqueue(batch, now_ms)
        self._in_flight.add(batch)


class ClosedUnseenAccumulator(RecordAccumulator):
    """An append that comes back with memory does not look again whether it may go on."""

    def append(
        self,
        partition: TopicPartition,
        record: Record,
        callback: Callback | None = None,
        *,
        max_time_to_block_ms: int = MAX_MILLIS,
    ) -> RecordAppendResult:
        """Add a record."""
        self._appends_in_progress.begin()
        unused: list[ByteBuffer] = []
        try:
            queue = self._queues.get_or_create(partition)
            with queue.monitor:
                result = self._try_append(queue, record, callback)
            if result is None:
                size = max(self.config.batch_size, record.batch_size_upper_bound())
                unused += (self._free.allocate(size, max_time_to_block_ms),)
                with queue.monitor:
                    last = queue.batches[-1] if queue.batches else None
                    future = None if last is None else last.try_append(record, callback)
                    if future is None:
                        result = self._append_new_batch(queue, partition, unused, record, callback)
                    else:
                        result = RecordAppendResult(
                            future=future, batch_is_full=False, new_batch_created=False
                        )
            return result
        finally:
            self._give_back_unused(unused)
            self._appends_in_progress.end([])


class SleeplessAccumulator(RecordAccumulator):
    """The delay until the next check is always 0: the sender never sleeps."""

    def ready(self, cluster: Cluster, now_ms: int) -> ReadyCheckResult:
        """Return the nodes to which the sender can send at `now_ms`."""
        return replace(super().ready(cluster, now_ms), next_ready_check_delay_ms=0)


class OversleepingAccumulator(RecordAccumulator):
    """The delay until the next check is too long by a millisecond: batches are sent late."""

    def ready(self, cluster: Cluster, now_ms: int) -> ReadyCheckResult:
        """Return the nodes to which the sender can send at `now_ms`."""
        result = super().ready(cluster, now_ms)
        delay_ms = result.next_ready_check_delay_ms + 1
        return replace(result, next_ready_check_delay_ms=delay_ms)


class MisnamingAccumulator(RecordAccumulator):
    """The topic of the first partition is reported as the one without a leader."""

    def ready(self, cluster: Cluster, now_ms: int) -> ReadyCheckResult:
        """Return the nodes to which the sender can send at `now_ms`."""
        result = super().ready(cluster, now_ms)
        first = next((partition.topic for partition in self._queues.all()), "")
        topics = frozenset({first} if result.unknown_leader_topics else ())
        return replace(result, unknown_leader_topics=topics)


class QueuedFirstAccumulator(RecordAccumulator):
    """Kafka's order of expiry and forced close: queued batches first, not the append order."""

    def _in_order_of_appends(self, batches: Iterable[ProducerBatch]) -> list[ProducerBatch]:
        return sorted(batches, key=_in_flight_last)


class HeadsOnlyAccumulator(RecordAccumulator):
    """Kafka's search for expired batches: it stops at the first batch that has not expired.

    It does so in each queue, and among the batches in flight of each partition.
    """

    def _late(self, batches: Iterable[ProducerBatch], now_ms: int) -> list[ProducerBatch]:
        late: list[ProducerBatch] = []
        over: set[TopicPartition] = set()
        for batch in batches:
            if batch.partition in over:
                continue
            if self._has_expired(batch, now_ms):
                late.append(batch)
            else:
                over.add(batch.partition)
        return late


def _in_flight_last(batch: ProducerBatch) -> bool:
    return batch.in_flight


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorBug(KnownBug):
    """A defect of the record accumulator, with the class that has it."""

    accumulator_class: type[RecordAccumulator] = RecordAccumulator

    def variant(self) -> type[RecordAccumulator]:
        """Return what `wheelproof fuzz` takes in the place of the reference's class."""
        return self.accumulator_class


BUGS: tuple[AccumulatorBug, ...] = (
    AccumulatorBug(
        id="KAFKA-19012",
        component="accumulator",
        accumulator_class=RecyclingAccumulator,
        trigger="a batch expires while a request is reading its memory, which is reused",
        broken="a buffer is never both free and referenced",
        source="KAFKA-19012",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
        ),
        models=("MCRecordAccumulator_KAFKA_19012",),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="KAFKA-3147",
        component="accumulator",
        accumulator_class=KeptByAbortAccumulator,
        trigger="a forced close leaves the batch that it has closed in the queue",
        broken="what has ended is in no queue",
        source="KAFKA-3147",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
        ),
        models=(
            "MCRecordAccumulator_KAFKA_3147",
            "MCRecordAccumulator_KAFKA_3147_queued",
        ),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="KAFKA-3655",
        component="accumulator",
        accumulator_class=EndlessFlushAccumulator,
        trigger="a flush is interrupted",
        broken="linger is ignored only while a thread flushes",
        source="KAFKA-3655",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
        ),
        models=("MCRecordAccumulator_KAFKA_3655",),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="KAFKA-4741",
        component="accumulator",
        accumulator_class=LeakingAccumulator,
        trigger="an append fails between its allocation and the queue",
        broken="memory is conserved",
        source="KAFKA-4741",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
        ),
        models=("MCRecordAccumulator_KAFKA_4741",),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="KAFKA-9312",
        component="accumulator",
        accumulator_class=ForgettingSplitAccumulator,
        trigger="a batch is split while a thread flushes",
        broken="a flush waits for every record accepted before it",
        source="KAFKA-9312, KAFKA-19479",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
        ),
        models=("MCRecordAccumulator_KAFKA_9312",),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="KAFKA-8202",
        component="accumulator",
        accumulator_class=SplitInFlightAccumulator,
        trigger="a batch is split",
        broken="what is in flight has not ended",
        source="KAFKA-8202",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
        ),
        models=("MCRecordAccumulator_KAFKA_8202",),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="callback-ends-batch",
        component="accumulator",
        accumulator_class=CallbackEndsBatchAccumulator,
        trigger="the callback of a record raises SystemExit, or an interrupt",
        broken="the other records of the batch have their outcomes; an interrupt is raised again",
        source="docs/findings-producer.md",
        finders=(Finder.EXPLORE,),
        unseen="only a callback that raises shows it; in driven and recorded calls none does",
        alone="only a callback that raises shows it; in random calls none does",
    ),
    AccumulatorBug(
        id="retried-in-flight",
        component="accumulator",
        accumulator_class=RetriedInFlightAccumulator,
        trigger="a batch is tried again",
        broken="what waits in a queue is not in flight",
        source="standard 4.6",
        finders=(
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
        ),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="closed-unseen",
        component="accumulator",
        accumulator_class=ClosedUnseenAccumulator,
        trigger="the accumulator is closed while an append has memory and no batch yet",
        broken="after a close has returned nothing is accepted",
        source="standard 4.9",
        finders=(Finder.EXPLORE,),
        unseen=(
            "an append that overlaps the close may have been accepted before it, and nobody asks "
            "in between what is queued"
        ),
        alone="only a close between two steps of an append shows it; random calls do not overlap",
    ),
    AccumulatorBug(
        id="no-sleep",
        component="accumulator",
        accumulator_class=SleeplessAccumulator,
        trigger="the sender asks what is ready, and a batch waits",
        broken="the delay until the next check is what is left to wait: this one is always 0",
        source="standard 4.2",
        finders=(Finder.SEQUENTIAL,),
        seen=(Sight.DRIVEN,),
        alone=(
            "the delay is an answer that no thread depends on: a sender that comes too early "
            "finds nothing"
        ),
    ),
    AccumulatorBug(
        id="oversleeps",
        component="accumulator",
        accumulator_class=OversleepingAccumulator,
        trigger="the sender asks what is ready, and a batch waits",
        broken="the delay until the next check is no longer than what is left to wait",
        source="standard 4.2",
        finders=(Finder.SEQUENTIAL,),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="wrong-topic",
        component="accumulator",
        accumulator_class=MisnamingAccumulator,
        trigger="the sender asks what is ready, and a partition of the second topic has no leader",
        broken="the topics without a leader are named",
        source="standard 4.2",
        finders=(Finder.SEQUENTIAL,),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="queued-first",
        component="accumulator",
        accumulator_class=QueuedFirstAccumulator,
        trigger="batches of a partition expire, or are aborted, queued and in flight at once",
        broken="callbacks of a partition run in the order of the appends",
        source="docs/findings.md",
        finders=(
            Finder.TLC,
            Finder.SEQUENTIAL,
        ),
        models=("MCRecordAccumulator_queued_first",),
        seen=(Sight.DRIVEN,),
    ),
    AccumulatorBug(
        id="late-behind-a-retry",
        component="accumulator",
        accumulator_class=HeadsOnlyAccumulator,
        trigger=(
            "a batch is sent again behind one that was made later, and its delivery time-out passes"
        ),
        broken="what is older than the delivery timeout expires",
        source="docs/findings.md",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
        ),
        models=("MCRecordAccumulator_late_behind_a_retry",),
        unseen=(
            "Whoever drives or records an accumulator mutes a partition while a batch of it is "
            "in flight: then no younger batch comes to stand before it."
        ),
    ),
)
