"""The partitions that a broker has.

Requests look a partition up far more often than a broker gets or loses one.

>>> from wheelproof.clock import ManualClock
>>> from wheelproof.replication.partition import Partition
>>> from wheelproof.replication.partitions import Partitions
>>> from wheelproof.topic_partition import TopicPartition
>>> payments = TopicPartition("payments", 0)
>>> partitions = Partitions()
>>> partitions.put(Partition(payments, broker_id=1, clock=ManualClock()))
>>> partitions.require(payments).topic_partition == payments
True
>>> partitions.remove(payments)
>>> partitions.get(payments) is None
True

Invariants:

- A published map never changes.
"""

from collections.abc import Mapping

from wheelproof import sync
from wheelproof.errors import IllegalArgumentError
from wheelproof.replication.partition import Partition
from wheelproof.sync import Volatile
from wheelproof.topic_partition import TopicPartition


class Partitions:
    """A map that is read without a lock; a thread that changes it holds a lock of its own."""

    def __init__(self) -> None:
        self._partitions: Volatile[Mapping[TopicPartition, Partition]] = sync.volatile(
            {}, "ReplicaManager.all_partitions"
        )

    def get(self, topic_partition: TopicPartition) -> Partition | None:
        """Return the partition, if this broker has it."""
        return self._partitions.get().get(topic_partition)

    def require(self, topic_partition: TopicPartition) -> Partition:
        """Return the partition; raises IllegalArgumentError if this broker does not have it."""
        partition = self.get(topic_partition)
        if partition is None:
            raise IllegalArgumentError(f"this broker has no partition {topic_partition}")
        return partition

    def all(self) -> Mapping[TopicPartition, Partition]:
        """Return every partition of this moment."""
        return self._partitions.get()

    def put(self, partition: Partition) -> None:
        """Publish a partition, which has its leader by now."""
        self._partitions.set({**self._partitions.get(), partition.topic_partition: partition})

    def remove(self, topic_partition: TopicPartition) -> None:
        """Forget a partition, if this broker has it."""
        remaining = dict(self._partitions.get())
        remaining.pop(topic_partition, None)
        self._partitions.set(remaining)
