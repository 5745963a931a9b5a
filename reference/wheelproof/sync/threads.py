"""The default runtime: operating-system threads.

Where the standard library has the primitive, the object handed out IS the standard library's, so
that the layer costs next to nothing. A cell's reads and writes are plain attribute accesses, which
the interpreter performs atomically; read-and-write operations take a lock that all cells share.

    >>> from wheelproof.sync.threads import ThreadsRuntime
    >>> runtime = ThreadsRuntime()
    >>> count = runtime.atomic_integer(0, "count")
    >>> def add() -> None:
    ...     count.add_and_get(1)
    >>> thread = runtime.thread(add, "adder")
    >>> thread.start()
    >>> thread.join(), count.get()
    (True, 1)

Invariants:

- An operation that raises has not happened (standard 6.8).
"""

import os
import threading
import time
from collections.abc import Callable
from operator import attrgetter
from types import TracebackType
from typing import Generic, TypeAlias, TypeVar, cast

from wheelproof.sync.protocols import (
    AtomicInteger,
    AtomicReference,
    Condition,
    Lock,
    Monitor,
    ReadWriteLock,
    Thread,
    Volatile,
)
from wheelproof.sync.threads_condition import (
    InterruptibleThread,
    Interruption,
    ThreadsCondition,
    seconds,
)
from wheelproof.sync.threads_read_write_lock import ThreadsReadWriteLock
from wheelproof.units import Millis

T = TypeVar("T")

# What `threading.RLock()` returns, without the call in Python that wraps it: a timer makes two.
_RLock = type(threading.RLock())
# The lock of all cells; `_AtomicReference` says why one is enough.
_cells = _RLock()
_take, _give = _cells.acquire, _cells.release


def _begin_anew() -> None:
    """Give the cells of a child another lock: a thread that is not there may hold the old one."""
    global _cells, _take, _give
    _cells = _RLock()
    _take, _give = _cells.acquire, _cells.release


os.register_at_fork(after_in_child=_begin_anew)

_Take: TypeAlias = Callable[["_Lock"], bool]
_Give: TypeAlias = Callable[["_Lock"], None]
_Exit: TypeAlias = Callable[
    ["_Lock", type[BaseException] | None, BaseException | None, TracebackType | None], None
]


class ThreadsRuntime:
    """Makes primitives of operating-system threads; see `protocols.Runtime`."""

    def monitor(self, name: str) -> Monitor:
        """Return a new monitor."""
        del name
        return _RLock()

    def lock(self, name: str) -> Lock:
        """Return a new lock."""
        del name
        return _Lock()

    def condition(self, lock: Lock, name: str) -> Condition:
        """Return a new condition of `lock`.

        Raises TypeError if `lock` was made by another runtime.
        """
        if not isinstance(lock, _Lock):
            raise TypeError(f"condition {name!r}: its lock belongs to another runtime")
        return ThreadsCondition(lock.raw)

    def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
        """Return a new read-write lock."""
        return ThreadsReadWriteLock(name, prefer_writers=prefer_writers)

    def volatile(self, value: T, name: str) -> Volatile[T]:
        """Return a new volatile cell."""
        del name
        return _Volatile(value)

    def atomic_reference(self, value: T, name: str) -> AtomicReference[T]:
        """Return a new atomic cell."""
        del name
        return _AtomicReference(value)

    def atomic_integer(self, value: int, name: str) -> AtomicInteger:
        """Return a new atomic integer."""
        del name
        return _AtomicInteger(value)

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new daemon thread."""
        return _Thread(target, name)

    def monotonic_ms(self) -> Millis:
        """Return the system's monotonic clock in milliseconds."""
        return Millis(time.monotonic_ns() // 1_000_000)


class _Lock:
    """The standard library's lock, which has no `try_acquire` and no subclasses.

    A `with` block finds the standard library's own `__enter__` and `__exit__` here, before it
    enters, and without a step in Python: so no signal arrives between the lock's being taken and
    the block (standard 6.8). Only the first is kept. To keep the others would cost as much memory
    as the lock, and they are looked up in no time.
    """

    __slots__ = ("__enter__", "raw")

    def __init__(self) -> None:
        self.raw = threading.Lock()
        self.__enter__ = self.raw.acquire

    __exit__ = cast("_Exit", property(attrgetter("raw.__exit__")))
    acquire = cast("_Take", property(attrgetter("raw.acquire")))
    release = cast("_Give", property(attrgetter("raw.release")))

    def try_acquire(self) -> bool:
        return self.raw.acquire(blocking=False)


class _Volatile(Generic[T]):
    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def get(self) -> T:
        return self._value

    def set(self, value: T, /) -> None:
        self._value = value


class _AtomicReference(_Volatile[T]):
    """A cell that is read and written in one step, under the lock that all cells share.

    One lock is enough. The interpreter changes threads where it handles signals, and it handles
    none while the lock is held. So nobody ever waits for it, unless a debugger or a tracer runs in
    between. On a Python without a global lock all cells wait for one another: right, but slower.
    It is reentrant, so that a tracer may use cells as well.

    What raises has not happened (standard 6.8): a `with` block would let a signal in after it has
    given the lock back, and nobody would learn what the cell did. No signal comes between the
    iterator of a loop and its body, nor where a function returns. Nothing inside may run Python:
    the value before is kept until the lock is given back, and no object is made that the garbage
    collector counts.
    """

    __slots__ = ()

    def set(self, value: T, /) -> None:
        self.get_and_set(value)

    def get_and_set(self, value: T, /) -> T:
        given = iter(_give, True)
        for _ in iter(_take, False):
            before = self._value
            self._value = value
            for _ in given:
                return before
        raise AssertionError("a lock is taken, or the call raises")

    def compare_and_set(self, expected: T, value: T, /) -> bool:
        given = iter(_give, True)
        for _ in iter(_take, False):
            same = self._value is expected
            if same:
                self._value = value
            for _ in given:
                return same
        raise AssertionError("a lock is taken, or the call raises")


class _AtomicInteger(_AtomicReference[int]):
    """A cell of an integer. Memory may be short, or a caller may bring what is no integer."""

    __slots__ = ()

    def compare_and_set(self, expected: int, value: int, /) -> bool:
        given = iter(_give, True)
        for _ in iter(_take, False):
            try:
                same = self._value == expected
            except BaseException:
                _give()
                raise
            if same:
                self._value = value
            for _ in given:
                return same
        raise AssertionError("a lock is taken, or the call raises")

    def add_and_get(self, delta: int, /) -> int:
        given = iter(_give, True)
        for _ in iter(_take, False):
            try:
                value = self._value + delta
            except BaseException:
                _give()
                raise
            self._value = value
            for _ in given:
                return value
        raise AssertionError("a lock is taken, or the call raises")


class _Thread:
    __slots__ = ("_thread",)

    def __init__(self, target: Callable[[], None], name: str) -> None:
        self._thread = InterruptibleThread(target=target, name=name, daemon=True)
        self._thread.interruption = Interruption()

    def start(self) -> None:
        self._thread.start()

    def join(self, timeout_ms: Millis | None = None) -> bool:
        self._thread.join(None if timeout_ms is None else seconds(timeout_ms))
        return not self._thread.is_alive()

    def interrupt(self) -> None:
        self._thread.interruption.request()

    def is_current(self) -> bool:
        return self._thread is threading.current_thread()
