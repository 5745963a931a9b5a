"""What `watched` and `num_delayed` may answer (semantics.md 2.10).

Who is calm, with a time-out that is still to come, is counted for sure. Who has ended may be
counted for as long as nothing has surely taken it out: a check or a cancel that began afterwards
takes it out of the list of its key, and its time-out leaves with it where that is claimed.
"""

import heapq

from wheelproof_spec.base.history.bounds import Bounds
from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.components.purgatory.history.operation import Operation


class Gauges:
    """The bounds of both numbers."""

    def __init__(self, clock: HistoryClock, *, timeouts_end: bool) -> None:
        self.watched = Bounds(piecewise=True)
        self.delayed = Bounds()
        self._clock = clock
        self._timeouts_end = timeouts_end
        self._calm: dict[str, dict[Operation, None]] = {}
        self._is_calm: set[Operation] = set()
        self._coming: list[tuple[int, int, Operation]] = []
        self._left: dict[str, list[Operation]] = {}
        self._ending: list[Operation] = []
        self._timed: dict[Operation, None] = {}
        self._advances = 0
        self._under_way = 0

    def handed_in(self, operation: Operation) -> None:
        """It may be in the lists and in the timer from now on."""
        self.watched.change(most=len(operation.keys))
        self.delayed.change(most=1)
        for key in operation.keys:
            self._left.setdefault(key, []).append(operation)
        if self._timeouts_end:
            self._timed[operation] = None
            operation.advances = -1 if self._under_way else self._advances

    def refused(self, operation: Operation) -> None:
        """The call that handed it in was refused, and has left nothing behind."""
        self.watched.change(most=-len(operation.keys))
        self.delayed.change(most=-1)
        self._timed.pop(operation, None)
        for key in operation.keys:
            self._left[key].remove(operation)

    def settled(self, operation: Operation) -> None:
        """The call that handed it in has returned, and has not completed it."""
        if operation.is_calm and operation.least > self._clock.high:
            self._is_calm.add(operation)
            for key in operation.keys:
                self._calm.setdefault(key, {})[operation] = None
            assert operation.settled is not None
            heapq.heappush(self._coming, (operation.least, operation.settled, operation))
            self.watched.change(least=len(operation.keys))
            self.delayed.change(least=1)

    def disturb(self, operation: Operation) -> None:
        """Something has begun that may end it."""
        if operation in self._is_calm:
            self._is_calm.remove(operation)
            for key in operation.keys:
                self._calm[key].pop(operation, None)
            self.watched.change(least=-len(operation.keys))
            self.delayed.change(least=-1)

    def move_clock(self) -> None:
        """Whose time may be out is calm no more."""
        coming, high = self._coming, self._clock.high
        while coming and coming[0][0] <= high:
            self.disturb(heapq.heappop(coming)[2])

    def calm(self, key: str) -> tuple[Operation, ...]:
        """Return who waits for the key, for sure."""
        return tuple(self._calm.get(key, ()))

    def listed(self, key: str) -> tuple[Operation, ...]:
        """Return who may be in the list of the key."""
        return tuple(self._left.get(key, ()))

    def advance(self, change: int) -> None:
        """An advance begins or ends: a time-out may be on its way from bucket to bucket."""
        self._under_way += change
        self._advances += change > 0

    def ended(self, operation: Operation) -> None:
        """It is completed."""
        if operation in self._timed:
            self._ending.append(operation)

    def quiet(self) -> None:
        """No call is under way: the time-outs of all that has ended have left."""
        for operation in self._ending:
            if operation.advances == self._advances or operation.expired:
                self.delayed.change(most=-1)
            del self._timed[operation]
        self._ending.clear()

    def swept(self, key: str, began: int, *, everybody: bool) -> None:
        """A check, or a cancel that takes everybody, has ended: who was done before has left."""
        left = self._left.get(key)
        if left is None:
            return
        kept = [
            one
            for one in left
            if not one.settled_before(began)
            or not (everybody or (one.completed is not None and one.completed < began))
        ]
        self.watched.change(most=len(kept) - len(left))
        if kept:
            self._left[key] = kept
        else:
            del self._left[key]
