"""The default runtime's read-write lock, which the standard library lacks.

With writers preferred it is phase-fair (B. Brandenburg and J. Anderson, "Spin-Based
Reader-Writer Synchronization for Multiprocessor Real-Time Systems", Real-Time Systems 2010): a new
reader waits while a writer waits, and the readers that wait when a writer leaves go before the next
writer. So neither side keeps the other out for ever; a plain preference for writers lets two
threads that write in a loop starve every reader (docs/findings.md).

A signal leaves no side taken (standard 6.8). Each thread that reads holds a lock of its own, and
the writer holds the door; both are locks of the standard library, which a `with` block gives back
in one step. Whatever a signal ends before the block, the view that is being entered gives back.

    >>> from wheelproof import sync
    >>> lock = sync.read_write_lock("example")
    >>> with lock.read:
    ...     print("others may read as well")
    others may read as well
    >>> with lock.write:
    ...     print("nobody else is here")
    nobody else is here

Invariants:

- Either one thread has the write side, or any number the read side.
"""

import threading
from collections.abc import Callable
from operator import attrgetter
from types import TracebackType
from typing import TypeAlias, cast

_Method: TypeAlias = Callable[
    ["_ReadView", type[BaseException] | None, BaseException | None, TracebackType | None], None
]


class ThreadsReadWriteLock:
    """Many readers or one writer; see `protocols.ReadWriteLock`."""

    def __init__(self, name: str, *, prefer_writers: bool) -> None:
        self.name = name
        self._prefer_writers = prefer_writers
        self.door = _Hold()
        """Held by the writer, and for a moment by each reader on its way in."""
        self.own = _Own()
        """What the calling thread holds while it reads."""
        # The holds of the threads that read, and perhaps of some that did. The door guards it.
        self._holds: set[_Hold] = set()
        # Of each reader that waits for the door, a lock that is taken until it is in or gives up.
        self._waiting: set[threading.Lock] = set()
        # Of the readers that the last writer has let pass; the next writer waits for them.
        self._admitted: set[threading.Lock] = set()
        # Whether the last one in was a writer.
        self._written = False
        self.read = _ReadView(self)
        self.write = _WriteView(self)

    def enter_read(self, hold: "_Hold") -> None:
        """Take the read side for a thread that holds neither."""
        if not self.door.lock.acquire(blocking=False):
            self._await_door()
        if self._written:
            self._begin_phase()
        self.read_with(hold)
        hold.lock.acquire()
        self.door.lock.release()

    def read_with(self, hold: "_Hold") -> None:
        """Let writers know of `hold`; whoever calls this has the door."""
        self._holds.add(hold)

    def enter_write(self) -> None:
        """Take the write side for a thread that holds neither."""
        self._take(self.door.lock)
        while (obstacle := self._obstacle()) is not None:
            self.door.lock.release()
            self._waits()
            with obstacle:
                # Its reader may have been ended before it did this.
                self._admitted.discard(obstacle)
            self._take(self.door.lock)
        # With writers preferred, new readers wait at the door meanwhile.
        for hold in tuple(self._holds):
            self._take(hold.lock)
            hold.lock.release()
        self._holds.clear()
        self._written = True

    def give_up(self) -> None:
        """Give back whatever a thread has that held neither side before."""
        for hold in (self.own.hold, *tuple(self._holds), self.door):
            if hold.is_mine():
                hold.lock.release()

    def _await_door(self) -> None:
        place = threading.Lock()
        with place:
            try:
                self._waiting.add(place)
                self._waits()
                self.door.lock.acquire()
            finally:
                self._waiting.discard(place)
                self._admitted.discard(place)

    def _begin_phase(self) -> None:
        """With the door, after a writer: it is the waiting readers' turn."""
        admitted = set(self._waiting)
        self._admitted = admitted
        self._written = False

    def _obstacle(self) -> "threading.Lock | threading.RLock | None":
        """Return a lock for which a writer has to wait without the door."""
        if self._written:
            self._begin_phase()
        for place in tuple(self._admitted):
            return place
        if not self._prefer_writers:
            for hold in tuple(self._holds):
                if not hold.lock.acquire(blocking=False):
                    return hold.lock
                hold.lock.release()
        return None

    def _take(self, lock: "threading.RLock") -> None:
        if not lock.acquire(blocking=False):
            self._waits()
            lock.acquire()

    def _waits(self) -> None:
        """Do nothing: a test learns here that a thread is going to wait."""


class _Hold:
    """A reentrant lock that can be asked whether the calling thread has it."""

    __slots__ = ("is_mine", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        # The name by which `threading.Condition` asks this of the lock that it is given.
        self.is_mine: Callable[[], bool] = attrgetter("_is_owned")(self.lock)


class _Own(threading.local):
    """The hold of the current thread: how often it has taken the lock."""

    def __init__(self) -> None:
        self.hold = _Hold()
        self.release = self.hold.lock.__exit__


class _ReadView:
    __slots__ = ("_lock",)

    def __init__(self, lock: ThreadsReadWriteLock) -> None:
        self._lock = lock

    def __enter__(self) -> bool:
        lock = self._lock
        hold = lock.own.hold
        writes = lock.door.is_mine()
        if writes:
            lock.read_with(hold)
        if writes or hold.is_mine():
            # A thread that holds either side must not queue behind a writer that waits for it.
            # By a loop, since no signal arrives between its iterator and its body.
            for _ in iter(hold.lock.acquire, False):
                return True
        try:
            lock.enter_read(hold)
        except BaseException:
            lock.give_up()
            raise
        return True

    # A `with` block looks this up before it enters, and calls what it has found in the end: a
    # step of the standard library's.
    __exit__ = cast("_Method", property(attrgetter("_lock.own.release")))


class _WriteView:
    __slots__ = ("__exit__", "_lock")

    def __init__(self, lock: ThreadsReadWriteLock) -> None:
        self._lock = lock
        self.__exit__ = lock.door.lock.__exit__

    def __enter__(self) -> bool:
        lock = self._lock
        if lock.door.is_mine():
            for _ in iter(lock.door.lock.acquire, False):
                return True
        if lock.own.hold.is_mine():
            raise RuntimeError(f"{lock.name}: a reader asked for the write side")
        try:
            lock.enter_write()
        except BaseException:
            lock.give_up()
            raise
        return True
