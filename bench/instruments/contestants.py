"""The timers that are compared: the reference, a heap with lazy deletion, asyncio's `call_later`.

Each loop over timers is inside a contestant, so that the harness adds nothing to a single timer.
"""

import asyncio
import heapq
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from wheelproof.clock import ManualClock
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask

_TIMERS_A_LOOP_PASS = 1_000


class Contestant(Protocol):
    """A timer under test; its clock stands still."""

    def fill(self, delays_ms: Sequence[int]) -> None:
        """Add a timer for each delay and keep them."""
        ...

    def cancel(self, chosen: Sequence[int]) -> None:
        """Cancel timers that `fill` added, by their index there."""
        ...

    def add_and_cancel(self, delays_ms: Sequence[int]) -> None:
        """Add a timer for each delay and cancel it before the next."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class _Task(TimerTask):
    __slots__ = ()

    def run(self) -> None:
        pass


class WheelContestant:
    """SystemTimer with its defaults: ticks of 1 ms, 20 buckets a level."""

    def __init__(self) -> None:
        self._timer = SystemTimer("bench", clock=ManualClock(), executor=DeferredExecutor())
        self._tasks: list[_Task] = []

    def fill(self, delays_ms: Sequence[int]) -> None:
        add, keep = self._timer.add, self._tasks.append
        for delay_ms in delays_ms:
            task = _Task(delay_ms)
            add(task)
            keep(task)

    def cancel(self, chosen: Sequence[int]) -> None:
        tasks = self._tasks
        for index in chosen:
            tasks[index].cancel()

    def add_and_cancel(self, delays_ms: Sequence[int]) -> None:
        add = self._timer.add
        for delay_ms in delays_ms:
            task = _Task(delay_ms)
            add(task)
            task.cancel()

    def close(self) -> None:
        self._timer.close()


class _Handle:
    __slots__ = ("callback", "cancelled")

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.cancelled = False


class HeapTimer:
    """What people write: a heap under one lock, where most cancelled timers wait to be dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heap: list[tuple[int, int, _Handle]] = []
        self._added = 0
        self._cancelled = 0

    def add(self, deadline_ms: int, callback: Callable[[], None]) -> _Handle:
        handle = _Handle(callback)
        with self._lock:
            self._added += 1
            heapq.heappush(self._heap, (deadline_ms, self._added, handle))
        return handle

    def cancel(self, handle: _Handle) -> None:
        with self._lock:
            if handle.cancelled:
                return
            handle.cancelled = True
            self._cancelled += 1
            if 2 * self._cancelled > len(self._heap):
                self._clean_up()

    def _clean_up(self) -> None:
        self._heap = [item for item in self._heap if not item[2].cancelled]
        heapq.heapify(self._heap)
        self._cancelled = 0


class HeapContestant:
    """`HeapTimer`, driven."""

    def __init__(self) -> None:
        self._timer = HeapTimer()
        self._handles: list[_Handle] = []

    def fill(self, delays_ms: Sequence[int]) -> None:
        add, keep = self._timer.add, self._handles.append
        for delay_ms in delays_ms:
            keep(add(delay_ms, _do_nothing))

    def cancel(self, chosen: Sequence[int]) -> None:
        cancel, handles = self._timer.cancel, self._handles
        for index in chosen:
            cancel(handles[index])

    def add_and_cancel(self, delays_ms: Sequence[int]) -> None:
        add, cancel = self._timer.add, self._timer.cancel
        for delay_ms in delays_ms:
            cancel(add(delay_ms, _do_nothing))

    def close(self) -> None:
        self._handles.clear()


class _FrozenLoop(asyncio.SelectorEventLoop):
    def time(self) -> float:
        return 0.0


class AsyncioContestant:
    """`call_later`; the loop runs a pass now and then, which is when it cleans its heap up."""

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

    def add_and_cancel(self, delays_ms: Sequence[int]) -> None:
        add = self._loop.call_later

        def chunk(start: int) -> None:
            for delay_ms in delays_ms[start : start + _TIMERS_A_LOOP_PASS]:
                add(delay_ms / 1000, _do_nothing).cancel()

        self._in_passes(len(delays_ms), chunk)

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


CONTESTANTS: dict[str, Callable[[], Contestant]] = {
    "wheelproof SystemTimer": WheelContestant,
    "heapq, lazy deletion": HeapContestant,
    "asyncio call_later": AsyncioContestant,
}
