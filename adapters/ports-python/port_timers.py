#!/usr/bin/env python3
"""Timers of Python's standard library behind the protocol wheelproof.driver/1.

python3 port_timers.py asyncio       loop.call_later
python3 port_timers.py sched         sched.scheduler
"""

import asyncio
import platform
import sched
import sys
import weakref
from functools import partial
from typing import Protocol

from serving import serve
from stepped_loop import Loop


class Timer(Protocol):
    """The operations of a port; cancel returns whether the task waited, or None if unknown."""

    ran: list[str]

    def add(self, task: str, delay_ms: int) -> None:
        """Schedule the task in `delay_ms`, and drop an earlier add of it."""
        ...

    def cancel(self, task: str) -> bool | None:
        """Cancel the task."""
        ...

    def advance(self, to_ms: int) -> None:
        """Set the clock and run the due tasks."""
        ...

    def size(self) -> int | None:
        """Return the number of waiting tasks, or None if the timer does not count them."""
        ...


class AsyncioTimer:
    """`call_later` of an event loop; an advance runs one iteration of the loop."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self._loop = Loop()
        weakref.finalize(self, self._loop.close)
        self._handles: dict[str, asyncio.TimerHandle] = {}

    def add(self, task: str, delay_ms: int) -> None:
        """Add the task, or replace its earlier add."""
        self.cancel(task)
        self._handles[task] = self._loop.call_later(delay_ms / 1000, self.ran.append, task)

    def cancel(self, task: str) -> None:
        """Cancel the task; asyncio's handle does not tell whether the task still waited."""
        if task in self._handles:
            self._handles.pop(task).cancel()

    def advance(self, to_ms: int) -> None:
        """Set the clock and run one iteration of the loop."""
        self._loop.now_s = to_ms / 1000
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()

    def size(self) -> None:
        """Return None: asyncio does not count its timers."""


class SchedTimer:
    """`sched.scheduler` on a clock in whole milliseconds, run without blocking."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self._now_ms = 0
        self._events: dict[str, sched.Event] = {}
        self._scheduler = sched.scheduler(lambda: self._now_ms, lambda _: None)

    def add(self, task: str, delay_ms: int) -> None:
        """Add the task, or replace its earlier add."""
        self.cancel(task)
        run = partial(self.ran.append, task)
        self._events[task] = self._scheduler.enter(delay_ms, 0, run)

    def cancel(self, task: str) -> bool:
        """Cancel the task; `sched` raises ValueError if it is not in the queue."""
        try:
            self._scheduler.cancel(self._events.pop(task))
        except (KeyError, ValueError):
            return False
        return True

    def advance(self, to_ms: int) -> None:
        """Set the clock and run the due tasks."""
        self._now_ms = to_ms
        self._scheduler.run(blocking=False)

    def size(self) -> int:
        """Return the number of events in the queue."""
        return len(self._scheduler.queue)


PORTS: dict[str, type[AsyncioTimer] | type[SchedTimer]] = {
    "asyncio": AsyncioTimer,
    "sched": SchedTimer,
}
# Neither timer has ticks. Float seconds tell milliseconds apart for some months.
BOUNDS = {"tick_ms": {"most": 1}, "start_ms": {"most": 0}, "delay_ms": {"most": 2**24}}


def perform(timer: Timer, operation: str, arguments: dict[str, int]) -> dict[str, object]:
    """Perform an operation and return the fields of its answer."""
    told = getattr(timer, operation)(**arguments)
    ran, timer.ran[:] = list(timer.ran), []
    named = {"cancel": "cancelled", "size": "size"}.get(operation)
    return {"fired": ran} if named is None or told is None else {"fired": ran, named: told}


def main(port: str) -> None:
    """Answer requests until `bye`."""
    who = {"impl": f"Python's {port}", "version": platform.python_version()}
    able = {"components": ["timer"], "capabilities": ["virtual_time"]}
    declared = {"profiles": {"timer": "exact"}, "bounds": {"timer": BOUNDS}}
    serve({**who, **able, **declared}, lambda _: PORTS[port](), perform)


if __name__ == "__main__":
    main(sys.argv[1])
