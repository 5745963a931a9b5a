"""The sequential specification: a number."""

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation

from .component import (
    CounterCall,
    CounterClause,
    CounterObservation,
    Increment,
)


class Oracle:
    """Follows one case after another."""

    def __init__(self, profile: str, tally: Tally) -> None:
        del profile
        self._tests = tally.tests
        self._bound = self._count = 0

    def as_possible(self, call: CounterCall) -> CounterCall:
        return call

    def judge(self, call: CounterCall, seen: CounterObservation) -> Violation | None:
        if isinstance(call, Reset):
            self._bound, self._count = call.config.bound, 0
            return None
        self._tests(CounterClause.KEEPS)
        if isinstance(call, Increment):
            counts = self._count < self._bound
            self._count += counts
            self._tests(CounterClause.COUNTS)
            return self._compare(CounterClause.COUNTS, counts, seen.counted)
        self._tests(CounterClause.TELLS)
        return self._compare(CounterClause.TELLS, self._count, seen.value)

    def judge_refusal(self, call: CounterCall, refusal: RefusedError) -> Violation:
        return unexpected_refusal(CounterClause.KEEPS, call, refusal)

    def _compare(self, clause: CounterClause, expected: object, seen: object) -> Violation | None:
        if seen == expected:
            return None
        reason = f"{self._count} of {self._bound} are counted"
        return Violation(rule=clause, expected=str(expected), observed=str(seen), reason=reason)
