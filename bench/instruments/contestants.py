"""The timers that are compared: the reference, heaps with lazy deletion, asyncio's `call_later`.

Each contestant contains the loops over timers, so the harness adds no cost to a single timer.
"""

import asyncio
import importlib.util
import threading
from collections.abc import Callable, Sequence
from typing import Protocol, cast
from unittest.mock import patch

from wheelproof.clock import ManualClock
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis

LONGEST_DELAY_MS = 60_000
_TIMERS_A_LOOP_PASS = 1_000


class Contestant(Protocol):
    """A timer under test; its clock stands still until `expire`."""

    def fill(self, delays_ms: Sequence[int]) -> None:
        """Add a timer for each delay and keep them."""
        ...

    def cancel(self, chosen: Sequence[int]) -> None:
        """Cancel timers that `fill` added, by their index there."""
        ...

    def forget(self) -> None:
        """Drop the timers that `fill` kept; those that wait go on waiting."""
        ...

    def add_and_cancel(self, delays_ms: Sequence[int]) -> None:
        """Add a timer for each delay and cancel it before the next."""
        ...

    def expire(self) -> None:
        """Let LONGEST_DELAY_MS pass and run the waiting timers."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


class EmptyTask(TimerTask):
    """A task that does nothing."""

    __slots__ = ()

    def run(self) -> None:
        pass


class WheelContestant:
    """SystemTimer with its defaults: ticks of 1 ms, 20 buckets a level."""

    def __init__(self) -> None:
        self._clock, self._executor = ManualClock(), DeferredExecutor()
        self._timer = SystemTimer("bench", clock=self._clock, executor=self._executor)
        self._tasks: list[EmptyTask] = []

    def fill(self, delays_ms: Sequence[int]) -> None:
        add, keep = self._timer.add, self._tasks.append
        for delay_ms in delays_ms:
            task = EmptyTask(delay_ms)
            add(task)
            keep(task)

    def cancel(self, chosen: Sequence[int]) -> None:
        tasks = self._tasks
        for index in chosen:
            tasks[index].cancel()

    def forget(self) -> None:
        self._tasks.clear()

    def add_and_cancel(self, delays_ms: Sequence[int]) -> None:
        add = self._timer.add
        for delay_ms in delays_ms:
            task = EmptyTask(delay_ms)
            add(task)
            task.cancel()

    def expire(self) -> None:
        self._clock.advance(LONGEST_DELAY_MS)
        self._timer.advance_clock(Millis(0))
        self._executor.run_pending()

    def close(self) -> None:
        self._timer.close()


class _Handle:
    __slots__ = ("callback", "cancelled")

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.cancelled = False


_Item = tuple[int, int, _Handle]


class _HeapModule(Protocol):
    def heappush(self, heap: list[_Item], item: _Item) -> None: ...
    def heappop(self, heap: list[_Item]) -> _Item: ...
    def heapify(self, heap: list[_Item]) -> None: ...


def _heap_module(*, in_c: bool) -> _HeapModule:
    """Return `heapq` in C, or its fallback: the same functions in Python."""
    spec = importlib.util.find_spec("heapq")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with patch.dict("sys.modules", {} if in_c else {"_heapq": None}):
        spec.loader.exec_module(module)
    return cast(_HeapModule, module)


class HeapContestant:
    """A typical hand-written timer: a heap under one lock that drops cancelled timers lazily.

    One that compacts does so when half of them are cancelled; else they stay until they are due.
    """

    def __init__(self, *, in_c: bool = True, compacts: bool = True) -> None:
        self._compacts = compacts
        self._heapq = _heap_module(in_c=in_c)
        self._lock = threading.Lock()
        self._heap: list[_Item] = []
        self._added = 0
        self._cancelled = 0
        self._handles: list[_Handle] = []

    def fill(self, delays_ms: Sequence[int]) -> None:
        keep = self._handles.append
        for delay_ms in delays_ms:
            keep(self._add(delay_ms))

    def cancel(self, chosen: Sequence[int]) -> None:
        handles = self._handles
        for index in chosen:
            self._cancel(handles[index])

    def forget(self) -> None:
        self._handles.clear()

    def add_and_cancel(self, delays_ms: Sequence[int]) -> None:
        for delay_ms in delays_ms:
            self._cancel(self._add(delay_ms))

    def expire(self) -> None:
        pop, heap = self._heapq.heappop, self._heap
        while heap and heap[0][0] <= LONGEST_DELAY_MS:
            with self._lock:
                handle = pop(heap)[2]
            if not handle.cancelled:
                handle.callback()

    def close(self) -> None:
        self._handles.clear()

    def _add(self, deadline_ms: int) -> _Handle:
        handle = _Handle(_do_nothing)
        with self._lock:
            self._added += 1
            self._heapq.heappush(self._heap, (deadline_ms, self._added, handle))
        return handle

    def _cancel(self, handle: _Handle) -> None:
        with self._lock:
            if handle.cancelled:
                return
            handle.cancelled = True
            self._cancelled += 1
            if self._compacts and 2 * self._cancelled > len(self._heap):
                self._heap = [item for item in self._heap if not item[2].cancelled]
                self._heapq.heapify(self._heap)
                self._cancelled = 0


class _FrozenLoop(asyncio.SelectorEventLoop):
    now = 0.0

    def time(self) -> float:
        return self.now


class AsyncioContestant:
    """`call_later` of a loop that runs a pass after each chunk; a pass cleans up its heap."""

    def __init__(self) -> None:
        self._loop = _FrozenLoop()
        self._handles: list[asyncio.TimerHandle] = []

    def fill(self, delays_ms: Sequence[int]) -> None:
        add, keep = self._loop.call_later, self._handles.append

        def chunk(start: int) -> None:
            for delay_ms in delays_ms[start : start + _TIMERS_A_LOOP_PASS]:
                keep(add(delay_ms / 1000, _do_nothing))

        self._in_passes(len(delays_ms), chunk)

    def cancel(self, chosen: Sequence[int]) -> None:
        handles = self._handles

        def chunk(start: int) -> None:
            for index in chosen[start : start + _TIMERS_A_LOOP_PASS]:
                handles[index].cancel()

        self._in_passes(len(chosen), chunk)

    def forget(self) -> None:
        self._handles.clear()

    def add_and_cancel(self, delays_ms: Sequence[int]) -> None:
        add = self._loop.call_later

        def chunk(start: int) -> None:
            for delay_ms in delays_ms[start : start + _TIMERS_A_LOOP_PASS]:
                add(delay_ms / 1000, _do_nothing).cancel()

        self._in_passes(len(delays_ms), chunk)

    def expire(self) -> None:
        self._loop.now = LONGEST_DELAY_MS / 1000
        # The first pass makes due timers ready, and the second one runs after them.
        self._in_passes(2 * _TIMERS_A_LOOP_PASS, _ignore)

    def close(self) -> None:
        self._loop.close()

    def _in_passes(self, count: int, chunk: Callable[[int], None]) -> None:
        async def work() -> None:
            for start in range(0, count, _TIMERS_A_LOOP_PASS):
                chunk(start)
                await asyncio.sleep(0)

        self._loop.run_until_complete(work())


def _do_nothing() -> None:
    pass


def _ignore(_: int) -> None:
    pass


CONTESTANTS: dict[str, Callable[[], Contestant]] = {
    "the wheel": WheelContestant,
    "heapq": HeapContestant,
    "a heap in Python": lambda: HeapContestant(in_c=False),
    "asyncio": AsyncioContestant,
}
