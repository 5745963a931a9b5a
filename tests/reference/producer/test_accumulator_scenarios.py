"""What Kafka's own tests ask of the record accumulator (standard 7), and its rules."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from support import seeds
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.errors import IllegalArgumentError
from wheelproof.producer import (
    AccumulatorConfig,
    BufferExhaustedError,
    BufferPool,
    Cluster,
    DeliveryTimeoutError,
    FutureRecordMetadata,
    IllegalStateError,
    NodeId,
    ProducerAbortedError,
    ProducerBatch,
    ProducerClosedError,
    Record,
    RecordAccumulator,
    RecordMetadata,
    ResultTimeoutError,
    TopicPartition,
)
from wheelproof.producer.record import varint
from wheelproof.producer.record_sizes import RECORD_BATCH_OVERHEAD, varint_size
from wheelproof.units import Millis

_ZERO, _ONE, _OTHER = (TopicPartition("topic", number) for number in range(3))
_NODE, _NODE_2 = NodeId(1), NodeId(2)
_CLUSTER = Cluster(leaders={_ZERO: _NODE, _ONE: _NODE, _OTHER: _NODE_2})
_MOST = 2**20
_RECORD = 10
"""What a record of `_Bench.append` takes."""


def _config(
    *,
    records: int = 3,
    linger_ms: int = 0,
    retry_backoff_ms: int = 0,
    delivery_timeout_ms: int = 1_000,
) -> AccumulatorConfig:
    return AccumulatorConfig(
        batch_size=max(RECORD_BATCH_OVERHEAD + records * _RECORD, 90),
        linger_ms=linger_ms,
        retry_backoff_ms=retry_backoff_ms,
        delivery_timeout_ms=delivery_timeout_ms,
    )


@dataclass(slots=True)
class _Bench:
    config: AccumulatorConfig = field(default_factory=_config)
    batches: int = 20
    clock: ManualClock = field(default_factory=ManualClock)
    pool: BufferPool = field(init=False)
    accumulator: RecordAccumulator = field(init=False)
    told: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])

    def __post_init__(self) -> None:
        size = self.config.batch_size
        self.pool = BufferPool(self.batches * size, size, clock=self.clock)
        self.accumulator = RecordAccumulator(self.pool, self.config, clock=self.clock)

    def append(
        self, name: str, partition: TopicPartition = _ZERO, value: bytes = b"abc"
    ) -> FutureRecordMetadata:
        record = Record(timestamp_ms=0, value=value)
        callback = partial(self._on_completion, name)
        return self.accumulator.append(partition, record, callback, max_time_to_block_ms=0).future

    def ready(self, cluster: Cluster = _CLUSTER) -> set[int]:
        return set(self.accumulator.ready(cluster, self.now_ms).ready_nodes)

    def drain(self, node: NodeId = _NODE, most: int = _MOST) -> list[ProducerBatch]:
        return self.accumulator.drain(_CLUSTER, [node], most, self.now_ms)[node]

    def drain_one(self) -> ProducerBatch:
        (batch,) = self.drain()
        return batch

    @property
    def now_ms(self) -> Millis:
        return self.clock.hi_res_clock_ms()

    def nothing_is_left(self) -> bool:
        gone = not self.accumulator.has_undrained() and not self.accumulator.has_incomplete()
        return gone and self.pool.available_memory() == self.pool.total_memory

    def _on_completion(
        self, name: str, metadata: RecordMetadata | None, error: Exception | None
    ) -> None:
        self.told.append((name, metadata.offset if metadata is not None else type(error)))


@pytest.mark.repeats(
    "ac-queue", "ac-append-result", "ac-try-last", "ac-ready-full", "pr-linger-bound"
)
def test_accumulator_fills_a_batch_and_makes_it_ready() -> None:
    bench = _Bench(_config(linger_ms=10))
    results = [
        bench.accumulator.append(_ZERO, Record(timestamp_ms=0, value=b"abc")) for _ in range(4)
    ]
    assert [one.new_batch_created for one in results] == [True, False, False, True]
    assert [one.batch_is_full for one in results] == [False, False, True, True]
    assert bench.ready() == {_NODE}
    (batch,) = bench.drain()
    assert len(batch.thunks) == 3
    assert len(batch.records()) == batch.estimated_size_in_bytes() == RECORD_BATCH_OVERHEAD + 30


@pytest.mark.repeats("ac-ready-linger", "ac-next-check")
def test_accumulator_lingers() -> None:
    bench = _Bench(_config(linger_ms=10))
    bench.append("a")
    result = bench.accumulator.ready(_CLUSTER, bench.now_ms)
    assert (set(result.ready_nodes), result.next_ready_check_delay_ms) == (set(), 10)
    bench.clock.advance(10)
    assert bench.ready() == {_NODE}


@pytest.mark.repeats("ac-drain-size", "ac-drain-one", "ac-drain-rotates", "ac-drain-first")
def test_accumulator_drains_by_size_and_rotates() -> None:
    bench = _Bench(_config(records=1))
    for partition in (_ZERO, _ONE):
        for name in "abc":
            bench.append(name, partition)
    order: list[TopicPartition] = []
    for _ in range(4):
        (batch,) = bench.drain(most=1)
        order.append(batch.partition)
    assert order == [_ZERO, _ONE, _ZERO, _ONE]


@pytest.mark.repeats("pr-metadata", "pr-log-append-time")
@pytest.mark.parametrize(("log_append_time_ms", "timestamp_ms"), [(None, 7), (0, 0), (99, 99)])
def test_metadata_has_sizes_and_the_time_of_the_append_if_there_is_one(
    log_append_time_ms: int | None, timestamp_ms: int
) -> None:
    bench, told = _Bench(), list[RecordMetadata | None]()
    record = Record(timestamp_ms=7, key=b"k", value=None, headers=(("h", b"x"),))
    appended = bench.accumulator.append(
        _ZERO, record, lambda metadata, _: told.append(metadata), max_time_to_block_ms=0
    )
    bench.accumulator.complete_batch(bench.drain_one(), 3, log_append_time_ms)
    metadata = appended.future.get(0)
    assert told == [metadata]
    assert (metadata.offset, metadata.timestamp_ms) == (3, timestamp_ms)
    assert (metadata.serialized_key_size, metadata.serialized_value_size) == (1, None)


@pytest.mark.repeats("ac-unknown-leaders")
def test_accumulator_reports_topics_without_leader() -> None:
    bench = _Bench()
    bench.append("a")
    result = bench.accumulator.ready(Cluster(leaders={_ZERO: None}), bench.now_ms)
    assert result.unknown_leader_topics == {"topic"}
    assert not result.ready_nodes


@pytest.mark.repeats("ac-ready-not-muted", "pr-muting")
def test_accumulator_mutes() -> None:
    bench = _Bench()
    bench.append("a")
    bench.accumulator.mute_partition(_ZERO)
    assert bench.ready() == set()
    assert bench.drain() == []
    bench.accumulator.unmute_partition(_ZERO)
    assert len(bench.drain()) == 1


@pytest.mark.repeats("ac-ready-not-backing-off", "ac-drain-backoff", "ac-reenqueue")
def test_accumulator_backs_off_and_lets_others_through() -> None:
    bench = _Bench(_config(retry_backoff_ms=100))
    bench.append("a")
    bench.accumulator.reenqueue(bench.drain_one(), bench.now_ms)
    bench.append("b", _ONE)
    assert [batch.partition for batch in bench.drain()] == [_ONE]
    bench.clock.advance(99)
    assert bench.ready() == set()
    bench.clock.advance(1)
    assert bench.drain_one().attempts == 1


@pytest.mark.repeats("ac-future", "pr-callback-order", "pr-callback-once")
def test_accumulator_completes_in_order_exactly_once() -> None:
    bench = _Bench()
    futures = [bench.append(name) for name in "abcdef"]
    offset = 0
    while bench.accumulator.has_undrained():
        batch = bench.drain_one()
        assert bench.accumulator.complete_batch(batch, offset)
        offset += len(batch.thunks)
    assert bench.told == [(name, number) for number, name in enumerate("abcdef")]
    assert [future.get().offset for future in futures] == list(range(6))
    assert bench.nothing_is_left()


@pytest.mark.repeats("kip-126", "ac-split", "ac-split-memory", "ac-future-chain")
def test_accumulator_splits_in_order_and_the_futures_follow() -> None:
    bench = _Bench(_config(records=3))
    futures = [bench.append(name) for name in "abcd"]
    big = bench.drain_one()
    bench.accumulator.config = _config(records=1)
    assert bench.accumulator.split_and_reenqueue(big) >= 1
    assert not any(future.is_done() for future in futures)
    offset = 0
    while bench.accumulator.has_undrained():
        batch = bench.drain_one()
        bench.accumulator.complete_batch(batch, offset)
        offset += len(batch.thunks)
    assert [name for name, _ in bench.told] == list("abcd")
    assert [future.get(0).offset for future in futures] == [0, 1, 2, 3]
    assert bench.nothing_is_left()


@pytest.mark.campaign
@seed(seeds.seed(33_010))
@settings(max_examples=seeds.runs(100, hunted=2_000))
@given(st.lists(st.integers(0, 300), min_size=2, max_size=12))
def test_accumulator_splits_until_each_record_is_alone(sizes: Sequence[int]) -> None:
    bench = _Bench(_config(records=500, linger_ms=1_000))
    futures = [bench.append(str(at), value=bytes(size)) for at, size in enumerate(sizes)]
    bench.accumulator.begin_flush()
    sizes_sent = list[int]()
    splits = 0
    while bench.accumulator.has_undrained():
        batch = bench.drain_one()
        bench.accumulator.unmute_partition(batch.partition)
        if len(batch.thunks) == 1:
            sizes_sent.append(len(batch.thunks[0].record.value or b""))
            bench.accumulator.complete_batch(batch, len(sizes_sent))
            continue
        was_split = batch.is_split_batch
        children = bench.accumulator.split_and_reenqueue(batch)
        assert children >= 1 + was_split
        splits += 1
    assert sizes_sent == sizes
    assert splits <= len(sizes)
    assert all(future.is_done() for future in futures)


def test_accumulator_does_not_split_one_record() -> None:
    bench = _Bench()
    bench.append("a")
    batch = bench.drain_one()
    with pytest.raises(IllegalStateError, match="cannot be split"):
        bench.accumulator.split_and_reenqueue(batch)
    with pytest.raises(IllegalArgumentError, match="split_batch_size has to lie within 1 and"):
        bench.accumulator.split_and_reenqueue(batch, split_batch_size=0)
    bench.accumulator.complete_batch(batch, 0)
    assert bench.nothing_is_left()


@pytest.mark.repeats("kip-91", "ac-expired")
@pytest.mark.parametrize("muted", [False, True])
def test_accumulator_expires_queued_batches_muted_or_not(muted: bool) -> None:
    bench = _Bench(_config(delivery_timeout_ms=50))
    bench.append("a")
    if muted:
        bench.accumulator.mute_partition(_ZERO)
    bench.clock.advance(49)
    assert bench.accumulator.expired_batches(bench.now_ms) == []
    bench.clock.advance(1)
    for batch in bench.accumulator.expired_batches(bench.now_ms):
        bench.accumulator.expire(batch)
    assert bench.told == [("a", DeliveryTimeoutError)]
    assert bench.nothing_is_left()


@pytest.mark.repeats("k-19012", "pr-delivery-includes")
def test_accumulator_keeps_the_memory_of_an_expired_batch_until_its_response() -> None:
    bench = _Bench(_config(records=1, delivery_timeout_ms=50))
    bench.append("a")
    in_flight = bench.drain_one()
    bench.append("b")
    bench.clock.advance(50)
    for batch in bench.accumulator.expired_batches(bench.now_ms):
        bench.accumulator.expire(batch)
    assert [name for name, _ in bench.told] == ["a", "b"], "in the order of the appends"
    assert bench.pool.available_memory() == bench.pool.total_memory - bench.config.batch_size
    assert not bench.accumulator.complete_batch(in_flight, 0)
    assert bench.nothing_is_left()


@pytest.mark.repeats("ac-final-once")
def test_accumulator_refuses_responses_that_make_no_sense() -> None:
    bench = _Bench()
    bench.append("a")
    batch = bench.drain_one()
    bench.accumulator.complete_batch(batch, 0)
    for action in (
        partial(bench.accumulator.complete_batch, batch, 0),
        partial(bench.accumulator.fail_batch, batch, ValueError()),
        partial(bench.accumulator.reenqueue, batch, bench.now_ms),
        partial(bench.accumulator.split_and_reenqueue, batch),
        partial(bench.accumulator.deallocate, batch),
    ):
        with pytest.raises(IllegalStateError):
            action()
    assert bench.told == [("a", 0)]
    assert bench.nothing_is_left()


@pytest.mark.repeats("ac-flush-now", "pr-flush-linger")
def test_accumulator_flush_makes_everything_ready() -> None:
    bench = _Bench(_config(linger_ms=1_000))
    bench.append("a")
    bench.accumulator.begin_flush()
    assert bench.ready() == {_NODE}
    bench.accumulator.complete_batch(bench.drain_one(), 0)
    bench.accumulator.await_flush_completion()
    assert not bench.accumulator.flush_in_progress()


@pytest.mark.repeats("ac-ready-closed", "ac-close")
def test_accumulator_close_makes_everything_ready_and_takes_no_more() -> None:
    bench = _Bench(_config(linger_ms=1_000))
    bench.append("a")
    bench.accumulator.close()
    with pytest.raises(ProducerClosedError):
        bench.append("b")
    assert bench.ready() == {_NODE}
    bench.accumulator.complete_batch(bench.drain_one(), 0)
    assert bench.told == [("a", 0)]
    assert bench.nothing_is_left()


@pytest.mark.repeats("ac-abort-callbacks", "ac-undrained", "pr-close-fails")
def test_accumulator_abort_runs_all_callbacks_in_order_and_leaves_nothing() -> None:
    bench = _Bench(_config(records=1))
    for name in "abc":
        bench.append(name)
    in_flight = bench.drain_one()
    bench.accumulator.close()
    bench.accumulator.abort_incomplete_batches()
    assert bench.told == [(name, ProducerAbortedError) for name in "abc"]
    assert not bench.accumulator.has_incomplete()
    assert not bench.accumulator.has_undrained()
    assert not bench.accumulator.fail_batch(in_flight, ValueError())
    assert bench.nothing_is_left()


@pytest.mark.repeats("ac-bounded")
@pytest.mark.parametrize("size", [0, 200])
def test_accumulator_append_without_memory_conserves_it(size: int) -> None:
    bench = _Bench(batches=1)
    bench.append("a")
    bench.append("b")
    errors = BufferExhaustedError, IllegalArgumentError
    with pytest.raises(errors):
        bench.accumulator.append(
            _ONE, Record(timestamp_ms=0, value=bytes(size)), max_time_to_block_ms=0
        )
    bench.accumulator.complete_batch(bench.drain_one(), 0)
    assert bench.nothing_is_left()


def test_accumulator_refuses_unknown_nodes_and_strange_partitions() -> None:
    bench = _Bench()
    with pytest.raises(IllegalArgumentError, match="no node 7"):
        bench.drain(NodeId(7))
    with pytest.raises(IllegalArgumentError, match="partition has to"):
        TopicPartition("topic", -1)


@pytest.mark.repeats("pr-async", "pr-get-waits")
def test_future_times_out_under_the_manual_clock() -> None:
    bench = _Bench()
    future = bench.append("a")
    with pytest.raises(ResultTimeoutError):
        future.get(0)
    bench.accumulator.fail_batch(bench.drain_one(), KeyError("lost"))
    with pytest.raises(KeyError):
        future.get(0)


@pytest.mark.repeats("pr-callback-io")
def test_callback_that_raises_or_sends_again_disturbs_nobody() -> None:
    bench = _Bench()

    def disturb(metadata: RecordMetadata | None, error: Exception | None) -> None:
        del metadata, error
        bench.append("again")
        raise ValueError

    bench.accumulator.append(_ZERO, Record(timestamp_ms=0), disturb)
    bench.append("b")
    bench.accumulator.complete_batch(bench.drain_one(), 0)
    assert bench.told == [("b", 1)]
    bench.accumulator.complete_batch(bench.drain_one(), 2)
    assert bench.told == [("b", 1), ("again", 2)]
    assert bench.nothing_is_left()


@pytest.mark.repeats("pr-varint")
@pytest.mark.parametrize("number", [0, -1, 1, 63, -64, 64, 8_191, 8_192, -8_193, 2**31, -(2**63)])
def test_varint_has_the_size_that_is_estimated(number: int) -> None:
    assert len(varint(number)) == varint_size(number)


@pytest.mark.repeats("pr-record-format")
def test_record_is_encoded_as_kafka_does() -> None:
    # Length, attributes, timestamp, offset, key, value, no headers; numbers are zigzag-encoded.
    assert Record(timestamp_ms=5, key=b"k", value=None).encoded(3, 5) == bytes(
        (14, 0, 10, 6, 2, ord("k"), 1, 0)
    )


@pytest.mark.repeats("ac-5-threads")
@pytest.mark.slow
def test_accumulator_five_threads_lose_no_record() -> None:
    bench = _Bench(batches=4)
    clock: Callable[[], Millis] = bench.clock.hi_res_clock_ms

    def append_many() -> None:
        for _ in range(2_000):
            bench.accumulator.append(
                _ZERO,
                Record(timestamp_ms=0, value=b"abc"),
                lambda _metadata, _error: told.append(1),
            )

    told: list[int] = []
    threads = [sync.thread(append_many, f"appender {number}") for number in range(5)]
    for thread in threads:
        thread.start()
    while len(told) < 10_000:
        for batch in bench.accumulator.drain(_CLUSTER, [_NODE], _MOST, clock())[_NODE]:
            bench.accumulator.complete_batch(batch, 0)
    ended = [thread.join() for thread in threads]
    assert ended == [True] * 5
    assert bench.nothing_is_left()


class _StrangeError(Exception):
    """An error that cannot be made from its arguments alone."""

    def __init__(self, *, why: str) -> None:
        super().__init__(why)


def _depth(error: BaseException) -> int:
    return len(list(traceback.walk_tb(error.__traceback__)))


@pytest.mark.parametrize("shared", [KeyError("lost"), _StrangeError(why="lost")])
def test_the_error_of_a_batch_does_not_grow_with_each_get(shared: Exception) -> None:
    bench = _Bench(_config(linger_ms=1_000))
    futures = [bench.append("a"), bench.append("b")]
    bench.accumulator.begin_flush()
    bench.accumulator.fail_batch(bench.drain_one(), shared)
    raised = list[BaseException]()
    for future in futures * 3:
        with pytest.raises(type(shared)) as caught:
            future.get(0)
        raised.append(caught.value)
    assert {_depth(error) for error in raised} == {_depth(raised[0])}
    assert _depth(shared) <= _depth(raised[0])
