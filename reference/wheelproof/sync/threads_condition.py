"""The default runtime's conditions, whose waits can be interrupted; the standard library's cannot.

A waiter is woken once: by a notification, by an interruption, or by itself when its time is over.
The first of them claims it. So no notification is spent on a waiter whose wait returns that it was
not notified.

    >>> from wheelproof import sync
    >>> lock = sync.lock("example")
    >>> condition = sync.condition(lock, "example")
    >>> with lock:
    ...     condition.wait(1)
    False

Invariants:

- A waiter that was claimed is in no queue.
"""

import threading
from collections import deque
from collections.abc import Callable
from functools import partial

from wheelproof.errors import ThreadInterruptedError
from wheelproof.units import Millis


class Interruption:
    """The interrupt status of one thread."""

    __slots__ = ("_lock", "_requested", "_waiter")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requested = False
        self._waiter: _Waiter | None = None

    def request(self) -> None:
        """Set the status, and wake the thread if it waits and has not been woken.

        TLA+: Interrupt of ConditionClaims.
        """
        with self._lock:
            self._requested = True
            if self._waiter is not None:
                self._waiter.interrupt()

    def enter(self, waiter: "_Waiter") -> None:
        """Note that the thread is about to wait; raises, and clears the status, if that is set.

        TLA+: Enter of ConditionClaims.
        """
        with self._lock:
            if self._requested:
                self._requested = False
                raise ThreadInterruptedError
            self._waiter = waiter

    def leave(self) -> None:
        """Note that the thread waits no more; raises as `enter` does if it was interrupted.

        TLA+: Leave of ConditionClaims.
        """
        with self._lock:
            waiter, self._waiter = self._waiter, None
            if waiter is not None and waiter.interrupted:
                self._requested = False
                raise ThreadInterruptedError


class InterruptibleThread(threading.Thread):
    """A daemon thread with an interrupt status."""

    interruption: Interruption


class ThreadsCondition:
    """A queue of waiting threads; see `protocols.Condition`."""

    __slots__ = ("_acquire", "_lock", "_release", "_waiters")

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self._acquire = lock.acquire
        self._release = lock.release
        self._waiters: deque[_Waiter] = deque()

    def wait(self, timeout_ms: Millis | None = None) -> bool:
        """Release the lock, wait to be notified, take the lock again.

        TLA+: Queue, Release and Relock of ConditionClaims.
        """
        self._require_lock("wait")
        waiter = _Waiter()
        thread = threading.current_thread()
        if not isinstance(thread, InterruptibleThread):
            return self._wait(waiter, timeout_ms)
        thread.interruption.enter(waiter)
        try:
            notified = self._wait(waiter, timeout_ms)
        finally:
            thread.interruption.leave()
        return notified

    def notify(self) -> None:
        """Wake the thread that has waited longest, if any. TLA+: Pop of ConditionClaims."""
        self._require_lock("notify")
        waiters = self._waiters
        woken = False
        while waiters and not woken:
            # Out of the queue only then: a signal in between must not leave it asleep for good.
            woken = waiters[0].wake()
            del waiters[0]

    def notify_all(self) -> None:
        """Wake all waiting threads."""
        self._require_lock("notify")
        waiters = self._waiters
        while waiters:
            waiters[0].wake()
            del waiters[0]

    def _wait(self, waiter: "_Waiter", timeout_ms: Millis | None) -> bool:
        notified = False
        try:
            self._waiters.append(waiter)
            try:
                # Inside: a signal that comes as the lock is given back finds it taken again.
                self._release()
                notified = waiter.wait(timeout_ms)
            finally:
                try:
                    # By a loop: no signal comes between its iterator and its body.
                    for _ in iter(self._acquire, False):
                        break
                except BaseException:
                    # A signal came first; the block that waits has the lock all the same.
                    self._acquire()
                    raise
        finally:
            if not notified:
                self._forget(waiter)
        return notified

    def _forget(self, waiter: "_Waiter") -> None:
        try:
            self._waiters.remove(waiter)
        except ValueError:
            # A notification has passed over it meanwhile.
            return

    def _require_lock(self, verb: str) -> None:
        if not self._lock.locked():
            raise RuntimeError(f"cannot {verb} on a condition whose lock is not held")


class _Waiter:
    __slots__ = ("_asleep", "_claim", "interrupted")

    def __init__(self) -> None:
        # Held while the thread sleeps; released by the one that has claimed the waiter.
        self._asleep = threading.Lock()
        self._asleep.acquire()
        # Takes a lock that is never released; tells whether this call did.
        self._claim: Callable[[], bool] = partial(threading.Lock().acquire, False)
        self.interrupted = False

    def wait(self, timeout_ms: Millis | None) -> bool:
        """Sleep until woken, or until the time is over; tell whether it was notified.

        TLA+: TimeOut and Wake of ConditionClaims.
        """
        if timeout_ms is None:
            self._asleep.acquire()
        elif not self._asleep.acquire(timeout=seconds(timeout_ms)):
            if self._claim():
                return False
            # Another thread has claimed it and is about to wake it.
            self._asleep.acquire()
        return not self.interrupted

    def wake(self) -> bool:
        """Wake it unless its wait is over already, and tell whether this did.

        TLA+: Notify and WakeWaiter of ConditionClaims.
        """
        # By a loop: a signal between the claim and the waking would leave it asleep for good.
        for claimed in iter(self._claim, None):
            if claimed:
                self._asleep.release()
            return claimed
        return False

    def interrupt(self) -> None:
        """Wake it unless its wait is over already."""
        for claimed in iter(self._claim, None):
            if claimed:
                self.interrupted = True
                self._asleep.release()
            return


def seconds(timeout_ms: Millis) -> float:
    """Return a time-out as the standard library takes it: no longer than the platform's limit.

    Callers wait in a loop anyway.
    """
    return min(max(timeout_ms, 0) / 1000, threading.TIMEOUT_MAX)
