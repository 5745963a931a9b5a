#!/usr/bin/env python3
"""The SimpleBufferPool of kafka-python 2.0.2 behind the protocol wheelproof.driver/1.

The pool's conditions are replaced: a time-out ends when `advance` says so. A waking thread counts
each thread that it makes runnable, and an answer is written when the count is 0.
"""

import logging
import threading
from functools import partial
from importlib import import_module
from importlib.metadata import version
from types import SimpleNamespace
from typing import Protocol

from serving import serve

ERRORS = import_module("kafka.errors")
MODULE = import_module("kafka.producer.buffer")


class Running:
    """The number of allocations that are neither finished nor waiting."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def add(self, count: int) -> None:
        """Add `count` runnable threads, or remove some if `count` is negative."""
        with self._changed:
            self._count += count
            self._changed.notify_all()

    def settle(self) -> None:
        """Wait until no allocation is runnable."""
        with self._changed:
            self._changed.wait_for(lambda: self._count == 0)


class Lock(Protocol):
    """The pool's lock."""

    def acquire(self) -> bool:
        """Acquire the lock."""
        ...

    def release(self) -> None:
        """Release the lock."""
        ...


class VirtualCondition:
    """A condition whose time-outs follow the clock of the test case."""

    def __init__(self, pool: "Pool", lock: Lock) -> None:
        self._pool, self._lock = pool, lock
        self.due_ms = 0
        self._woken = threading.Event()
        self._waiting = False

    def wait(self, timeout_s: float) -> None:
        """Wait for `notify` or for the end of the time-out."""
        self.due_ms = self._pool.now_ms + round(timeout_s * 1000)
        if self.due_ms <= self._pool.now_ms:
            return
        self._woken.clear()
        self._waiting = True
        self._pool.waiting.append(self)
        self._lock.release()
        self._pool.running.add(-1)
        self._woken.wait()
        self._lock.acquire()

    def notify(self) -> None:
        """Wake the waiting thread, if there is one."""
        if self._waiting:
            self._waiting = False
            self._pool.waiting.remove(self)
            self._pool.running.add(1)
            self._woken.set()


class Pool:
    """A SimpleBufferPool; each allocation runs on its own thread."""

    def __init__(self, config: dict[str, int]) -> None:
        self.now_ms = config["start_ms"]
        self.running = Running()
        self.waiting: list[VirtualCondition] = []
        conditions = partial(VirtualCondition, self)
        replaced = SimpleNamespace(RLock=threading.RLock, Condition=conditions)
        vars(MODULE)["threading"] = replaced
        self.pool = MODULE.SimpleBufferPool(config["total_memory"], config["poolable_size"])
        self.ended: dict[str, str] = {}
        self._lent: dict[str, object] = {}

    def allocate(self, buffer: str, size: int, max_time_to_block_ms: int) -> None:
        """Allocate on a new thread; if the call blocks, the thread stays in it."""

        def run() -> None:
            try:
                self._lent[buffer] = self.pool.allocate(size, max_time_to_block_ms)
                self.ended[buffer] = "buffer"
            except ERRORS.KafkaTimeoutError:
                self.ended[buffer] = "exhausted"
            finally:
                self.running.add(-1)

        self.running.add(1)
        threading.Thread(target=run, daemon=True).start()

    def deallocate(self, buffer: str) -> None:
        """Return a buffer to the pool."""
        self.pool.deallocate(self._lent[buffer])

    def advance(self, to_ms: int) -> None:
        """Set the clock and end the waits that have timed out, the earliest first."""
        self.now_ms = to_ms
        late = [one for one in self.waiting if one.due_ms <= to_ms]
        for one in sorted(late, key=lambda one: one.due_ms):
            one.notify()
            self.running.settle()


def perform(port: Pool, operation: str, arguments: dict[str, int]) -> dict[str, object]:
    """Perform an operation and return the fields of its answer."""
    getattr(port, operation)(**arguments)
    port.running.settle()
    ended, port.ended = port.ended, {}
    return {"ended": ended, "queued": port.pool.queued()}


def main() -> None:
    """Answer requests until `bye`."""
    logging.disable()
    who = {"impl": "kafka-python SimpleBufferPool", "version": version("kafka-python")}
    able = {"components": ["buffer_pool"], "capabilities": ["virtual_time", "exact_time"]}
    serve({**who, **able, "profiles": {"buffer_pool": "longest-waiting-first"}}, Pool, perform)


if __name__ == "__main__":
    main()
