"""Judges which operations must be done without waiting for their time-outs.

An operation whose predicate was true before a check of one of its keys began, or before it was
handed in, is completed by that call, or by an overlapping call (standard 2.4 - 2.6). If it was
handed in before a cancel of one of its keys began, it is completed by then, or cancelled (2.9). So
it is done at the latest when no call is under way any more.
"""

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import PurgatoryClause
from wheelproof_spec.components.purgatory.history.operation import Operation


class Triggers:
    """The operations that can end, and those since triggered, or passed over by a cancel."""

    def __init__(self, tally: Tally, *, may_be_missed: bool) -> None:
        """Begin; a trigger that may be missed owes no completion."""
        self._tests = tally.tests
        self._may_be_missed = may_be_missed
        self._ready: dict[str, dict[Operation, None]] = {}
        self._owed: dict[Operation, Violation] = {}
        self._late: dict[Operation, Violation] = {}

    def ready(self, operation: Operation) -> None:
        """Record that an operation's predicate is true, and that it waits for its keys, or will."""
        if operation.completed is None:
            for key in operation.keys:
                self._ready.setdefault(key, {})[operation] = None

    def checked(self, key: str, began: int) -> None:
        """Record that a check ended."""
        for operation in self._ready.get(key, {}):
            if operation.true_since is not None and operation.true_since < began:
                self._triggered(
                    operation, f"a check of {key!r} began after its predicate was made true"
                )

    def handed_in(self, operation: Operation, began: int) -> None:
        """Record that the call that handed an operation in ended."""
        if operation.true_since is not None and operation.true_since < began:
            self._triggered(operation, "its predicate was true before it was handed in")

    def passed_over(self, operation: Operation, key: str) -> None:
        """Record that a cancel of an operation's key ended and did not return the operation."""
        self._owe(
            operation,
            PurgatoryClause.CANCELS_WHO_WAITS.broken(
                f"{operation.name!r} is cancelled with {key!r}, or completed by then",
                f"no call is under way any more, and {operation.name!r} still waits",
            ),
        )

    def ended(self, operation: Operation) -> None:
        """Record that an operation needs no completion any more."""
        sure = not self._may_be_missed
        if sure and operation.completed is not None and operation.true_since is not None:
            self._tests(PurgatoryClause.TRIGGER_COMPLETES)
        for key in operation.keys:
            waiting = self._ready.get(key)
            if waiting is not None:
                waiting.pop(operation, None)
                if not waiting:
                    del self._ready[key]
        self._owed.pop(operation, None)
        self._late.pop(operation, None)

    def missed(self, high_ms: int) -> Violation | None:
        """Judge owed operations when no call is under way; defer those that may just expire."""
        while self._owed:
            operation, violation = self._owed.popitem()
            if operation.may_be_over:
                continue
            if operation.least > high_ms:
                return self._counted(violation)
            self._late[operation] = violation
        return None

    def missed_in_the_end(self) -> Violation | None:
        """Judge the owed operations when all is quiescent."""
        for operation, violation in (*self._owed.items(), *self._late.items()):
            if not operation.may_be_over:
                return self._counted(violation)
        return None

    def _triggered(self, operation: Operation, why: str) -> None:
        if self._may_be_missed:
            return
        name = operation.name
        self._owe(
            operation,
            PurgatoryClause.TRIGGER_COMPLETES.broken(
                f"{name!r} is completed without waiting for its time-out",
                f"no call is under way any more, and {name!r} still waits",
                why,
            ),
        )

    def _owe(self, operation: Operation, violation: Violation) -> None:
        if operation.completed is None and operation not in self._late:
            self._owed.setdefault(operation, violation)

    def _counted(self, violation: Violation) -> Violation:
        self._tests(violation.rule)
        return violation
