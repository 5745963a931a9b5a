"""Defects of the record accumulator: each class brings one of them back."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from wheelproof.producer import (
    ByteBuffer,
    Cluster,
    ProducerBatch,
    ReadyCheckResult,
    RecordAccumulator,
    TopicPartition,
)
from wheelproof.producer.accumulator.partition_queues import PartitionQueue
from wheelproof.producer.accumulator.produce_request_result import ProduceRequestResult
from wheelproof.units import Millis
from wheelproof_spec.base.known_bug import KnownBug, read_bugs


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

    def _give_back_unused(self, buffer: ByteBuffer | None) -> None:
        if sys.exception() is None:
            super()._give_back_unused(buffer)


class ForgettingSplitBatch(ProducerBatch):
    """KAFKA-9312: a thread that waits for a split batch does not wait for its children."""

    __slots__ = ()

    def _finish_parent(self, children: tuple[ProduceRequestResult, ...]) -> None:
        del children
        super()._finish_parent(())


class ForgettingSplitAccumulator(RecordAccumulator):
    """KAFKA-9312, KAFKA-19479: an accumulator of such batches."""

    _batch_class = ForgettingSplitBatch


class SplitInFlightAccumulator(RecordAccumulator):
    """KAFKA-8202: a batch that was split still counts as in flight."""

    def split_and_reenqueue(self, batch: ProducerBatch) -> int:
        """Put the records of `batch` at the head of its queue in smaller batches."""
        count = super().split_and_reenqueue(batch)
        self._in_flight.add(batch)
        return count


class SleeplessAccumulator(RecordAccumulator):
    """The delay until the next check is always 0: the sender never sleeps."""

    def ready(self, cluster: Cluster, now_ms: Millis) -> ReadyCheckResult:
        """Return the nodes to which the sender can send at `now_ms`."""
        return replace(super().ready(cluster, now_ms), next_ready_check_delay_ms=0)


class OversleepingAccumulator(RecordAccumulator):
    """The delay until the next check is too long by a millisecond: batches are sent late."""

    def ready(self, cluster: Cluster, now_ms: Millis) -> ReadyCheckResult:
        """Return the nodes to which the sender can send at `now_ms`."""
        result = super().ready(cluster, now_ms)
        delay_ms = result.next_ready_check_delay_ms + 1
        return replace(result, next_ready_check_delay_ms=delay_ms)


class MisnamingAccumulator(RecordAccumulator):
    """The topic of the first partition is reported as the one without a leader."""

    def ready(self, cluster: Cluster, now_ms: Millis) -> ReadyCheckResult:
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

    def _late(self, batches: Iterable[ProducerBatch], now_ms: Millis) -> list[ProducerBatch]:
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


BUGS = read_bugs(__file__, "accumulator", AccumulatorBug, globals())
