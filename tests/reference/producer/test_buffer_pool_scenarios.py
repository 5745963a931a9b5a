"""What Kafka's own tests ask of the buffer pool (standard 7), and its rules one by one."""

from functools import partial

import pytest

from support.reference.producer import Allocation, pool_bench
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.errors import IllegalArgumentError, ThreadInterruptedError
from wheelproof.producer import (
    BufferExhaustedError,
    BufferPool,
    ByteBuffer,
    ForeignBufferError,
    ProducerClosedError,
    WaitTime,
)
from wheelproof.producer.byte_buffer import allocate_byte_buffer, allocate_stand_in

_THREADS = 10


def _no_memory(size: int) -> ByteBuffer:
    raise MemoryError(size)


class _Waits:
    def __init__(self) -> None:
        self.recorded: list[int] = []

    def record(self, waited_ns: int) -> None:
        """Take note."""
        self.recorded.append(waited_ns)


@pytest.mark.repeats("po-poolable", "po-cleared", "po-unallocated")
def test_pool_reuses_a_buffer_of_the_poolable_size_cleared() -> None:
    pool = BufferPool(64, 16)
    buffer = pool.allocate(16, 0)
    buffer.put(b"abc")
    pool.deallocate(buffer)
    assert pool.unallocated_memory() == 48
    again = pool.allocate(16, 0)
    assert again.position == 0
    again.put(b"x")
    assert again.shares_memory_with(buffer)
    assert bytes(buffer.view()) == b"xbc", "whoever kept the old buffer sees the reuse"


@pytest.mark.repeats("po-other-sizes")
def test_pool_does_not_keep_other_sizes() -> None:
    pool = BufferPool(64, 16)
    pool.deallocate(pool.allocate(8, 0))
    assert pool.unallocated_memory() == 64


@pytest.mark.repeats("po-free-up", "po-available")
def test_pool_frees_pooled_buffers_for_another_size() -> None:
    pool = BufferPool(64, 16)
    buffers = [pool.allocate(16, 0) for _ in range(4)]
    for buffer in buffers:
        pool.deallocate(buffer)
    pool.allocate(33, 0)
    assert (pool.unallocated_memory(), pool.available_memory()) == (15, 31)


@pytest.mark.repeats("po-blocks")
def test_pool_wakes_a_delayed_allocation() -> None:
    with pool_bench(16, 16) as bench:
        buffer = bench.pool.allocate(16, 0)
        delayed = bench.allocating(16)
        assert delayed.waits
        bench.after(partial(bench.pool.deallocate, buffer))
        assert delayed.buffer.capacity == 16


@pytest.mark.repeats(
    "kip-19", "po-max-time", "po-exhausted", "po-queued", "po-wait-time", "pr-max-block"
)
def test_pool_times_out_at_the_limit_and_not_before() -> None:
    waits = _Waits()
    with pool_bench(16, 16, wait_time=waits) as bench:
        bench.pool.allocate(16, 0)
        late = bench.allocating(16, 10)
        bench.after(partial(bench.clock.advance, 9))
        assert late.waits
        bench.after(partial(bench.clock.advance, 1))
        assert isinstance(late.error, BufferExhaustedError)
        assert bench.pool.queued() == 0
        assert sum(waits.recorded) == 10_000_000


def test_wait_time_is_a_total_and_a_share_of_the_last_windows() -> None:
    clock = ManualClock()
    waits = WaitTime(clock)
    assert (waits.total_ns(), waits.ratio()) == (0, 0.0)
    for at_ms, waited_ms, ratio in (
        (1_000, 300, 300 / 30_000),
        (21_000, 300, 600 / 50_000),
        (41_000, 600, 1_200 / 40_000),
        (61_000, 0, 1_200 / 60_000),
        (71_000, 900, 2_100 / 70_000),
    ):
        clock.advance_to(at_ms)
        waits.record(waited_ms * 1_000_000)
        assert waits.ratio() == pytest.approx(ratio), at_ms
    clock.advance_to(130_999)
    assert waits.ratio() == pytest.approx(900 / 59_999)
    clock.advance_to(131_000)
    assert (waits.total_ns(), waits.ratio()) == (2_100_000_000, 0.0)


def test_a_window_lasts_30_s_from_its_first_wait() -> None:
    clock = ManualClock()
    waits = WaitTime(clock)
    clock.advance_to(1_000)
    waits.record(300_000_000)
    clock.advance_to(30_999)
    assert waits.ratio() == pytest.approx(300 / 59_999)
    clock.advance_to(31_000)
    assert waits.ratio() == pytest.approx(300 / 30_000)
    waits.record(600_000_000)
    clock.advance_to(61_000)
    assert waits.ratio() == pytest.approx(600 / 30_000)


@pytest.mark.repeats("po-gives-back")
def test_pool_gives_back_what_a_timed_out_thread_had_gathered() -> None:
    with pool_bench(10, 5) as bench:
        first, second = bench.pool.allocate(4, 0), bench.pool.allocate(6, 0)
        late = bench.allocating(10, 10)
        bench.after(partial(bench.pool.deallocate, first))
        assert (bench.pool.available_memory(), late.waits) == (0, True)
        bench.after(partial(bench.clock.advance, 10))
        assert bench.pool.available_memory() == 4
        bench.pool.deallocate(second)
        assert bench.all_is_back()


@pytest.mark.repeats("po-interrupted")
def test_pool_interruption_ends_the_wait_and_leaves_the_queue() -> None:
    with pool_bench(16, 16) as bench:
        buffer = bench.pool.allocate(16, 0)
        victim = bench.allocating(16)
        bench.after(victim.thread.interrupt)
        assert isinstance(victim.error, ThreadInterruptedError)
        bench.pool.deallocate(buffer)
        assert bench.all_is_back()


def test_pool_interruption_before_the_wait_ends_it_also_without_time() -> None:
    with pool_bench(16, 16) as bench:
        bench.pool.allocate(16, 0)
        victim = Allocation(bench, 16, 0)
        victim.thread.interrupt()
        bench.settle()
        assert isinstance(victim.error, ThreadInterruptedError)


def test_pool_interruption_after_the_signal_comes_too_late() -> None:
    with pool_bench(16, 16) as bench:
        buffer = bench.pool.allocate(16, 0)
        victim = bench.allocating(16)
        bench.pool.deallocate(buffer)
        bench.after(victim.thread.interrupt)
        assert victim.buffer.capacity == 16
        assert victim.thread.interrupted


@pytest.mark.repeats("po-fair", "po-no-starvation")
def test_pool_memory_goes_to_the_thread_that_has_waited_longest() -> None:
    with pool_bench(10, 5) as bench:
        buffer = bench.pool.allocate(6, 0)
        large = bench.allocating(10)
        newcomer = bench.allocating(1)
        assert newcomer.waits, "4 bytes are free, but another thread has waited longer"
        bench.after(partial(bench.pool.deallocate, buffer))
        assert (large.buffer.capacity, newcomer.waits) == (10, True)
        bench.after(partial(bench.pool.deallocate, large.buffer))
        assert newcomer.buffer.capacity == 1


def test_pool_zero_bytes_can_always_be_had() -> None:
    with pool_bench(10, 5) as bench:
        bench.pool.allocate(10, 0)
        bench.allocating(1)
        assert bench.pool.allocate(0, 0).capacity == 0


@pytest.mark.repeats("po-refund")
@pytest.mark.parametrize("size", [16, 8])
def test_pool_refunds_when_there_is_no_memory(size: int) -> None:
    with pool_bench(16, 16, allocator=_no_memory) as bench:
        with pytest.raises(MemoryError):
            bench.pool.allocate(size, 0)
        assert bench.all_is_back()


@pytest.mark.repeats("po-hand-on")
def test_pool_hands_a_refund_to_who_waits() -> None:
    tried: list[int] = []

    def fail_first(size: int) -> ByteBuffer:
        tried.append(size)
        if len(tried) == 2:
            raise MemoryError
        return allocate_byte_buffer(size)

    with pool_bench(16, 16, allocator=fail_first) as bench:
        buffer = bench.pool.allocate(8, 0)
        failing = bench.allocating(12)
        waiting = bench.allocating(12)
        bench.after(partial(bench.pool.deallocate, buffer))
        assert isinstance(failing.error, MemoryError)
        assert waiting.buffer.capacity == 12


@pytest.mark.repeats("po-close", "po-close-wakes")
def test_pool_close_wakes_everyone_and_takes_buffers_back() -> None:
    with pool_bench(16, 16) as bench:
        buffer = bench.pool.allocate(16, 0)
        waiting = [bench.allocating(size) for size in (16, 1, 5)]
        bench.after(bench.pool.close)
        assert all(isinstance(one.error, ProducerClosedError) for one in waiting)
        with pytest.raises(ProducerClosedError):
            bench.pool.allocate(1, 0)
        bench.pool.deallocate(buffer)
        assert bench.all_is_back()


def test_pool_of_many_gib_serves_from_a_long_free_list() -> None:
    gib = 2**30
    pool = BufferPool(8 * gib, gib, allocator=allocate_stand_in)
    for buffer in [pool.allocate(gib, 0) for _ in range(8)]:
        pool.deallocate(buffer)
    assert pool.allocate(5 * gib + 1, 0).capacity == 5 * gib + 1
    assert (pool.available_memory(), pool.unallocated_memory()) == (3 * gib - 1, gib - 1)


def test_pool_refuses_what_it_has_not_lent() -> None:
    pool, other = BufferPool(16, 16), BufferPool(16, 16)
    buffer = pool.allocate(16, 0)
    pool.deallocate(buffer)
    pool.deallocate(None)
    for stranger in (buffer, other.allocate(16, 0), ByteBuffer(bytearray(16))):
        with pytest.raises(ForeignBufferError):
            pool.deallocate(stranger)
    lent_again = pool.allocate(16, 0)
    with pytest.raises(ForeignBufferError):
        pool.deallocate(buffer)
    pool.deallocate(lent_again)
    assert pool.available_memory() == 16


@pytest.mark.repeats("po-too-large")
@pytest.mark.parametrize("size", [-1, 17, 1.5, True, "1", None])
def test_pool_refuses_sizes_outside_its_domain(size: int) -> None:
    pool = BufferPool(16, 16)
    with pytest.raises(IllegalArgumentError, match="size has to"):
        pool.allocate(size, 0)
    assert pool.available_memory() == 16


@pytest.mark.parametrize(("total", "poolable"), [(-1, 1), (1, 0), (1, -1), (2**63, 1)])
def test_pool_refuses_to_be_made_outside_the_domain(total: int, poolable: int) -> None:
    with pytest.raises(IllegalArgumentError):
        BufferPool(total, poolable)


@pytest.mark.repeats("po-limit", "po-50000")
@pytest.mark.slow
def test_pool_ten_threads_with_many_operations_end_with_all_memory_back() -> None:
    pool = BufferPool(5 * 1_024, 1_024)

    def work(sizes: tuple[int, ...]) -> None:
        for number in range(5_000):
            pool.deallocate(pool.allocate(sizes[number % len(sizes)], 60_000))

    sizes = (1_024, 10, 1_024, 5_000, 300)
    threads = [
        sync.thread(partial(work, sizes[n % 5 :] + sizes[: n % 5]), f"{n}") for n in range(_THREADS)
    ]
    for thread in threads:
        thread.start()
    ended = [thread.join() for thread in threads]
    assert ended == [True] * _THREADS
    assert (pool.available_memory(), pool.queued()) == (5 * 1_024, 0)
