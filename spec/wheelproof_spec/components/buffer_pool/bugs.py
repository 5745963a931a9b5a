"""Defects of the buffer pool: each class reintroduces one of them."""

import sys
from dataclasses import dataclass

from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof.producer.buffer_pool import Waiter
from wheelproof.producer.pooled_memory import Loan
from wheelproof_spec.base.known_bug import KnownBug, read_bugs


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
            self._loans.remove(loan)


class BargingPool(BufferPool):
    """Kafka's fast path: a new caller takes free memory even if other threads wait."""

    def _may_take_at_once(self, size: int) -> bool:
        return self._has_enough(size)


class AnyoneTakesPool(BufferPool):
    """Kafka's wake-up: a thread with a spurious wake-up takes memory out of turn."""

    def _is_next(self, waiter: Waiter) -> bool:
        return waiter in self._waiters


class NarrowFreeListPool(BufferPool):
    """Kafka's test for enough memory: the size of the free list is computed in 32 bits."""

    def _has_enough(self, size: int) -> bool:
        if size == self.poolable_size and self._free:
            return True
        free_list_size = (self._free_list_size() + 2**31) % 2**32 - 2**31
        return self._non_pooled_available_memory + free_list_size >= size


class TrustingPool(BufferPool):
    """Kafka's deallocate: accepts any buffer, also the same buffer twice."""

    def _end_loan(self, buffer: ByteBuffer) -> int:
        loan = buffer.receipt
        if isinstance(loan, Loan):
            self._loans.discard(loan)
        return buffer.capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPoolBug(KnownBug):
    """A defect of the buffer pool, with the pool class that has it."""

    pool_class: type[BufferPool] = BufferPool


BUGS = read_bugs(__file__, "buffer_pool", BufferPoolBug, globals())
