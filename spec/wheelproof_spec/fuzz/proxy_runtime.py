"""A runtime that wraps another one: a watcher controls every operation on its primitives.

The watcher performs the operation itself, by a call of the given function. So it can act before the
operation, learn the result, or hold a lock of its own while the operation takes effect.
"""

from collections.abc import Callable
from functools import partial
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
R = TypeVar("R")
RELEASES = ("__exit__", "release")
"""The operations that release a lock."""


class Watcher(Protocol):
    """The code around operations; called on the thread that performs them."""

    def making(self, name: str) -> None:
        """Record that a primitive is about to be made under this name."""
        ...

    def around(
        self, name: str, primitive: object, how: str, perform: Callable[[], R], value: object
    ) -> R:
        """Call `perform` and return what it returns.

        `perform` is the operation `how` ("get", "__enter__", "wait") of `primitive`, which was made
        under `name`; the sides of a read-write lock are "name.read" and "name.write". `value` is
        the argument of a cell's operation, None for all other operations.
        """
        ...


class ProxyRuntime:
    """The runtime `inner`, watched; `clock` replaces its clock."""

    def __init__(
        self, inner: Runtime, watcher: Watcher, clock: Callable[[], Millis] | None = None
    ) -> None:
        self._inner = inner
        self._watcher = watcher
        self._clock = inner.monotonic_ms if clock is None else clock

    def monitor(self, name: str) -> Monitor:
        """Return a new monitor."""
        self._watcher.making(name)
        return _ProxyBlock(self._inner.monitor(name), name, self._watcher)

    def lock(self, name: str) -> Lock:
        """Return a new lock."""
        self._watcher.making(name)
        return _ProxyLock(self._inner.lock(name), name, self._watcher)

    def condition(self, lock: Lock, name: str) -> Condition:
        """Return a new condition of `lock`; raises TypeError if that is another runtime's."""
        if not isinstance(lock, _ProxyLock):
            raise TypeError(f"condition {name!r}: its lock belongs to another runtime")
        self._watcher.making(name)
        return _ProxyCondition(self._inner.condition(lock.inner, name), name, self._watcher)

    def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
        """Return a new read-write lock."""
        self._watcher.making(name)
        inner = self._inner.read_write_lock(name, prefer_writers=prefer_writers)
        return _ProxyReadWriteLock(inner, name, self._watcher)

    def volatile(self, value: T, name: str) -> Volatile[T]:
        """Return a new volatile cell."""
        self._watcher.making(name)
        return _ProxyVolatile(self._inner.volatile(value, name), name, self._watcher)

    def atomic_reference(self, value: T, name: str) -> AtomicReference[T]:
        """Return a new atomic cell."""
        self._watcher.making(name)
        return _ProxyReference(self._inner.atomic_reference(value, name), name, self._watcher)

    def atomic_integer(self, value: int, name: str) -> AtomicInteger:
        """Return a new atomic integer."""
        self._watcher.making(name)
        return _ProxyInteger(self._inner.atomic_integer(value, name), name, self._watcher)

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new thread."""
        return self._inner.thread(target, name)

    def monotonic_ms(self) -> Millis:
        """Return the clock."""
        return self._clock()


class _Proxy:
    def __init__(self, name: str, watcher: Watcher) -> None:
        self._name = name
        self._watcher = watcher

    def _around(self, how: str, perform: Callable[[], R], value: object = None) -> R:
        return self._watcher.around(self._name, self, how, perform, value)


class _ProxyBlock(_Proxy):
    def __init__(self, inner: LockView, name: str, watcher: Watcher) -> None:
        super().__init__(name, watcher)
        self._block = inner

    def __enter__(self) -> bool:
        return self._around("__enter__", self._block.__enter__)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        self._around("__exit__", partial(self._block.__exit__, kind, error, traceback))


class _ProxyLock(_ProxyBlock):
    def __init__(self, inner: Lock, name: str, watcher: Watcher) -> None:
        super().__init__(inner, name, watcher)
        self.inner = inner

    def acquire(self) -> bool:
        return self._around("acquire", self.inner.acquire)

    def try_acquire(self) -> bool:
        return self._around("try_acquire", self.inner.try_acquire)

    def release(self) -> None:
        self._around("release", self.inner.release)


class _ProxyCondition(_Proxy):
    def __init__(self, inner: Condition, name: str, watcher: Watcher) -> None:
        super().__init__(name, watcher)
        self._inner = inner

    def wait(self, timeout_ms: Millis | None = None) -> bool:
        return self._around("wait", partial(self._inner.wait, timeout_ms))

    def notify(self) -> None:
        self._around("notify", self._inner.notify)

    def notify_all(self) -> None:
        self._around("notify_all", self._inner.notify_all)


class _ProxyReadWriteLock:
    def __init__(self, inner: ReadWriteLock, name: str, watcher: Watcher) -> None:
        self.read: LockView = _ProxyBlock(inner.read, f"{name}.read", watcher)
        self.write: LockView = _ProxyBlock(inner.write, f"{name}.write", watcher)


class _ProxyVolatile(_Proxy, Generic[T]):
    def __init__(self, inner: Volatile[T], name: str, watcher: Watcher) -> None:
        super().__init__(name, watcher)
        self._cell = inner

    def get(self) -> T:
        return self._around("get", self._cell.get)

    def set(self, value: T, /) -> None:
        self._around("set", partial(self._cell.set, value), value)


class _ProxyReference(_ProxyVolatile[T]):
    def __init__(self, inner: AtomicReference[T], name: str, watcher: Watcher) -> None:
        super().__init__(inner, name, watcher)
        self._atomic = inner

    def get_and_set(self, value: T, /) -> T:
        return self._around("get_and_set", partial(self._atomic.get_and_set, value), value)

    def compare_and_set(self, expected: T, value: T, /) -> bool:
        perform = partial(self._atomic.compare_and_set, expected, value)
        return self._around("compare_and_set", perform, value)


class _ProxyInteger(_ProxyReference[int]):
    def __init__(self, inner: AtomicInteger, name: str, watcher: Watcher) -> None:
        super().__init__(inner, name, watcher)
        self._integer = inner

    def add_and_get(self, delta: int, /) -> int:
        return self._around("add_and_get", partial(self._integer.add_and_get, delta), delta)
