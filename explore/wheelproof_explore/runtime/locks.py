"""Locks and monitors of the controlled runtime."""

from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.model import (
    ModelThread,
    Scheduler,
    SharedObject,
    StepOn,
)
from wheelproof_explore.runtime.numbers import Actor

Owned = SharedObject[Actor | None]
"""A lock; its state is the number of the thread that holds it, None if it is free."""


class ModelLock(SharedObject[Actor | None]):
    """A lock that is not reentrant."""

    __slots__ = ()

    def __init__(self, runtime: Scheduler, name: str) -> None:
        super().__init__(runtime, name, None)

    def acquire(self) -> bool:
        """Wait until the lock is free and take it; always return True."""
        return self.runtime.perform(Acquire(self))

    def try_acquire(self) -> bool:
        """Take the lock if it is free now and tell whether it was."""
        return self.runtime.perform(TryAcquire(self))

    def release(self) -> None:
        """Release the lock; only its holder may."""
        self.runtime.perform(Release(self))

    def __enter__(self) -> bool:
        return self.runtime.perform(Acquire(self))

    def __exit__(self, *error: object) -> None:
        self.runtime.perform(Release(self))


class ModelMonitor(SharedObject[Actor | None]):
    """A reentrant lock.

    A nested enter is no step: no other thread can see how often the holder has entered.
    """

    __slots__ = ("again",)

    def __init__(self, runtime: Scheduler, name: str) -> None:
        super().__init__(runtime, name, None)
        self.again = 0

    def __enter__(self) -> bool:
        if self.state is not None and self.state == self.runtime.caller().number:
            self.again += 1
            return True
        return self.runtime.perform(Acquire(self))

    def __exit__(self, *error: object) -> None:
        if self.again and self.state == self.runtime.caller().number:
            self.again -= 1
            return
        self.runtime.perform(Release(self))


class Acquire(StepOn[Owned, bool]):
    """Taking a lock, after a wait if it is held."""

    __slots__ = ()
    verb = "acquire"
    blocking = True

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a write, None while the lock is held."""
        return self._object.write if self._object.state is None else None

    def apply(self, thread: ModelThread, /) -> bool:
        """Take the lock."""
        self._object.become(thread.number)
        return True

    def holders(self) -> tuple[Actor, ...]:
        """Return the holder."""
        return () if self._object.state is None else (self._object.state,)


class TryAcquire(StepOn[Owned, bool]):
    """Taking a lock if it is free; if it fails, it only reads."""

    __slots__ = ()
    verb = "try_acquire"
    shows_result = True
    fixed = False

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a write if the lock is free, else a read."""
        return self._object.write if self._object.state is None else self._object.read

    def apply(self, thread: ModelThread, /) -> bool:
        """Take the lock if it is free."""
        if self._object.state is not None:
            return False
        self._object.become(thread.number)
        return True


class Release(StepOn[Owned, None]):
    """Releasing a lock."""

    __slots__ = ()
    verb = "release"

    def apply(self, thread: ModelThread, /) -> None:
        """Release the lock; raises RuntimeError unless the caller holds it."""
        if self._object.state != thread.number:
            raise RuntimeError(f"{self._object.name}: released without being held")
        self._object.become(None)
