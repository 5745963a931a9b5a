"""Read-write locks of the controlled runtime.

Readers commute with each other, so the steps of the read side read the lock and those of the write
side write it. A writer asks in one step, which takes a free lock; on a held one it is from then on
known to wait, which keeps new readers out if writers are preferred, and takes it in a second step.
The default runtime lets readers that wait when a writer leaves go before the next writer; here they
wait on, which blocks in more states and loses no order of the sections that the lock guards.
"""

from abc import abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

from wheelproof_spec.explore.accesses import Accesses, reading, writing
from wheelproof_spec.explore.model import ModelThread, Operation, Rewindable

if TYPE_CHECKING:
    from wheelproof_spec.explore.runtime import ControlledRuntime

_Holders = tuple[frozenset[int], int | None, frozenset[int]]
_NOBODY: frozenset[int] = frozenset()


class ModelReadWriteLock:
    """Many readers or one writer, reentrant; entering a side again is no step."""

    __slots__ = (
        "_present",
        "again",
        "history",
        "name",
        "number",
        "prefer_writers",
        "read",
        "readers",
        "reading",
        "runtime",
        "waiting",
        "write",
        "writer",
        "writing",
    )

    def __init__(self, runtime: "ControlledRuntime", name: str, *, prefer_writers: bool) -> None:
        self.runtime = runtime
        self.name = runtime.distinct(name)
        self.prefer_writers = prefer_writers
        self.number = runtime.next_number()
        self.reading = reading(self.number)
        self.writing = writing(self.number)
        self.readers = _NOBODY
        self.writer: int | None = None
        self.waiting = _NOBODY
        # How often a thread has entered the side that it holds, beyond the first time.
        self.again: dict[tuple[int, bool], int] = {}
        # Changes rather than states: the state after part of the events is none that the run had.
        self.history: list[tuple[int, _Step, int]] = []
        self._present: _Holders = (self.readers, self.writer, self.waiting)
        self.read = _ReadView(self)
        self.write = _WriteView(self)

    def make(self, step: "_Step", thread: int) -> None:
        """Change the state as `step` of a thread does, as part of the event under way."""
        self.history.append((self.runtime.event, step, thread))
        step.change(self, thread)

    def rewind(self, events: int) -> None:
        """Go to the state after the events of a bit mask, closed under happens-before."""
        self._present = (self.readers, self.writer, self.waiting)
        self.readers, self.writer, self.waiting = _NOBODY, None, _NOBODY
        for event, step, thread in self.history:
            if event < 0 or events >> event & 1:
                step.change(self, thread)

    def restore(self) -> None:
        """Go back to the state before `rewind`."""
        self.readers, self.writer, self.waiting = self._present

    def is_held(self) -> bool:
        """Tell whether a writer would have to wait."""
        return self.writer is not None or bool(self.readers)


class _Step(Operation[None]):
    """A step on a read-write lock."""

    __slots__ = ("lock",)
    verb: ClassVar[str] = ""

    def __init__(self, lock: ModelReadWriteLock) -> None:
        self.lock = lock

    def apply(self, thread: ModelThread, /) -> None:
        self.lock.make(self, thread.number)

    @abstractmethod
    def change(self, lock: ModelReadWriteLock, thread: int, /) -> None:
        """Do to `lock` what the step does to it."""

    def targets(self, _thread: ModelThread, /) -> tuple[Rewindable, ...]:
        return (self.lock,)

    def describe(self) -> str:
        return f"{self.verb} {self.lock.name}"

    def holders(self) -> tuple[int, ...]:
        lock = self.lock
        writers = lock.waiting if lock.writer is None else {lock.writer}
        return tuple(sorted(lock.readers | writers))


class _AcquireRead(_Step):
    __slots__ = ()
    verb = "acquire read of"
    fixed = False
    blocking = True
    acquires = True

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        lock = self.lock
        if lock.writer is not None or (lock.prefer_writers and lock.waiting):
            return None
        return lock.reading

    def wanted(self) -> Accesses:
        return self.lock.reading

    def change(self, lock: ModelReadWriteLock, thread: int, /) -> None:
        lock.readers |= {thread}

    def holders(self) -> tuple[int, ...]:
        lock = self.lock
        return tuple(sorted(lock.waiting)) if lock.writer is None else (lock.writer,)


class _ReleaseRead(_Step):
    __slots__ = ()
    verb = "release read of"

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        return self.lock.reading

    def change(self, lock: ModelReadWriteLock, thread: int, /) -> None:
        lock.readers -= {thread}


class _RequestWrite(_Step):
    __slots__ = ()
    verb = "request write of"
    acquires = True

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        return self.lock.writing

    def change(self, lock: ModelReadWriteLock, thread: int, /) -> None:
        if lock.is_held():
            lock.waiting |= {thread}
        else:
            lock.writer = thread


class _AwaitWrite(_Step):
    __slots__ = ()
    verb = "acquire write of"
    fixed = False
    blocking = True
    acquires = True

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        return None if self.lock.is_held() else self.lock.writing

    def wanted(self) -> Accesses:
        return self.lock.writing

    def change(self, lock: ModelReadWriteLock, thread: int, /) -> None:
        lock.waiting -= {thread}
        lock.writer = thread

    def holders(self) -> tuple[int, ...]:
        lock = self.lock
        return tuple(sorted(lock.readers)) if lock.writer is None else (lock.writer,)


class _ReleaseWrite(_Step):
    __slots__ = ()
    verb = "release write of"

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        return self.lock.writing

    def change(self, lock: ModelReadWriteLock, _thread: int, /) -> None:
        lock.writer = None


class _View:
    __slots__ = ("_lock",)

    def __init__(self, lock: ModelReadWriteLock) -> None:
        self._lock = lock

    def _enter_again(self, me: int, *, write: bool) -> bool:
        again = self._lock.again
        again[me, write] = again.get((me, write), 0) + 1
        return True

    def _leave_once(self, me: int, *, write: bool) -> bool:
        again = self._lock.again
        entered = again.get((me, write), 0)
        if entered:
            again[me, write] = entered - 1
        return bool(entered)


class _ReadView(_View):
    __slots__ = ()

    def __enter__(self) -> bool:
        lock = self._lock
        me = lock.runtime.caller().number
        if me in lock.readers:
            return self._enter_again(me, write=False)
        if lock.writer == me:
            # Nobody can tell as long as the write side is held, and later it is an ordinary hold.
            lock.make(_AcquireRead(lock), me)
            return True
        lock.runtime.perform(_AcquireRead(lock))
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        lock = self._lock
        me = lock.runtime.caller().number
        if self._leave_once(me, write=False):
            return
        if me not in lock.readers:
            raise RuntimeError(f"{lock.name}: released the read side without holding it")
        lock.runtime.perform(_ReleaseRead(lock))


class _WriteView(_View):
    __slots__ = ()

    def __enter__(self) -> bool:
        lock = self._lock
        me = lock.runtime.caller().number
        if lock.writer == me:
            return self._enter_again(me, write=True)
        if me in lock.readers:
            raise RuntimeError(f"{lock.name}: a reader asked for the write side")
        lock.runtime.perform(_RequestWrite(lock))
        if lock.writer != me:
            lock.runtime.perform(_AwaitWrite(lock))
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        lock = self._lock
        me = lock.runtime.caller().number
        if self._leave_once(me, write=True):
            return
        if lock.writer != me:
            raise RuntimeError(f"{lock.name}: released the write side without holding it")
        lock.runtime.perform(_ReleaseWrite(lock))
