"""Thread-local state, simple queues and the clock of the program under test."""

import inspect
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from types import CodeType, FrameType
from typing import Generic, TypeVar, cast

from wheelproof_explore.failures.places import is_checkers
from wheelproof_explore.patched.primitives import Lock, millis, real_ident, running
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.signals import Sleep, deadline_after

T = TypeVar("T")

_EPOCH_S = 1_700_000_000
"""What `time.time` shows when a run begins."""
FIRST_IDENT = 1_000
"""The `get_ident` of the first thread of a run, which no real thread has."""

real_sleep = time.sleep


def get_ident() -> int:
    """Return a number for the running thread, the same in every run."""
    runtime = running()
    if runtime is None or runtime.current is None:
        return real_ident()
    return FIRST_IDENT + runtime.current.number


class Local:
    """`threading.local`: each thread of each run has attributes of its own."""

    def __new__(cls, *args: object, **named: object) -> "Local":
        """Keep the arguments with which each thread's attributes are initialised."""
        if (args or named) and cls.__init__ is object.__init__:
            raise TypeError("Initialization arguments are not supported")
        local = super().__new__(cls)
        # The attributes of each thread of the latest run.
        parts: dict[int, dict[str, object]] = {get_ident(): {}}
        object.__setattr__(local, "_parts", (running(), parts))
        object.__setattr__(local, "_given", (args, named))
        return local

    # Slots have the same value in every thread.
    __slots__ = ("__dict__", "__weakref__", "_given", "_parts")

    def __getattribute__(self, name: str) -> object:
        _switch(self)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        _refuse_dict(name)
        _switch(self)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _refuse_dict(name)
        _switch(self)
        object.__delattr__(self, name)


def _switch(local: Local) -> None:
    """Show the attributes of the running thread; make new ones at the thread's first access."""
    runtime: ControlledRuntime | None
    parts: dict[int, dict[str, object]]
    now = running()
    runtime, parts = object.__getattribute__(local, "_parts")
    if runtime is not now:
        parts = {}
        object.__setattr__(local, "_parts", (now, parts))
    thread = get_ident()
    part = parts.get(thread)
    if part is not None:
        object.__setattr__(local, "__dict__", part)
        return
    part = parts[thread] = {}
    object.__setattr__(local, "__dict__", part)
    args, named = object.__getattribute__(local, "_given")
    if type(local).__init__ is not object.__init__:
        type(local).__init__(local, *args, **named)
        # Another thread may have had its turn meanwhile.
        object.__setattr__(local, "__dict__", part)


def _refuse_dict(name: str) -> None:
    if name == "__dict__":
        raise AttributeError("a thread's attributes cannot be replaced as a whole")


class SimpleQueue(Generic[T]):
    """`queue.SimpleQueue`."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._ready = threading.Condition(cast("threading.Lock", Lock()))

    def put(self, item: T, block: bool = True, timeout: float | None = None) -> None:
        """Add an item; never waits."""
        del block, timeout
        runtime = running()
        if runtime is None:
            self._put(item)
        else:
            # In Python this is one call of C.
            runtime.uninterrupted(partial(self._put, item))
            runtime.may_interrupt()

    def _put(self, item: T) -> None:
        with self._ready:
            self._items.append(item)
            self._ready.notify()

    put_nowait = put

    def get(self, block: bool = True, timeout: float | None = None) -> T:
        """Remove and return the oldest item; raises Empty if there is none in time."""
        if block and timeout is not None and timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        runtime = running()
        until = None if timeout is None else _now(runtime) + timeout
        thread = None if runtime is None else runtime.current
        # Python wakes the idle workers of a pool when the interpreter ends.
        idle = thread is not None and _caller(inspect.currentframe()).co_name == "_worker"
        with self._ready:
            while not self._items:
                left = None if until is None else until - _now(runtime)
                if not block or (left is not None and left <= 0):
                    raise queue.Empty
                if idle and thread is not None:
                    was, thread.daemon = thread.daemon, True
                    self._ready.wait(left)
                    thread.daemon = was
                else:
                    self._ready.wait(left)
            return self._items.popleft()

    def get_nowait(self) -> T:
        """Remove an item; raises Empty if there is none."""
        return self.get(block=False)

    def empty(self) -> bool:
        """Tell whether there is no item."""
        return not self.qsize()

    def qsize(self) -> int:
        """Return how many items there are."""
        with self._ready:
            return len(self._items)


def _caller(frame: FrameType | None) -> CodeType:
    """Return the code that called the function of a frame."""
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_code


def _clock(real: Callable[[], T], read: Callable[[int], T]) -> Callable[[], T]:
    """Return a replacement of a Python clock: it shows the run's time; `read` gets milliseconds."""

    def clock() -> T:
        runtime = running()
        if runtime is None or is_checkers(_caller(inspect.currentframe()).co_filename):
            return real()
        return read(runtime.monotonic_ms())

    return clock


def _now(runtime: ControlledRuntime | None) -> float:
    return time.monotonic() if runtime is None else runtime.monotonic_ms() / 1000


def sleep(seconds: float, /) -> None:
    """Sleep in the time of the run."""
    runtime = running()
    if runtime is None:
        real_sleep(seconds)
        return
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    if runtime.current is not None:
        deadline = deadline_after(runtime, runtime.clock, millis(seconds))
        runtime.perform(Sleep(runtime.clock, deadline))


CLOCKS: dict[str, Callable[..., object]] = {
    "monotonic": _clock(time.monotonic, lambda ms: ms / 1000),
    "monotonic_ns": _clock(time.monotonic_ns, lambda ms: ms * 1_000_000),
    "perf_counter": _clock(time.perf_counter, lambda ms: ms / 1000),
    "perf_counter_ns": _clock(time.perf_counter_ns, lambda ms: ms * 1_000_000),
    "sleep": sleep,
    "time": _clock(time.time, lambda ms: _EPOCH_S + ms / 1000),
    "time_ns": _clock(time.time_ns, lambda ms: _EPOCH_S * 10**9 + ms * 1_000_000),
}
"""The replacements of the functions of `time`."""
