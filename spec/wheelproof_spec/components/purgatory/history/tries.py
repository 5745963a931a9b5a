"""Judges in which order a trigger tries the operations of its key, and how often (standard 2.6).

A list has one order, that of the watches. Hand-ins that overlap leave it open which of two watches
came first; then the tries of one trigger show it, and those of a later one have to agree.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import count

from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import CheckAndComplete, PurgatoryClause
from wheelproof_spec.components.purgatory.history.operation import Operation


@dataclass(slots=True)
class _Trigger:
    """A trigger under way."""

    began: int
    key: str
    number: int
    tried: set[Operation] = field(default_factory=set[Operation])
    last: int = -1
    """The latest line on which the hand-in of an operation that it has tried began."""
    places: dict[int, int] = field(default_factory=dict[int, int])
    """For each earlier trigger, the place in it of the last one that both have tried."""


class Tries:
    """The triggers under way, and the order in which earlier ones tried the operations."""

    def __init__(self, tally: Tally) -> None:
        """Begin, without a trigger."""
        self._tests = tally.tests
        self._numbers = count()
        self._open: dict[str, _Trigger] = {}
        self._under_way: Counter[str] = Counter()
        self._ended: dict[str, int] = {}
        """When the last trigger of a key ended, while any trigger is under way."""
        self._place: dict[str, dict[Operation, tuple[int, int]]] = {}
        """The trigger of a key that tried an operation last, and its place in it."""
        self._lost = False

    def begin(self, op: HistoryOp[object]) -> None:
        """Record that a call began."""
        if isinstance(op.value, CheckAndComplete):
            key = op.value.key
            self._open[op.process] = _Trigger(op.index, key, next(self._numbers))
            self._under_way[key] += 1

    def end(self, asked: HistoryOp[object], index: int, *, lost: bool = False) -> None:
        """Record that a call ended; one that was lost may go on."""
        if not isinstance(asked.value, CheckAndComplete):
            return
        trigger = self._open.pop(asked.process)
        self._lost = self._lost or lost
        self._under_way[trigger.key] -= 1
        if not self._under_way[trigger.key]:
            del self._under_way[trigger.key]
        if self._open:
            self._ended[trigger.key] = index
        else:
            self._ended.clear()

    def done(self, operation: Operation) -> None:
        """Record that an operation is done: no trigger tries it any more."""
        for key in operation.keys:
            places = self._place.get(key, {})
            places.pop(operation, None)
            if not places:
                self._place.pop(key, None)

    def completed(self, operation: Operation, process: str) -> Violation | None:
        """Judge a completion in the thread of a trigger; its try may not have been recorded."""
        trigger = self._open.get(process)
        is_tried = trigger is not None and operation in trigger.tried
        return None if is_tried else self.tried(operation, process)

    def tried(self, operation: Operation, process: str) -> Violation | None:
        """Judge a try in the thread of a trigger."""
        trigger = self._open.get(process)
        if trigger is None or operation.asked is None or trigger.key not in operation.keys:
            return None
        self._tests(PurgatoryClause.TRIES_IN_WATCH_ORDER)
        if operation in trigger.tried:
            return None if self._may_repeat(trigger, operation) else _again(trigger, operation)
        trigger.tried.add(operation)
        last, trigger.last = trigger.last, max(trigger.last, operation.asked)
        early = operation.settled is not None and operation.settled < last
        if self._disagrees(trigger, operation) or early:
            return PurgatoryClause.TRIES_IN_WATCH_ORDER.broken(
                f"check_and_complete of {trigger.key!r} tries {operation.name!r} before those "
                "watched after it",
                f"{operation.name!r} is tried after one of those",
                f"check_and_complete({trigger.key!r}) tried {operation.name!r} after one that was "
                "watched later (standard 2.6)",
            )
        return None

    def _may_repeat(self, trigger: _Trigger, operation: Operation) -> bool:
        """Tell whether another trigger may have left it to this one to try once more."""
        if self._lost or not operation.settled_before(trigger.began):
            return True
        return any(
            self._under_way[key] > (key == trigger.key) or self._ended.get(key, -1) > trigger.began
            for key in operation.keys
        )

    def _disagrees(self, trigger: _Trigger, operation: Operation) -> bool:
        """Tell whether an earlier trigger tried it before one that this trigger has tried."""
        places = self._place.setdefault(trigger.key, {})
        number, place = places.get(operation, (-1, -1))
        places[operation] = trigger.number, len(trigger.tried)
        before = trigger.places.get(number, -1)
        trigger.places[number] = max(before, place)
        return number >= 0 and place < before


def _again(trigger: _Trigger, operation: Operation) -> Violation:
    return PurgatoryClause.TRIES_IN_WATCH_ORDER.broken(
        f"check_and_complete of {trigger.key!r} tries {operation.name!r} once",
        f"check_and_complete tries {operation.name!r} again",
        f"check_and_complete({trigger.key!r}) tried {operation.name!r} twice, though no other "
        "check of its keys had run beside it (standard 2.6)",
    )
