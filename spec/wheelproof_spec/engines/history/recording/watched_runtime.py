"""A runtime whose locks, cells and clock tell a watcher what is done with them.

A cell's operation and its report are one step: both happen under the watcher's lock, which nobody
holds while waiting for another one. That a lock is taken is told once it is held, and that it is
given back while it still is.
"""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from wheelproof.sync import (
    AtomicInteger,
    AtomicReference,
    Condition,
    Lock,
    Monitor,
    ReadWriteLock,
    Runtime,
    Thread,
    Volatile,
)
from wheelproof.sync.protocols import LockView
from wheelproof.units import Millis

T = TypeVar("T")


class Watcher(Protocol):
    """Hears of every step; all of its methods are called under `steps`."""

    steps: threading.RLock

    def made(self, name: str, primitive: object) -> None:
        """`primitive` was made under this name."""
        ...

    def entered(self, name: str, primitive: object) -> None:
        """The calling thread holds it now."""
        ...

    def leaving(self, name: str, primitive: object) -> None:
        """The calling thread is about to give it back."""
        ...

    def touched(self, name: str, cell: object, how: str, value: object, result: object) -> None:
        """The operation `how` of a cell, with `value`, has returned `result`."""
        ...

    def clock_read(self, now_ms: int) -> None:
        """The clock showed this."""
        ...


class WatchedRuntime:
    """The runtime `inner`, watched; its clock begins at 0 when it is read for the first time."""

    def __init__(self, inner: Runtime, watcher: Watcher) -> None:
        self._inner = inner
        self._began_ms: int | None = None
        self._watcher = watcher

    def monitor(self, name: str) -> Monitor:
        """Return a new monitor."""
        return _Block(self._inner.monitor(name), name, self._watcher)

    def lock(self, name: str) -> Lock:
        """Return a new lock."""
        return _Lock(self._inner.lock(name), name, self._watcher)

    def condition(self, lock: Lock, name: str) -> Condition:
        """Return a new condition of `lock`; raises TypeError if that is another runtime's."""
        if not isinstance(lock, _Lock):
            raise TypeError(f"condition {name!r}: its lock belongs to another runtime")
        return self._inner.condition(lock.inner, name)

    def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
        """Return a new read-write lock."""
        inner = self._inner.read_write_lock(name, prefer_writers=prefer_writers)
        with self._watcher.steps:
            self._watcher.made(name, inner)
        return _ReadWriteLock(inner, name, self._watcher)

    def volatile(self, value: T, name: str) -> Volatile[T]:
        """Return a new volatile cell."""
        return _Volatile(self._inner.volatile(value, name), name, self._watcher)

    def atomic_reference(self, value: T, name: str) -> AtomicReference[T]:
        """Return a new atomic cell."""
        return _AtomicReference(self._inner.atomic_reference(value, name), name, self._watcher)

    def atomic_integer(self, value: int, name: str) -> AtomicInteger:
        """Return a new atomic integer."""
        return _AtomicInteger(self._inner.atomic_integer(value, name), name, self._watcher)

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new thread."""
        return self._inner.thread(target, name)

    def monotonic_ms(self) -> Millis:
        """Return the time since the clock was read for the first time."""
        with self._watcher.steps:
            now_ms = self.elapsed_ms()
            self._watcher.clock_read(now_ms)
        return now_ms

    def elapsed_ms(self) -> Millis:
        """Return the same without telling the watcher, who may call this."""
        now_ms = self._inner.monotonic_ms()
        if self._began_ms is None:
            self._began_ms = now_ms
        return Millis(now_ms - self._began_ms)


class _Block:
    def __init__(self, inner: LockView, name: str, watcher: Watcher) -> None:
        self._block = inner
        self._name = name
        self._watcher = watcher

    def __enter__(self) -> bool:
        interrupted = self._block.__enter__()
        with self._watcher.steps:
            self._watcher.entered(self._name, self)
        return interrupted

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        with self._watcher.steps:
            self._watcher.leaving(self._name, self)
        self._block.__exit__(kind, error, traceback)


class _Lock(_Block):
    def __init__(self, inner: Lock, name: str, watcher: Watcher) -> None:
        super().__init__(inner, name, watcher)
        self.inner = inner

    def acquire(self) -> bool:
        return self.__enter__()

    def try_acquire(self) -> bool:
        taken = self.inner.try_acquire()
        if taken:
            with self._watcher.steps:
                self._watcher.entered(self._name, self)
        return taken

    def release(self) -> None:
        self.__exit__(None, None, None)


class _ReadWriteLock:
    def __init__(self, inner: ReadWriteLock, name: str, watcher: Watcher) -> None:
        self.read: LockView = _Block(inner.read, f"{name}.read", watcher)
        self.write: LockView = _Block(inner.write, f"{name}.write", watcher)


class _Volatile(Generic[T]):
    def __init__(self, inner: Volatile[T], name: str, watcher: Watcher) -> None:
        self._inner = inner
        self._name = name
        self._watcher = watcher

    def get(self) -> T:
        with self._watcher.steps:
            result = self._inner.get()
            self._watcher.touched(self._name, self, "get", None, result)
        return result

    def set(self, value: T, /) -> None:
        with self._watcher.steps:
            self._inner.set(value)
            self._watcher.touched(self._name, self, "set", value, None)


class _AtomicReference(_Volatile[T]):
    def __init__(self, inner: AtomicReference[T], name: str, watcher: Watcher) -> None:
        super().__init__(inner, name, watcher)
        self._atomic = inner

    def get_and_set(self, value: T, /) -> T:
        with self._watcher.steps:
            result = self._atomic.get_and_set(value)
            self._watcher.touched(self._name, self, "get_and_set", value, result)
        return result

    def compare_and_set(self, expected: T, value: T, /) -> bool:
        with self._watcher.steps:
            result = self._atomic.compare_and_set(expected, value)
            self._watcher.touched(self._name, self, "compare_and_set", value, result)
        return result


class _AtomicInteger(_AtomicReference[int]):
    def __init__(self, inner: AtomicInteger, name: str, watcher: Watcher) -> None:
        super().__init__(inner, name, watcher)
        self._integer = inner

    def add_and_get(self, delta: int, /) -> int:
        return self._integer.add_and_get(delta)
