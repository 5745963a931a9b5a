"""The default runtime's read-write lock, which the standard library lacks.

With writers preferred it is phase-fair (B. Brandenburg and J. Anderson, "Spin-Based
Reader-Writer Synchronization for Multiprocessor Real-Time Systems", Real-Time Systems 2010): a new
reader waits while a writer waits, and the readers that wait when a writer leaves go before the next
writer. So neither side keeps the other out for ever; a plain preference for writers lets two
threads that write in a loop starve every reader (docs/findings.md).

    >>> from wheelproof import sync
    >>> lock = sync.read_write_lock("example")
    >>> with lock.read:
    ...     print("others may read as well")
    others may read as well
    >>> with lock.write:
    ...     print("nobody else is here")
    nobody else is here
"""

import threading
from collections.abc import Callable


class ThreadsReadWriteLock:
    """Many readers or one writer; see `protocols.ReadWriteLock`."""

    def __init__(self, name: str, *, prefer_writers: bool) -> None:
        self._name = name
        self._prefer_writers = prefer_writers
        # Taken by itself: the condition's own methods would hand the call on.
        self._mutex = threading.Lock()
        self._changed = threading.Condition(self._mutex)
        # By thread ident, how often it holds the read side, at least once. While there is a writer,
        # no other thread is in here.
        self._holds_of_reader: dict[int, int] = {}
        self._writer: int | None = None
        # How often the writer holds the write side; 0 exactly if there is none.
        self._writer_holds = 0
        self._waiting_writers = 0
        self._waiting_readers: set[int] = set()
        # Waiting readers that the last writer has let pass; the next writer waits for them.
        self._admitted: set[int] = set()
        self.read = _View(self._acquire_read, self._release_read)
        self.write = _View(self._acquire_write, self._release_write)

    def _acquire_read(self) -> None:
        me = threading.get_ident()
        with self._mutex:
            holds = self._holds_of_reader.get(me, 0)
            # A thread that holds either side must not queue behind a writer that waits for it.
            if not holds and self._writer != me:
                self._await_read(me)
            self._holds_of_reader[me] = holds + 1

    def _await_read(self, me: int) -> None:
        self._waiting_readers.add(me)
        try:
            while not self._may_read(me):
                self._changed.wait()
        except BaseException:
            # Nothing waits for this reader any more.
            self._changed.notify_all()
            raise
        finally:
            self._waiting_readers.discard(me)
            self._admitted.discard(me)

    def _may_read(self, me: int) -> bool:
        if self._writer is not None:
            return False
        return me in self._admitted or not (self._prefer_writers and self._waiting_writers)

    def _release_read(self) -> None:
        me = threading.get_ident()
        with self._mutex:
            holds = self._holds_of_reader.get(me, 0)
            if not holds:
                raise RuntimeError(f"{self._name}: released the read side without holding it")
            if holds > 1:
                self._holds_of_reader[me] = holds - 1
                return
            del self._holds_of_reader[me]
            # Nobody but a writer waits for readers.
            if not self._holds_of_reader and self._waiting_writers:
                self._changed.notify_all()

    def _acquire_write(self) -> None:
        me = threading.get_ident()
        with self._mutex:
            if self._writer == me:
                self._writer_holds += 1
                return
            if me in self._holds_of_reader:
                raise RuntimeError(f"{self._name}: a reader asked for the write side")
            self._waiting_writers += 1
            try:
                while self._writer is not None or self._holds_of_reader or self._admitted:
                    self._changed.wait()
                self._writer = me
                self._writer_holds = 1
            except BaseException:
                self._changed.notify_all()
                raise
            finally:
                self._waiting_writers -= 1

    def _release_write(self) -> None:
        with self._mutex:
            if self._writer != threading.get_ident():
                raise RuntimeError(f"{self._name}: released the write side without holding it")
            self._writer_holds -= 1
            if not self._writer_holds:
                self._writer = None
                self._admitted |= self._waiting_readers
                self._changed.notify_all()


class _View:
    __slots__ = ("_acquire", "_release")

    def __init__(self, acquire: Callable[[], None], release: Callable[[], None]) -> None:
        self._acquire = acquire
        self._release = release

    def __enter__(self) -> bool:
        self._acquire()
        return True

    def __exit__(self, *error: object) -> None:
        self._release()
