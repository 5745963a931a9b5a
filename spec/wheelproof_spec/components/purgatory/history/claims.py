"""Who says to have completed how many operations, and who did (semantics.md 2.1, 2.4, 2.6).

An operation is completed inside the call that completes it: if the process of its on_complete is
inside a call, it was that one; otherwise it may have been any call under way, or a time-out.
"""

from dataclasses import dataclass
from itertools import takewhile

from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.events import KeyAsked, OperationAsked, WatchAsked
from wheelproof_spec.components.purgatory.history.operation import HAND_IN, Operation
from wheelproof_spec.components.purgatory.history.violations import (
    claimed_falsely,
    claimed_twice,
    counted_wrongly,
    denied_too_early,
    expired_wrongly,
    out_of_order,
    totals_differ,
)


@dataclass(slots=True)
class _Open:
    asked: HistoryOp[object]
    mine: int = 0
    last: int = -1
    """The latest hand-in of those that it has completed."""


class Claims:
    """Compares answers with completions, call by call and in the end."""

    def __init__(self, *, predicates: bool) -> None:
        """`predicates` says that none is true before somebody has begun to make it so."""
        self._predicates = predicates
        self._open: dict[str, _Open] = {}
        # Completions of unknown origin, in order.
        self._free: dict[Operation, None] = {}
        self._completed = 0
        self._answered = 0
        self._silent = False

    def begin(self, op: HistoryOp[object]) -> None:
        """A call begins."""
        self._open[op.process] = _Open(op)

    def forget(self, asked: HistoryOp[object]) -> None:
        """A call ends without an answer: what it completed nobody was told."""
        self._silent = True
        self._open.pop(asked.process, None)

    def completed(self, operation: Operation, process: str) -> Violation | None:
        """on_complete runs."""
        self._completed += 1
        call = self._open.get(process)
        if call is None or not _can_complete(call.asked, operation):
            self._free[operation] = None
            return None
        call.mine += 1
        operation.completed_in = call.asked.index
        operation.completed_by = call.asked.f
        if operation.denied is not None and operation.denied < call.asked.index:
            return denied_too_early(operation.name, call.asked.f)
        value = call.asked.value
        if not isinstance(value, KeyAsked) or operation.asked is None:
            return None
        wrong = operation.settled is not None and operation.settled < call.last
        call.last = max(call.last, operation.asked)
        return out_of_order(operation.name, value.key) if wrong else None

    def expired(self, operation: Operation) -> Violation | None:
        """on_expiration runs: the time-out has completed it.

        That may be inside the call that hands it in, if what is due at once runs there.
        """
        self._answered += 1
        self._free.pop(operation, None)
        if operation.completed_by == HAND_IN and not operation.claimed:
            operation.completed_in = operation.completed_by = None
        if operation.completed_in is not None:
            return expired_wrongly(operation.name, "a call has completed it")
        return claimed_twice(operation.name) if operation.claimed else None

    def answered(
        self, asked: HistoryOp[object], operation: Operation, *, answer: bool
    ) -> Violation | None:
        """A call says whether it completed an operation."""
        self._open.pop(asked.process, None)
        index = asked.index
        if not answer:
            if operation.completed_in == index:
                return claimed_falsely(operation.name, asked.f, answer=False)
            return None
        self._answered += 1
        if operation.claimed or operation.expired:
            return claimed_twice(operation.name)
        operation.claimed = True
        self._free.pop(operation, None)
        during = operation.completed is not None and operation.completed > index
        other = operation.must_expire or operation.completed_in not in (None, index)
        if other or not during:
            return claimed_falsely(operation.name, asked.f, answer=True)
        return None

    def counted(self, asked: HistoryOp[object], key: str, count: int | None) -> Violation | None:
        """A check says how many it completed."""
        call = self._open.pop(asked.process)
        if count is None:
            self._silent = True
            return None
        self._answered += count
        most = call.mine + self._free_since(asked.index, key)
        if call.mine <= count <= most:
            return None
        return counted_wrongly(key, call.mine, most, count)

    def ended(self, asked: HistoryOp[object]) -> None:
        """A call ends that completes nothing."""
        self._open.pop(asked.process, None)

    def totals(self) -> Violation | None:
        """All is quiet: whoever completed something has said so."""
        if self._silent or self._completed == self._answered:
            return None
        return totals_differ(self._completed, self._answered)

    def _free_since(self, index: int, key: str) -> int:
        """Return how many a check of the key may have completed since then."""
        later = takewhile(
            lambda one: one.completed is not None and one.completed > index, reversed(self._free)
        )
        return sum(key in one.keys and (one.may_be_true or not self._predicates) for one in later)


def _can_complete(asked: HistoryOp[object], operation: Operation) -> bool:
    """Tell whether it is the call that it runs in which completes it, and not one nested in it."""
    match asked.value:
        case KeyAsked(key=key) if asked.f == "check_and_complete":
            return key in operation.keys
        case WatchAsked(op=name) | OperationAsked(op=name) if asked.f != "satisfy":
            return name == operation.name
        case _:
            return False
