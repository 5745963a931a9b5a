"""Clocks: where the timer reads the time, and what its waits are measured with.

A timer that asks the system for the time cannot be tested at a chosen moment, and one that waits by
another clock than it reads misses its deadlines. So reading and waiting belong to one object, which
tests replace.

>>> from wheelproof.clock import ManualClock
>>> clock = ManualClock()
>>> clock.advance(250)
>>> clock.hi_res_clock_ms()
250

Invariants:

- A clock never goes back (standard 1.1).
- Whoever waits for a time on a ManualClock is woken by the advance that reaches it.
"""

from typing import Annotated, Protocol

from wheelproof import sync
from wheelproof.domain import require_integer
from wheelproof.sync import GuardedBy
from wheelproof.units import Millis


class Clock(Protocol):
    """A monotonic clock in milliseconds (standard 1.1)."""

    def hi_res_clock_ms(self) -> Millis:
        """Return the time now; never less than an earlier answer."""
        ...

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """Wait on `condition` of `lock`, which the caller holds.

        Returns when notified or when THIS clock shows `deadline_ms`; may return early, so callers
        test again in a loop.
        """
        ...


class SystemClock:
    """The runtime's monotonic clock."""

    def __init__(self) -> None:
        self._runtime = sync.current_runtime()

    def hi_res_clock_ms(self) -> Millis:
        """Return the time now."""
        return self._runtime.monotonic_ms()

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """Wait on `condition` until it is notified or the clock shows `deadline_ms`."""
        del lock
        condition.wait(Millis(deadline_ms - self.hi_res_clock_ms()))


class ManualClock:
    """A clock that stands still until it is told to advance.

    A wait with a time-out ends when another thread has advanced the clock far enough.
    """

    def __init__(self, start_ms: int = 0) -> None:
        self._lock = sync.lock("ManualClock.lock")
        self._now_ms: Annotated[Millis, GuardedBy("_lock")] = _in_domain(start_ms)
        self._waits: Annotated[list[tuple[sync.Lock, sync.Condition]], GuardedBy("_lock")] = []

    def hi_res_clock_ms(self) -> Millis:
        """Return the time now."""
        with self._lock:
            return self._now_ms

    def advance(self, duration_ms: int) -> None:
        """Move the clock forward by `duration_ms` milliseconds and wake whoever waits on it.

        Raises IllegalArgumentError if the duration is negative or leaves the domain.
        """
        require_integer("duration_ms", duration_ms, 0)
        with self._lock:
            waits = self._move_to(self._now_ms + duration_ms)
        _wake(waits)

    def advance_to(self, time_ms: int) -> None:
        """Move the clock to `time_ms` and wake whoever waits on it.

        Raises IllegalArgumentError if that is in the past or outside the domain.
        """
        with self._lock:
            # Read and moved under one hold of the lock, or two movers would add up.
            waits = self._move_to(require_integer("time_ms", time_ms, self._now_ms))
        _wake(waits)

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """Wait on `condition` until it is notified or the clock is advanced."""
        wait = (lock, condition)
        with self._lock:
            # Tested under the clock's own lock: an advance before this is seen here, a later one
            # finds the wait registered.
            if self._now_ms >= deadline_ms:
                return
            self._waits.append(wait)
        try:
            condition.wait()
        finally:
            with self._lock:
                self._waits.remove(wait)

    def _move_to(self, time_ms: int) -> list[tuple[sync.Lock, sync.Condition]]:
        self._now_ms = _in_domain(time_ms)
        return list(self._waits)


def _wake(waits: list[tuple[sync.Lock, sync.Condition]]) -> None:
    for lock, condition in waits:
        with lock:
            condition.notify_all()


def _in_domain(time_ms: int) -> Millis:
    return Millis(require_integer("the clock", time_ms, 0))
