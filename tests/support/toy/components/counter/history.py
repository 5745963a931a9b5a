"""The judge of a counter's history: between what has surely been counted and what may have been."""

from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.history.judging import HistoryJudge, RecordedComponent
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation

from .component import (
    DEFINITION,
    CounterClause,
    CounterConfig,
    Increment,
    Incremented,
    Value,
)


class CounterHistoryJudge:
    goes_on_after = frozenset(CounterClause)

    def __init__(self, bound: int, tally: Tally) -> None:
        self._bound = bound
        self._tests = tally.tests
        self._sure = self._possible = 0
        self._sure_at: dict[int, int] = {}

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        self._sure_at[op.index] = self._sure
        self._possible += isinstance(op.value, Increment)
        return None

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        del op
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        least = self._sure_at.pop(asked.index)
        match op.value:
            case Incremented(counted=True):
                self._sure += 1
                self._tests(CounterClause.COUNTS)
                if self._sure > self._bound:
                    return _violation(CounterClause.COUNTS, f"at most {self._bound}", self._sure)
            case Incremented():
                self._possible -= 1
                self._tests(CounterClause.COUNTS)
                if self._possible < self._bound:
                    return _violation(CounterClause.COUNTS, "one more is counted", "it is not")
            case Value(value=value):
                self._tests(CounterClause.TELLS)
                if not least <= value <= self._possible:
                    expected = f"{least} to {self._possible}"
                    return _violation(CounterClause.TELLS, expected, value)
            case _:
                pass
        return None

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        del op
        self._possible -= isinstance(asked.value, Increment)
        return None

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        del asked, op

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        del end, index
        return None

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        del end
        return ()


def _violation(clause: CounterClause, expected: str, observed: object) -> Violation:
    reason = "whatever the order was"
    return Violation(rule=clause, expected=expected, observed=str(observed), reason=reason)


def _judge(header: HistoryHeader[object], profile: str, tally: Tally) -> HistoryJudge:
    del profile
    assert isinstance(header.config, CounterConfig)
    return CounterHistoryJudge(header.config.bound, tally)


RECORDED = RecordedComponent(definition=any_definition(DEFINITION), judge=_judge, balances=())
