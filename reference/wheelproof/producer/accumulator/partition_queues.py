"""The queues of batches, one for each partition that has ever had a record.

Appends to different partitions must not wait for each other, and a partition is looked up for each
record. So each queue has a monitor of its own, and the map is copied at its rare changes.

>>> from wheelproof.producer.accumulator.partition_queues import PartitionQueues
>>> from wheelproof.topic_partition import TopicPartition
>>> payments = TopicPartition("payments", 0)
>>> queues = PartitionQueues()
>>> queues.get(payments) is None
True
>>> queues.get_or_create(payments) is queues.get(payments)
True

Invariants:

- A published map never changes.
- Only the last batch of a queue is open.
"""

from collections import deque
from collections.abc import Mapping
from typing import Annotated

from wheelproof import sync
from wheelproof.producer.accumulator.producer_batch import ProducerBatch
from wheelproof.sync import GuardedBy, Volatile
from wheelproof.topic_partition import TopicPartition


class PartitionQueue:
    """The batches of one partition, the oldest first; its monitor guards the last one as well.

    Only the last batch is open: it is closed before another one is put behind it.
    """

    __slots__ = ("_batches_made", "batches", "monitor")

    def __init__(self) -> None:
        self.monitor = sync.monitor("PartitionQueue.monitor")
        self._batches_made: Annotated[int, GuardedBy("monitor")] = 0
        self.batches: Annotated[deque[ProducerBatch], GuardedBy("monitor")] = deque()

    def next_place(self) -> tuple[int, ...]:
        """Return the place of a new batch in the order of appends; under the monitor."""
        self._batches_made += 1
        return (self._batches_made,)


class PartitionQueues:
    """A map that is read without a lock and copied when a partition is added to it."""

    __slots__ = ("_monitor", "_queues")

    def __init__(self) -> None:
        self._monitor = sync.monitor("PartitionQueues.monitor")
        self._queues: Volatile[Mapping[TopicPartition, PartitionQueue]] = sync.volatile(
            {}, "PartitionQueues.queues"
        )

    def all(self) -> Mapping[TopicPartition, PartitionQueue]:
        """Return the queues as they are at this moment."""
        return self._queues.get()

    def get(self, partition: TopicPartition) -> PartitionQueue | None:
        """Return the queue of `partition`, None if it never had a record."""
        return self._queues.get().get(partition)

    def get_or_create(self, partition: TopicPartition) -> PartitionQueue:
        """Return the queue of `partition`."""
        queue = self._queues.get().get(partition)
        if queue is not None:
            return queue
        with self._monitor:
            queues = self._queues.get()
            queue = queues.get(partition)
            if queue is None:
                queue = PartitionQueue()
                self._queues.set({**queues, partition: queue})
            return queue
