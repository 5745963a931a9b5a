"""The batches that have not ended, wherever they are: queued, or on their way (standard 4).

A flush, and a forced close, have to reach every batch, whether it waits, travels or is being
drained. The queues know the first kind alone.

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
>>> accumulator.has_incomplete()
True
>>> accumulator.abort_incomplete_batches()
>>> accumulator.has_incomplete()
False

Invariants:

- A batch is in here from its first record to its end, once.
- The order is that of the appends.
"""

from typing import Annotated

from wheelproof import sync
from wheelproof.producer.accumulator.produce_request_result import ProduceRequestResult
from wheelproof.producer.accumulator.producer_batch import ProducerBatch
from wheelproof.producer.errors import IllegalStateError
from wheelproof.sync import GuardedBy


class IncompleteBatches:
    """A set that remembers the order in which batches came."""

    __slots__ = ("_batches", "_lock")

    def __init__(self) -> None:
        self._lock = sync.lock("IncompleteBatches.lock")
        # A dictionary as a set that keeps the order of its entries.
        self._batches: Annotated[dict[ProducerBatch, None], GuardedBy("_lock")] = {}

    def add(self, batch: ProducerBatch) -> None:
        """Add a batch."""
        with self._lock:
            self._batches[batch] = None

    def remove(self, batch: ProducerBatch) -> None:
        """Remove a batch; raises IllegalStateError if it is not there (standard 4.7)."""
        with self._lock:
            if batch not in self._batches:
                raise IllegalStateError(f"the batch of {batch.partition} is not incomplete")
            del self._batches[batch]

    def has(self, batch: ProducerBatch) -> bool:
        """Tell whether a batch is in here."""
        with self._lock:
            return batch in self._batches

    def discard(self, batch: ProducerBatch) -> None:
        """Remove a batch whose end a signal cut off; nothing changes if it is not there."""
        with self._lock:
            self._batches.pop(batch, None)

    def copy_all(self) -> tuple[ProducerBatch, ...]:
        """Return the batches as they are at this moment."""
        with self._lock:
            return tuple(self._batches)

    def request_results(self) -> tuple[ProduceRequestResult, ...]:
        """Return the results of the batches that are incomplete at this moment."""
        with self._lock:
            return tuple(batch.result for batch in self._batches)

    def is_empty(self) -> bool:
        """Tell whether every batch has ended."""
        with self._lock:
            return not self._batches
