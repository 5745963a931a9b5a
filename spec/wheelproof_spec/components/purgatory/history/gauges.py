"""Bounds of the answers of `watched`, `num_delayed` and `num_keys` (standard 2.6, 2.10).

An operation that surely waits is counted while its time-out is not due. One whose time-out is due
is counted until an advance, if each advance is recorded. A done operation may be counted until it
is removed from the lists: by the check that completed it, or by a check, a cancel or a purge that
began afterwards. Its time-out leaves the timer before its on_complete, if the configuration claims
that. While an advance moves a time-out from bucket to bucket, the time-out is in no bucket and is
not counted; a cancel at that moment may leave it there (standard 1.11). An operation whose
predicate is true before its hand-in begins is never counted.

An answer bounds the next one. Between two reads a number rises by what may have come since the
first one began, and falls by what may have gone. So it cannot go down and come up again while
nothing is being added. That holds for each part of a sum, and so for a sum whose parts are read one
after the other.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

from wheelproof_spec.base.calls import NumDelayed, NumKeys, Watched
from wheelproof_spec.base.history.bounds import Bounds
from wheelproof_spec.base.history.clock import HistoryClock, VirtualClock
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import PurgatoryClause
from wheelproof_spec.components.purgatory.history.operation import Operation


@dataclass(frozen=True, slots=True)
class _Read:
    coming: int
    """How much was being added when the read began."""
    going: int
    """How much might have gone from then on, as far as was known when the read began."""
    came: int
    went: int
    """The sums of both, over the whole history, when the read began."""
    count: int | None = None
    """The answer."""


@dataclass(slots=True)
class _Readings:
    """The last answer of a gauge, and what may have changed since."""

    coming: int = 0
    """How much is being added now."""
    going: int = 0
    """How much may be gone, or go, and is not known to be gone."""
    _came: int = 0
    _went: int = 0
    _open: dict[int, tuple[_Read, _Read | None]] = field(
        default_factory=dict[int, tuple[_Read, _Read | None]]
    )
    """The reads under way, each with the last one that ended before it began."""
    _last: _Read | None = None

    def begin_add(self, much: int) -> None:
        """Record that something is being added from now on."""
        self.coming += much
        self._came += much

    def end_add(self, much: int) -> None:
        """Record that it is not being added any more."""
        self.coming -= much

    def may_go(self, much: int) -> None:
        """Record that so much may be removed from now on."""
        self.going += much
        self._went += much

    def gone(self, much: int) -> None:
        """Record that something that might go is gone for certain."""
        self.going -= much

    def begin_read(self, call: int) -> None:
        """Record that a read began."""
        began = _Read(self.coming, self.going, self._came, self._went)
        self._open[call] = began, self._last

    def forget(self, call: int) -> None:
        """Record that a read ended without an answer, if this call is one."""
        self._open.pop(call, None)

    def seen(self, call: int, count: int) -> tuple[int, int] | None:
        """Return what this read may answer after the last one; None if it is the first."""
        began, last = self._open.pop(call)
        self._last = _Read(began.coming, began.going, began.came, began.went, count)
        if last is None or last.count is None:
            return None
        most = last.count + last.coming + self._came - last.came
        least = last.count - last.going - (self._went - last.went)
        return least, most


@dataclass(slots=True)
class _Gauge:
    clause: PurgatoryClause
    bounds: Bounds
    readings: _Readings = field(default_factory=_Readings)


class Gauges:
    """The bounds of all three numbers."""

    def __init__(
        self, clock: HistoryClock, tally: Tally, *, timeouts_end: bool, predicates: bool
    ) -> None:
        """Begin; with `predicates`, none is true before a recorded `satisfy` of it has begun."""
        self._under_way = 0
        # A thread of the purgatory itself may advance at any time, and no line records it.
        self._reaps = not isinstance(clock, VirtualClock)
        self._waits_for_advance = timeouts_end and not self._reaps
        self._watched = _Gauge(PurgatoryClause.WATCHED_COUNTS, Bounds(piecewise=True))
        self._delayed = _Gauge(PurgatoryClause.DELAYED_COUNTS, Bounds(least=-self._carried()))
        self._keys = _Gauge(PurgatoryClause.NO_EMPTY_KEY, Bounds(piecewise=True))
        self._shown: dict[type[object], _Gauge] = {
            Watched: self._watched,
            NumDelayed: self._delayed,
            NumKeys: self._keys,
        }
        self._carries(self._carried())
        self._tests = tally.tests
        self._clock = clock
        self._timeouts_end = timeouts_end
        self._predicates = predicates
        self._waiting: dict[str, dict[Operation, None]] = {}
        """The operations that surely wait for each key."""
        self._waits: set[Operation] = set()
        """All of these operations."""
        self._coming: list[tuple[int, int, Operation]] = []
        self._falling: list[tuple[int, int, Operation]] = []
        """The operations by the time from which their time-outs may end them."""
        self._left: dict[str, list[Operation]] = {}
        """The operations that may be in the list of each key, and the keys that may exist."""
        self._ending: list[tuple[Operation, bool]] = []
        """The done operations, and whether no advance met the call that ended them."""
        self._timed: set[Operation] = set()
        """The operations whose time-outs may be in the timer, if these end with operations."""
        self._advances = 0
        self._advance_ended = -1

    def begin_read(self, op: HistoryOp[object]) -> None:
        """Record that a call began that asks for one of the numbers."""
        gauge = self._shown[type(op.value)]
        gauge.bounds.begin_read(op.index)
        gauge.readings.begin_read(op.index)

    def judge(self, asked: HistoryOp[object], count: int, *, closing: bool) -> Violation | None:
        """Judge the answer of that call.

        If the purgatory is `closing`, nothing is said of time-outs: whether one waits in a timer
        that is closed is open.
        """
        gauge = self._shown[type(asked.value)]
        least, most = gauge.bounds.seen(asked.index) or (count, count)
        since = gauge.readings.seen(asked.index, count)
        least = max(least, 0)
        if (closing and gauge is self._delayed) or not self._tests(gauge.clause):
            return None
        if not least <= count <= most:
            return gauge.clause.broken(
                f"{asked.f} answers {least} to {most}",
                f"{asked.f} answers {count}",
                f"{asked.f}() returned {count}, but the calls so far leave {least} to {most}",
            )
        if since is None or since[0] <= count <= since[1]:
            return None
        return gauge.clause.broken(
            f"{asked.f} answers {max(since[0], 0)} to {since[1]}",
            f"{asked.f} answers {count}",
            f"{asked.f}() returned {count}, but its answer before and the calls since leave "
            f"{max(since[0], 0)} to {since[1]}",
        )

    def forget(self, call: int) -> None:
        """Record that a call ended without an answer; it may have asked for a number."""
        for gauge in self._shown.values():
            gauge.bounds.seen(call)
            gauge.readings.forget(call)

    def handed_in(self, operation: Operation) -> None:
        """Record that an operation may be in the lists and in the timer from now on."""
        self._watched.bounds.change(most=len(operation.keys))
        self._delayed.bounds.change(most=1)
        for key in operation.keys:
            if key not in self._left:
                self._left[key] = []
                self._keys.bounds.change(most=1)
            self._left[key].append(operation)
        if self._timeouts_end:
            self._timed.add(operation)
            operation.advances = -1 if self._under_way else self._advances
        self._add(operation, 1)
        operation.may_fall = False
        if not self._predicates or operation.may_be_true or operation.forced:
            self._may_fall(operation)
        assert operation.asked is not None
        due_ms = self._clock.dues(operation.mark, operation.delay_ms)[0][0]
        heapq.heappush(self._falling, (due_ms, operation.asked, operation))
        self.move_clock()

    def added(self, operation: Operation) -> None:
        """Record that the call that handed an operation in returned."""
        self._add(operation, -1)

    def refused(self, operation: Operation) -> None:
        """Record that the call that handed an operation in was refused and left nothing."""
        self._may_fall(operation)
        self._add(operation, -1)
        self._watched.bounds.change(most=-len(operation.keys))
        self._delayed.bounds.change(most=-1)
        self._delayed.readings.gone(1)
        self._timed.discard(operation)
        for key in operation.keys:
            self._left[key].remove(operation)
            self._drop(1)

    def settled(self, operation: Operation) -> None:
        """Record that the call that handed an operation in returned without completing it."""
        if operation.surely_waits and operation.least > self._clock.high:
            self._waits.add(operation)
            for key in operation.keys:
                self._keys.bounds.change(least=int(key not in self._waiting))
                self._waiting.setdefault(key, {})[operation] = None
            assert operation.settled is not None
            heapq.heappush(self._coming, (operation.least, operation.settled, operation))
            self._watched.bounds.change(least=len(operation.keys))
            self._delayed.bounds.change(least=1)

    def disturb(self, operation: Operation) -> None:
        """Record that an event began that may end an operation."""
        if operation.asked is not None and not operation.at_once:
            self._may_fall(operation)
        if operation in self._waits:
            self._waits.remove(operation)
            for key in operation.keys:
                del self._waiting[key][operation]
                if not self._waiting[key]:
                    del self._waiting[key]
                    self._keys.bounds.change(least=-1)
            self._watched.bounds.change(least=-len(operation.keys))
            self._delayed.bounds.change(least=-1)

    def move_clock(self) -> None:
        """Record that the operations whose time-outs may be over no longer wait for certain."""
        coming, falling, high = self._coming, self._falling, self._clock.high
        while falling and falling[0][0] <= high:
            self._may_fall(heapq.heappop(falling)[2])
        if self._waits_for_advance and not self._under_way:
            return
        while coming and coming[0][0] <= high:
            self.disturb(heapq.heappop(coming)[2])

    def waiting(self, key: str) -> tuple[Operation, ...]:
        """Return the operations that surely wait for the key."""
        return tuple(self._waiting.get(key, ()))

    def listed(self, key: str) -> tuple[Operation, ...]:
        """Return the operations that may be in the list of the key."""
        return tuple(self._left.get(key, ()))

    def advance(self, change: int, index: int) -> None:
        """Record that an advance began or ended: it may move a time-out from bucket to bucket."""
        before = self._carried()
        self._under_way += change
        self._advances += change > 0
        if change < 0:
            self._advance_ended = index
        self._delayed.bounds.change(least=before - self._carried())
        self._carries(self._carried() - before)
        self.move_clock()

    def submitted(self, operations: Iterable[Operation]) -> None:
        """Record that the time-outs of operations have left the timer."""
        for operation in operations:
            self._take_out(operation)

    def ended(self, operation: Operation, call: int | None) -> None:
        """Record that an operation is done, ended by the call that began then, if it is known."""
        if operation not in self._timed:
            return
        alone = call is not None and not self._under_way and self._advance_ended < call
        alone = alone and not self._reaps
        if alone and operation.settled is not None:
            self._take_out(operation)
        else:
            self._ending.append((operation, alone))

    def quiet(self) -> None:
        """Record that no call is under way: the time-outs of done operations have left."""
        for operation, alone in self._ending:
            if alone or operation.advances == self._advances or operation.expired:
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
            if not operation.dropped_by(began)
            and not (everybody and operation.settled_before(began))
        ]
        self._watched.bounds.change(most=len(kept) - len(left))
        self._drop(len(left) - len(kept))
        if kept:
            self._left[key] = kept
        else:
            del self._left[key]
            self._keys.bounds.change(most=-1)

    def _carried(self) -> int:
        """Return how many time-outs may be between buckets: at most 1, as advances take turns."""
        return int(self._reaps or self._under_way > 0)

    def _take_out(self, operation: Operation) -> None:
        if operation in self._timed:
            self._timed.remove(operation)
            self._delayed.bounds.change(most=-1)
            self._may_fall(operation)
            self._delayed.readings.gone(1)

    def _add(self, operation: Operation, sign: int) -> None:
        """Record that an operation is being added from now on, or is not any more."""
        for gauge, units in self._units(operation):
            if sign > 0:
                gauge.readings.begin_add(units)
            else:
                gauge.readings.end_add(units)

    def _may_fall(self, operation: Operation) -> None:
        """Record that an operation may be done from now on, and leave."""
        if not operation.may_fall:
            operation.may_fall = True
            for gauge, units in self._units(operation):
                gauge.readings.may_go(units)

    def _units(self, operation: Operation) -> tuple[tuple[_Gauge, int], ...]:
        keys = len(operation.keys)
        return (self._watched, keys), (self._keys, keys), (self._delayed, 1)

    def _drop(self, watches: int) -> None:
        self._watched.readings.gone(watches)
        self._keys.readings.gone(watches)

    def _carries(self, change: int) -> None:
        """Record that one more time-out may be between buckets, or one fewer."""
        readings = self._delayed.readings
        if change > 0:
            readings.begin_add(change)
            readings.may_go(change)
        else:
            readings.end_add(-change)
            readings.gone(-change)
