#!/usr/bin/env python3
"""A program that `wheelproof load` gives its work: put your pool into MyPool.

    wheelproof load --component buffer_pool --driver "python3 loaded_pool.py" --output run.jsonl
    wheelproof check run.jsonl

MyPool serves whoever waits in the order of their coming, until you replace it.
"""

import itertools
import threading
import time
from collections import deque
from typing import Any, ClassVar

from loaded import Recorder, RefusedError, serve


class Buffer:
    """A buffer. Its name is that of its memory: if one memory is lent to two, both have it."""

    _names = itertools.count()

    def __init__(self, size: int) -> None:
        self.memory = bytearray(size)
        self.name = f"b{next(self._names)}"


class MyPool:
    """Your pool."""

    def __init__(self, total_memory: int, poolable_size: int) -> None:
        self._changed = threading.Condition()
        self._poolable_size = poolable_size
        self._unused = total_memory
        self._free: list[Buffer] = []
        self._waiting: deque[object] = deque()
        self._closed = False

    def allocate(self, size: int, max_time_to_block_ms: int) -> Buffer:
        """Return a buffer; raise RefusedError if there is no memory in time."""
        deadline = time.monotonic() + max_time_to_block_ms / 1_000
        me = object()
        with self._changed:
            self._waiting.append(me)
            try:
                while self._waiting[0] is not me or not self._has(size):
                    if self._closed:
                        raise RefusedError("Closed")
                    left_s = deadline - time.monotonic()
                    if left_s <= 0:
                        raise RefusedError("Exhausted")
                    self._changed.wait(left_s)
                if self._closed:
                    raise RefusedError("Closed")
                return self._take(size)
            finally:
                self._waiting.remove(me)
                self._changed.notify_all()

    def deallocate(self, buffer: Buffer) -> None:
        """Take a buffer back."""
        with self._changed:
            if len(buffer.memory) == self._poolable_size:
                self._free.append(buffer)
            else:
                self._unused += len(buffer.memory)
            self._changed.notify_all()

    def close(self) -> None:
        """Refuse all that wait, and all that come."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def available_memory(self) -> int:
        """Return how many bytes nobody has."""
        with self._changed:
            return self._unused + len(self._free) * self._poolable_size

    def queued(self) -> int:
        """Return how many wait."""
        with self._changed:
            return len(self._waiting)

    def _has(self, size: int) -> bool:
        return self._unused + len(self._free) * self._poolable_size >= size

    def _take(self, size: int) -> Buffer:
        if size == self._poolable_size and self._free:
            return self._free.pop()
        while self._unused < size:
            self._unused += len(self._free.pop().memory)
        self._unused -= size
        return Buffer(size)


class LoadedPool:
    """MyPool, as the load calls it."""

    HELLO: ClassVar[dict[str, Any]] = {
        "impl": "my-pool",
        "version": "1",
        "components": ["buffer_pool"],
        "capabilities": ["allocate", "give_back", "available_memory", "queued", "close"],
        "profiles": {"buffer_pool": "longest-waiting-first"},
    }
    CLAIMS: ClassVar[dict[str, Any]] = {}

    def __init__(
        self, config: dict[str, Any], recorder: Recorder, _serving: list[dict[str, Any]]
    ) -> None:
        self._pool = MyPool(config["total_memory"], config["poolable_size"])
        self._recorder = recorder
        self._kept: dict[str, list[Buffer]] = {}

    def call(self, caller: str, step: dict[str, Any]) -> None:
        """Make one call between its two lines."""
        name, args = step["op"], step["args"]
        kept = self._kept.setdefault(caller, [])
        if name == "give_back":
            # Which buffer that is depends on what the caller got; if none, nothing is called.
            if kept:
                self._give_back(caller, kept.pop(args["loan"] % len(kept)))
        else:
            self._recorder.call(caller, name, args, lambda: self._made(name, args, kept))

    def _made(self, name: str, args: dict[str, Any], kept: list[Buffer]) -> dict[str, Any]:
        if name == "allocate":
            buffer = self._pool.allocate(args["size"], args["max_time_to_block_ms"])
            kept.append(buffer)
            return {"buffer": buffer.name, "size": len(buffer.memory)}
        if name == "available_memory":
            return {"size": self._pool.available_memory()}
        if name == "queued":
            return {"count": self._pool.queued()}
        self._pool.close()
        return {}

    def _give_back(self, caller: str, buffer: Buffer) -> None:
        def give_back() -> dict[str, Any]:
            self._pool.deallocate(buffer)
            return {}

        what = {"buffer": buffer.name, "size": len(buffer.memory)}
        self._recorder.call(caller, "deallocate", what, give_back)

    def rests(self) -> bool:
        """Tell whether nothing waits any more."""
        return True

    def end(self) -> None:
        """Give back what is left, and look whether all memory is there again."""
        for caller, kept in self._kept.items():
            while kept:
                self._give_back(caller, kept.pop())
        for name in ("available_memory", "queued"):
            self.call("end", {"op": name, "args": {}})


if __name__ == "__main__":
    serve(LoadedPool)
