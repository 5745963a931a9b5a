"""Threads that allocate, held until they wait: what the tests of the pool share."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.producer import Allocator, BufferPool, ByteBuffer, WaitTimeSensor
from wheelproof.producer.byte_buffer import allocate_byte_buffer
from wheelproof.sync import use_runtime
from wheelproof_spec.components.buffer_pool.cooperative_runtime import (
    CooperativeRuntime,
    CooperativeThread,
)


class PoolBench:
    """A pool on a manual clock, whose callers take turns: `settle` lets all go on until they wait.

    Used in a `with` block of `pool_bench`.
    """

    def __init__(
        self,
        total: int,
        poolable: int,
        allocator: Allocator = allocate_byte_buffer,
        wait_time: WaitTimeSensor | None = None,
    ) -> None:
        self.runtime = CooperativeRuntime()
        with use_runtime(self.runtime):
            self.clock = ManualClock(0)
            self.pool = BufferPool(
                total, poolable, clock=self.clock, allocator=allocator, wait_time=wait_time
            )

    def allocating(self, size: int, timeout_ms: int = 1_000) -> "Allocation":
        """Start a thread that allocates, and let it come to its end or to its wait."""
        allocation = Allocation(self, size, timeout_ms)
        self.settle()
        return allocation

    def settle(self) -> None:
        """Let every thread go on until it waits or has ended."""
        with use_runtime(self.runtime):
            self.runtime.run()

    def after(self, action: Callable[[], None]) -> None:
        """Do something and let every thread react."""
        action()
        self.settle()

    def all_is_back(self) -> bool:
        """Tell whether all memory is available and nobody waits."""
        return self.pool.available_memory() == self.pool.total_memory and not self.pool.queued()


class Allocation:
    """An allocation on a thread of its own."""

    def __init__(self, bench: PoolBench, size: int, timeout_ms: int) -> None:
        self._buffer: ByteBuffer | None = None
        work = partial(self._allocate, bench, size, timeout_ms)
        self.thread: CooperativeThread = bench.runtime.cooperative_thread(work, "allocation")
        self.thread.start()

    def _allocate(self, bench: PoolBench, size: int, timeout_ms: int) -> None:
        self._buffer = bench.pool.allocate(size, timeout_ms)

    @property
    def waits(self) -> bool:
        """Whether it still waits."""
        return not self.thread.ended

    @property
    def error(self) -> BaseException | None:
        """What it raised."""
        return self.thread.error

    @property
    def buffer(self) -> ByteBuffer:
        """The buffer that it got."""
        assert self._buffer is not None, self.thread.error
        return self._buffer


@contextmanager
def pool_bench(
    total: int,
    poolable: int,
    allocator: Allocator = allocate_byte_buffer,
    wait_time: WaitTimeSensor | None = None,
) -> Generator[PoolBench]:
    """Yield a bench, and end the threads that still wait."""
    bench = PoolBench(total, poolable, allocator, wait_time)
    try:
        yield bench
    finally:
        with use_runtime(bench.runtime):
            bench.runtime.close()
