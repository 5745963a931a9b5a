"""A pool that is nothing like the reference: it hands memory on, and keeps its buffers on a shelf.

Whoever gives back serves the line itself. No thread takes a part. The buffers are cut from slabs,
the last one that came back goes out first, and none is ever broken up: it keeps no account of that.
"""

import threading
from dataclasses import dataclass, field

from wheelproof_spec.testing import Buffer


@dataclass(slots=True, eq=False)
class Waiter:
    """A thread that waits for `size` bytes, and the buffer that it gets."""

    size: int
    woken: threading.Event = field(default_factory=threading.Event)
    buffer: Buffer | None = None


class ShelfPool:
    """The methods with an underscore are what variants replace; all but `_cut` hold the lock."""

    def __init__(self, total_memory: int, poolable_size: int) -> None:
        self._total, self._left = total_memory, total_memory
        self._poolable = poolable_size
        self._shelf: list[Buffer] = []
        self._line: list[Waiter] = []
        self._lent: list[Buffer] = []
        self._closed = False
        self._lock = threading.Lock()

    def allocate(self, size: int, max_block_ms: int) -> Buffer:
        """Take memory, or join the line."""
        with self._lock:
            self._require_size(size)
            self._require_open()
            if size == 0 or (self._has_turn() and size <= self._left):
                return self._lend(size)
            waiter = Waiter(size)
            self._line.append(waiter)
            self._joined()
        waiter.woken.wait(max_block_ms / 1_000)
        with self._lock:
            if waiter in self._line:
                self._line.remove(waiter)
                self._gives_up()
            if waiter.buffer is None:
                self._require_open()
                raise TimeoutError(f"no {size} bytes within {max_block_ms} ms")
            return waiter.buffer

    def deallocate(self, buffer: Buffer) -> None:
        """Take memory back, and serve the line."""
        with self._lock:
            place = next((at for at, lent in enumerate(self._lent) if lent is buffer), None)
            if place is None:
                raise ValueError("this buffer is not on loan")
            del self._lent[place]
            self._left += len(buffer)
            if len(buffer) == self._poolable:
                # A new view, so that nobody can give the old one back again.
                self._shelf.append(memoryview(buffer))
            self._serve()

    def available_memory(self) -> int:
        """Return what is not lent, in bytes."""
        with self._lock:
            return self._left

    def unallocated_memory(self) -> None:
        """Return None: there is no such account."""

    def queued(self) -> int:
        """Return how many threads stand in the line."""
        with self._lock:
            return len(self._line)

    def close(self) -> None:
        """Let all go that stand in the line."""
        with self._lock:
            self._closed = True
            for waiter in self._released():
                self._line.remove(waiter)
                waiter.woken.set()

    def _require_size(self, size: int) -> None:
        if not 0 <= size <= self._total:
            raise ValueError(f"a buffer has 0 to {self._total} bytes")

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError("the pool is closed")

    def _has_turn(self) -> bool:
        return not self._line

    def _lend(self, size: int) -> Buffer:
        self._left -= size
        buffer = self._cut(size)
        self._lent.append(buffer)
        return buffer

    def _cut(self, size: int) -> Buffer:
        if size == self._poolable and self._shelf:
            return self._shelf.pop()
        return memoryview(bytearray(size + 3))[2 : size + 2]

    def _joined(self) -> None:
        """Do nothing when a thread has joined the line."""

    def _gives_up(self) -> None:
        """Serve the others when a thread has left the line without memory."""
        self._serve()

    def _serve(self) -> None:
        while self._line and self._next().size <= self._left and not self._closed:
            waiter = self._next()
            self._line.remove(waiter)
            waiter.buffer = self._lend(waiter.size)
            waiter.woken.set()

    def _next(self) -> Waiter:
        return self._line[0]

    def _released(self) -> list[Waiter]:
        return list(self._line)
