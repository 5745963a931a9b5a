"""How long threads have waited for memory: in all, and as a share of the last minute or so.

A producer whose threads wait has too little memory, or a slow broker; the ratio says they do.

Invariants:

- The windows are in the order of time, and do not overlap.
- The total never goes down, also if the clock goes back during a wait (standard 6.1).
"""

from dataclasses import dataclass
from typing import Annotated

from wheelproof import sync
from wheelproof.clock import Clock, SystemClock
from wheelproof.sync import GuardedBy
from wheelproof.units import Millis

WINDOW_MS = 30_000
"""How long a window takes waits in, from its first one: milliseconds."""

_KEPT_MS = 2 * WINDOW_MS
_MOST_WINDOWS = 3
_NS_OF_MS = 1_000_000


@dataclass(slots=True)
class _Window:
    start_ms: Millis
    last_ms: Millis
    waited_ns: int = 0


class WaitTime:
    """Kafka's bufferpool-wait-time-ns-total and bufferpool-wait-ratio (standard 3.11).

    A `WaitTimeSensor` of one pool. Waits are gathered in windows of 30 s. A window counts until its
    last wait ended 60 s ago, so that no wait of the last minute is missing; Kafka up to 2.6 drops
    a window 60 s after its first wait. The ratio is what was waited in the windows that count,
    divided by the time since the first of them began. The waits of several threads add up, so it
    can be more than 1.

        >>> from wheelproof.clock import ManualClock
        >>> clock = ManualClock()
        >>> waits = WaitTime(clock)
        >>> clock.advance_to(1_000)
        >>> waits.record(300_000_000)
        >>> waits.ratio()
        0.01
    """

    def __init__(self, clock: Clock | None = None) -> None:
        """Begin with no waits; `clock` is the system's by default."""
        self._clock = SystemClock() if clock is None else clock
        self._lock = sync.lock("WaitTime.lock")
        self._total_ns: Annotated[int, GuardedBy("_lock")] = 0
        # The windows in which there was a wait, the oldest first.
        self._windows: Annotated[list[_Window], GuardedBy("_lock")] = []

    def record(self, waited_ns: int) -> None:
        """Take note of one wait, in nanoseconds."""
        now_ms = self._clock.hi_res_clock_ms()
        with self._lock:
            self._total_ns += waited_ns
            if not self._windows or now_ms - self._windows[-1].start_ms >= WINDOW_MS:
                self._windows = [*self._windows[1 - _MOST_WINDOWS :], _Window(now_ms, now_ms)]
            self._windows[-1].waited_ns += waited_ns
            self._windows[-1].last_ms = now_ms

    def total_ns(self) -> int:
        """Return how long threads have waited, all waits together, in nanoseconds."""
        with self._lock:
            return self._total_ns

    def ratio(self) -> float:
        """Return which share of the time since the first window that counts threads have waited."""
        now_ms = self._clock.hi_res_clock_ms()
        with self._lock:
            recent = [it for it in self._windows if now_ms - it.last_ms < _KEPT_MS]
        if not recent:
            return 0.0
        passed_ms = now_ms - recent[0].start_ms
        # One window has to be over, or the first wait would be all there is.
        whole_ms = passed_ms if passed_ms >= WINDOW_MS else passed_ms + WINDOW_MS
        return sum(it.waited_ns for it in recent) / (whole_ms * _NS_OF_MS)
