"""A bounded amount of memory that threads share, wait for and give back: BufferPool.

A producer must not take more memory than it was given, however slow its broker is. So a thread that
finds too little waits, and whoever gives memory back wakes the one that has waited longest. Every
way out of a wait (time-out, interrupt, close, an allocator that fails) has lost memory or a wake-up
in Kafka once.

>>> from wheelproof.producer.buffer_pool import BufferPool
>>> pool = BufferPool(100, 20)
>>> pool
BufferPool(total_memory=100, poolable_size=20)
>>> buffer = pool.allocate(20, 0)
>>> pool.available_memory()
80
>>> pool.deallocate(buffer)
>>> usage = pool.usage()
>>> usage.pooled, usage.non_pooled
(20, 80)
>>> usage.check(pool.total_memory)

Invariants, whenever the lock is free:

- No byte is lost or made: what is unpooled, the free buffers, the loans and what waiting threads
  have gathered make up the total; `BufferPoolUsage.check` tests it.
- Only the thread that has waited longest has gathered memory.
- If there is memory and somebody waits, the one that has waited longest is awake or signalled.
"""

from collections import deque
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol

from wheelproof import sync
from wheelproof.clock import Clock, SystemClock
from wheelproof.closing import Closing
from wheelproof.domain import require_integer
from wheelproof.producer import pool_arithmetic
from wheelproof.producer.byte_buffer import Allocator, ByteBuffer, allocate_byte_buffer
from wheelproof.producer.errors import (
    BufferExhaustedError,
    IllegalStateError,
    ProducerClosedError,
)
from wheelproof.producer.pooled_memory import Loan, PooledMemory
from wheelproof.sync import Condition, GuardedBy
from wheelproof.units import MAX_MILLIS, Millis

_NS_OF_MS = 1_000_000


class WaitTimeSensor(Protocol):
    """A metric of how long threads have waited for memory; see `WaitTime`."""

    def record(self, waited_ns: int) -> None:
        """Take note of one wait, in nanoseconds; an exception ends the call that waited."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPoolUsage:
    """Where the memory was at one moment; all but `waiting` in bytes, and together the total.

    `accumulated` is held by waiting threads, `lent` includes what is being allocated; `waiting` is
    the number of waiting threads.
    """

    non_pooled: int
    pooled: int
    lent: int
    accumulated: int
    waiting: int

    def check(self, total_memory: int) -> None:
        """Test that no byte is lost or made; for programs and tests (standard 3.9).

        Raises IllegalStateError unless these are `total_memory` bytes, and no part is negative.
        """
        parts = self.non_pooled, self.pooled, self.lent, self.accumulated
        if sum(parts) != total_memory or min(parts) < 0:
            raise IllegalStateError(f"{self} is not {total_memory} bytes")


class Waiter:
    """A thread that waits for `size` bytes and has some; the pool's lock guards `accumulated`."""

    __slots__ = ("accumulated", "more_memory", "size")

    def __init__(self, size: int, more_memory: Condition) -> None:
        self.size = size
        self.more_memory = more_memory
        self.accumulated = 0


class BufferPool(Closing):
    """Memory of a fixed total, lent out in buffers; those of one size are kept for reuse.

    Memory goes to the thread that has waited longest, until it has enough (standard 3.10). Zero
    bytes can always be had at once.

    TLA+: BufferPool; FifoAllocator for what it promises.
    """

    __slots__ = (
        "_allocator",
        "_clock",
        "_closed",
        "_lock",
        "_memory",
        "_runtime",
        "_wait_time",
        "_waiters",
        "poolable_size",
        "total_memory",
    )

    _memory_class: ClassVar[type[PooledMemory]] = PooledMemory

    def __init__(
        self,
        total_memory: int,
        poolable_size: int,
        *,
        clock: Clock | None = None,
        allocator: Allocator = allocate_byte_buffer,
        wait_time: WaitTimeSensor | None = None,
    ) -> None:
        """Make a pool of `total_memory` bytes that keeps buffers of `poolable_size` bytes.

        `clock` is the system's by default; `allocator` makes the buffers, outside the pool's lock;
        `wait_time` is told of each wait.
        Raises IllegalArgumentError for a negative total or a poolable size below 1.
        """
        # The conditions of those who wait are made later, and have to match the lock.
        self._runtime = sync.current_runtime()
        self._lock = self._runtime.lock("BufferPool.lock")
        self._memory = self._memory_class(total_memory, poolable_size, self._lock)
        self.total_memory = self._memory.total
        self.poolable_size = self._memory.poolable_size
        self._clock = SystemClock() if clock is None else clock
        self._allocator = allocator
        self._wait_time = wait_time
        self._closed: Annotated[bool, GuardedBy("_lock")] = False
        # In the order of their arrival. Only the first one accumulates memory.
        self._waiters: Annotated[deque[Waiter], GuardedBy("_lock")] = deque()

    def __repr__(self) -> str:
        """Return the sizes; `usage` tells where the memory is."""
        return (
            f"{type(self).__name__}(total_memory={self.total_memory}, "
            f"poolable_size={self.poolable_size})"
        )

    def allocate(self, size: int, max_time_to_block_ms: int) -> ByteBuffer:
        """Return a buffer of `size` bytes, waiting at most `max_time_to_block_ms` milliseconds.

        Raises IllegalArgumentError for a size outside 0 .. total (standard 3.1),
        ProducerClosedError if the pool is closed now or during the wait, BufferExhaustedError when
        the time is over, ThreadInterruptedError if interrupted before the memory came
        (standard 3.5), and what the allocator or the metric raises. After an error the pool has
        all that it had (standard 3.4, 3.6).
        TLA+: ReadClock, Lock, Await, AwaitInterrupted, TimeOut, Wake, WakeInterrupted, Relock,
        EndWait, Make, MakeFails, Signal and Unlock of BufferPool.
        """
        require_integer("size", size, 0, self.total_memory)
        require_integer("max_time_to_block_ms", max_time_to_block_ms, 0, MAX_MILLIS)
        deadline_ms = Millis(self._clock.hi_res_clock_ms() + max_time_to_block_ms)
        loan: Loan | None = None
        try:
            with self._lock:
                self._require_open()
                try:
                    if self._may_take_at_once(size):
                        loan = self._memory.take(size)
                    else:
                        loan = self._wait_for_memory(size, deadline_ms)
                finally:
                    try:
                        self._signal_next()
                    except BaseException:
                        # A signal, and somebody may be waiting for this.
                        self._signal_next()
                        raise
            return self._make_buffer(loan) if loan.buffer is None else loan.buffer
        except BaseException:
            if loan is not None:
                self._refund(loan)
            raise

    def deallocate(self, buffer: ByteBuffer | None) -> None:
        """Take `buffer` back, for reuse if it has the poolable size (standard 3.7).

        Allowed after `close`; None has no effect.
        Raises ForeignBufferError if the buffer is not on loan from this pool.
        TLA+: Deallocate of BufferPool.
        """
        if buffer is None:
            return
        with self._lock:
            size = self._memory.end_loan(buffer)
            try:
                try:
                    self._memory.take_back(buffer, size)
                except BaseException:
                    # A signal came first. The loan is over, so its memory comes back all the same.
                    self._memory.take_back(buffer, size)
                    raise
                self._signal_first()
            except BaseException:
                self._signal_first()
                raise

    def close(self) -> None:
        """Refuse further allocations and release every thread that waits (standard 3.8).

        TLA+: CloseLock and CloseSignal of BufferPool.
        """
        with self._lock:
            self._closed = True
            for waiter in self._waiters:
                waiter.more_memory.notify()

    def queued(self) -> int:
        """Return how many threads wait for memory."""
        with self._lock:
            return len(self._waiters)

    def available_memory(self) -> int:
        """Return how many bytes are neither lent nor held by waiting threads."""
        with self._lock:
            return self._memory.available

    def unallocated_memory(self) -> int:
        """Return how many bytes are available and not bound in buffers for reuse."""
        with self._lock:
            return self._memory.non_pooled

    def usage(self) -> BufferPoolUsage:
        """Return where the memory is, all of it as of one moment (standard 3.9)."""
        with self._lock:
            memory = self._memory
            return BufferPoolUsage(
                non_pooled=memory.non_pooled,
                pooled=memory.free_list_size(),
                lent=sum(loan.size for loan in memory.loans),
                accumulated=sum(waiter.accumulated for waiter in self._waiters),
                waiting=len(self._waiters),
            )

    def _may_take_at_once(self, size: int) -> bool:
        """Tell whether a newcomer need not wait.

        TLA+: operator `MayTakeAtOnce` of BufferPool.
        """
        # Kafka: if there is enough.
        # Here:  if there is enough and nobody waits.
        # Why:   newcomers take what a waiting thread was woken for, again and again (finding 19).
        return size == 0 or (not self._waiters and self._memory.has_enough(size))

    def _wait_for_memory(self, size: int, deadline_ms: Millis) -> Loan:
        waiter = Waiter(size, self._runtime.condition(self._lock, "BufferPool.more_memory"))
        loan: Loan | None = None
        try:
            self._waiters.append(waiter)
            while loan is None:
                # First of all a wait, also when there is no time left (standard 3.5).
                now_ms = self._await_more_memory(waiter, deadline_ms)
                self._require_open()
                if self._is_next(waiter):
                    loan = self._take_what_there_is(waiter)
                if loan is None and now_ms >= deadline_ms:
                    raise BufferExhaustedError(
                        f"no {size} bytes within the time allowed; {len(self._waiters)} threads "
                        f"wait for memory of {self.total_memory} bytes"
                    )
            return loan
        finally:
            try:
                self._leave_queue(waiter)
            except BaseException:
                # A signal: nobody would get past a waiter that stays, and nobody has the loan.
                if waiter in self._waiters:
                    self._leave_queue(waiter)
                if loan is not None:
                    self._memory.end_reservation(loan)
                raise

    def _await_more_memory(self, waiter: Waiter, deadline_ms: Millis) -> Millis:
        """Release the lock and wait; returns the latest time that the clock has shown."""
        started_ms = self._clock.hi_res_clock_ms()
        ended_ms = started_ms
        try:
            if started_ms >= deadline_ms:
                waiter.more_memory.wait(Millis(0))
            else:
                self._clock.wait_until(self._lock, waiter.more_memory, deadline_ms)
        finally:
            ended_ms = self._clock.hi_res_clock_ms()
            if self._wait_time is not None:
                # A clock that goes back during the wait must not take from what was waited before.
                self._wait_time.record(max(0, ended_ms - started_ms) * _NS_OF_MS)
        return max(started_ms, ended_ms)

    def _is_next(self, waiter: Waiter) -> bool:
        """Tell whether it is this waiter's turn.

        TLA+: operator `IsNext` of BufferPool.
        """
        # Kafka: whoever wakes up takes what there is.
        # Here:  the first in the queue does.
        # Why:   two threads with half of the memory each wait for the other half (finding 20).
        return self._waiters[0] is waiter

    def _take_what_there_is(self, waiter: Waiter) -> Loan | None:
        """Take memory for `waiter`; returns the loan once it has enough."""
        size, memory = waiter.size, self._memory
        if waiter.accumulated == 0 and size == memory.poolable_size and memory.free:
            return memory.lend_pooled()
        wanted = size - waiter.accumulated
        memory.free_up(wanted)
        # min(wanted, non_pooled)
        taken = pool_arithmetic.memory_taken(wanted, memory.non_pooled)
        loan = Loan(size)
        # No call from here on: a signal comes before all of it or after all of it (standard 6.8).
        memory.non_pooled -= taken
        waiter.accumulated += taken
        if waiter.accumulated < size:
            return None
        waiter.accumulated = 0
        memory.loans |= {loan}
        return loan

    def _leave_queue(self, waiter: Waiter) -> None:
        """End a wait, successful or not."""
        self._give_back(waiter)
        self._waiters.remove(waiter)

    def _give_back(self, waiter: Waiter) -> None:
        """Free what a waiter has accumulated: a part, or nothing after a success."""
        self._memory.non_pooled += waiter.accumulated
        waiter.accumulated = 0

    def _make_buffer(self, loan: Loan) -> ByteBuffer:
        """Allocate the memory of a loan, outside the lock."""
        buffer = self._allocator(loan.size)
        buffer.receipt = loan
        return buffer

    def _refund(self, loan: Loan) -> None:
        """Take back a reservation for which there was no memory (standard 3.6).

        TLA+: Refund of BufferPool.
        """
        with self._lock:
            self._memory.end_reservation(loan)
            self._signal_first()

    def _signal_next(self) -> None:
        """Hand a signal on that may have reached a thread on its way out (standard 3.4).

        TLA+: operator `SignalNext` of BufferPool.
        """
        if self._memory.non_pooled > 0 or self._memory.free:
            self._signal_first()

    def _signal_first(self) -> None:
        if self._waiters:
            self._waiters[0].more_memory.notify()

    def _require_open(self) -> None:
        if self._closed:
            raise ProducerClosedError("the pool has been closed; it lends no more memory")
