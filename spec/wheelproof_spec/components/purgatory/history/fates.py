"""What an operation ends by: a reason, its time, or neither (semantics.md 2.1, 2.2)."""

from wheelproof_spec.base.history.clock import HistoryClock, MonotonicClock
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.events import PurgatorySettings
from wheelproof_spec.components.purgatory.history.operation import FORCE, HAND_IN, Operation
from wheelproof_spec.components.purgatory.history.violations import (
    completed_for_no_reason,
    expired_early,
    expired_late,
    expired_wrongly,
    never_ended,
    never_expired,
)


class Fates:
    """Judges completions and expiries, as they come and when all is quiet."""

    def __init__(self, settings: PurgatorySettings, clock: HistoryClock) -> None:
        self._clock = clock
        self._lateness_ms = settings.lateness_ms
        self._predicates = settings.predicates == "recorded"
        self._advanced = (-1, clock.low)
        """Where the latest advance began that is over, and what the clock showed then."""
        self.closing = False
        """Whether the purgatory is being shut down: nobody has to expire any more."""

    def advanced(self, began: int, low_ms: int) -> None:
        """An advance has ended that began at this time."""
        self._advanced = max(self._advanced, (began, low_ms))

    def completed(self, operation: Operation) -> Violation | None:
        """on_complete runs."""
        return self._judge_reason(operation) or self._judge_lateness(operation)

    def expired(self, operation: Operation) -> Violation | None:
        """on_expiration runs."""
        if operation.completed is None or operation.expired:
            observed = "it runs again" if operation.expired else "on_complete has not run"
            return expired_wrongly(operation.name, observed)
        operation.expired = True
        least = self._least_due(operation)
        if least > operation.completed_high:
            return expired_early(operation.name, least, operation.completed_high)
        return None

    def unfinished(self, operation: Operation) -> Violation | None:
        """All is quiet: judge what has become of an operation."""
        if operation.completed is not None:
            late = operation.must_expire and not operation.expired
            return never_expired(operation.name) if late else None
        if operation.may_be_cancelled or operation.cancelled or operation.refused:
            return None
        if operation.denied is not None:
            return never_ended(operation.name)
        if self.closing or operation.settled is None:
            return None
        began, low_ms = self._advanced
        if operation.settled < began and operation.most <= low_ms:
            what = "an advance began after that and has ended"
            return expired_late(operation.name, operation.most, low_ms, what)
        return self._judge_lateness(operation)

    def _judge_reason(self, operation: Operation) -> Violation | None:
        by_force = operation.completed_by == FORCE
        tested = operation.completed_in is not None and not by_force
        if by_force or (operation.forced and not tested):
            return None
        if operation.refused:
            return completed_for_no_reason(operation.name, "it was refused when it was handed in")
        if operation.asked is None:
            return completed_for_no_reason(operation.name, "it was not even handed in")
        if operation.may_be_true or not self._predicates:
            return None
        operation.must_expire = True
        least = self._least_due(operation)
        # What is due at once may run inside the call that hands it in.
        expires = operation.completed_by == HAND_IN and least <= self._clock.high
        if tested and not expires:
            why = "a call completes it that tests its predicate, which nobody has made true"
        elif least > self._clock.high:
            why = f"none of that had begun, and its time is not out before {least} ms"
        else:
            return None
        return completed_for_no_reason(operation.name, why)

    def _least_due(self, operation: Operation) -> int:
        """Return when it expires at the least, also while it is being handed in."""
        if operation.asked is None or operation.settled is not None:
            return operation.least
        return self._clock.dues(operation.mark, operation.delay_ms)[0][0]

    def _judge_lateness(self, operation: Operation) -> Violation | None:
        """An operation that ends, however it does, ends by its time."""
        lateness_ms, clock = self._lateness_ms, self._clock
        if not isinstance(lateness_ms, int) or not isinstance(clock, MonotonicClock):
            return None
        if self.closing or operation.may_be_cancelled or operation.settled is None:
            return None
        if clock.low - operation.most <= lateness_ms:
            return None
        what = f"at most {lateness_ms} ms of lateness are promised"
        return expired_late(operation.name, operation.most, clock.low, what)
