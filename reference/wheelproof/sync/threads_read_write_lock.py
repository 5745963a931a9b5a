"""The default runtime's read-write lock, which the standard library lacks."""

import threading
from collections.abc import Callable
from types import TracebackType


class ThreadsReadWriteLock:
    """Many readers or one writer; see `protocols.ReadWriteLock`."""

    def __init__(self, name: str, *, prefer_writers: bool) -> None:
        self._name = name
        self._prefer_writers = prefer_writers
        self._changed = threading.Condition(threading.Lock())
        self._holds_of_reader: dict[int, int] = {}
        self._writer: int | None = None
        self._writer_holds = 0
        self._waiting_writers = 0
        self.read = _View(self._acquire_read, self._release_read)
        self.write = _View(self._acquire_write, self._release_write)

    def _acquire_read(self) -> None:
        me = threading.get_ident()
        with self._changed:
            holds = self._holds_of_reader.get(me, 0)
            # A thread that holds either side must not queue behind a writer that waits for it.
            if not holds and self._writer != me:
                while self._writer is not None or (self._prefer_writers and self._waiting_writers):
                    self._changed.wait()
            self._holds_of_reader[me] = holds + 1

    def _release_read(self) -> None:
        me = threading.get_ident()
        with self._changed:
            holds = self._holds_of_reader.get(me, 0)
            if not holds:
                raise RuntimeError(f"{self._name}: released the read side without holding it")
            if holds > 1:
                self._holds_of_reader[me] = holds - 1
                return
            del self._holds_of_reader[me]
            if not self._holds_of_reader:
                self._changed.notify_all()

    def _acquire_write(self) -> None:
        me = threading.get_ident()
        with self._changed:
            if self._writer == me:
                self._writer_holds += 1
                return
            if me in self._holds_of_reader:
                raise RuntimeError(f"{self._name}: a reader asked for the write side")
            self._waiting_writers += 1
            try:
                while self._writer is not None or self._holds_of_reader:
                    self._changed.wait()
                self._writer = me
                self._writer_holds = 1
            finally:
                self._waiting_writers -= 1

    def _release_write(self) -> None:
        with self._changed:
            if self._writer != threading.get_ident():
                raise RuntimeError(f"{self._name}: released the write side without holding it")
            self._writer_holds -= 1
            if not self._writer_holds:
                self._writer = None
                self._changed.notify_all()


class _View:
    __slots__ = ("_acquire", "_release")

    def __init__(self, acquire: Callable[[], None], release: Callable[[], None]) -> None:
        self._acquire = acquire
        self._release = release

    def __enter__(self) -> bool:
        self._acquire()
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        self._release()
