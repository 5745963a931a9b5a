"""A runtime in which one thread runs at a time, until it has to wait.

With it a driver that has one thread can start calls that block: `run` runs the threads until each
of them waits or has ended, so that afterwards the set of blocked threads is fixed. Nothing depends
on the speed of the machine, and no time passes. `choose` picks the runnable thread that continues,
so that runs with the same seed are equal.
"""

import _thread
from collections import deque
from collections.abc import Callable

from wheelproof.errors import ThreadInterruptedError
from wheelproof.sync import Condition, Lock, Monitor, Thread
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.units import Millis

Choose = Callable[[int], int]
"""Returns a number below the given one: the index of the runnable thread that continues."""


class StuckError(Exception):
    """A thread acquires a lock whose holder waits elsewhere, or the driver itself would wait."""


class _UnwindError(BaseException):
    """Ends a thread that waits when its runtime is closed."""


def _first(count: int) -> int:
    del count
    return 0


def _closed_gate() -> _thread.LockType:
    """Return a lock that is held: a thread that acquires it blocks until it is released."""
    gate = _thread.allocate_lock()
    gate.acquire()
    return gate


class CooperativeRuntime(ThreadsRuntime):
    """Makes primitives of threads that take turns; cells are those of real threads."""

    def __init__(self, choose: Choose = _first) -> None:
        self._choose = choose
        self._runnable: list[CooperativeThread] = []
        self._threads: list[CooperativeThread] = []
        self._turn_over = _closed_gate()
        self.current: CooperativeThread | None = None
        """The thread whose turn it is; None while the driver runs."""

    def monitor(self, name: str) -> Monitor:
        """Return a new monitor."""
        return _Lock(self, name)

    def lock(self, name: str) -> Lock:
        """Return a new lock."""
        return _Lock(self, name)

    def condition(self, lock: Lock, name: str) -> Condition:
        """Return a new condition of `lock`; raises TypeError for a lock of another runtime."""
        if not isinstance(lock, _Lock):
            raise TypeError(f"condition {name!r}: its lock belongs to another runtime")
        return _Condition(self, lock, name)

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new thread; it runs in `run`."""
        return self.cooperative_thread(target, name)

    def cooperative_thread(self, target: Callable[[], None], name: str) -> "CooperativeThread":
        """Return a new thread whose state the driver can read."""
        return CooperativeThread(self, target, name)

    def run(self) -> None:
        """Run all threads until each of them waits or has ended; only the driver calls this."""
        while self._runnable:
            thread = self._runnable.pop(self._choose(len(self._runnable)))
            self.current = thread
            thread.worker.gate.release()
            self._turn_over.acquire()
            self.current = None

    def close(self) -> None:
        """End every thread that still waits."""
        for thread in self._threads:
            if thread.started and not thread.ended:
                thread.unwind()
        self.run()

    def make_runnable(self, thread: "CooperativeThread") -> None:
        """Give `thread` a turn."""
        if thread not in self._runnable:
            self._runnable.append(thread)

    def begin(self, thread: "CooperativeThread") -> None:
        """Register a thread that was started."""
        self._threads.append(thread)
        self.make_runnable(thread)

    def end_turn(self, thread: "CooperativeThread") -> None:
        """Hand control to the driver; a thread that has not ended blocks until its next turn."""
        self._turn_over.release()
        if not thread.ended:
            thread.worker.gate.acquire()


class CooperativeThread:
    """A thread of the runtime; `error` is the exception that ended it, if any."""

    def __init__(self, runtime: CooperativeRuntime, target: Callable[[], None], name: str) -> None:
        self.name = name
        self.started = False
        self.ended = False
        self.error: BaseException | None = None
        self.interrupted = False
        self.woken_by_interruption = False
        self.unwinding = False
        self.waits_on: _Condition | None = None
        self.worker: _Worker
        self._runtime = runtime
        self._target = target

    def start(self) -> None:
        """Start the thread; only once."""
        self.started = True
        self.worker = _idle.pop() if _idle else _Worker()
        self.worker.thread = self
        self._runtime.begin(self)

    def join(self, timeout_ms: Millis | None = None) -> bool:
        """Run all threads, and return whether this one has ended; only the driver may join."""
        del timeout_ms
        if self._runtime.current is not None:
            raise StuckError("a thread that takes turns cannot join another one")
        self._runtime.run()
        return self.ended

    def interrupt(self) -> None:
        """Set the thread's interrupt status, which ends its wait on a condition, now or later."""
        self.interrupted = True
        if self.waits_on is not None and self.waits_on.leave(self):
            self.woken_by_interruption = True
            self._runtime.make_runnable(self)

    def is_current(self) -> bool:
        """Tell whether the caller runs on this thread."""
        return self._runtime.current is self

    def unwind(self) -> None:
        """End the thread where it waits."""
        self.unwinding = True
        if self.waits_on is not None:
            self.waits_on.leave(self)
        self._runtime.make_runnable(self)

    def end(self) -> None:
        """Hand control to the driver after the thread has ended; only the worker calls this."""
        self._runtime.end_turn(self)

    def run(self) -> None:
        """Run the target to its end; only the worker calls this."""
        try:
            if not self.unwinding:
                self._target()
        except _UnwindError:
            pass
        except BaseException as error:
            self.error = error
        self.ended = True


class _Worker:
    """An OS thread that runs one thread after another: starting an OS thread is expensive."""

    def __init__(self) -> None:
        self.gate = _closed_gate()
        """The gate that opens for each turn."""
        self.thread: CooperativeThread | None = None
        _thread.start_new_thread(self._work, ())

    def _work(self) -> None:
        while True:
            self.gate.acquire()
            thread = self.thread
            if thread is not None:
                thread.run()
                _idle.append(self)
                thread.end()


_idle: list[_Worker] = []


class _Lock:
    """A lock that is free at every acquire, unless its holder waits for something else."""

    def __init__(self, runtime: CooperativeRuntime, name: str) -> None:
        self._runtime = runtime
        self._name = name
        self._holder: CooperativeThread | None = None
        self.depth = 0

    def acquire(self) -> bool:
        if not self.try_acquire():
            raise StuckError(f"{self._name} is held by a thread that waits for something else")
        return True

    def try_acquire(self) -> bool:
        current = self._runtime.current
        if self.depth and self._holder is not current:
            return False
        self._holder = current
        self.depth += 1
        return True

    def release(self) -> None:
        self.depth -= 1

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


class _Condition:
    def __init__(self, runtime: CooperativeRuntime, lock: _Lock, name: str) -> None:
        self._runtime = runtime
        self._lock = lock
        self._name = name
        self._queue: deque[CooperativeThread] = deque()

    def wait(self, timeout_ms: Millis | None = None) -> bool:
        """Wait to be notified; with a time-out the thread stays runnable and may time out."""
        thread = self._runtime.current
        if thread is None:
            raise StuckError(f"the driver itself would wait on {self._name}")
        if thread.unwinding:
            raise _UnwindError
        if thread.interrupted:
            thread.interrupted = False
            raise ThreadInterruptedError
        self._queue.append(thread)
        thread.waits_on = self
        self._lock.release()
        if timeout_ms is not None:
            self._runtime.make_runnable(thread)
        self._runtime.end_turn(thread)
        self._lock.acquire()
        thread.waits_on = None
        timed_out = self.leave(thread)
        if thread.unwinding:
            raise _UnwindError
        if thread.woken_by_interruption:
            thread.woken_by_interruption = thread.interrupted = False
            raise ThreadInterruptedError
        return not timed_out

    def notify(self) -> None:
        if self._queue:
            self._runtime.make_runnable(self._queue.popleft())

    def notify_all(self) -> None:
        while self._queue:
            self.notify()

    def leave(self, thread: CooperativeThread) -> bool:
        """Remove `thread` from the queue; return whether it was there, so not notified yet."""
        if thread not in self._queue:
            return False
        self._queue.remove(thread)
        return True
