"""The reference's pool under the work that every pool is given."""

from functools import partial
from itertools import count

from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof_spec.base.calls import AvailableMemory, Close
from wheelproof_spec.base.component import Config
from wheelproof_spec.components.buffer_pool.component import Allocate, PoolConfig, Queued
from wheelproof_spec.components.buffer_pool.recording.calls import RecordedPool
from wheelproof_spec.components.buffer_pool.recording.work import work
from wheelproof_spec.components.buffer_pool.work import GiveBack
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load_recorder import LoadRecorder
from wheelproof_spec.history.recording.work import Make, do_work


class _NamedBuffer(ByteBuffer):
    """A buffer with the name of its memory: all buffers over the same memory have that name."""

    __slots__ = ("name",)

    def __init__(self, memory: bytearray, name: str) -> None:
        super().__init__(memory)
        self.name = name

    def duplicate(self) -> ByteBuffer:
        """Return a buffer over the same memory."""
        return _NamedBuffer(self._memory, self.name)


class BufferPoolLoad:
    """A pool; if the callers are hurried, it is closed while some of them wait for memory."""

    def __init__(self, callers: Callers) -> None:
        self._work = work(callers)
        assert isinstance(self._work.config, PoolConfig)
        self._names = count()
        self._pool = BufferPool(
            self._work.config.total_memory,
            self._work.config.poolable_size,
            allocator=self._new_buffer,
        )
        self._kept: list[list[ByteBuffer]] = [[] for _ in range(callers.threads)]

    @property
    def config(self) -> Config:
        """The settings of the pool."""
        return self._work.config

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the pool until everything has been given back."""
        pool = RecordedPool(self._pool, recorder, _name_of)
        do_work(self._work, callers, partial(self._make, pool))
        for mine in self._kept:
            while mine:
                pool.deallocate(mine.pop())
        pool.look()

    def _make(self, pool: RecordedPool, step: Make) -> None:
        mine = self._kept[step.caller]
        match step.call:
            case Allocate(size=size, max_time_to_block_ms=max_time_to_block_ms):
                buffer = pool.allocate(size, max_time_to_block_ms)
                if buffer is not None:
                    mine.append(buffer)
            case GiveBack(loan=loan):
                if mine:
                    pool.deallocate(mine.pop(loan % len(mine)))
            case AvailableMemory():
                pool.available_memory()
            case Queued():
                pool.queued()
            case _:
                assert isinstance(step.call, Close)
                pool.close()

    def _new_buffer(self, size: int) -> ByteBuffer:
        return _NamedBuffer(bytearray(size), f"b{next(self._names)}")


def _name_of(buffer: ByteBuffer) -> str:
    assert isinstance(buffer, _NamedBuffer)
    return buffer.name


def load(callers: Callers) -> BufferPoolLoad:
    """Return the load of one history."""
    return BufferPoolLoad(callers)
