"""The batches that wait for the response to a request.

Memory of a batch must not be lent again while a request may read it (KAFKA-19012). So somebody has
to know which batches a request has.

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
>>> len(accumulator.in_flight())
0
>>> drained = accumulator.drain(cluster, [3], 1_000, 0)
>>> len(accumulator.in_flight())
1

Invariants:

- What is in here is `in_flight`; the reverse does not hold for a batch that has ended early.
"""

from wheelproof.producer.accumulator.producer_batch import ProducerBatch
from wheelproof.producer.errors import IllegalStateError


class InFlightBatches:
    """The batches that were drained, have no response yet and have not ended.

    It belongs to the sender alone, so it has no lock. A batch that expires or is aborted leaves it
    at once; its `in_flight` stays set until the response, since the request may read its memory.
    """

    __slots__ = ("_batches",)

    def __init__(self) -> None:
        # A dictionary as a set that keeps the order of the drains. Each batch in it is `in_flight`.
        self._batches: dict[ProducerBatch, None] = {}

    def add(self, batch: ProducerBatch) -> None:
        """Note that a request with `batch` is under way."""
        batch.in_flight = True
        self._batches[batch] = None

    def answered(self, batch: ProducerBatch) -> None:
        """Note that the request with `batch` is over."""
        batch.in_flight = False
        self._batches.pop(batch, None)

    def discard(self, batch: ProducerBatch) -> None:
        """Forget a batch that ends before its response; nothing changes if it is not there."""
        self._batches.pop(batch, None)

    def all(self) -> tuple[ProducerBatch, ...]:
        """Return the batches, in the order of their drains."""
        return tuple(self._batches)

    def require(self, batch: ProducerBatch) -> None:
        """Raise IllegalStateError if no request with `batch` is under way."""
        if not batch.in_flight:
            raise IllegalStateError(f"no request with this batch of {batch.partition} is under way")
