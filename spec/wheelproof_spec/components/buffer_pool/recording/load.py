"""Callers that allocate more than the total, keep a few buffers and give them back."""

import random
from collections import deque
from itertools import count

from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof_spec.components.buffer_pool.component import PoolConfig
from wheelproof_spec.components.buffer_pool.recording.calls import RecordedPool
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_POOLABLE = 1_024
_TOTAL = 8 * _POOLABLE
_MOST_KEPT = 3
_LONGEST_BLOCK_MS = 20


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

    def __init__(self) -> None:
        self._names = count()
        self._pool = BufferPool(_TOTAL, _POOLABLE, allocator=self._new_buffer)

    @property
    def config(self) -> PoolConfig:
        """The settings of the pool."""
        return PoolConfig(total_memory=_TOTAL, poolable_size=_POOLABLE)

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the pool until everything has been given back."""
        pool = RecordedPool(self._pool, recorder, _name_of)
        kept = [deque[ByteBuffer]() for _ in range(callers.threads)]
        calls, last = count(), callers.operations * 9 // 10

        def act(dice: random.Random, caller: int) -> None:
            if next(calls) == last and callers.hurried:
                pool.close()
            _act(pool, dice, kept[caller])

        callers.act(act)
        for buffers in kept:
            while buffers:
                pool.deallocate(buffers.pop())
        pool.look()

    def _new_buffer(self, size: int) -> ByteBuffer:
        return _NamedBuffer(bytearray(size), f"b{next(self._names)}")


def _name_of(buffer: ByteBuffer) -> str:
    assert isinstance(buffer, _NamedBuffer)
    return buffer.name


def _act(pool: RecordedPool, dice: random.Random, kept: deque[ByteBuffer]) -> None:
    choice = dice.randrange(100)
    if choice < 3:
        pool.look()
    elif kept and (choice < 50 or len(kept) == _MOST_KEPT):
        pool.deallocate(dice.choice((kept.pop, kept.popleft))())
    else:
        odd = dice.randrange(3) == 0
        size = dice.randrange(1, 3 * _POOLABLE) if odd else _POOLABLE
        buffer = pool.allocate(size, dice.randrange(_LONGEST_BLOCK_MS))
        if buffer is not None:
            kept.append(buffer)


def load(callers: Callers) -> BufferPoolLoad:
    """Return the load of one history."""
    del callers
    return BufferPoolLoad()
