"""Calls of the reference's buffer pool that write what they do, for the load and the machine."""

from collections.abc import Callable
from functools import partial

from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof_spec.base.calls import AvailableMemory, Close, Memory
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    Queued,
    WaitingThreads,
)
from wheelproof_spec.history.recording.load_recorder import LoadRecorder


class RecordedPool:
    """A pool of the reference; `name_of` names its buffers."""

    def __init__(
        self, pool: BufferPool, recorder: LoadRecorder, name_of: Callable[[ByteBuffer], str]
    ) -> None:
        self._pool = pool
        self._recorder = recorder
        self._name_of = name_of

    def allocate(self, size: int, max_time_to_block_ms: int) -> ByteBuffer | None:
        """Return a buffer, or None if the call got none."""
        lent: list[ByteBuffer] = []

        def allocate() -> Allocated:
            buffer = self._pool.allocate(size, max_time_to_block_ms)
            lent.append(buffer)
            return Allocated(buffer=self._name_of(buffer), size=buffer.capacity)

        asked = Allocate(size=size, max_time_to_block_ms=max_time_to_block_ms)
        self._recorder.call(asked, allocate)
        return lent[0] if lent else None

    def deallocate(self, buffer: ByteBuffer) -> None:
        """Give a buffer back."""
        asked = Deallocate(buffer=self._name_of(buffer), size=buffer.capacity)
        self._recorder.do(asked, partial(self._pool.deallocate, buffer))

    def close(self) -> None:
        """Close the pool."""
        self._recorder.do(Close(), self._pool.close)

    def available_memory(self) -> None:
        """Ask for the available memory."""
        pool = self._pool
        self._recorder.call(AvailableMemory(), lambda: Memory(size=pool.available_memory()))

    def queued(self) -> None:
        """Ask for the number of waiting threads."""
        self._recorder.call(Queued(), lambda: WaitingThreads(count=self._pool.queued()))

    def read_gauges(self) -> None:
        """Ask for both."""
        self.available_memory()
        self.queued()
