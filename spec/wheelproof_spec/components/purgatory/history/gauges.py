"""Bounds of the answers of `watched`, `num_delayed` and `num_keys` (standard 2.6, 2.10).

A calm operation whose time-out is not due is surely counted. A done operation may be counted until
a check, a cancel or a purge that began afterwards has removed it from the lists. Its time-out
leaves the timer when it is done, if the configuration claims that. A time-out that an advance moves
from bucket to bucket is in no bucket, and is not counted.
"""

import heapq
from collections.abc import Iterable

from wheelproof_spec.base.calls import NumDelayed, NumKeys, Watched
from wheelproof_spec.base.history.bounds import Bounds
from wheelproof_spec.base.history.clock import HistoryClock, VirtualClock
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import PurgatoryClause
from wheelproof_spec.components.purgatory.history.operation import Operation


class Gauges:
    """The bounds of all three numbers."""

    def __init__(self, clock: HistoryClock, tally: Tally, *, timeouts_end: bool) -> None:
        self._watched = Bounds(piecewise=True)
        self._under_way = 0
        # A thread of the purgatory itself may advance at any time, and no line records it.
        self._reaps = not isinstance(clock, VirtualClock)
        self._delayed = Bounds(least=-self._carried())
        self._keys = Bounds(piecewise=True)
        self._shown: dict[type[object], tuple[PurgatoryClause, Bounds]] = {
            Watched: (PurgatoryClause.WATCHED_COUNTS, self._watched),
            NumDelayed: (PurgatoryClause.DELAYED_COUNTS, self._delayed),
            NumKeys: (PurgatoryClause.NO_EMPTY_KEY, self._keys),
        }
        self._tests = tally.tests
        self._clock = clock
        self._timeouts_end = timeouts_end
        self._calm: dict[str, dict[Operation, None]] = {}
        self._is_calm: set[Operation] = set()
        self._coming: list[tuple[int, int, Operation]] = []
        self._left: dict[str, list[Operation]] = {}
        """The operations that may be in the list of each key, and the keys that may exist."""
        self._ending: list[Operation] = []
        self._timed: set[Operation] = set()
        """The operations whose time-outs may be in the timer, if these end with operations."""
        self._advances = 0

    def look(self, op: HistoryOp[object]) -> None:
        """Record that a call began that asks for one of the numbers."""
        self._shown[type(op.value)][1].look(op.index)

    def judge(self, asked: HistoryOp[object], count: int, *, closing: bool) -> Violation | None:
        """Judge the answer of that call; nothing is promised if the purgatory is `closing`."""
        clause, bounds = self._shown[type(asked.value)]
        least, most = bounds.seen(asked.index) or (count, count)
        least = max(least, 0)
        if closing or not self._tests(clause) or least <= count <= most:
            return None
        return clause.broken(f"{asked.f} answers {least} to {most}", f"it answers {count}")

    def forget(self, call: int) -> None:
        """Record that a call ended without an answer; it may have asked for a number."""
        for _, bounds in self._shown.values():
            bounds.seen(call)

    def handed_in(self, operation: Operation) -> None:
        """Record that an operation may be in the lists and in the timer from now on."""
        self._watched.change(most=len(operation.keys))
        self._delayed.change(most=1)
        for key in operation.keys:
            if key not in self._left:
                self._left[key] = []
                self._keys.change(most=1)
            self._left[key].append(operation)
        if self._timeouts_end:
            self._timed.add(operation)
            operation.advances = -1 if self._under_way else self._advances

    def refused(self, operation: Operation) -> None:
        """Record that the call that handed an operation in was refused and left nothing."""
        self._watched.change(most=-len(operation.keys))
        self._delayed.change(most=-1)
        self._timed.discard(operation)
        for key in operation.keys:
            self._left[key].remove(operation)

    def settled(self, operation: Operation) -> None:
        """Record that the call that handed an operation in returned without completing it."""
        if operation.is_calm and operation.least > self._clock.high:
            self._is_calm.add(operation)
            for key in operation.keys:
                self._keys.change(least=int(key not in self._calm))
                self._calm.setdefault(key, {})[operation] = None
            assert operation.settled is not None
            heapq.heappush(self._coming, (operation.least, operation.settled, operation))
            self._watched.change(least=len(operation.keys))
            self._delayed.change(least=1)

    def disturb(self, operation: Operation) -> None:
        """Record that an event began that may end an operation."""
        if operation in self._is_calm:
            self._is_calm.remove(operation)
            for key in operation.keys:
                del self._calm[key][operation]
                if not self._calm[key]:
                    del self._calm[key]
                    self._keys.change(least=-1)
            self._watched.change(least=-len(operation.keys))
            self._delayed.change(least=-1)

    def move_clock(self) -> None:
        """Record that the operations whose time may be over are no longer calm."""
        coming, high = self._coming, self._clock.high
        while coming and coming[0][0] <= high:
            self.disturb(heapq.heappop(coming)[2])

    def calm(self, key: str) -> tuple[Operation, ...]:
        """Return the operations that surely wait for the key."""
        return tuple(self._calm.get(key, ()))

    def listed(self, key: str) -> tuple[Operation, ...]:
        """Return the operations that may be in the list of the key."""
        return tuple(self._left.get(key, ()))

    def advance(self, change: int) -> None:
        """Record that an advance began or ended: it may move a time-out from bucket to bucket."""
        before = self._carried()
        self._under_way += change
        self._advances += change > 0
        self._delayed.change(least=before - self._carried())

    def submitted(self, operations: Iterable[Operation]) -> None:
        """Record that the time-outs of operations have left the timer."""
        for operation in operations:
            self._take_out(operation)

    def ended(self, operation: Operation) -> None:
        """Record that an operation is done."""
        if operation in self._timed:
            self._ending.append(operation)

    def quiet(self) -> None:
        """Record that no call is under way: the time-outs of done operations have left."""
        for operation in self._ending:
            if operation.advances == self._advances or operation.expired:
                self._take_out(operation)
        self._ending.clear()

    def purged(self, began: int) -> None:
        """Record that a purge ended: an operation that was done before is in no list."""
        for key in tuple(self._left):
            self.swept(key, began, everybody=False)

    def swept(self, key: str, began: int, *, everybody: bool) -> None:
        """Record the end of a check, which drops done operations, or of a cancel: `everybody`."""
        left = self._left.get(key)
        if left is None:
            return
        kept = [
            operation
            for operation in left
            if not operation.settled_before(began)
            or not (everybody or operation.done_before(began))
        ]
        self._watched.change(most=len(kept) - len(left))
        if kept:
            self._left[key] = kept
        else:
            del self._left[key]
            self._keys.change(most=-1)

    def _carried(self) -> int:
        """Return how many time-outs may be between buckets: at most 1, as advances take turns."""
        return int(self._reaps or self._under_way > 0)

    def _take_out(self, operation: Operation) -> None:
        if operation in self._timed:
            self._timed.remove(operation)
            self._delayed.change(most=-1)
