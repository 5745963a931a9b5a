"""Callers that allocate more than there is, keep a few buffers and give them back."""

import random
from collections import deque
from itertools import count

from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof_spec.base.calls import AvailableMemory, Close, Memory
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolConfig,
    Queued,
    WaitingThreads,
)
from wheelproof_spec.engines.history.recording.callers import Callers
from wheelproof_spec.engines.history.recording.load_recorder import LoadRecorder

_POOLABLE = 1_024
_TOTAL = 8 * _POOLABLE
_MOST_KEPT = 3
_LONGEST_BLOCK_MS = 20


class _NamedBuffer(ByteBuffer):
    """A buffer that is called as its memory is: whoever else has the memory has the same name."""

    __slots__ = ("name",)

    def __init__(self, memory: bytearray, name: str) -> None:
        super().__init__(memory)
        self.name = name

    def duplicate(self) -> ByteBuffer:
        """Return a buffer over the same memory."""
        return _NamedBuffer(self._memory, self.name)


class BufferPoolLoad:
    """A pool; if the callers are hurried, it is closed while others wait for memory."""

    def __init__(self) -> None:
        self._names = count()
        self._pool = BufferPool(_TOTAL, _POOLABLE, allocator=self._new_buffer)

    @property
    def config(self) -> PoolConfig:
        """The settings of the pool."""
        return PoolConfig(total_memory=_TOTAL, poolable_size=_POOLABLE)

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the pool until everything has been given back."""
        kept = [deque[_NamedBuffer]() for _ in range(callers.threads)]
        calls, last = count(), callers.operations * 9 // 10

        def act(dice: random.Random, caller: int) -> None:
            if next(calls) == last and callers.hurried:
                recorder.do(Close(), self._pool.close)
            self._act(recorder, dice, kept[caller])

        callers.act(act)
        for buffers in kept:
            while buffers:
                self._give_back(recorder, buffers.pop())
        self._look(recorder)

    def _act(self, recorder: LoadRecorder, dice: random.Random, kept: deque[_NamedBuffer]) -> None:
        choice = dice.randrange(100)
        if choice < 3:
            self._look(recorder)
        elif kept and (choice < 50 or len(kept) == _MOST_KEPT):
            self._give_back(recorder, dice.choice((kept.pop, kept.popleft))())
        else:
            self._allocate(recorder, dice, kept)

    def _allocate(
        self, recorder: LoadRecorder, dice: random.Random, kept: deque[_NamedBuffer]
    ) -> None:
        odd = dice.randrange(3) == 0
        size = dice.randrange(1, 3 * _POOLABLE) if odd else _POOLABLE
        block_ms = dice.randrange(_LONGEST_BLOCK_MS)

        def allocate() -> Allocated:
            buffer = self._pool.allocate(size, block_ms)
            assert isinstance(buffer, _NamedBuffer)
            kept.append(buffer)
            return Allocated(buffer=buffer.name, size=buffer.capacity)

        recorder.call(Allocate(size=size, max_time_to_block_ms=block_ms), allocate)

    def _give_back(self, recorder: LoadRecorder, buffer: _NamedBuffer) -> None:
        asked = Deallocate(buffer=buffer.name, size=buffer.capacity)
        recorder.do(asked, lambda: self._pool.deallocate(buffer))

    def _look(self, recorder: LoadRecorder) -> None:
        pool = self._pool
        recorder.call(AvailableMemory(), lambda: Memory(size=pool.available_memory()))
        recorder.call(Queued(), lambda: WaitingThreads(count=pool.queued()))

    def _new_buffer(self, size: int) -> ByteBuffer:
        return _NamedBuffer(bytearray(size), f"b{next(self._names)}")


def load(callers: Callers) -> BufferPoolLoad:
    """Return the load of one history."""
    del callers
    return BufferPoolLoad()
