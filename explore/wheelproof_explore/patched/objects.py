"""Thread-local state and simple queues of the program under test."""

import gc
import inspect
import queue
import threading
import time
from collections import deque
from functools import partial
from types import CodeType, FrameType
from typing import Generic, TypeVar, cast

from wheelproof_explore.patched.primitives import Lock, real_ident, running
from wheelproof_explore.runtime.runtime import ControlledRuntime

T = TypeVar("T")

FIRST_IDENT = 1_000
"""The `get_ident` of the first thread of a run, which no real thread has."""


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
        object.__setattr__(local, "_first", None)
        return local

    # Slots have the same value in every thread.
    __slots__ = ("__dict__", "__weakref__", "_first", "_given", "_parts")

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
    first: dict[str, object] | None = object.__getattribute__(local, "_first")
    if first is not None and _is_main(now):
        part.update(first)
        return
    args, named = object.__getattribute__(local, "_given")
    if type(local).__init__ is not object.__init__:
        type(local).__init__(local, *args, **named)
        # Another thread may have had its turn meanwhile.
        object.__setattr__(local, "__dict__", part)


def _is_main(runtime: ControlledRuntime | None) -> bool:
    """Tell whether the caller is the thread in which the program's modules were imported."""
    thread = None if runtime is None else runtime.current
    # The program may have a thread of its own that is called main.
    return thread is None or (thread.name == "main" and thread.number == 0)


def standing_local(kind: type, real: threading.local, of_main: dict[str, object]) -> Local:
    """Return the model of thread-local state that was made before a run, by the main thread."""
    given = gc.get_referents(real)
    tuples = [cast("tuple[object, ...]", one) for one in given if type(one) is tuple]
    args = tuples[0] if tuples else ()
    dicts = [cast("dict[str, object]", one) for one in given if type(one) is dict]
    # Behind the arguments stand those with names, if there are any, and the state of C.
    named = dicts[0] if len(dicts) > 1 else {}
    local = cast("Local", object.__new__(kind))
    object.__setattr__(local, "_parts", (None, {}))
    object.__setattr__(local, "_given", (args, named))
    object.__setattr__(local, "_first", of_main)
    return local


def _refuse_dict(name: str) -> None:
    if name == "__dict__":
        raise AttributeError("a thread's attributes cannot be replaced as a whole")


class SimpleQueue(Generic[T]):
    """`queue.SimpleQueue`."""

    def __init__(self, index: int = 0) -> None:
        self._index = index
        self._run: ControlledRuntime | None = None
        self.first = list[T]()
        """The items of a queue that was made before any run: each run begins with them."""
        self.begin()

    def begin(self) -> None:
        """Have the first items, and nobody who waits."""
        self._items = deque(self.first)
        self._ready = threading.Condition(cast("threading.Lock", Lock(self._index)))

    def _begin_run(self) -> None:
        """Begin anew with a queue that was made before the run."""
        now = running()
        if self._index and self._run is not now:
            self._run = now
            self.begin()

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
        self._begin_run()
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
        self._begin_run()
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
        self._begin_run()
        with self._ready:
            return len(self._items)


def standing_queue(real: "queue.SimpleQueue[object]", index: int) -> SimpleQueue[object]:
    """Return the model of a queue that was made before a run, with what is in it."""
    model = SimpleQueue[object](index)
    while not real.empty():
        model.first.append(real.get_nowait())
    for item in model.first:
        real.put(item)
    model.begin()
    return model


def _caller(frame: FrameType | None) -> CodeType:
    """Return the code that called the function of a frame."""
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_code


def _now(runtime: ControlledRuntime | None) -> float:
    return time.monotonic() if runtime is None else runtime.monotonic_ms() / 1000
