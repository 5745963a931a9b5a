"""Records the buffer pools of any program: patches their public methods."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof_spec.base.calls import Close
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolConfig,
)
from wheelproof_spec.history.recording.recorded_run import (
    HistoryWriter,
    Replacements,
    Run,
    nothing,
)

_P = ParamSpec("_P")


class PoolRecorder:
    """The recorder of buffer pools."""

    def __init__(self, writer: HistoryWriter) -> None:
        self._writer = writer

    def replacements(self) -> Replacements:
        """Return the methods that record, by the class and the name that they replace."""
        recorded = self._writer.recorded
        return {
            (BufferPool, "__init__"): self._made(BufferPool.__init__),
            (BufferPool, "allocate"): recorded(BufferPool.allocate, Allocate, self._lent),
            (BufferPool, "deallocate"): recorded(BufferPool.deallocate, _deallocates, nothing),
            (BufferPool, "close"): recorded(BufferPool.close, Close, nothing),
        }

    def _made(self, original: Callable[_P, None]) -> Callable[_P, None]:
        @wraps(original)
        def made(*args: _P.args, **kwargs: _P.kwargs) -> None:
            original(*args, **kwargs)
            pool = args[0]
            assert isinstance(pool, BufferPool)
            config = PoolConfig(total_memory=pool.total_memory, poolable_size=pool.poolable_size)
            self._writer.made(pool, config)

        return made

    def _lent(self, run: Run, buffer: ByteBuffer) -> Allocated:
        return Allocated(buffer=self._writer.rename(run, buffer, "buffer"), size=buffer.capacity)


def _deallocates(run: Run, _: BufferPool, buffer: ByteBuffer | None) -> Deallocate | None:
    if buffer is None:
        return None
    return Deallocate(buffer=run.names.get(id(buffer), "a-stranger"))
