"""The defaults of the reference are those that Kafka's documentation names."""

import pytest

from support.reference.producer import pool_bench
from support.reference.purgatory import Bench
from wheelproof.producer import AccumulatorConfig, Record, RecordAccumulator
from wheelproof.producer.accumulator.readiness import retry_backoff_ms
from wheelproof.producer.byte_buffer import ByteBuffer, allocate_byte_buffer
from wheelproof.producer.cluster import Cluster, NodeId
from wheelproof.producer.record_sizes import RECORD_BATCH_OVERHEAD
from wheelproof.purgatory.delayed_operation_purgatory import DEFAULT_PURGE_INTERVAL, DEFAULT_SHARDS
from wheelproof.replication.partition import DEFAULT_REPLICA_LAG_TIME_MAX_MS
from wheelproof.timer.system_timer_reaper import WORK_TIMEOUT_MS
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import Millis

_PARTITION = TopicPartition("topic", 0)


@pytest.mark.repeats("reaper-200", "pu-shards", "br-lag")
def test_the_defaults_of_the_broker_are_kafkas() -> None:
    assert (WORK_TIMEOUT_MS, DEFAULT_SHARDS, DEFAULT_REPLICA_LAG_TIME_MAX_MS) == (200, 512, 30_000)


@pytest.mark.repeats("x-interval-second", "pu-threshold", "pu-interval-1000", "br-produce-purge")
def test_1000_operations_that_are_done_stay_and_1001_do_not() -> None:
    bench = Bench(DEFAULT_PURGE_INTERVAL)
    for number in range(1_000):
        bench.watched(number).force_complete()
    # However much time passes: the interval is a count.
    bench.advance(60_000)
    assert bench.purgatory.watched() == 1_000
    bench.watched("one more").force_complete()
    bench.advance(0)
    assert bench.purgatory.watched() == 0


@pytest.mark.repeats("pr-linger-default", "pr-delivery-timeout")
def test_the_defaults_of_the_producer_are_kafkas() -> None:
    config = AccumulatorConfig(batch_size=16_384)
    assert (config.linger_ms, config.delivery_timeout_ms) == (0, 120_000)
    assert (config.retry_backoff_ms, config.retry_backoff_max_ms) == (100, 1_000)


@pytest.mark.repeats("kip-580", "pr-retry-backoff")
def test_the_backoff_doubles_from_100_up_to_1000_ms() -> None:
    backoffs = [retry_backoff_ms(attempts, 100, 1_000) for attempts in range(7)]
    assert backoffs == [0, 100, 200, 400, 800, 1_000, 1_000]


@pytest.mark.repeats("pr-61-bytes")
def test_a_batch_has_a_header_of_61_bytes() -> None:
    with pool_bench(1_000, 500) as bench:
        accumulator = RecordAccumulator(bench.pool, AccumulatorConfig(batch_size=500))
        accumulator.append(_PARTITION, Record(timestamp_ms=0), max_time_to_block_ms=0)
        node = NodeId(1)
        cluster = Cluster(leaders={_PARTITION: node})
        (batch,) = accumulator.drain(cluster, [node], 1_000, Millis(0))[node]
        # Length, attributes, three numbers that are 0, no key, no value, no headers: 7 bytes.
        assert batch.estimated_size_in_bytes() == RECORD_BATCH_OVERHEAD + 7 == 61 + 7


@pytest.mark.repeats("pr-batch-size", "pr-batch-buffer")
@pytest.mark.parametrize(("value", "allocated"), [(b"", 500), (bytes(600), None)])
def test_a_record_larger_than_a_batch_has_a_batch_of_its_own(
    value: bytes, allocated: int | None
) -> None:
    sizes: list[int] = []

    def allocate(size: int) -> ByteBuffer:
        sizes.append(size)
        return allocate_byte_buffer(size)

    with pool_bench(5_000, 500, allocator=allocate) as bench:
        accumulator = RecordAccumulator(bench.pool, AccumulatorConfig(batch_size=500))
        small, record = Record(timestamp_ms=0), Record(timestamp_ms=0, value=value)
        accumulator.append(_PARTITION, small, max_time_to_block_ms=0)
        result = accumulator.append(_PARTITION, record, max_time_to_block_ms=0)
        assert result.new_batch_created is (allocated is None)
        assert sizes == [500, *([record.batch_size_upper_bound()] if allocated is None else [])]


@pytest.mark.repeats("ac-ready-exhausted")
def test_who_waits_for_memory_makes_every_partition_ready() -> None:
    config = AccumulatorConfig(batch_size=100, linger_ms=1_000)
    with pool_bench(100, 100) as bench:
        accumulator = RecordAccumulator(bench.pool, config, clock=bench.clock)
        accumulator.append(_PARTITION, Record(timestamp_ms=0), max_time_to_block_ms=0)
        cluster = Cluster(leaders={_PARTITION: NodeId(1)})
        now_ms = bench.clock.hi_res_clock_ms()
        assert not accumulator.ready(cluster, now_ms).ready_nodes
        assert bench.allocating(1, 10).waits
        assert accumulator.ready(cluster, now_ms).ready_nodes == {1}
