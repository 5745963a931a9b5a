"""The port of the buffer pool: each typed call is the call of one method of a BufferPool.

Whoever calls the reference's pool, or a variant of it, does it here: driven cases, bursts of
threads, loads. Any number of threads may call at the same time. `recorded_methods` is the way
back, from a call of a method to the typed call, for the recording of any program.

>>> pool = PoolPort(PoolConfig(total_memory=8, poolable_size=4))
>>> lent = pool.perform(Allocate(size=3, max_time_to_block_ms=0))
>>> lent
Allocated(buffer='b0', size=3)
>>> pool.perform(AvailableMemory())
Memory(size=5)
>>> pool.perform(Deallocate(buffer="b0"))
Nothing()
"""

from collections.abc import Callable
from itertools import count

from wheelproof.clock import Clock
from wheelproof.errors import ThreadInterruptedError
from wheelproof.producer import (
    BufferExhaustedError,
    BufferPool,
    ByteBuffer,
    ProducerClosedError,
    WaitTime,
)
from wheelproof_spec.base.calls import AvailableMemory, Close, Memory
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolConfig,
    PoolFault,
    PoolOutcome,
    Queued,
    WaitingThreads,
)
from wheelproof_spec.history.recording.recorded_run import (
    HistoryWriter,
    Replacements,
    Run,
    nothing,
    thread_name,
)

PoolRequest = Allocate | Deallocate | AvailableMemory | Queued | Close
"""A call of one method of a pool."""
PoolAnswer = Allocated | Memory | WaitingThreads | Nothing


class MetricError(Exception):
    """The error of a metric that is made to fail."""


ENDS: dict[type[Exception], PoolOutcome] = {
    BufferExhaustedError: PoolOutcome.EXHAUSTED,
    ProducerClosedError: PoolOutcome.CLOSED,
    ThreadInterruptedError: PoolOutcome.INTERRUPTED,
    MemoryError: PoolOutcome.OUT_OF_MEMORY,
    MetricError: PoolOutcome.METRIC_FAILED,
}
"""The errors by which an allocation ends without a buffer."""


def given_back(lent: Allocated) -> Deallocate:
    """Return the call that gives a buffer back."""
    return Deallocate(buffer=lent.buffer, size=lent.size)


class PoolPort:
    """A pool, and its buffers by name; the buffers count as memory and have none.

    A buffer has the name that its call has, or else that of its memory: two buffers over the same
    memory then have one name.
    """

    def __init__(
        self,
        config: PoolConfig,
        pool_class: type[BufferPool] = BufferPool,
        *,
        clock: Clock | None = None,
        caller: Callable[[], str] = thread_name,
        allocating: Callable[[], object] | None = None,
    ) -> None:
        """Make the pool; `caller` names the thread that runs, for the faults of its call.

        The allocator calls `allocating` before it makes a buffer, or fails.

        Raises IllegalArgumentError for a configuration outside the domain.
        """
        self._caller = caller
        self._allocating = allocating
        self._faults: dict[str, PoolFault | None] = {}
        self._numbers = count()
        self.buffers: dict[str, ByteBuffer] = {}
        """The buffer that was lent last by each name; also after it has come back."""
        self.wait_time = WaitTime(clock)
        self.pool = pool_class(
            config.total_memory,
            config.poolable_size,
            clock=clock,
            allocator=self._make_buffer,
            wait_time=self,
        )

    def perform(self, call: PoolRequest) -> PoolAnswer:
        """Make `call` and return its answer.

        Raises what the method raises, and KeyError for the return of a buffer that nobody got.
        """
        match call:
            case Allocate(size=size, max_time_to_block_ms=timeout_ms, fault=fault):
                self._faults[self._caller()] = fault
                buffer = self.pool.allocate(size, timeout_ms)
                assert isinstance(buffer, _Buffer)
                name = call.buffer or buffer.memory
                self.buffers[name] = buffer
                return Allocated(buffer=name, size=buffer.capacity)
            case Deallocate(buffer=name):
                self.pool.deallocate(self.buffers[name])
                return Nothing()
            case AvailableMemory():
                return Memory(size=self.pool.available_memory())
            case Queued():
                return WaitingThreads(count=self.pool.queued())
            case Close():
                self.pool.close()
                return Nothing()

    def record(self, waited_ns: int) -> None:
        """Record a wait, or fail if the caller's call has that fault; see `WaitTimeSensor`."""
        if self._faults.get(self._caller()) is PoolFault.METRIC:
            raise MetricError
        self.wait_time.record(waited_ns)

    def _make_buffer(self, size: int) -> ByteBuffer:
        # Asked first: `allocating` may allocate, and that call has a fault of its own.
        fault = self._faults.get(self._caller())
        if self._allocating is not None:
            self._allocating()
        if fault is PoolFault.ALLOCATOR:
            raise MemoryError
        return _Buffer(f"b{next(self._numbers)}", bytearray(), size)


class _Buffer(ByteBuffer):
    """A stand-in for a buffer, with the name of its memory."""

    __slots__ = ("memory",)

    def __init__(self, memory: str, stand_in: bytearray, capacity: int) -> None:
        super().__init__(stand_in, capacity=capacity)
        self.memory = memory

    def duplicate(self) -> ByteBuffer:
        """Return a buffer over the same memory."""
        return _Buffer(self.memory, self._memory, self.capacity)


def recorded_methods(writer: HistoryWriter) -> Replacements:
    """Return methods that record the pools of any program, each for the one that it replaces."""

    def begins(pool: BufferPool, *_: object, **__: object) -> None:
        config = PoolConfig(total_memory=pool.total_memory, poolable_size=pool.poolable_size)
        writer.made(pool, config)

    def lent(run: Run, buffer: ByteBuffer) -> Allocated:
        return Allocated(buffer=writer.rename(run, buffer, "buffer"), size=buffer.capacity)

    def deallocates(run: Run, _: BufferPool, buffer: ByteBuffer | None) -> Deallocate | None:
        if buffer is None:
            return None
        return Deallocate(buffer=run.names.get(id(buffer), "a-stranger"))

    recorded = writer.recorded
    return {
        (BufferPool, "__init__"): writer.making(BufferPool.__init__, begins),
        (BufferPool, "allocate"): recorded(BufferPool.allocate, Allocate, lent),
        (BufferPool, "deallocate"): recorded(BufferPool.deallocate, deallocates, nothing),
        (BufferPool, "close"): recorded(BufferPool.close, Close, nothing),
    }
