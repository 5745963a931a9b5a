"""How concurrent attempts to complete one operation exclude one another.

Kafka has changed its mind five times; each answer is a strategy here (standard 2, the table of
versions). What each one promises, and what it does not, has models: MaybeTryComplete with the
CONSTANT Discipline.

========================  =============  ==========================================================
class                     Kafka          how completion is attempted
========================  =============  ==========================================================
MonitorDiscipline         0.9 - 0.11.0   the predicate is tested under the operation's monitor
TryLockOnceDiscipline     1.0            a thread that finds the lock taken gives up
PendingFlagDiscipline     1.1 - 2.6      a thread that finds it taken asks its holder to test again
BlockingDiscipline        2.7 - 4.0      a thread that finds it taken waits
ExclusiveDiscipline       since 2025     completion itself takes the lock, too (KAFKA-19312)
========================  =============  ==========================================================

A lock may be handed in, so that several operations share it, or code outside the purgatory holds
it. Those that try the lock need a `sync.Lock`; it is not reentrant. The others take anything that
can be held in a `with` block. `ExclusiveDiscipline` comes back while it holds its lock, so it needs
a `sync.Monitor` and refuses a `sync.Lock`.

    >>> from wheelproof.purgatory import DelayedOperation
    >>> from wheelproof.purgatory.disciplines import BlockingDiscipline
    >>> class Request(DelayedOperation):
    ...     ready = False
    ...     def try_complete(self) -> bool:
    ...         return self.ready and self.force_complete()
    ...     def on_complete(self) -> None:
    ...         print("answered")
    ...     def on_expiration(self) -> None:
    ...         print("too late")
    >>> request = Request(1_000, discipline=BlockingDiscipline())
    >>> request.ready = True
    >>> request.safe_try_complete()
    answered
    True

Invariants:

- A trigger is followed by a test of the predicate that began after it; not so
  TryLockOnceDiscipline.
- `try_complete` excludes itself; ExclusiveDiscipline keeps `on_complete` out as well.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from wheelproof import sync
from wheelproof.errors import IllegalArgumentError
from wheelproof.sync import Lock
from wheelproof.sync.protocols import LockView


class Completable(Protocol):
    """What a discipline knows of an operation: a DelayedOperation."""

    def try_complete(self) -> bool:
        """Test the predicate, and complete the operation if it holds; tell whether it did."""
        ...

    def is_done(self) -> bool:
        """Tell whether the operation is completed or cancelled."""
        ...

    def complete_if_pending(self) -> bool:
        """Complete the operation unless it is done, and tell whether this call did."""
        ...


class CompletionDiscipline(ABC):
    """How completion of ONE operation is attempted."""

    __slots__ = ()

    @abstractmethod
    def safe_try_complete(self, operation: Completable) -> bool:
        """Attempt to complete `operation` and tell whether this call did."""

    def safe_try_complete_or_else(self, operation: Completable, action: Callable[[], None]) -> bool:
        """Attempt; if that fails, call `action` and attempt again (up to 2.6; standard 2.4).

        The first attempt takes no lock: no other thread knows the operation yet.
        """
        if operation.try_complete():
            return True
        action()
        return self.safe_try_complete(operation)

    def force_complete(self, operation: Completable) -> bool:
        """Complete `operation` now unless it is done; takes no lock (up to 4.0; 2.1)."""
        return operation.complete_if_pending()


class MonitorDiscipline(CompletionDiscipline):
    """Up to 0.11.0: the predicate is tested under the operation's monitor."""

    __slots__ = ("_lock",)

    def __init__(self, lock: LockView | None = None) -> None:
        """Guard with `lock`, a private monitor by default."""
        self._lock: LockView = _private_monitor() if lock is None else lock

    def safe_try_complete(self, operation: Completable) -> bool:
        """Wait for the monitor and test the predicate, also of an operation that is done."""
        with self._lock:
            return operation.try_complete()


class TryLockOnceDiscipline(CompletionDiscipline):
    """Version 1.0: try the lock once and give up if it is taken.

    Broken: the holder may have tested the predicate before it became true (KAFKA-6653).
    """

    __slots__ = ("_lock",)

    def __init__(self, lock: Lock | None = None) -> None:
        """Guard with `lock`, a private one by default."""
        self._lock = sync.lock("DelayedOperation.lock") if lock is None else lock

    def safe_try_complete(self, operation: Completable) -> bool:
        """Test the predicate if the lock is free now."""
        if not self._lock.try_acquire():
            return False
        try:
            return operation.try_complete()
        finally:
            self._lock.release()


class PendingFlagDiscipline(CompletionDiscipline):
    """1.1 to 2.6: a thread that finds the lock taken asks its holder to test again (standard 2.5).

    Every call is followed by a test that began after it, provided that every holder of the lock is
    in here. A thread that holds it for other reasons does not know the flag (KAFKA-8334). A holder
    whose predicate raises leaves without reading it.
    """

    __slots__ = ("_lock", "_try_complete_pending")

    def __init__(self, lock: Lock | None = None) -> None:
        """Guard with `lock`, a private one by default."""
        self._lock = sync.lock("DelayedOperation.lock") if lock is None else lock
        # 1 if a thread has asked for another test, else 0: a boolean with atomic operations.
        self._try_complete_pending = sync.atomic_integer(0, "DelayedOperation.try_complete_pending")

    def safe_try_complete(self, operation: Completable) -> bool:
        """Test the predicate until no request to test it is left, or leave that to the holder.

        TLA+: TryLock, ClearPending, TryComplete, Unlock, ReadPending and SetPending of
        MaybeTryComplete.
        """
        while True:
            completed, retry = self._attempt(operation)
            if operation.is_done() or not retry:
                return completed

    def _attempt(self, operation: Completable) -> tuple[bool, bool]:
        """Test the predicate if the lock is free.

        Returns whether that completed the operation, and whether to attempt again.
        """
        if not self._lock.try_acquire():
            return False, self._ask_holder()
        try:
            self._try_complete_pending.set(0)
            completed = operation.try_complete()
        finally:
            self._lock.release()
        return completed, self._is_asked_again()

    def _is_asked_again(self) -> bool:
        """Tell, after unlocking, whether another thread has left a request meanwhile."""
        return self._try_complete_pending.get() == 1

    def _ask_holder(self) -> bool:
        """Leave a request; tell whether to try again, as the holder may have left before it."""
        return self._try_complete_pending.get_and_set(1) == 0


class BlockingDiscipline(CompletionDiscipline):
    """2.7 to 4.0: wait for the lock (standard 2.4, 2.7).

    As 4.0 does it: 3.9 does not test under the lock again whether the operation is done.
    Completion by time-out takes no lock: it can be in `on_complete` while `try_complete` runs
    (KAFKA-17948, KAFKA-19312).
    """

    __slots__ = ("_lock",)

    def __init__(self, lock: LockView | None = None) -> None:
        """Guard with `lock`, a private monitor by default."""
        self._lock: LockView = _private_monitor() if lock is None else lock

    def safe_try_complete(self, operation: Completable) -> bool:
        """Wait for the lock; test the predicate unless the operation is done.

        TLA+: Lock, IsDone, TryComplete and Unlock of MaybeTryComplete.
        """
        with self._lock:
            return not operation.is_done() and operation.try_complete()

    def safe_try_complete_or_else(self, operation: Completable, action: Callable[[], None]) -> bool:
        """Hold the lock from the first attempt through `action` to the second."""
        with self._lock:
            if operation.try_complete():
                return True
            action()
            return operation.try_complete()


class ExclusiveDiscipline(BlockingDiscipline):
    """After KAFKA-19312: completion takes the lock, too.

    `try_complete` and `on_complete` exclude each other, whoever completes. The price: an expiry
    waits for the lock on the timer's only thread.
    """

    __slots__ = ()

    def __init__(self, lock: LockView | None = None) -> None:
        """Guard with `lock`, which has to be reentrant; a private monitor by default.

        Raises IllegalArgumentError for a `sync.Lock`: the first completion would wait for itself.
        """
        if isinstance(lock, Lock):
            raise IllegalArgumentError(
                "ExclusiveDiscipline takes its lock again while it holds it, and a sync.Lock "
                "cannot be taken again; give it a sync.monitor(...)"
            )
        super().__init__(lock)

    def force_complete(self, operation: Completable) -> bool:
        """Complete `operation` under the lock unless it is done.

        TLA+: IsDone, Lock and ForceComplete of MaybeTryComplete.
        """
        if operation.is_done():
            return False
        with self._lock:
            return operation.complete_if_pending()


def _private_monitor() -> LockView:
    return sync.monitor("DelayedOperation.lock")
