"""Judges why an operation ended: a reason, its time-out, or neither (standard 2.1, 2.2)."""

import heapq
from collections.abc import Iterable

from wheelproof_spec.base.history.clock import HistoryClock, MonotonicClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import (
    ForceComplete,
    PurgatoryClause,
    PurgatoryConfig,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.history.operation import Operation


class Endings:
    """The judgement of completions and expiries, as they come and when all is quiescent."""

    def __init__(self, config: PurgatoryConfig, clock: HistoryClock, tally: Tally) -> None:
        self._tests = tally.tests
        self._clock = clock
        self._lateness_ms = config.lateness_ms
        self._predicates = config.predicates == "recorded"
        self._waits_on = config.cancels == "timeout"
        self._coming: list[tuple[int, int, Operation]] = []
        self._overdue: dict[Operation, int] = {}
        """The operations that a finished advance must have submitted, and what its clock showed."""
        self._begun: dict[Operation, None] = {}
        """Those of them whose on_complete has run, and on_expiration has not."""
        self._awaited: dict[int, tuple[Operation, ...]] = {}
        self._last: dict[str, Operation] = {}
        """The operation that was due last, of those that have expired in each process."""
        self.closing = False
        """Whether the purgatory is being shut down: no operation has to expire any more."""

    def settled(self, operation: Operation) -> None:
        """Record that the call that handed an operation in returned."""
        assert operation.settled is not None
        operation.settled_high = self._clock.high
        heapq.heappush(self._coming, (operation.most, operation.settled, operation))

    def advanced(self, began: int, low_ms: int) -> Iterable[Operation]:
        """Return the operations that surely left the timer in an advance that began then."""
        submitted: list[Operation] = []
        too_young: list[tuple[int, int, Operation]] = []
        coming = self._coming
        while coming and coming[0][0] <= low_ms:
            entry = heapq.heappop(coming)
            operation = entry[2]
            if not operation.settled_before(began):
                too_young.append(entry)
                continue
            submitted.append(operation)
            if not operation.may_be_over:
                self._overdue[operation] = low_ms
        for entry in too_young:
            heapq.heappush(coming, entry)
        return submitted

    def awaits(self, call: int) -> None:
        """Record that a call began that waits until the submitted expiries have run."""
        self._awaited[call] = (*self._overdue, *self._begun)

    def awaited(self, call: int) -> Violation | None:
        """Judge the end of that call: a submitted operation has expired, or ended otherwise."""
        for operation in self._awaited.pop(call, ()):
            operation.waited_for = operation.completed is not None
            low_ms = self._overdue.pop(operation, None)
            if low_ms is not None and not operation.may_be_over and not self.closing:
                return self._left_behind(operation, low_ms)
        return None

    def completed(self, operation: Operation) -> Violation | None:
        """Judge an on_complete."""
        if self._overdue.pop(operation, None) is not None and operation.completed_in is None:
            self._begun[operation] = None
        return self._judge_reason(operation) or self._judge_lateness(operation)

    def expired(self, operation: Operation, process: str) -> Violation | None:
        """Judge an on_expiration."""
        clause = PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION
        name = operation.name
        self._tests(clause)
        if operation.completed is None or operation.expired:
            observed = f"on_expiration of {name!r} ran "
            observed += "again" if operation.expired else "without on_complete"
            expected = f"on_expiration of {name!r} runs once, after on_complete"
            return clause.broken(expected, observed, f"{observed} (standard 2.2)")
        operation.expired = True
        self._begun.pop(operation, None)
        least, high = self._least_due(operation), operation.completed_high
        self._tests(PurgatoryClause.EXPIRES_IN_TIME, int(self._clock.judges_times))
        if least > high:
            return PurgatoryClause.EXPIRES_IN_TIME.broken(
                f"{name!r} expires at {least} ms or later",
                f"{name!r} expired at {high} ms at most",
                f"{name!r} expired at {high} ms or before, {least - high} ms before it was due",
            )
        if operation.waited_for:
            return PurgatoryClause.EXPIRES_IN_TIME.broken(
                f"on_expiration of {name!r} has run when 'await_submitted' returns",
                f"on_expiration of {name!r} begins afterwards",
                f"an advance had submitted the time-out of {name!r}; await_submitted returned "
                "before its on_expiration ran",
            )
        return self._judge_order(operation, process)

    def unfinished(self, operation: Operation) -> Violation | None:
        """Judge what has become of an operation when all is quiescent."""
        name = operation.name
        if operation.completed is not None:
            if not operation.must_expire or operation.expired:
                return None
            if not operation.told:
                # It may have raised, and then on_expiration may be left out (6.4.5).
                return None
            return PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION.broken(
                f"on_expiration of {name!r} runs after on_complete",
                f"on_expiration of {name!r} never ran",
                f"only its time-out can have completed {name!r}, at event {operation.completed}, "
                "but its on_expiration never ran (standard 2.2)",
            )
        over = operation.refused or (operation.may_be_cancelled and not self._waits_on)
        if operation.denied is not None and not over:
            return PurgatoryClause.COMPLETES_AT_MOST_ONCE.broken(
                f"on_complete of {name!r} has run",
                f"on_complete of {name!r} never ran",
                f"force_complete({name!r}) returned false at event {operation.denied}, as if done, "
                "but its on_complete never ran",
            )
        if operation.may_be_over:
            return None
        low_ms = self._overdue.get(operation)
        if low_ms is not None and not self.closing:
            return self._left_behind(operation, low_ms)
        return self._judge_lateness(operation)

    def _judge_order(self, operation: Operation, process: str) -> Violation | None:
        """Judge the order of the expiries of one thread: who is due earlier is submitted first."""
        last = self._last.get(process)
        if last is None or last.least <= operation.least:
            self._last[process] = operation
        if last is None or operation.most >= last.least or operation.settled_high >= last.least:
            return None
        return PurgatoryClause.EXPIRES_IN_TIME.broken(
            f"{operation.name!r}, due at {operation.most} ms, expires before {last.name!r}",
            f"{operation.name!r} expires after {last.name!r}, in the same thread",
            f"{operation.name!r}, due at {operation.most} ms, expired after {last.name!r}, due at "
            f"{last.least} ms, though it was handed in before that (standard 1.9)",
        )

    def _judge_reason(self, operation: Operation) -> Violation | None:
        self._tests(PurgatoryClause.COMPLETES_FOR_A_REASON)
        by_force = operation.completed_by is ForceComplete
        tested = operation.completed_in is not None and not by_force
        if by_force or (operation.forced and not tested):
            return None
        if operation.refused:
            return _for_no_reason(operation, "was refused when it was handed in")
        if operation.asked is None:
            return _for_no_reason(operation, "was never handed in")
        if operation.may_be_true or not self._predicates:
            return None
        operation.must_expire = True
        least = self._least_due(operation)
        # A time-out that is due at once may run inside the call that hands the operation in.
        expires = operation.completed_by is TryCompleteElseWatch and least <= self._clock.high
        if tested and not expires:
            why = "was completed by a call that tests its predicate, which nobody had made true"
        elif least > self._clock.high:
            why = (
                f"had neither a true predicate nor a caller who forced it, and is due at {least} ms"
            )
        else:
            return None
        return _for_no_reason(operation, why)

    def _least_due(self, operation: Operation) -> int:
        """Return the earliest time when it expires, also while it is being handed in."""
        if operation.asked is None or operation.settled is not None:
            return operation.least
        return self._clock.dues(operation.mark, operation.delay_ms)[0][0]

    def _judge_lateness(self, operation: Operation) -> Violation | None:
        """Judge whether an operation ended in time, whatever ended it."""
        lateness_ms, clock = self._lateness_ms, self._clock
        if not isinstance(lateness_ms, int) or not isinstance(clock, MonotonicClock):
            return None
        if self.closing or operation.may_be_cancelled or operation.settled is None:
            return None
        self._tests(PurgatoryClause.EXPIRES_IN_TIME)
        if clock.low - operation.most <= lateness_ms:
            return None
        what = f"was still waiting at {clock.low} ms; {lateness_ms} ms of lateness are allowed"
        return _late(operation, clock.low, what)

    def _left_behind(self, operation: Operation, low_ms: int) -> Violation:
        self._tests(PurgatoryClause.EXPIRES_IN_TIME)
        what = f"an advance began at {low_ms} ms or later and returned without expiring it"
        return _late(operation, low_ms, what)


def _late(operation: Operation, now_ms: int, why: str) -> Violation:
    return PurgatoryClause.EXPIRES_IN_TIME.broken(
        f"{operation.name!r} expires at {operation.most} ms or soon after it",
        f"{operation.name!r} had not expired at {now_ms} ms",
        f"{operation.name!r} was due at {operation.most} ms; {why}",
    )


def _for_no_reason(operation: Operation, why: str) -> Violation:
    return PurgatoryClause.COMPLETES_FOR_A_REASON.broken(
        f"{operation.name!r} is completed once its predicate is made true, it is forced, or its "
        "time is out",
        f"on_complete of {operation.name!r} runs",
        f"{operation.name!r} completed, but {why}",
    )
