"""Defects of the buffer pool: each class brings one of them back."""

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
    """KAFKA-4840: a thread that gives up keeps the part that it had got."""

    def _give_back(self, waiter: Waiter) -> None:
        """Keep it."""


class NoHandOnPool(BufferPool):
    """KAFKA-4840: a thread that gives up does not hand on the signal that reached it."""

    def _signal_next(self) -> None:
        if sys.exception() is None:
            super()._signal_next()


class NoRefundPool(BufferPool):
    """KAFKA-4840: a reservation for which no memory could be allocated is not taken back."""

    def _refund(self, loan: Loan) -> None:
        with self._lock:
            self._loans.remove(loan)


class BargingPool(BufferPool):
    """Kafka's fast path: a newcomer takes what is there, whoever waits."""

    def _may_take_at_once(self, size: int) -> bool:
        return self._has_enough(size)


class AnyoneTakesPool(BufferPool):
    """Kafka's wake-up: a thread that wakes up for no reason takes memory out of turn."""

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
    """Kafka's deallocate: takes whatever buffer it is given, also twice."""

    def _end_loan(self, buffer: ByteBuffer) -> int:
        loan = buffer.receipt
        if isinstance(loan, Loan):
            self._loans.discard(loan)
        return buffer.capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPoolBug(KnownBug):
    """A defect of the buffer pool, with the pool that has it."""

    pool_class: type[BufferPool] = BufferPool


BUGS = read_bugs(__file__, "buffer_pool", BufferPoolBug, globals())
