"""A clock that one thread of a program moves while the others read it."""

from wheelproof import sync
from wheelproof.units import Millis
from wheelproof_lab.worlds.timer.system_timer import StandingClock


class MovingClock:
    """A clock whose readings and moves are steps, so that their orders are explored.

    `StandingClock` is a plain field: nobody may move it inside a thread.
    """

    def __init__(self) -> None:
        self._now_ms: sync.Volatile[Millis] = sync.volatile(Millis(0), "MovingClock.now_ms")
        self.wait_until = StandingClock().wait_until

    @property
    def now_ms(self) -> Millis:
        """Return the time, or set it."""
        return self._now_ms.get()

    @now_ms.setter
    def now_ms(self, now_ms: Millis) -> None:
        self._now_ms.set(now_ms)

    def hi_res_clock_ms(self) -> Millis:
        """Return the time."""
        return self._now_ms.get()
