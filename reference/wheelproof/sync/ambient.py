"""The ambient runtime, and one constructor for each primitive that asks it.

The same code has to run on real threads and under a model checker. So primitives come from
whichever runtime is ambient when an object is built, and nobody passes one through.

>>> from wheelproof import sync
>>> from wheelproof.sync.threads import ThreadsRuntime
>>> with sync.use_runtime(ThreadsRuntime()):
...     cell = sync.volatile("before", "cell")
>>> cell.set("after")
>>> cell.get()
'after'

Invariants:

- An object keeps the runtime that it was built with.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from wheelproof.sync.protocols import (
    AtomicInteger,
    AtomicReference,
    AwaitableCell,
    Condition,
    Executor,
    Lock,
    Monitor,
    ReadWriteLock,
    Runtime,
    Thread,
    Volatile,
)
from wheelproof.sync.single_thread_executor import SingleThreadExecutor
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.units import Millis

T = TypeVar("T")

_runtime: Runtime = ThreadsRuntime()


def current_runtime() -> Runtime:
    """Return the runtime that objects built now will belong to."""
    return _runtime


@contextmanager
def use_runtime(runtime: Runtime) -> Generator[None]:
    """Make `runtime` ambient inside the block, for the whole process.

    The switch is global rather than one for each thread because a controlled runtime brings
    threads of its own, which have to see it as well.
    """
    global _runtime
    before = _runtime
    _runtime = runtime
    try:
        yield
    finally:
        _runtime = before


def monitor(name: str) -> Monitor:
    """Return a new reentrant monitor."""
    return _runtime.monitor(name)


def lock(name: str) -> Lock:
    """Return a new lock that can be tried."""
    return _runtime.lock(name)


def condition(lock: Lock, name: str) -> Condition:
    """Return a new condition of `lock`."""
    return _runtime.condition(lock, name)


def read_write_lock(name: str, *, prefer_writers: bool = True) -> ReadWriteLock:
    """Return a new read-write lock; writers are preferred unless told otherwise."""
    return _runtime.read_write_lock(name, prefer_writers=prefer_writers)


def volatile(value: T, name: str) -> Volatile[T]:
    """Return a new volatile cell that holds `value`."""
    return _runtime.volatile(value, name)


def atomic_reference(value: T, name: str) -> AtomicReference[T]:
    """Return a new atomic reference that holds `value`."""
    return _runtime.atomic_reference(value, name)


def atomic_integer(value: int, name: str) -> AtomicInteger:
    """Return a new atomic integer that holds `value`."""
    return _runtime.atomic_integer(value, name)


def thread(target: Callable[[], None], name: str) -> Thread:
    """Return a new thread that will run `target`."""
    return _runtime.thread(target, name)


def await_until(cell: Volatile[T], predicate: Callable[[T], bool]) -> T:
    """Wait until `predicate`, which looks at nothing else, holds of the cell's value; returns that.

    A spin loop that says so: to a model checker it is one step, possible once the predicate holds.
    """
    if isinstance(cell, AwaitableCell):
        return cell.await_until(predicate)
    while not predicate(value := cell.get()):
        time.sleep(0)
    return value


def monotonic_ms() -> Millis:
    """Return the runtime's monotonic clock in milliseconds."""
    return _runtime.monotonic_ms()


def single_thread_executor(name: str) -> Executor:
    """Return a new executor with one thread, first in, first out (standard 1.9)."""
    return SingleThreadExecutor(_runtime, name)
