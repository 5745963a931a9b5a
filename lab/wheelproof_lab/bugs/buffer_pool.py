"""Defects of the buffer pool: each class reintroduces one of them."""

import sys
from dataclasses import dataclass

from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof.producer.buffer_pool import Waiter
from wheelproof.producer.pooled_memory import Loan, PooledMemory
from wheelproof_lab.bugs.known_bug import Finder, KnownBug, Sight


class DeadWaiterPool(BufferPool):
    """KAFKA-3651: a thread that gives up leaves its condition in the queue."""

    def _leave_queue(self, waiter: Waiter) -> None:
        self._give_back(waiter)
        waiter.accumulated = 0
        if sys.exception() is None:
            self._waiters.remove(waiter)


class NoGiveBackPool(BufferPool):
    """KAFKA-4840: a thread that gives up keeps the memory that it had gathered."""

    def _give_back(self, waiter: Waiter) -> None:
        """Keep the gathered memory."""


class NoHandOnPool(BufferPool):
    """KAFKA-4840: a thread that gives up does not pass on the signal that it received."""

    def _signal_next(self) -> None:
        if sys.exception() is None:
            super()._signal_next()


class NoRefundPool(BufferPool):
    """KAFKA-4840: a reservation is not undone if its memory cannot be allocated."""

    def _refund(self, loan: Loan) -> None:
        with self._lock:
            self._memory.loans.remove(loan)


class BargingPool(BufferPool):
    """Kafka's fast path: a new caller takes free memory even if other threads wait."""

    def _may_take_at_once(self, size: int) -> bool:
        return self._memory.has_enough(size)


class AnyoneTakesPool(BufferPool):
    """Kafka's wake-up: a thread with a spurious wake-up takes memory out of turn."""

    def _is_next(self, waiter: Waiter) -> bool:
        return waiter in self._waiters


class NarrowFreeListMemory(PooledMemory):
    """Kafka's test for enough memory: the size of the free list is computed in 32 bits."""

    __slots__ = ()

    def has_enough(self, size: int) -> bool:
        """Tell whether `size` bytes are free."""
        if size == self.poolable_size and self.free:
            return True
        free_list_size = (self.free_list_size() + 2**31) % 2**32 - 2**31
        return self.non_pooled + free_list_size >= size


class NarrowFreeListPool(BufferPool):
    """A pool of such memory."""

    _memory_class = NarrowFreeListMemory


class TrustingMemory(PooledMemory):
    """Kafka's deallocate: accepts any buffer, also the same buffer twice."""

    __slots__ = ()

    def end_loan(self, buffer: ByteBuffer) -> int:
        """End the loan of `buffer`, if there is one."""
        loan = buffer.receipt
        if isinstance(loan, Loan):
            self.loans.discard(loan)
        return buffer.capacity


class TrustingPool(BufferPool):
    """A pool of such memory."""

    _memory_class = TrustingMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPoolBug(KnownBug):
    """A defect of the buffer pool, with the pool class that has it."""

    pool_class: type[BufferPool] = BufferPool

    def variant(self) -> type[BufferPool]:
        """Return what `wheelproof fuzz` takes in the place of the reference's class."""
        return self.pool_class


BUGS: tuple[BufferPoolBug, ...] = (
    BufferPoolBug(
        id="KAFKA-3651",
        component="buffer_pool",
        pool_class=DeadWaiterPool,
        trigger="a thread gives up waiting, and its condition stays at the head of the queue",
        broken="waiters are live threads; no wake-up is lost",
        source="KAFKA-3651",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
        ),
        models=(
            "MCBufferPool_KAFKA_3651",
            "MCBufferPool_KAFKA_3651_stuck",
        ),
        seen=(Sight.DRIVEN,),
    ),
    BufferPoolBug(
        id="KAFKA-4840/no-give-back",
        component="buffer_pool",
        pool_class=NoGiveBackPool,
        trigger="a thread gives up with a part of the memory that it waits for",
        broken="memory is conserved",
        source="KAFKA-4840",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
        ),
        models=("MCBufferPool_KAFKA_4840_no_give_back",),
        seen=(Sight.DRIVEN,),
    ),
    BufferPoolBug(
        id="KAFKA-4840/no-hand-on",
        component="buffer_pool",
        pool_class=NoHandOnPool,
        trigger="a thread that was signalled is interrupted, or a metric raises",
        broken="no wake-up is lost",
        source="KAFKA-4840",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
        ),
        models=(
            "MCBufferPool_KAFKA_4840_no_signal",
            "MCBufferPool_KAFKA_4840_no_signal_stuck",
        ),
        seen=(Sight.DRIVEN,),
    ),
    BufferPoolBug(
        id="KAFKA-4840/no-refund",
        component="buffer_pool",
        pool_class=NoRefundPool,
        trigger="the memory of a reservation cannot be allocated",
        broken="memory is conserved",
        source="KAFKA-4840",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
        ),
        models=("MCBufferPool_KAFKA_4840_no_refund",),
        seen=(Sight.DRIVEN,),
    ),
    BufferPoolBug(
        id="barging",
        component="buffer_pool",
        pool_class=BargingPool,
        trigger="a newcomer asks for what a waiting thread has been signalled for",
        broken="memory goes to the thread that has waited longest",
        source="docs/findings.md",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
        ),
        models=(
            "MCBufferPool_barging",
            "MCBufferPool_barging_refinement",
            "MCBufferPool_barging_starves",
        ),
        seen=(Sight.DRIVEN,),
    ),
    BufferPoolBug(
        id="anyone-takes",
        component="buffer_pool",
        pool_class=AnyoneTakesPool,
        trigger="a thread that is not first wakes up for no reason",
        broken="memory goes to the thread that has waited longest",
        source="docs/findings.md",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
        ),
        models=(
            "MCBufferPool_out_of_turn",
            "MCBufferPool_out_of_turn_stuck",
        ),
        seen=(Sight.DRIVEN,),
    ),
    BufferPoolBug(
        id="narrow-free-list",
        component="buffer_pool",
        pool_class=NarrowFreeListPool,
        trigger="the free list holds 2 GiB or more, and another size is asked for",
        broken="what is available can be had without waiting",
        source="docs/findings.md",
        finders=(Finder.SEQUENTIAL,),
        seen=(Sight.DRIVEN,),
        alone=(
            "it is arithmetic on sizes of 2 GiB, which only random calls reach: no order of "
            "threads matters"
        ),
    ),
    BufferPoolBug(
        id="given-back-twice",
        component="buffer_pool",
        pool_class=TrustingPool,
        trigger="a buffer is given back twice",
        broken="memory is conserved; a buffer has one user",
        source="docs/findings.md",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
        ),
        models=("MCBufferPool_return_twice",),
        seen=(Sight.DRIVEN,),
    ),
)
