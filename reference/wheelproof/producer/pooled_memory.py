"""The memory that a buffer pool has and that it has lent (standard 3).

>>> from wheelproof.producer.buffer_pool import BufferPool
>>> pool = BufferPool(100, 20)
>>> pool.deallocate(pool.allocate(20, 0))
>>> pool.available_memory(), pool.unallocated_memory()
(100, 80)
"""

from collections import deque
from typing import Annotated

from wheelproof import sync
from wheelproof.domain import require_integer
from wheelproof.producer import pool_arithmetic
from wheelproof.producer.byte_buffer import ByteBuffer
from wheelproof.producer.errors import ForeignBufferError
from wheelproof.sync import GuardedBy

MAX_MEMORY = 2**62 - 1
"""The largest pool, in bytes; half of what a signed 64-bit integer holds, as with times."""


class Loan:
    """A reservation of `size` bytes, until the buffer is given back."""

    __slots__ = ("buffer", "size")

    def __init__(self, size: int, buffer: ByteBuffer | None = None) -> None:
        self.size = size
        self.buffer = buffer
        """The pooled buffer that serves the loan; None if memory has to be allocated for it."""


class PooledMemory:
    """The part of a buffer pool that knows which memory is free and which is on loan.

    What is dropped is gone at once (standard 6.6). The pool's lock guards all but the two sizes.
    Which threads wait is not known here.
    """

    __slots__ = (
        "_free",
        "_loans",
        "_lock",
        "_non_pooled_available_memory",
        "_runtime",
        "poolable_size",
        "total_memory",
    )

    def __init__(self, total_memory: int, poolable_size: int) -> None:
        """Make `total_memory` bytes, all free, of which buffers of one size are kept for reuse.

        Raises IllegalArgumentError for a negative total or a poolable size below 1.
        """
        self.total_memory = require_integer("total_memory", total_memory, 0, MAX_MEMORY)
        self.poolable_size = require_integer("poolable_size", poolable_size, 1, MAX_MEMORY)
        # The conditions of those who wait are made later, and have to match the lock.
        self._runtime = sync.current_runtime()
        self._lock = self._runtime.lock("BufferPool.lock")
        # Whenever the lock is free, these three and what waiting threads have accumulated make up
        # `total_memory`. Each free buffer has `poolable_size` bytes.
        self._non_pooled_available_memory: Annotated[int, GuardedBy("_lock")] = total_memory
        self._free: Annotated[deque[ByteBuffer], GuardedBy("_lock")] = deque()
        self._loans: Annotated[set[Loan], GuardedBy("_lock")] = set()

    def available_memory(self) -> int:
        """Return how many bytes are neither lent nor held by waiting threads."""
        with self._lock:
            return self._non_pooled_available_memory + self._free_list_size()

    def unallocated_memory(self) -> int:
        """Return how many bytes are available and not bound in buffers for reuse."""
        with self._lock:
            return self._non_pooled_available_memory

    def _has_enough(self, size: int) -> bool:
        """Tell whether `size` bytes are free. Seam: known bug narrow-free-list replaces this."""
        return pool_arithmetic.enough(
            size, self._non_pooled_available_memory, len(self._free), self.poolable_size
        )

    def _free_list_size(self) -> int:
        return pool_arithmetic.free_list_size(len(self._free), self.poolable_size)

    def _take_at_once(self, size: int) -> Loan:
        if size == self.poolable_size and self._free:
            return self._lend_pooled(size)
        self._free_up(size)
        loan = Loan(size)
        # No call from here on: a signal comes before both or after both (standard 6.8).
        self._non_pooled_available_memory -= size
        self._loans |= {loan}
        return loan

    def _free_up(self, wanted: int) -> None:
        count = pool_arithmetic.buffers_to_drop(
            wanted, self._non_pooled_available_memory, len(self._free), self.poolable_size
        )
        for _ in range(count):
            self._non_pooled_available_memory += self.poolable_size
            del self._free[-1]

    def _lend_pooled(self, size: int) -> Loan:
        # Each loan has a buffer of its own: one that was kept from an earlier loan is refused.
        buffer = self._free[0].duplicate()
        loan = Loan(size, buffer)
        buffer.receipt = loan
        del self._free[0]
        self._loans |= {loan}
        return loan

    def _end_loan(self, buffer: ByteBuffer) -> int:
        """End the loan of `buffer` and return its size in bytes.

        Raises ForeignBufferError if it is not on loan.
        Seam: known bug given-back-twice replaces this.
        """
        loan = buffer.receipt
        if not isinstance(loan, Loan) or loan not in self._loans:
            raise ForeignBufferError(
                f"a buffer of {buffer.capacity} bytes was given back that is not on loan: "
                "it was given back before, or is another pool's"
            )
        # No call from here on, as in `_take_at_once`.
        self._loans -= {loan}
        # The loan of a pooled buffer refers to the buffer. As a cycle, both and the memory would
        # stay after the buffer is dropped, until the cyclic collector runs.
        buffer.receipt = None
        return loan.size

    def _take_back(self, buffer: ByteBuffer, size: int) -> None:
        """Keep a buffer for reuse if it has the poolable size, and else its memory alone."""
        if pool_arithmetic.goes_to_free_list(size, buffer.capacity, self.poolable_size):
            self._free += (buffer,)
        else:
            self._non_pooled_available_memory += size
