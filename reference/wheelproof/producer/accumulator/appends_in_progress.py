"""How many threads are appending: what a forced close has to wait for (standard 4.10).

A forced close ends every batch. An append that is under way could add a new batch afterwards. So
the close waits until each append that overlaps it has returned. Kafka polls in a loop meanwhile.

>>> from wheelproof.producer.accumulator.appends_in_progress import AppendsInProgress
>>> appends = AppendsInProgress()
>>> appends.begin()
>>> appends.end()
>>> appends.completed()
1

Invariants:

- `_count` is the number of appends that have begun and not ended.
- `_completed` only rises; a waiter that saw it at n sleeps until it is above n, or `_count` is 0.
"""

from typing import Annotated

from wheelproof import sync
from wheelproof.sync import GuardedBy


class AppendsInProgress:
    """A count of the appends under way, and of those that are over. TLA+: AppendsInProgress."""

    __slots__ = ("_completed", "_count", "_lock", "_one_less")

    def __init__(self) -> None:
        self._lock = sync.lock("AppendsInProgress.lock")
        self._one_less = sync.condition(self._lock, "AppendsInProgress.one_less")
        # Appends that have begun and not ended; all appends that have ended.
        self._count: Annotated[int, GuardedBy("_lock")] = 0
        self._completed: Annotated[int, GuardedBy("_lock")] = 0

    def begin(self) -> None:
        """An append begins. TLA+: Begin of AppendsInProgress."""
        begun = False
        try:
            with self._lock:
                self._count += 1
                begun = True
        except BaseException:
            # A signal: who called has not begun.
            if begun:
                self.end()
            raise

    def end(self, ended: list[bool] | None = None) -> None:
        """An append is over. TLA+: End and Notify of AppendsInProgress.

        `ended` learns that it was counted, also if this raises; for who has to know (standard 6.8).
        """
        said = [] if ended is None else ended
        with self._lock:
            self._count -= 1
            self._completed += 1
            said += (True,)
            try:
                self._one_less.notify_all()
            except BaseException:
                self._one_less.notify_all()
                raise

    def completed(self) -> int:
        """Return how many appends are over. TLA+: Completed of AppendsInProgress."""
        with self._lock:
            return self._completed

    def await_another(self, completed: int) -> bool:
        """Wait until more than `completed` appends are over, or none is under way.

        Returns whether one is under way.
        TLA+: AwaitLock, AwaitTest and Wake of AppendsInProgress.
        """
        with self._lock:
            while self._count > 0 and self._completed == completed:
                self._one_less.wait()
            return self._count > 0
