"""The judge of driven calls, and the named cases, with the reference behind the door."""

import pytest

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Size,
    TimerCall,
    TimerClause,
    TimerConfig,
    TimerObservation,
)
from wheelproof_spec.components.timer.model import TimerOracle
from wheelproof_spec.components.timer.reference import ReferenceTimerPort

ADD = Add(task="a", delay_ms=5)
ADD_LATER = Add(task="b", delay_ms=9)
NOTHING = TimerObservation()


def _judge() -> TimerOracle:
    return TimerOracle(KAFKA.name, Tally())


@pytest.mark.parametrize("scenario", TIMER.scenarios(), ids=lambda scenario: scenario.name)
def test_the_reference_passes_each_named_case(scenario: Scenario[TimerCall]) -> None:
    judge, port = _judge(), ReferenceTimerPort()
    for call in scenario.calls:
        assert judge.judge(call, port.perform(call)) is None


@pytest.mark.parametrize(
    ("before", "call", "seen", "clause"),
    [
        ([], ADD, TimerObservation(fired=("a",)), TimerClause.NEVER_BEFORE_DUE),
        ([], Advance(to_ms=1), TimerObservation(fired=("a",)), TimerClause.RUNS_AT_MOST_ONCE),
        ([ADD], Advance(to_ms=5), NOTHING, TimerClause.NOTHING_LEFT_BEHIND),
        ([ADD], Advance(to_ms=4), TimerObservation(fired=("a",)), TimerClause.NEVER_BEFORE_DUE),
        (
            [ADD],
            Advance(to_ms=5),
            TimerObservation(fired=("a", "a")),
            TimerClause.RUNS_AT_MOST_ONCE,
        ),
        (
            [ADD, ADD_LATER],
            Advance(to_ms=9),
            TimerObservation(fired=("b", "a")),
            TimerClause.RUNS_IN_ORDER,
        ),
        (
            [ADD],
            Cancel(task="a"),
            TimerObservation(cancelled=False),
            TimerClause.CANCEL_TELLS_THE_TRUTH,
        ),
        (
            [],
            Cancel(task="a"),
            TimerObservation(cancelled=True),
            TimerClause.CANCEL_TELLS_THE_TRUTH,
        ),
        ([ADD], Size(), TimerObservation(size=0), TimerClause.SIZE_COUNTS_WAITING),
        ([ADD], Cancel(task="a"), TimerObservation(fired=("a",)), TimerClause.RUNS_AT_MOST_ONCE),
    ],
)
def test_each_clause_is_named(
    before: list[TimerCall], call: TimerCall, seen: TimerObservation, clause: TimerClause
) -> None:
    judge = _judge()
    for earlier in (Reset(config=TimerConfig()), *before):
        assert judge.judge(earlier, NOTHING) is None
    violation = judge.judge(call, seen)
    assert violation is not None
    assert violation.rule == clause


def test_what_is_not_observed_is_not_judged() -> None:
    judge = _judge()
    for call in (ADD, Size(), Cancel(task="a"), Cancel(task="a")):
        assert judge.judge(call, NOTHING) is None


def test_a_reset_forgets_all() -> None:
    judge = _judge()
    for call in (ADD, Reset(config=TimerConfig(start_ms=7)), Advance(to_ms=100)):
        assert judge.judge(call, NOTHING) is None


def test_a_refusal_breaks_a_clause_of_its_own() -> None:
    violation = _judge().judge_refusal(ADD, RefusedError("IllegalArgument", "no"))
    assert violation.rule == TimerClause.ACCEPTS_ITS_DOMAIN
    assert violation.observed == "IllegalArgument: no"


def test_every_driven_clause_is_counted_where_it_is_tested() -> None:
    clauses = clauses_of(TimerClause, Wire.DRIVEN, KAFKA.name)
    tally = Tally(clauses)
    for scenario in TIMER.scenarios():
        judge, port = TimerOracle(KAFKA.name, tally), ReferenceTimerPort()
        for call in scenario.calls:
            assert judge.judge(call, port.perform(call)) is None
    assert tally.untested() == ()
    assert set(tally.checked) == set(clauses)


def test_a_known_limit_is_counted_and_not_judged() -> None:
    limits = (TimerClause.SIZE_COUNTS_WAITING, TimerClause.RUNS_IN_ORDER)
    tally = Tally(limits=limits)
    judge = TimerOracle(KAFKA.name, tally)
    seen = TimerObservation(fired=("b", "a"))
    for call in (Reset(config=TimerConfig()), ADD, ADD_LATER):
        assert judge.judge(call, NOTHING) is None
    assert judge.judge(Advance(to_ms=9), seen) is None
    assert judge.judge(Size(), TimerObservation(size=7)) is None
    assert tally.skipped == {TimerClause.SIZE_COUNTS_WAITING: 1, TimerClause.RUNS_IN_ORDER: 2}
