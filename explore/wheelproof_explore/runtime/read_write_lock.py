"""Read-write locks of the controlled runtime: phase-fair, as the default runtime's.

A thread requests a side in one step. It takes the lock in that step if it may; else it is recorded
as waiting, and takes the lock in a second step. If writers are preferred, a new reader has to wait
while a writer waits. The readers that wait when a writer leaves are admitted, and the next writer
waits for them. Readers commute with each other, so steps of the read side read the lock, and steps
of the write side write it.
"""

from abc import abstractmethod
from typing import ClassVar, NamedTuple

from wheelproof_explore.runtime.accesses import Accesses, reading, writing
from wheelproof_explore.runtime.model import (
    AtomicOperation,
    ModelThread,
    Rewindable,
    Scheduler,
)
from wheelproof_explore.runtime.numbers import Actor

_NOBODY: frozenset[Actor] = frozenset()


class Holders(NamedTuple):
    """The threads that hold a read-write lock and the threads that wait for it, by number.

    `admitted` are the waiting readers that the last writer has let pass.
    """

    readers: frozenset[Actor] = _NOBODY
    writer: Actor | None = None
    waiting_writers: frozenset[Actor] = _NOBODY
    waiting_readers: frozenset[Actor] = _NOBODY
    admitted: frozenset[Actor] = _NOBODY


class ModelReadWriteLock:
    """A reentrant lock for many readers or one writer; a nested enter is no step."""

    __slots__ = (
        "_present",
        "again",
        "history",
        "name",
        "number",
        "prefer_writers",
        "read",
        "reading",
        "runtime",
        "state",
        "write",
        "writing",
    )

    def __init__(self, runtime: Scheduler, name: str, *, prefer_writers: bool) -> None:
        self.runtime = runtime
        self.prefer_writers = prefer_writers
        self.number, self.name = runtime.enroll(self, name)
        self.reading = reading(self.number)
        self.writing = writing(self.number)
        self.state = self._present = Holders()
        # How often a thread has entered the side that it holds, beyond the first time.
        self.again: dict[tuple[Actor, bool], int] = {}
        # Changes, not states: the run may never have had the state after some of the events.
        self.history: list[tuple[int, _Step, Actor]] = []
        self.read = _ReadView(self)
        self.write = _WriteView(self)

    def make(self, step: "_Step", thread: Actor) -> None:
        """Change the state as `step` of a thread does, as part of the event under way."""
        self.history.append((self.runtime.event, step, thread))
        self.state = step.after(self.state, thread)

    def rewind(self, events: int) -> None:
        """Go to the state after the events of a bit mask, closed under happens-before."""
        self._present = self.state
        state = Holders()
        for event, step, thread in self.history:
            if event < 0 or events >> event & 1:
                state = step.after(state, thread)
        self.state = state

    def restore(self) -> None:
        """Go back to the state before `rewind`."""
        self.state = self._present

    def may_read(self, state: Holders, thread: Actor) -> bool:
        """Tell whether a thread may take the read side in a state."""
        if state.writer is not None:
            return False
        return thread in state.admitted or not (self.prefer_writers and state.waiting_writers)


def _may_write(state: Holders) -> bool:
    return state.writer is None and not state.readers and not state.admitted


class _Step(AtomicOperation[None]):
    """A step on a read-write lock."""

    __slots__ = ("lock",)
    shares = True
    verb: ClassVar[str] = ""
    writes: ClassVar[bool] = False

    def __init__(self, lock: ModelReadWriteLock) -> None:
        self.lock = lock

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a write of the lock on the write side, a read on the read side."""
        return self.wanted()

    def wanted(self) -> Accesses:
        return self.lock.writing if self.writes else self.lock.reading

    def apply(self, thread: ModelThread, /) -> None:
        self.lock.make(self, thread.number)

    @abstractmethod
    def after(self, state: Holders, thread: Actor, /) -> Holders:
        """Return the state after a thread has made the step in `state`."""

    def targets(self, _thread: ModelThread, /) -> tuple[Rewindable, ...]:
        return (self.lock,)

    def describe(self) -> str:
        return f"{self.verb} {self.lock.name}"


class _RequestRead(_Step):
    __slots__ = ()
    verb = "request read of"

    def after(self, state: Holders, thread: Actor, /) -> Holders:
        if self.lock.may_read(state, thread):
            return state._replace(readers=state.readers | {thread})
        return state._replace(waiting_readers=state.waiting_readers | {thread})


class _AwaitRead(_Step):
    __slots__ = ()
    verb = "acquire read of"
    fixed = False
    blocking = True

    def peek(self, thread: ModelThread, /) -> Accesses | None:
        lock = self.lock
        return lock.reading if lock.may_read(lock.state, thread.number) else None

    def after(self, state: Holders, thread: Actor, /) -> Holders:
        return state._replace(
            readers=state.readers | {thread},
            waiting_readers=state.waiting_readers - {thread},
            admitted=state.admitted - {thread},
        )

    def holders(self) -> tuple[Actor, ...]:
        state = self.lock.state
        return tuple(sorted(state.waiting_writers)) if state.writer is None else (state.writer,)


class _ReleaseRead(_Step):
    __slots__ = ()
    verb = "release read of"

    def after(self, state: Holders, thread: Actor, /) -> Holders:
        return state._replace(readers=state.readers - {thread})


class _RequestWrite(_Step):
    __slots__ = ()
    verb = "request write of"
    writes = True

    def after(self, state: Holders, thread: Actor, /) -> Holders:
        if _may_write(state):
            return state._replace(writer=thread)
        return state._replace(waiting_writers=state.waiting_writers | {thread})


class _AwaitWrite(_Step):
    __slots__ = ()
    verb = "acquire write of"
    writes = True
    fixed = False
    blocking = True

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        lock = self.lock
        return lock.writing if _may_write(lock.state) else None

    def after(self, state: Holders, thread: Actor, /) -> Holders:
        return state._replace(writer=thread, waiting_writers=state.waiting_writers - {thread})

    def holders(self) -> tuple[Actor, ...]:
        state = self.lock.state
        readers = tuple(sorted(state.readers | state.admitted))
        return readers if state.writer is None else (state.writer,)


class _ReleaseWrite(_Step):
    __slots__ = ()
    verb = "release write of"
    writes = True

    def after(self, state: Holders, _thread: Actor, /) -> Holders:
        return state._replace(
            writer=None,
            waiting_readers=_NOBODY,
            admitted=state.admitted | state.waiting_readers,
        )


class _View:
    """One side of a lock, with the nested enter and the exit that both sides have."""

    __slots__ = ("_lock",)
    side: ClassVar[str]
    writes: ClassVar[bool]
    release: ClassVar[type[_Step]]

    def __init__(self, lock: ModelReadWriteLock) -> None:
        self._lock = lock

    def __enter__(self) -> bool:
        lock = self._lock
        me = lock.runtime.caller().number
        if self._holds(me):
            again = lock.again
            again[me, self.writes] = again.get((me, self.writes), 0) + 1
        else:
            self._acquire(me)
        return True

    def __exit__(self, *error: object) -> None:
        lock = self._lock
        me = lock.runtime.caller().number
        entered = lock.again.get((me, self.writes), 0)
        if entered:
            lock.again[me, self.writes] = entered - 1
        elif self._holds(me):
            lock.runtime.perform(self.release(lock))
        else:
            raise RuntimeError(f"{lock.name}: released the {self.side} side without holding it")

    @abstractmethod
    def _holds(self, me: Actor) -> bool: ...

    @abstractmethod
    def _acquire(self, me: Actor) -> None: ...


class _ReadView(_View):
    __slots__ = ()
    side = "read"
    writes = False
    release = _ReleaseRead

    def _holds(self, me: Actor) -> bool:
        return me in self._lock.state.readers

    def _acquire(self, me: Actor) -> None:
        lock = self._lock
        if lock.state.writer == me:
            # No thread can see this while the write side is held; later it is an ordinary hold.
            lock.make(_AwaitRead(lock), me)
            return
        lock.runtime.perform(_RequestRead(lock))
        if not self._holds(me):
            lock.runtime.perform(_AwaitRead(lock))


class _WriteView(_View):
    __slots__ = ()
    side = "write"
    writes = True
    release = _ReleaseWrite

    def _holds(self, me: Actor) -> bool:
        return self._lock.state.writer == me

    def _acquire(self, me: Actor) -> None:
        lock = self._lock
        if me in lock.state.readers:
            raise RuntimeError(f"{lock.name}: a reader asked for the write side")
        lock.runtime.perform(_RequestWrite(lock))
        if not self._holds(me):
            lock.runtime.perform(_AwaitWrite(lock))
