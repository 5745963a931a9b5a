"""For kafka-python: a partition behind one that always has something to send."""

import pytest

accumulators = pytest.importorskip("kafka.producer.record_accumulator")
structs = pytest.importorskip("kafka.structs")


class Cluster:
    """Metadata of a cluster with one node, which leads both partitions."""

    def __init__(self, partitions: list[object]) -> None:
        """Store the partitions."""
        self.partitions = partitions

    def leader_for_partition(self, _: object) -> int:
        """Return the only node."""
        return 0

    def partitions_for_broker(self, _: int) -> list[object]:
        """Return the partitions in a fixed order."""
        return self.partitions


def drained(requests: int, batches_of_the_busy_one: int) -> list[int]:
    """Drain one batch for each request, and return the partitions that they are of."""
    busy, quiet = (structs.TopicPartition("topic", number) for number in (0, 1))
    cluster = Cluster([busy, quiet])
    accumulator = accumulators.RecordAccumulator(batch_size=105, linger_ms=0)
    for _ in range(batches_of_the_busy_one):
        accumulator.append(busy, 0, None, b"x" * 60, [], now=0.0)
    accumulator.append(quiet, 0, None, b"x" * 60, [], now=0.0)
    sent: list[int] = []
    for _ in range(requests):
        for batch in accumulator.drain(cluster, [0], 1, now=1.0)[0]:
            sent.append(batch.topic_partition.partition)
            batch.complete(0, -1)
            accumulator.deallocate(batch)
    return sent


def test_a_partition_behind_a_busy_one_is_drained() -> None:
    """The comment in `drain`: "to make starvation less likely this loop doesn't start at 0"."""
    assert 1 in drained(requests=10, batches_of_the_busy_one=20)


def test_a_partition_is_drained_once_the_other_one_is_empty() -> None:
    """This one passes."""
    assert drained(requests=3, batches_of_the_busy_one=2) == [0, 0, 1]
