"""The memory of a buffer pool: what is free, and what is on loan (standard 3).

A pool keeps free buffers of one size beside a number of bytes. Which bytes are where is one
question, and who waits for them another. This class answers the first, under the lock of whoever
owns it; `BufferPool` answers the second.

>>> from wheelproof import sync
>>> from wheelproof.producer.pooled_memory import PooledMemory
>>> lock = sync.lock("example")
>>> memory = PooledMemory(100, 20, lock)
>>> with lock:
...     loan = memory.take(20)
>>> memory.available, loan.size
(80, 20)
>>> with lock:
...     memory.end_reservation(loan)
>>> memory.available
100

Invariants:

- `non_pooled`, the free buffers of `poolable_size` bytes each, the loans, and what waiting threads
  have gathered make up `total`.
- A buffer is in `free` or on loan, and never both.
- What is dropped is gone at once, without the cyclic collector (standard 6.6).
"""

from collections import deque
from typing import Annotated

from wheelproof.domain import require_integer
from wheelproof.producer import pool_arithmetic
from wheelproof.producer.byte_buffer import ByteBuffer
from wheelproof.producer.errors import ForeignBufferError
from wheelproof.sync import GuardedBy, Lock

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
    """A number of bytes, lent out in buffers of which those of one size are kept for reuse.

    Whoever owns it calls it, and reads and writes its fields, under `lock`.
    """

    __slots__ = ("free", "loans", "lock", "non_pooled", "poolable_size", "total")

    def __init__(self, total: int, poolable_size: int, lock: Lock) -> None:
        """Make `total` bytes, all free, of which buffers of `poolable_size` bytes are kept.

        Raises IllegalArgumentError for a negative total or a poolable size below 1.
        """
        self.total = require_integer("total_memory", total, 0, MAX_MEMORY)
        self.poolable_size = require_integer("poolable_size", poolable_size, 1, MAX_MEMORY)
        self.lock = lock
        self.non_pooled: Annotated[int, GuardedBy("lock")] = total
        self.free: Annotated[deque[ByteBuffer], GuardedBy("lock")] = deque()
        self.loans: Annotated[set[Loan], GuardedBy("lock")] = set()

    @property
    def available(self) -> int:
        """How many bytes are neither on loan nor held by waiting threads."""
        return self.non_pooled + self.free_list_size()

    def free_list_size(self) -> int:
        """Return how many bytes the free buffers have."""
        return pool_arithmetic.free_list_size(len(self.free), self.poolable_size)

    def has_enough(self, size: int) -> bool:
        """Tell whether `size` bytes are free: `available >= size`."""
        return pool_arithmetic.enough(size, self.non_pooled, len(self.free), self.poolable_size)

    def take(self, size: int) -> Loan:
        """Lend `size` bytes that are free."""
        if size == self.poolable_size and self.free:
            return self.lend_pooled()
        self.free_up(size)
        loan = Loan(size)
        # No call from here on: a signal comes before both or after both (standard 6.8).
        self.non_pooled -= size
        self.loans |= {loan}
        return loan

    def free_up(self, wanted: int) -> None:
        """Break up free buffers until `wanted` bytes are unpooled, or no buffer is left."""
        count = pool_arithmetic.buffers_to_drop(
            wanted, self.non_pooled, len(self.free), self.poolable_size
        )
        for _ in range(count):
            self.non_pooled += self.poolable_size
            del self.free[-1]

    def lend_pooled(self) -> Loan:
        """Lend the buffer that has been free for the longest time."""
        # Each loan has a buffer of its own: one that was kept from an earlier loan is refused.
        buffer = self.free[0].duplicate()
        loan = Loan(self.poolable_size, buffer)
        buffer.receipt = loan
        del self.free[0]
        self.loans |= {loan}
        return loan

    def end_loan(self, buffer: ByteBuffer) -> int:
        """End the loan of `buffer` and return its size in bytes.

        Raises ForeignBufferError if it is not on loan.
        """
        loan = buffer.receipt
        # Kafka: takes any buffer back.
        # Here:  takes back what is on loan, once.
        # Why:   given back twice, one buffer is lent to two threads (finding 22).
        if not isinstance(loan, Loan) or loan not in self.loans:
            raise ForeignBufferError(
                f"a buffer of {buffer.capacity} bytes was given back that is not on loan: "
                "it was given back before, or is another pool's"
            )
        # No call from here on, as in `take`.
        self.loans -= {loan}
        # The loan of a pooled buffer refers to the buffer. As a cycle, both and the memory would
        # stay after the buffer is dropped, until the cyclic collector runs.
        buffer.receipt = None
        return loan.size

    def take_back(self, buffer: ByteBuffer, size: int) -> None:
        """Keep a buffer for reuse if it has the poolable size, and else its memory alone."""
        # size == poolable_size == buffer.capacity
        if pool_arithmetic.goes_to_free_list(size, buffer.capacity, self.poolable_size):
            self.free += (buffer,)
        else:
            self.non_pooled += size

    def end_reservation(self, loan: Loan) -> None:
        """Take back a loan for which there is no buffer, unless it has ended."""
        if loan in self.loans:
            self.loans -= {loan}
            self.non_pooled += loan.size
