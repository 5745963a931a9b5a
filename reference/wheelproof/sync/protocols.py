"""What a runtime offers: each primitive, and for each operation what it reads and writes.

A controlled runtime puts one scheduling point BEFORE each operation named here and then performs
it as one atomic step. Two steps of different threads are independent unless they touch the same
object and one of them writes it. The accesses, as "object: R or W":

==================================  =====================================================
Monitor, Lock acquire / release     the lock: W; a failed `try_acquire` only R
Condition.wait                      the condition's queue: W, the lock: W, in one step; waking up
                                    is a step of its own, re-acquiring the lock another. Of a
                                    thread that can be interrupted, entering reads its interrupt
                                    status; waking by interruption writes that and the queue
Condition.notify / notify_all       the queue: W, the woken threads: W
ReadWriteLock read / write          the lock: W
AtomicX.get, Volatile.get           the cell: R
AtomicX writes, Volatile.set        the cell: W; a failed `compare_and_set` only R
Thread.start / join                 the thread: W / R
Thread.interrupt                    the thread's interrupt status: W
Runtime.monotonic_ms                the clock: R
==================================  =====================================================

The names are optional and serve traces and counterexamples.

    >>> from wheelproof import sync
    >>> from wheelproof.sync import Lock
    >>> def in_turn(lock: Lock) -> bool:
    ...     with lock:
    ...         return lock.try_acquire()
    >>> in_turn(sync.lock("example"))
    False
"""

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, TypeVar, runtime_checkable

from wheelproof.units import Millis

T = TypeVar("T")


class LockView(Protocol):
    """What is held inside a `with` block."""

    def __enter__(self) -> bool: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...


@runtime_checkable
class Lock(LockView, Protocol):
    """A mutual-exclusion lock that is not reentrant and not fair."""

    def acquire(self) -> bool:
        """Wait until the lock is free and take it; always true."""
        ...

    def try_acquire(self) -> bool:
        """Take the lock if it is free now and tell whether it was."""
        ...

    def release(self) -> None:
        """Give the lock back; only its holder may."""
        ...


class Monitor(LockView, Protocol):
    """A reentrant lock, used in `with` blocks: what Java's `synchronized` takes."""


class Condition(Protocol):
    """A queue of waiting threads that belongs to one lock; used while that lock is held."""

    def wait(self, timeout_ms: Millis | None = None) -> bool:
        """Release the lock, wait to be notified, take the lock again.

        Waits at most `timeout_ms` milliseconds (None: without limit) and returns False if that
        time ran out first. May also return without a notification; callers test their condition in
        a loop.

        Raises ThreadInterruptedError, with the lock held again and the interrupt status cleared, if
        the thread's status is set on entry or becomes set while it waits and has not been notified;
        it has left the queue then, so that no notification goes to it. If the notification came
        first, wait returns and the status stays set (standard 3.5).
        """
        ...

    def notify(self) -> None:
        """Wake the thread that has waited longest, if any."""
        ...

    def notify_all(self) -> None:
        """Wake all waiting threads."""
        ...


class ReadWriteLock(Protocol):
    """Many readers or one writer.

    Reentrant on either side, and a writer may take the read side too; a reader that asks for the
    write side gets RuntimeError, since it would wait for itself.
    """

    @property
    def read(self) -> LockView:
        """The shared side."""
        ...

    @property
    def write(self) -> LockView:
        """The exclusive side."""
        ...


class Volatile(Protocol[T]):
    """A cell that several threads read and write without a lock."""

    def get(self) -> T:
        """Return the value."""
        ...

    def set(self, value: T, /) -> None:
        """Replace the value."""
        ...


@runtime_checkable
class AwaitableCell(Protocol):
    """A cell of a runtime that knows how to wait for a value without looking again and again."""

    def await_until(self, predicate: Callable[[T], bool], /) -> T:
        """Wait until the predicate holds of the value, and return that."""
        ...


class AtomicReference(Volatile[T], Protocol[T]):
    """A cell with atomic read-and-write operations; values are compared by identity."""

    def get_and_set(self, value: T, /) -> T:
        """Replace the value and return the one before."""
        ...

    def compare_and_set(self, expected: T, value: T, /) -> bool:
        """Replace the value if it is `expected`, and tell whether it was."""
        ...


class AtomicInteger(Protocol):
    """An integer cell with atomic read-and-write operations."""

    def get(self) -> int:
        """Return the value."""
        ...

    def set(self, value: int, /) -> None:
        """Replace the value."""
        ...

    def get_and_set(self, value: int, /) -> int:
        """Replace the value and return the one before."""
        ...

    def compare_and_set(self, expected: int, value: int, /) -> bool:
        """Replace the value if it equals `expected`, and tell whether it did."""
        ...

    def add_and_get(self, delta: int, /) -> int:
        """Add `delta` and return the sum."""
        ...


class Thread(Protocol):
    """A thread of execution."""

    def start(self) -> None:
        """Begin to run; once."""
        ...

    def join(self, timeout_ms: Millis | None = None) -> bool:
        """Wait for the end, at most `timeout_ms` milliseconds, and tell whether it came.

        Not interruptible.
        """
        ...

    def interrupt(self) -> None:
        """Set the thread's interrupt status, which ends its wait on a condition, now or later.

        Only `Condition.wait` and what is built on it heed the status; locks and `join` do not.
        """
        ...

    def is_current(self) -> bool:
        """Tell whether the caller runs on this thread."""
        ...


class Executor(Protocol):
    """Runs tasks in the order in which they were submitted, on threads of its own (standard 6.2).

    What a timer is given belongs to the timer, which shuts it down as it closes.
    """

    def submit(self, task: Callable[[], None]) -> None:
        """Queue `task` and return; it must not run here, on the thread that submits it.

        A timer submits while it holds a bucket's monitor. A task that ran here would take other
        locks behind that one, and deadlock with a thread that cancels.
        Raises RejectedExecutionError after `shutdown`, and whenever the task will not run.
        """
        ...

    def shutdown(self) -> None:
        """Take no more tasks; those queued before still run."""
        ...

    def await_termination(self, timeout_ms: Millis) -> bool:
        """Wait at most `timeout_ms` milliseconds until all tasks have run; tell whether they have.

        Called on the executor's own thread it returns False at once. Raises ThreadInterruptedError
        if the calling thread is interrupted.
        """
        ...


class Runtime(Protocol):
    """Makes the primitives, and owns the clock that time-outs are measured with."""

    def monitor(self, name: str) -> Monitor:
        """Return a new monitor."""
        ...

    def lock(self, name: str) -> Lock:
        """Return a new lock."""
        ...

    def condition(self, lock: Lock, name: str) -> Condition:
        """Return a new condition of `lock`, which must come from this runtime."""
        ...

    def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
        """Return a new read-write lock.

        With `prefer_writers` a new reader waits while a writer waits, and the readers that wait
        when a writer leaves go before the next writer.
        """
        ...

    def volatile(self, value: T, name: str) -> Volatile[T]:
        """Return a new volatile cell."""
        ...

    def atomic_reference(self, value: T, name: str) -> AtomicReference[T]:
        """Return a new atomic cell."""
        ...

    def atomic_integer(self, value: int, name: str) -> AtomicInteger:
        """Return a new atomic integer."""
        ...

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new thread, not yet started; it does not keep the process alive."""
        ...

    def monotonic_ms(self) -> Millis:
        """Return the monotonic clock, nanoseconds truncated to milliseconds (standard 1.1)."""
        ...
