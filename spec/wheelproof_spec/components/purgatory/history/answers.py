"""Compares what calls answer, whether or how many they completed, with the completions themselves.

Standard 2.1, 2.4, 2.6.

on_complete runs inside the call that completes the operation. If its process is inside a call that
may complete it, it was that call; otherwise it was any call under way, or a time-out.
"""

from dataclasses import dataclass
from itertools import takewhile

from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import (
    CheckAndComplete,
    ForceComplete,
    PurgatoryClause,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.history.operation import Operation


@dataclass(slots=True)
class _Open:
    asked: HistoryOp[object]
    mine: int = 0
    last: int = -1
    """The latest line on which the hand-in of an operation that it has completed began."""


class Answers:
    """The comparison of answers with completions, for each call and at the end."""

    def __init__(self, tally: Tally, *, predicates: bool) -> None:
        """Begin; with `predicates`, none is true before a recorded `satisfy` of it has begun."""
        self._tests = tally.tests
        self._predicates = predicates
        self._open: dict[str, _Open] = {}
        # Completions of unknown origin, in order.
        self._free: dict[Operation, None] = {}
        self._completed = 0
        self._answered = 0
        self._silent = False

    def begin(self, op: HistoryOp[object]) -> None:
        """Record that a call began."""
        self._open[op.process] = _Open(op)

    def end(self, asked: HistoryOp[object]) -> None:
        """Record that a call ended, after its answer was judged."""
        self._open.pop(asked.process, None)

    def forget(self, asked: HistoryOp[object]) -> None:
        """Record that a call ended without an answer: its completions are in no answer."""
        self._silent = True
        self.end(asked)

    def completed(self, operation: Operation, process: str) -> Violation | None:
        """Judge an on_complete."""
        self._completed += 1
        call = self._open.get(process)
        if call is None or not _can_complete(call.asked, operation):
            self._free[operation] = None
            return None
        call.mine += 1
        asked = call.asked
        operation.completed_in, operation.completed_by = asked.index, type(asked.value)
        name = operation.name
        if operation.at_once and isinstance(asked.value, CheckAndComplete):
            return PurgatoryClause.ANSWERS_TRULY.broken(
                f"the call that hands {name!r} in completes it",
                f"{asked.f!r} completes it",
                f"{asked.f} completed {name!r}, whose predicate was true before it was handed in: "
                "then the call that hands it in completes it (standard 2.4)",
            )
        if operation.denied is not None and operation.denied < asked.index:
            return PurgatoryClause.ANSWERS_TRULY.broken(
                f"force_complete of {name!r} completes it",
                f"{asked.f!r} completes {name!r} later",
                f"force_complete({name!r}) returned false at event {operation.denied}, as if done, "
                f"but {asked.f}, event {asked.index}, completed it (standard 2.1)",
            )
        if not isinstance(asked.value, CheckAndComplete) or operation.asked is None:
            return None
        key, last = asked.value.key, call.last
        call.last = max(last, operation.asked)
        self._tests(PurgatoryClause.TRIES_IN_WATCH_ORDER, int(last >= 0))
        if operation.settled is None or operation.settled >= last:
            return None
        return PurgatoryClause.TRIES_IN_WATCH_ORDER.broken(
            f"check_and_complete of {key!r} completes {name!r} before those watched after it",
            f"{name!r} is completed after one of those",
            f"check_and_complete({key!r}) completed {name!r} after one that was watched later",
        )

    def expired(self, operation: Operation) -> Violation | None:
        """Judge an on_expiration: the time-out has completed the operation.

        It may run inside the call that hands the operation in, if that is due at once.
        """
        self._answered += 1
        self._free.pop(operation, None)
        if operation.completed_by is TryCompleteElseWatch and not operation.claimed:
            operation.completed_in = operation.completed_by = None
        if operation.completed_in is not None:
            return PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION.broken(
                f"on_expiration of {operation.name!r} does not run",
                f"on_expiration of {operation.name!r} runs",
                f"{operation.name!r} expired, but a call, event {operation.completed_in}, had "
                "completed it (standard 2.2)",
            )
        return _claimed_twice(operation) if operation.claimed else None

    def answered(
        self, asked: HistoryOp[object], operation: Operation, *, answer: bool
    ) -> Violation | None:
        """Judge the answer of a call whether it completed an operation."""
        index, name = asked.index, operation.name
        self._tests(PurgatoryClause.ANSWERS_TRULY)
        if not answer:
            if operation.completed_in != index:
                return None
            return PurgatoryClause.ANSWERS_TRULY.broken(
                f"{asked.f} of {name!r} answers true",
                f"{asked.f} answers false",
                f"{asked.f}({name!r}) returned false, but its on_complete ran in this call",
            )
        self._answered += 1
        if operation.claimed or operation.expired:
            return _claimed_twice(operation)
        operation.claimed = True
        self._free.pop(operation, None)
        during = operation.completed is not None and operation.completed > index
        other = operation.must_expire or operation.completed_in not in (None, index)
        if during and not other:
            return None
        return PurgatoryClause.ANSWERS_TRULY.broken(
            f"{asked.f} of {name!r} answers false",
            f"{asked.f} answers true",
            f"{asked.f}({name!r}) returned true, but this call did not run its on_complete",
        )

    def counted(self, asked: HistoryOp[object], key: str, count: int | None) -> Violation | None:
        """Judge the number of completions that a check answers."""
        call = self._open[asked.process]
        if count is None:
            self._silent = True
            return None
        self._answered += count
        most = call.mine + self._free_since(asked.index, key)
        self._tests(PurgatoryClause.COUNTS_COMPLETED)
        if call.mine <= count <= most:
            return None
        expected = str(most) if call.mine == most else f"{call.mine} to {most}"
        return PurgatoryClause.COUNTS_COMPLETED.broken(
            f"check_and_complete of {key!r} answers {expected}",
            f"check_and_complete answers {count}",
            f"check_and_complete({key!r}) returned {count}, but it completed {expected} operations "
            "(standard 2.6)",
        )

    def totals(self) -> Violation | None:
        """Judge the totals of a quiescent history: each completion is in one answer or expiry."""
        if self._silent:
            return None
        # What raises in its expiry ends without on_expiration, and nobody is told (6.4.5).
        raised = sum(not free.told and free.least <= free.completed_high for free in self._free)
        self._tests(PurgatoryClause.COUNTS_COMPLETED)
        if self._completed - raised <= self._answered <= self._completed:
            return None
        return PurgatoryClause.COUNTS_COMPLETED.broken(
            f"the {self._completed} completions are answered for, each by one call or expiry",
            f"the calls and expiries answer for {self._answered}",
            f"{self._completed} operations completed, but the answers of calls and the expiries "
            f"add up to {self._answered} (standard 2.1, 2.4, 2.6)",
        )

    def _free_since(self, index: int, key: str) -> int:
        """Return how many free completions since `index` a check of the key may have made."""
        later = takewhile(
            lambda free: free.completed is not None and free.completed > index,
            reversed(self._free),
        )
        return sum(
            key in free.keys and (free.may_be_true or not self._predicates) for free in later
        )


def _claimed_twice(operation: Operation) -> Violation:
    return PurgatoryClause.ANSWERS_TRULY.broken(
        f"one call claims to have completed {operation.name!r}, or it expires",
        f"{operation.name!r} is completed twice",
        f"two callers were told that they completed {operation.name!r}, or one was and it expired "
        "(standard 2.1)",
    )


def _can_complete(asked: HistoryOp[object], operation: Operation) -> bool:
    """Tell whether the call that it runs in may complete it, rather than a nested call."""
    match asked.value:
        case CheckAndComplete(key=key):
            return key in operation.keys
        case TryCompleteElseWatch(operation=name) | ForceComplete(operation=name):
            return name == operation.name
        case _:
            return False
