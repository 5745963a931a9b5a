"""What a timer is, whatever it is made of.

A purgatory needs few things of a timer, and tests give it others than the wheel.

>>> from wheelproof.timer import SystemTimer, Timer
>>> isinstance(SystemTimer("example"), Timer)
True
"""

from abc import abstractmethod

from wheelproof.closing import Closing
from wheelproof.timer.timer_task import TimerTask


class Timer(Closing):
    """Runs each task that is added to it once, when its delay has passed (standard 1)."""

    @abstractmethod
    def add(self, timer_task: TimerTask) -> None:
        """Take `timer_task` in; it is due `timer_task.delay_ms` milliseconds from now.

        A task that is added again is due by its last add alone (standard 1.12).
        Raises TimerClosedError after `close`. TLA+: Add of Timer.
        """

    @abstractmethod
    def advance_clock(self, timeout_ms: int) -> bool:
        """Submit what is due, waiting at most `timeout_ms` milliseconds for something to be due.

        The argument is a longest wait, not an amount of time to advance by (standard 1.5).
        Returns whether a bucket was taken. Raises TimerClosedError after `close`.
        """

    @abstractmethod
    def size(self) -> int:
        """Return the number of tasks that wait (standard 1.14)."""

    @abstractmethod
    def close(self) -> None:
        """Stop for good: what was submitted runs, what still waits never does (standard 1.16).

        A second call has no effect.
        """
