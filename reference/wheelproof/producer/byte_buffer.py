"""Buffers: memory that is lent out, written into and given back.

Memory that was given back may already belong to somebody else. So a buffer carries a receipt by
which its lender recognizes the loan, and a buffer that is lent again is a new object.

>>> from wheelproof.producer.byte_buffer import allocate_byte_buffer
>>> buffer = allocate_byte_buffer(8)
>>> buffer.put(b"abc")
>>> buffer.position, buffer.capacity, bytes(buffer.view())
(3, 8, b'abc')
"""

from collections.abc import Callable
from typing import TypeAlias

from wheelproof.producer.errors import BufferOverflowError


class ByteBuffer:
    """A block of memory with a position, as much of Java's as the producer needs.

    Not safe for use by several threads: it is on loan to one at a time.
    """

    __slots__ = ("_memory", "_position", "capacity", "receipt")

    def __init__(self, memory: bytearray, *, capacity: int | None = None) -> None:
        """Make a buffer over `memory`.

        `capacity`, in bytes, is what the buffer counts as; a stand-in for a large buffer counts as
        more than the memory that it has.
        """
        self._memory = memory
        self._position = 0
        self.capacity = len(memory) if capacity is None else capacity
        self.receipt: object | None = None
        """How the lender recognizes the loan; for the lender alone."""

    @property
    def position(self) -> int:
        """How many bytes have been put into it."""
        return self._position

    def put(self, data: bytes) -> None:
        """Write `data` behind what has been written.

        Raises BufferOverflowError if there is no room for all of it.
        """
        end = self._position + len(data)
        if end > len(self._memory):
            raise BufferOverflowError(
                f"{len(data)} bytes do not fit behind byte {self._position} of {len(self._memory)}"
            )
        self._memory[self._position : end] = data
        self._position = end

    def view(self) -> memoryview:
        """Return what has been written; it shares the memory, and sees what later users write."""
        return memoryview(self._memory)[: self._position]

    def duplicate(self) -> "ByteBuffer":
        """Return an empty buffer over the same memory; the bytes stay as they are."""
        return ByteBuffer(self._memory, capacity=self.capacity)

    def shares_memory_with(self, other: "ByteBuffer") -> bool:
        """Tell whether what is put into one buffer is seen in the other."""
        return self._memory is other._memory


Allocator: TypeAlias = Callable[[int], ByteBuffer]
"""Makes a buffer of a capacity in bytes; may fail by any exception."""


def allocate_byte_buffer(size: int) -> ByteBuffer:
    """Return a new buffer of `size` bytes of memory."""
    return ByteBuffer(bytearray(size))


def allocate_stand_in(size: int) -> ByteBuffer:
    """Return a buffer that counts as `size` bytes and has no memory: for pools of any size."""
    return ByteBuffer(bytearray(), capacity=size)
