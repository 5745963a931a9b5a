"""How the public calls of the reference's buffer pool are recorded."""

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
from wheelproof_spec.engines.history.recording.recorded_run import (
    HistoryWriter,
    Replacements,
    nothing,
)

_P = ParamSpec("_P")


class PoolRecorder:
    """Records buffer pools."""

    def __init__(self, writer: HistoryWriter) -> None:
        self._writer = writer

    def replacements(self) -> Replacements:
        """Return the methods that record, by the class and the name that they replace."""
        return {
            (BufferPool, "__init__"): self._made(BufferPool.__init__),
            (BufferPool, "allocate"): self._allocate(BufferPool.allocate),
            (BufferPool, "deallocate"): self._deallocate(BufferPool.deallocate),
            (BufferPool, "close"): self._close(BufferPool.close),
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

    def _allocate(
        self, original: Callable[[BufferPool, int, int], ByteBuffer]
    ) -> Callable[[BufferPool, int, int], ByteBuffer]:
        @wraps(original)
        def allocate(pool: BufferPool, size: int, max_time_to_block_ms: int) -> ByteBuffer:
            run = self._writer.run_of(pool)
            if run is None:
                return original(pool, size, max_time_to_block_ms)
            asked = Allocate(size=size, max_time_to_block_ms=max_time_to_block_ms)

            def lent(buffer: ByteBuffer) -> Allocated:
                return Allocated(buffer=self._writer.rename(run, buffer, "buffer"), size=size)

            return self._writer.call(
                run, asked, lent, lambda: original(pool, size, max_time_to_block_ms)
            )

        return allocate

    def _deallocate(
        self, original: Callable[[BufferPool, ByteBuffer | None], None]
    ) -> Callable[[BufferPool, ByteBuffer | None], None]:
        @wraps(original)
        def deallocate(pool: BufferPool, buffer: ByteBuffer | None) -> None:
            run = self._writer.run_of(pool)
            if run is None or buffer is None:
                original(pool, buffer)
                return
            asked = Deallocate(buffer=run.names.get(id(buffer), "a-stranger"))
            self._writer.call(run, asked, nothing, lambda: original(pool, buffer))

        return deallocate

    def _close(self, original: Callable[[BufferPool], None]) -> Callable[[BufferPool], None]:
        @wraps(original)
        def close(pool: BufferPool) -> None:
            run = self._writer.run_of(pool)
            if run is None:
                original(pool)
                return
            self._writer.call(run, Close(), nothing, lambda: original(pool))

        return close
