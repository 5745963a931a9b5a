"""For aiokafka: what the records of a batch are told, where the broker keeps their timestamps."""

import asyncio

import pytest

accumulators = pytest.importorskip("aiokafka.producer.message_accumulator")
structs = pytest.importorskip("aiokafka.structs")


class Cluster:
    """Metadata of a cluster with one node."""

    def leader_for_partition(self, _: object) -> int:
        """Return the only node."""
        return 0


async def told(sent: list[int], answered: int) -> list[int]:
    """Send records of one batch with these timestamps, and return those that they are told."""
    partition = structs.TopicPartition("topic", 0)
    loop = asyncio.get_running_loop()
    accumulator = accumulators.MessageAccumulator(Cluster(), 16_384, 0, 30, loop=loop)
    futures = [
        await accumulator.add_message(partition, None, b"x", 1, timestamp) for timestamp in sent
    ]
    batches, _ = accumulator.drain_by_nodes(())
    batches[0][partition].done(7, answered)
    return [(await future).timestamp for future in futures]


def test_each_record_of_a_batch_is_told_its_own_timestamp() -> None:
    """-1 is what a broker answers for a topic that keeps the timestamps of the producer."""
    assert asyncio.run(told([1_000, 2_000, 3_000], -1)) == [1_000, 2_000, 3_000]


def test_all_records_are_told_the_timestamp_of_the_log() -> None:
    """This one passes: the broker has set the timestamps itself."""
    assert asyncio.run(told([1_000, 2_000, 3_000], 5_000)) == [5_000, 5_000, 5_000]
