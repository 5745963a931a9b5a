"""How long threads have waited for memory: in all, and as a share of the last minute or so."""

from dataclasses import dataclass
from typing import Annotated

from wheelproof import sync
from wheelproof.clock import Clock, SystemClock
from wheelproof.sync import GuardedBy
from wheelproof.units import Millis

WINDOW_MS = 30_000
_NS_OF_MS = 1_000_000


@dataclass(slots=True)
class _Window:
    start_ms: Millis
    waited_ns: int = 0


class WaitTime:
    """Kafka's bufferpool-wait-time-ns-total and bufferpool-wait-ratio (semantics.md 3.11).

    A `WaitTimeSensor` of one pool. The ratio is that of the window of 30 s which is under way and
    of the one before it; the waits of several threads add up, so it can be more than 1.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        """Begin with no waits; `clock` is the system's by default."""
        self._clock = SystemClock() if clock is None else clock
        self._lock = sync.lock("WaitTime.lock")
        self._total_ns: Annotated[int, GuardedBy("_lock")] = 0
        # The windows in which there was a wait, two at most.
        self._windows: Annotated[list[_Window], GuardedBy("_lock")] = []

    def record(self, waited_ns: int) -> None:
        """Take note of one wait, in nanoseconds."""
        now_ms = self._clock.hi_res_clock_ms()
        with self._lock:
            self._total_ns += waited_ns
            if not self._windows or now_ms - self._windows[-1].start_ms >= WINDOW_MS:
                self._windows = [*self._windows[-1:], _Window(now_ms)]
            self._windows[-1].waited_ns += waited_ns

    def total_ns(self) -> int:
        """Return how long threads have waited, all waits together, in nanoseconds."""
        with self._lock:
            return self._total_ns

    def ratio(self) -> float:
        """Return which share of the last two windows threads have waited."""
        now_ms = self._clock.hi_res_clock_ms()
        with self._lock:
            recent = [it for it in self._windows if now_ms - it.start_ms < 2 * WINDOW_MS]
        if not recent:
            return 0.0
        passed_ms = now_ms - recent[0].start_ms
        # One window has to be over, or the first wait would be all there is.
        whole_ms = passed_ms if passed_ms >= WINDOW_MS else passed_ms + WINDOW_MS
        return sum(it.waited_ns for it in recent) / (whole_ms * _NS_OF_MS)
