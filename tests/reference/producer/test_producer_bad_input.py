"""Whatever is asked of the producer's memory that makes no sense: a clear error, no byte lost."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.reference.producer import Allocation, PoolBench, pool_bench
from wheelproof.errors import IllegalArgumentError, ThreadInterruptedError
from wheelproof.producer import (
    AccumulatorConfig,
    BufferExhaustedError,
    BufferPool,
    ByteBuffer,
    Cluster,
    ForeignBufferError,
    IllegalStateError,
    NodeId,
    ProducerClosedError,
    Record,
    RecordAccumulator,
    TopicPartition,
)
from wheelproof.producer.byte_buffer import allocate_byte_buffer
from wheelproof.sync import use_runtime

_BATCH = 100
_PARTITION = TopicPartition("topic", 0)
_CLUSTER = Cluster(leaders={_PARTITION: NodeId(0)})
_LONGEST_MS = 1_000


class _Allocator:
    """Fails while it is told to."""

    def __init__(self) -> None:
        self.fails = False

    def __call__(self, size: int) -> ByteBuffer:
        if self.fails:
            raise MemoryError(size)
        return allocate_byte_buffer(size)


@dataclass(slots=True)
class _Scene:
    """A pool, an accumulator over it, and what is on loan."""

    bench: PoolBench
    allocator: _Allocator
    accumulator: RecordAccumulator
    lent: list[ByteBuffer] = field(default_factory=list[ByteBuffer])
    closed: bool = False

    @property
    def pool(self) -> BufferPool:
        """The pool that everything is asked of."""
        return self.bench.pool

    @property
    def free(self) -> int:
        """What can be lent at the moment, in bytes."""
        return self.pool.available_memory()

    def all_is_accounted_for(self) -> bool:
        """Tell whether the memory is where it was lent, and nobody waits."""
        usage = self.pool.usage()
        total = usage.non_pooled + usage.pooled + usage.lent + usage.accumulated
        lent = sum(buffer.capacity for buffer in self.lent)
        return (total, usage.lent, usage.waiting) == (self.pool.total_memory, lent, 0)

    def fails(self, allocation: Allocation, error: type[BaseException]) -> None:
        """Let an allocation come to its end, which has to be by `error`."""
        self.bench.settle()
        assert isinstance(allocation.error, error), allocation.error


def _size_outside(size: Callable[[BufferPool], object], scene: _Scene) -> None:
    with pytest.raises(IllegalArgumentError, match="size has to"):
        # What no type checker lets through reaches a library all the same.
        scene.pool.allocate(cast("int", size(scene.pool)), 0)


def _time_outside(scene: _Scene) -> None:
    with pytest.raises(IllegalArgumentError, match="max_time_to_block_ms has to"):
        scene.pool.allocate(0, -1)


def _given_back_twice(scene: _Scene) -> None:
    if scene.lent:
        buffer = scene.lent.pop()
        scene.pool.deallocate(buffer)
        with pytest.raises(ForeignBufferError):
            scene.pool.deallocate(buffer)


def _given_back_for_another(scene: _Scene) -> None:
    """Kept from a loan that is over, while the same memory is on loan to somebody else."""
    if scene.closed or scene.free < _BATCH:
        return
    kept = scene.pool.allocate(_BATCH, 0)
    scene.pool.deallocate(kept)
    scene.lent.append(scene.pool.allocate(_BATCH, 0))
    with pytest.raises(ForeignBufferError):
        scene.pool.deallocate(kept)


def _of_another_pool(scene: _Scene) -> None:
    for stranger in (BufferPool(_BATCH, _BATCH).allocate(_BATCH, 0), allocate_byte_buffer(_BATCH)):
        with pytest.raises(ForeignBufferError):
            scene.pool.deallocate(stranger)


def _record_too_large(scene: _Scene) -> None:
    record = Record(timestamp_ms=0, value=bytes(scene.pool.total_memory))
    error = ProducerClosedError if scene.closed else IllegalArgumentError
    with pytest.raises(error):
        scene.accumulator.append(_PARTITION, record, max_time_to_block_ms=0)


def _unknown_partition(scene: _Scene) -> None:
    unknown = TopicPartition("unknown", 7)
    scene.accumulator.mute_partition(unknown)
    scene.accumulator.unmute_partition(unknown)
    cluster = Cluster(leaders={unknown: NodeId(0)})
    assert scene.accumulator.drain(
        cluster, [NodeId(0)], 1, scene.bench.clock.hi_res_clock_ms()
    ) == {NodeId(0): []}
    with pytest.raises(IllegalArgumentError, match="no node 7"):
        scene.accumulator.drain(_CLUSTER, [NodeId(7)], 1, scene.bench.clock.hi_res_clock_ms())
    with pytest.raises(IllegalArgumentError, match="partition has to"):
        TopicPartition("topic", -1)


@pytest.mark.parametrize("number", [part.name for part in fields(AccumulatorConfig)])
def test_producer_refuses_each_number_of_a_configuration_below_zero(number: str) -> None:
    with pytest.raises(IllegalArgumentError, match=f"{number} has to lie within"):
        AccumulatorConfig(**{"batch_size": 1, number: -1})


def _response_twice(scene: _Scene) -> None:
    """A batch that was stored is stored again, failed, tried again, split and given back."""
    accumulator, now_ms = scene.accumulator, scene.bench.clock.hi_res_clock_ms()
    if scene.closed or scene.free < _BATCH:
        return
    accumulator.append(_PARTITION, Record(timestamp_ms=0), max_time_to_block_ms=0)
    ((batch,),) = accumulator.drain(_CLUSTER, [NodeId(0)], 1, now_ms).values()
    accumulator.complete_batch(batch, 0)
    for again in (
        partial(accumulator.complete_batch, batch, 0),
        partial(accumulator.fail_batch, batch, ValueError()),
        partial(accumulator.reenqueue, batch, now_ms),
        partial(accumulator.split_and_reenqueue, batch),
        partial(accumulator.deallocate, batch),
        partial(batch.complete, 0),
        partial(batch.complete_exceptionally, ValueError()),
        batch.records,
    ):
        with pytest.raises(IllegalStateError):
            again()


def _after_close(scene: _Scene) -> None:
    scene.closed = True
    scene.bench.after(scene.accumulator.close)
    with pytest.raises(ProducerClosedError):
        scene.pool.allocate(1, 0)
    with pytest.raises(ProducerClosedError):
        scene.accumulator.append(_PARTITION, Record(timestamp_ms=0), max_time_to_block_ms=0)


def _more_than_there_is(scene: _Scene) -> Allocation | None:
    """Start an allocation that has to wait, if there is one; it takes all there is meanwhile."""
    if scene.closed or scene.free == scene.pool.total_memory:
        return None
    return Allocation(scene.bench, scene.free + 1, _LONGEST_MS)


def _interrupted_before_the_wait(scene: _Scene) -> None:
    allocation = _more_than_there_is(scene)
    if allocation is not None:
        allocation.thread.interrupt()
        scene.fails(allocation, ThreadInterruptedError)


def _interrupted_during_the_wait(scene: _Scene) -> None:
    allocation = _more_than_there_is(scene)
    if allocation is not None:
        scene.bench.settle()
        scene.bench.after(allocation.thread.interrupt)
        scene.fails(allocation, ThreadInterruptedError)


def _out_of_time(scene: _Scene) -> None:
    allocation = _more_than_there_is(scene)
    if allocation is not None:
        scene.bench.settle()
        scene.bench.after(partial(scene.bench.clock.advance, _LONGEST_MS))
        scene.fails(allocation, BufferExhaustedError)


def _closed_during_the_wait(scene: _Scene) -> None:
    allocation = _more_than_there_is(scene)
    if allocation is not None:
        scene.bench.settle()
        _after_close(scene)
        scene.fails(allocation, ProducerClosedError)


def _no_memory_at_once(scene: _Scene) -> None:
    # One byte is never pooled, so that it has to be allocated.
    if not scene.closed and scene.free:
        scene.allocator.fails = True
        with pytest.raises(MemoryError):
            scene.pool.allocate(1, 0)
        scene.allocator.fails = False


def _no_memory_after_the_wait(scene: _Scene) -> None:
    if not scene.lent:
        return
    allocation = _more_than_there_is(scene)
    if allocation is not None:
        scene.bench.settle()
        scene.allocator.fails = True
        scene.bench.after(partial(scene.pool.deallocate, scene.lent.pop()))
        scene.allocator.fails = False
        if allocation.error is None:
            # It got the very buffer that came back, and needed no new memory.
            assert allocation.buffer.capacity == scene.pool.poolable_size
            scene.lent.append(allocation.buffer)
        else:
            scene.fails(allocation, MemoryError)


_BAD_INPUT: dict[str, Callable[[_Scene], None]] = {
    "negative size": partial(_size_outside, lambda _pool: -1),
    "size above the total": partial(_size_outside, lambda pool: pool.total_memory + 1),
    "size that is a float": partial(_size_outside, lambda _pool: 1.0),
    "size that is a text": partial(_size_outside, lambda _pool: "1"),
    "size that is a truth value": partial(_size_outside, lambda _pool: True),
    "negative time": _time_outside,
    "given back twice": _given_back_twice,
    "given back for another": _given_back_for_another,
    "another pool's": _of_another_pool,
    "record larger than the total": _record_too_large,
    "unknown partition": _unknown_partition,
    "response twice": _response_twice,
    "use after close": _after_close,
    "interrupted before the wait": _interrupted_before_the_wait,
    "interrupted during the wait": _interrupted_during_the_wait,
    "out of time": _out_of_time,
    "closed during the wait": _closed_during_the_wait,
    "no memory at once": _no_memory_at_once,
    "no memory after the wait": _no_memory_after_the_wait,
}


@pytest.mark.repeats("k-4741")
@settings(deadline=None)
@given(
    poolable=st.integers(1, 3).map(lambda buffers: buffers * _BATCH // 2),
    total=st.integers(_BATCH, 3 * _BATCH),
    sizes=st.lists(st.integers(1, 2 * _BATCH), max_size=4),
    tried=st.lists(st.sampled_from(sorted(_BAD_INPUT)), min_size=1, max_size=8),
)
def test_producer_conserves_memory_after_every_bad_input(
    poolable: int, total: int, sizes: list[int], tried: list[str]
) -> None:
    allocator = _Allocator()
    with pool_bench(total, poolable, allocator=allocator) as bench:
        config = AccumulatorConfig(batch_size=_BATCH)
        with use_runtime(bench.runtime):
            accumulator = RecordAccumulator(bench.pool, config, clock=bench.clock)
        scene = _Scene(bench, allocator, accumulator)
        scene.lent.extend(bench.pool.allocate(size, 0) for size in sizes if size <= scene.free)
        for name in tried:
            _BAD_INPUT[name](scene)
            assert scene.all_is_accounted_for(), (name, bench.pool.usage())
        for buffer in scene.lent:
            bench.pool.deallocate(buffer)
        assert bench.all_is_back()
        if not scene.closed:
            assert bench.pool.allocate(total, 0).capacity == total


@pytest.mark.parametrize("name", sorted(_BAD_INPUT))
def test_producer_conserves_memory_after_bad_input_with_a_waiter(name: str) -> None:
    """Each alone, with something on loan, so that none of them is a matter of luck."""
    allocator = _Allocator()
    with pool_bench(2 * _BATCH + 10, _BATCH, allocator=allocator) as bench:
        with use_runtime(bench.runtime):
            config = AccumulatorConfig(batch_size=_BATCH)
            accumulator = RecordAccumulator(bench.pool, config, clock=bench.clock)
        scene = _Scene(bench, allocator, accumulator, [bench.pool.allocate(_BATCH, 0)])
        _BAD_INPUT[name](scene)
        assert scene.all_is_accounted_for()
