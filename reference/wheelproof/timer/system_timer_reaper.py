"""A timer that advances by itself.

Somebody has to call `advance_clock`. A thread that any error ends leaves a timer that goes on to
accept tasks and never runs them, as Kafka's does.

>>> from wheelproof.timer import SystemTimer, TimerTask
>>> from wheelproof.timer.system_timer_reaper import SystemTimerReaper
>>> from wheelproof import sync
>>> class Done(TimerTask):
...     done = sync.volatile(False, "done")
...     def run(self) -> None:
...         self.done.set(True)
>>> timer = SystemTimerReaper("example", SystemTimer("example"))
>>> timer.add(Done(1))
>>> sync.await_until(Done.done, lambda done: done)
True
>>> timer.close()

Invariants:

- As long as the timer is open, an advance is under way, or one begins after a pause.
"""

import logging
from collections.abc import Callable

from wheelproof import sync
from wheelproof.errors import IllegalArgumentError, ThreadInterruptedError, TimerClosedError
from wheelproof.timer.timer import Timer
from wheelproof.timer.timer_task import TimerTask
from wheelproof.units import Millis

WORK_TIMEOUT_MS = Millis(200)
"""The longest wait of one pass of a reaper, in milliseconds (standard 2.10)."""

_logger = logging.getLogger(__name__)


class SystemTimerReaper(Timer):
    """Drives another timer's clock on a thread of its own until closed."""

    def __init__(self, reaper_name: str, timer: Timer) -> None:
        """Start the thread; `timer` is closed together with this one."""
        self._timer = timer
        self._thread = sync.thread(self._work, reaper_name)
        self._thread.start()

    def add(self, timer_task: TimerTask) -> None:
        """Take `timer_task` in; see `Timer.add`."""
        self._timer.add(timer_task)

    def advance_clock(self, timeout_ms: int) -> bool:
        """Refuse: the clock is advanced by the reaper's thread alone.

        Raises IllegalArgumentError always.
        """
        raise IllegalArgumentError(
            f"the reaper advances its timer by itself; asked to within {timeout_ms} ms"
        )

    def size(self) -> int:
        """Return the number of tasks that wait; see `Timer.size`."""
        return self._timer.size()

    def close(self) -> None:
        """Close the timer, which ends the thread's wait, and wait for the thread (standard 1.16).

        A pass under way is finished first: no bucket is left half flushed.
        """
        self._timer.close()
        if not self._thread.is_current():
            self._thread.join()

    def _work(self) -> None:
        reap(self._timer.advance_clock)


def reap(advance_clock: Callable[[int], bool]) -> None:
    """Call `advance_clock` again and again until it raises TimerClosedError (standard 6.3).

    Nothing else ends it: the timer goes on to accept adds, and they have to expire. Any other error
    is logged, and the next pass begins after a pause (standard 2.10).
    """
    while True:
        try:
            advance_clock(WORK_TIMEOUT_MS)
        except TimerClosedError:
            return
        except BaseException:
            # Kafka: the error ends the thread; adds are accepted, and never expire.
            # Here:  it is logged, and the thread goes on.
            # Why:   standard 6.3.
            # First the pause: a runtime that was ending this thread ends it there.
            _pause()
            _logger.exception("an advance of the timer raised; the reaper goes on")


def _pause() -> None:
    lock = sync.lock("Reaper.lock")
    pause = sync.condition(lock, "Reaper.pause")
    try:
        with lock:
            pause.wait(WORK_TIMEOUT_MS)
    except ThreadInterruptedError:
        return
