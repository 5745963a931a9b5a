"""Judges whom triggers and cancels owe an end, without waiting for their time-outs.

An operation whose predicate was true before a check of one of its keys began, or before it was
handed in, is completed by that call, or by an overlapping call (standard 2.4 - 2.6). If it was
handed in before a cancel of one of its keys began, it is completed by then, or cancelled (2.9). So
it is done at the latest when no call is under way any more. What cancel_for_key takes from a key is
judged here as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import Cancelled, PurgatoryClause
from wheelproof_spec.components.purgatory.history.gauges import Gauges
from wheelproof_spec.components.purgatory.history.operation import Operation


class Triggers:
    """The operations that can end, and those since triggered, or passed over by a cancel."""

    def __init__(self, tally: Tally, *, may_be_missed: bool, waits_on: bool) -> None:
        """Begin; a trigger that may be missed owes no completion if it meets another call.

        If it is claimed that what is cancelled `waits_on`, then it does under its other keys.
        """
        self._tests = tally.tests
        self._may_be_missed = may_be_missed
        self._waits_on = waits_on
        self._ready: dict[str, dict[Operation, None]] = {}
        self._owed: dict[Operation, Violation] = {}
        self._late: dict[Operation, Violation] = {}

    def ready(self, operation: Operation) -> None:
        """Record that an operation's predicate is true, and that it waits for its keys, or will."""
        if operation.completed is None:
            for key in operation.keys:
                self._ready.setdefault(key, {})[operation] = None

    def checked(self, key: str, began: int, *, alone: bool) -> None:
        """Record that a check ended; `alone` if no other call has met it."""
        if self._may_be_missed and not alone:
            return
        for operation in self._ready.get(key, {}):
            since = operation.true_since
            if since is not None and since < began and key not in operation.off:
                self._triggered(operation, f"check_and_complete({key!r}) began after that")

    def handed_in(self, operation: Operation, began: int) -> None:
        """Record that the call that handed an operation in ended."""
        if self._may_be_missed:
            return
        if operation.true_since is not None and operation.true_since < began:
            self._triggered(operation, "it was handed in after that")

    def passed_over(self, operation: Operation, key: str) -> None:
        """Record that a cancel of an operation's key ended and did not return the operation."""
        self._owe(
            operation,
            PurgatoryClause.CANCELS_WHO_WAITS.broken(
                f"{operation.name!r} is cancelled with {key!r}, or completed by then",
                f"all calls are over, and {operation.name!r} is still waiting",
                f"cancel_for_key({key!r}) did not return {operation.name!r}, which was waiting for "
                "it and is waiting still (standard 2.9)",
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
            if self._is_over(operation, violation):
                continue
            if operation.least > high_ms:
                return self._counted(violation)
            self._late[operation] = violation
        return None

    def missed_in_the_end(self) -> Violation | None:
        """Judge the owed operations when all is quiescent."""
        for operation, violation in (*self._owed.items(), *self._late.items()):
            if not self._is_over(operation, violation):
                return self._counted(violation)
        return None

    def _is_over(self, operation: Operation, violation: Violation) -> bool:
        """Tell whether the operation is no longer owed."""
        if self._waits_on and violation.rule == str(PurgatoryClause.TRIGGER_COMPLETES):
            return operation.completed is not None or operation.refused
        return operation.may_be_over

    def _triggered(self, operation: Operation, why: str) -> None:
        name = operation.name
        self._owe(
            operation,
            PurgatoryClause.TRIGGER_COMPLETES.broken(
                f"{name!r} is completed without waiting for its time-out",
                f"all calls are over, and {name!r} is still waiting",
                f"the predicate of {name!r} was made true by event {operation.true_since}, and "
                f"{why}; {name!r} is still waiting, though all calls are over",
            ),
        )

    def _owe(self, operation: Operation, violation: Violation) -> None:
        if operation.completed is None and operation not in self._late:
            self._owed.setdefault(operation, violation)

    def _counted(self, violation: Violation) -> Violation:
        self._tests(violation.rule)
        return violation


@dataclass(slots=True)
class _Open:
    began: int
    key: str
    waiting: tuple[Operation, ...]
    """The operations that surely waited for the key when the call began."""
    listed: dict[str, Operation]
    """The operations that may be in the list that it removes, unless another cancel does."""
    met: list[Operation]
    """The operations that it may cancel."""


class Cancels:
    """The cancels under way, and the operations that they may have cancelled."""

    def __init__(
        self,
        gauges: Gauges,
        triggers: Triggers,
        clock: HistoryClock,
        tally: Tally,
        *,
        gives_up: bool,
    ) -> None:
        self._gauges = gauges
        self._triggers = triggers
        self._clock = clock
        self._tests = tally.tests
        self._gives_up = gives_up
        self._open: dict[int, _Open] = {}

    def begin(self, call: int, key: str) -> None:
        """Record that a cancel began."""
        listed = {operation.name: operation for operation in self._gauges.listed(key)}
        cancel = self._open[call] = _Open(call, key, self._gauges.waiting(key), listed, [])
        for operation in listed.values():
            if operation.completed is None:
                self._meet(cancel, operation)
                self._gauges.disturb(operation)

    def handed_in(self, operation: Operation) -> None:
        """Record that the hand-in of an operation began; the cancels under way may cancel it."""
        for cancel in self._open.values():
            if cancel.key in operation.keys:
                cancel.listed[operation.name] = operation
                self._meet(cancel, operation)
                self._gauges.disturb(operation)

    def forget(self, call: int, *, refused: bool) -> None:
        """Record that a cancel ended without an answer; a refused one has cancelled nothing."""
        cancel = self._open.pop(call, None)
        if refused and cancel is not None:
            _resolve(cancel.met)

    def end(self, call: int, index: int, answer: Cancelled) -> Violation | None:
        """Judge the answer of a cancel."""
        cancel = self._open.pop(call)
        self._tests(PurgatoryClause.CANCELS_WHO_WAITS)
        sure = [operation for operation in cancel.waiting if self._still_waits(operation)]
        if not len(sure) <= answer.count <= len(cancel.listed):
            expected = f"{len(sure)} to {len(cancel.listed)} operations"
            return _wrong(cancel.key, expected, f"{answer.count} operations")
        names = () if answer.count == 0 else answer.cancelled
        if names is ABSENT:
            return None
        _resolve(cancel.met)
        violation = self._judge_names(cancel, index, sure, names)
        for operation in cancel.met:
            if operation.settled_before(cancel.began) and operation.name not in names:
                self._triggers.passed_over(operation, cancel.key)
        return violation

    def completed(self, operation: Operation) -> Violation | None:
        """Judge an on_complete: it may not run for an operation that was given up."""
        if not self._gives_up or not operation.cancelled or operation.completed is None:
            return None
        return PurgatoryClause.CANCELS_WHO_WAITS.broken(
            f"{operation.name!r} is not completed",
            f"on_complete of {operation.name!r} runs",
            f"{operation.name!r} completed, but cancel_for_key had returned it, which is claimed "
            "to give it up",
        )

    def expired(self, operation: Operation) -> Violation | None:
        """Judge an on_expiration: it may not run if a cancel took the time-out in good time."""
        if not operation.timeout_gone:
            return None
        return PurgatoryClause.CANCELS_WHO_WAITS.broken(
            f"{operation.name!r} does not expire",
            f"{operation.name!r} expires",
            f"{operation.name!r} expired, but cancel_for_key had cancelled its time-out before it "
            "was due",
        )

    def _meet(self, cancel: _Open, operation: Operation) -> None:
        operation.cancels += 1
        operation.open_cancels += 1
        if not self._gives_up:
            operation.off.add(cancel.key)
        cancel.met.append(operation)

    def _judge_names(
        self, cancel: _Open, index: int, sure: Iterable[Operation], names: tuple[str, ...]
    ) -> Violation | None:
        left = next((operation.name for operation in sure if operation.name not in names), None)
        if left is not None:
            return _wrong(cancel.key, f"a list with {left!r}", f"a list without {left!r}")
        for name in names:
            operation = cancel.listed.get(name)
            if operation is None:
                return _wrong(cancel.key, "only operations that wait", f"{name!r}")
            if self._gives_up and operation.cancelled:
                return _wrong(cancel.key, f"{name!r} once", f"{name!r} again")
            operation.cancelled = True
            if self._gives_up:
                operation.given_up = index
                self._gauges.ended(operation, cancel.began)
            elif operation.settled_before(cancel.began) and operation.least > self._clock.high:
                operation.timeout_gone = True
            violation = self.completed(operation)
            if violation is not None:
                return violation
        return None

    def _still_waits(self, operation: Operation) -> bool:
        return (
            operation.completed is None
            and operation.cancels == 1
            and not (operation.may_be_true or operation.forced)
            and operation.least > self._clock.high
        )


def _wrong(key: str, expected: str, observed: str) -> Violation:
    return PurgatoryClause.CANCELS_WHO_WAITS.broken(
        expected,
        observed,
        f"cancel_for_key({key!r}) returned {observed}; right is: {expected} (standard 2.9)",
    )


def _resolve(met: Iterable[Operation]) -> None:
    for operation in met:
        operation.open_cancels -= 1
