"""Judges which calls are refused: those that have to be, and no others (standard 2.11, 6.1, 6.7).

Only a refusal as closed says why: any other may come from what callers bring.
"""

from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.history.judging import CLOSED
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import (
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    PurgatoryClause,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.history.operation import Operation

_CLAUSE = PurgatoryClause.KEEPS_TO_ITS_DOMAIN


class Refusals:
    """What is known about the shutdown, and the judgement of what is taken and refused."""

    def __init__(self, clock: HistoryClock, tally: Tally, *, kafka: bool) -> None:
        """Begin; Kafka's contract promises nothing here: it takes whatever is handed in."""
        self._clock = clock
        self._tests = tally.tests
        self._kafka = kafka
        self.closing = False
        """Whether a shutdown has begun: no operation has to expire any more."""
        self._shut: int | None = None
        """When the first shutdown returned."""
        self._shut_high = 0
        """The latest time that the clock may have shown then."""

    def shut(self, index: int) -> None:
        """Record that a shutdown returned."""
        if self._shut is None:
            self._shut, self._shut_high = index, self._clock.high

    def taken(self, asked: HistoryOp[object], value: TryCompleteElseWatch) -> Violation | None:
        """Judge that an operation was taken: it lies in the domain, and comes before a shutdown."""
        if self._kafka:
            return None
        self._tests(_CLAUSE)
        if self._shut is not None and self._shut < asked.index:
            why = "the shutdown had returned before the call began (standard 2.11)"
        elif value.delay_ms < 0:
            why = "its time-out is negative (standard 6.1)"
        elif not value.keys:
            why = "it has no key (standard 6.7)"
        else:
            return None
        name = repr(value.operation)
        return _CLAUSE.broken(
            f"{name} is refused", f"{name} is accepted", f"{name} was accepted, though {why}"
        )

    def refused(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Judge a refusal: as closed only after a shutdown, and then only what is handed in."""
        if self._kafka or op.error != CLOSED:
            return None
        self._tests(_CLAUSE)
        goes_on = isinstance(asked.value, CheckAndComplete | ForceComplete | CancelForKey)
        if self.closing and not goes_on:
            return None
        why = "it has to work after a shutdown, too" if goes_on else "no shutdown had begun"
        return _CLAUSE.broken(
            f"{asked.f!r} is not refused as closed",
            f"{asked.f!r} is refused as closed",
            f"{asked.f!r} was refused as closed, but {why} (standard 2.11)",
        )

    def expired(self, operation: Operation) -> Violation | None:
        """Judge an on_expiration: what was not due at the shutdown does not expire."""
        if self._kafka or self._shut is None:
            return None
        self._tests(_CLAUSE)
        if operation.least <= self._shut_high:
            return None
        return _CLAUSE.broken(
            f"{operation.name!r} does not expire any more",
            f"{operation.name!r} expires",
            f"{operation.name!r} expired, but the shutdown had returned before it was due at "
            f"{operation.least} ms (standard 2.11)",
        )
