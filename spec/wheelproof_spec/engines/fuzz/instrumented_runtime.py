"""A runtime that calls a function before every operation of another runtime.

It serves two fuzzers: one that gives up when a single call makes more steps than any call could
need (a flush that never ends is found without a clock), and one that makes threads change places
inside the races.
"""

import random
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

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

# Long enough to let another thread make several steps, or only its next one.
_PAUSES_S = (0.0, 0.0, 1e-5, 1e-4)

T = TypeVar("T")
Hook = Callable[[], None]


class StepLimitExceededError(Exception):
    """One call made more steps than the limit: it would not have ended."""


class StepLimit:
    """A hook that raises when `limit` steps have been made since `restart`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def restart(self) -> None:
        """Count from the beginning."""
        self._left = self._limit

    def __call__(self) -> None:
        """Count one step; raises StepLimitExceededError at the limit."""
        self._left -= 1
        if self._left <= 0:
            raise StepLimitExceededError(f"no end after {self._limit} steps")


class Preemption:
    """A hook that now and then lets other threads run first; which steps, a seed decides.

    Each thread draws from its own sequence, so that one thread's luck does not depend on how fast
    the others are.
    """

    def __init__(self, seed: int, one_in: int) -> None:
        self._seed = seed
        self._one_in = one_in
        self._local = threading.local()

    def __call__(self) -> None:
        """Give the processor away, once in `one_in` steps on average."""
        draws: random.Random | None = getattr(self._local, "draws", None)
        if draws is None:
            draws = random.Random(f"{self._seed}/{threading.current_thread().name}")
            self._local.draws = draws
        if draws.randrange(self._one_in) == 0:
            time.sleep(draws.choice(_PAUSES_S))


class InstrumentedRuntime:
    """The runtime `inner`, with `before` called before each operation on what it makes."""

    def __init__(self, inner: Runtime, before: Hook) -> None:
        self._inner = inner
        self._before = before

    def monitor(self, name: str) -> Monitor:
        """Return a new monitor."""
        return _Block(self._inner.monitor(name), self._before)

    def lock(self, name: str) -> Lock:
        """Return a new lock."""
        return _Lock(self._inner.lock(name), self._before)

    def condition(self, lock: Lock, name: str) -> Condition:
        """Return a new condition of `lock`; raises TypeError if that is another runtime's."""
        if not isinstance(lock, _Lock):
            raise TypeError(f"condition {name!r}: its lock belongs to another runtime")
        return _Condition(self._inner.condition(lock.inner, name), self._before)

    def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
        """Return a new read-write lock."""
        inner = self._inner.read_write_lock(name, prefer_writers=prefer_writers)
        return _ReadWriteLock(inner, self._before)

    def volatile(self, value: T, name: str) -> Volatile[T]:
        """Return a new volatile cell."""
        return _Volatile(self._inner.volatile(value, name), self._before)

    def atomic_reference(self, value: T, name: str) -> AtomicReference[T]:
        """Return a new atomic cell."""
        return _AtomicReference(self._inner.atomic_reference(value, name), self._before)

    def atomic_integer(self, value: int, name: str) -> AtomicInteger:
        """Return a new atomic integer."""
        return _AtomicInteger(self._inner.atomic_integer(value, name), self._before)

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new thread."""
        return self._inner.thread(target, name)

    def monotonic_ms(self) -> Millis:
        """Return the inner runtime's clock."""
        return self._inner.monotonic_ms()


class _Block:
    def __init__(self, inner: LockView, before: Hook) -> None:
        self._inner = inner
        self._before = before

    def __enter__(self) -> bool:
        self._before()
        return self._inner.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        self._inner.__exit__(kind, error, traceback)


class _Lock(_Block):
    def __init__(self, inner: Lock, before: Hook) -> None:
        super().__init__(inner, before)
        self.inner = inner

    def acquire(self) -> bool:
        self._before()
        return self.inner.acquire()

    def try_acquire(self) -> bool:
        self._before()
        return self.inner.try_acquire()

    def release(self) -> None:
        self.inner.release()


class _Condition:
    def __init__(self, inner: Condition, before: Hook) -> None:
        self._inner = inner
        self._before = before

    def wait(self, timeout_ms: Millis | None = None) -> bool:
        self._before()
        return self._inner.wait(timeout_ms)

    def notify(self) -> None:
        self._before()
        self._inner.notify()

    def notify_all(self) -> None:
        self._before()
        self._inner.notify_all()


class _ReadWriteLock:
    def __init__(self, inner: ReadWriteLock, before: Hook) -> None:
        self.read: LockView = _Block(inner.read, before)
        self.write: LockView = _Block(inner.write, before)


class _Volatile(Generic[T]):
    def __init__(self, inner: Volatile[T], before: Hook) -> None:
        self._inner = inner
        self._before = before

    def get(self) -> T:
        self._before()
        return self._inner.get()

    def set(self, value: T, /) -> None:
        self._before()
        self._inner.set(value)


class _AtomicReference(_Volatile[T]):
    def __init__(self, inner: AtomicReference[T], before: Hook) -> None:
        super().__init__(inner, before)
        self._atomic = inner

    def get_and_set(self, value: T, /) -> T:
        self._before()
        return self._atomic.get_and_set(value)

    def compare_and_set(self, expected: T, value: T, /) -> bool:
        self._before()
        return self._atomic.compare_and_set(expected, value)


class _AtomicInteger:
    def __init__(self, inner: AtomicInteger, before: Hook) -> None:
        self._inner = inner
        self._before = before

    def get(self) -> int:
        self._before()
        return self._inner.get()

    def set(self, value: int, /) -> None:
        self._before()
        self._inner.set(value)

    def get_and_set(self, value: int, /) -> int:
        self._before()
        return self._inner.get_and_set(value)

    def compare_and_set(self, expected: int, value: int, /) -> bool:
        self._before()
        return self._inner.compare_and_set(expected, value)

    def add_and_get(self, delta: int, /) -> int:
        self._before()
        return self._inner.add_and_get(delta)
