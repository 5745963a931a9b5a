"""The reference's pool, as the machine of `wheelproof_spec.testing` calls it."""

from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof_spec.testing import Buffer


class ReferencePool:
    """A BufferPool whose buffers are views of their memory."""

    pool_class: type[BufferPool] = BufferPool

    def __init__(self, total_memory: int, poolable_size: int) -> None:
        self._pool = self.pool_class(total_memory, poolable_size)
        self._lent: dict[int, tuple[Buffer, ByteBuffer]] = {}
        """The buffer behind each view, which is kept as well: so its number stays its own."""

    def allocate(self, size: int, max_block_ms: int) -> Buffer:
        """Return a view of all of a buffer."""
        buffer = self._pool.allocate(size, max_block_ms)
        buffer.put(bytes(size))
        view = buffer.view()
        self._lent[id(view)] = view, buffer
        return view

    def deallocate(self, buffer: Buffer) -> None:
        """Give the buffer behind a view back."""
        self._pool.deallocate(self._lent[id(buffer)][1])

    def available_memory(self) -> int:
        """Return what can be lent, in bytes."""
        return self._pool.available_memory()

    def unallocated_memory(self) -> int:
        """Return the part of it that is no buffer, in bytes."""
        return self._pool.unallocated_memory()

    def queued(self) -> int:
        """Return how many threads wait."""
        return self._pool.queued()

    def close(self) -> None:
        """Close the pool."""
        self._pool.close()
