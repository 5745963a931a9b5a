"""The judge of driven calls, and the named cases, with the reference behind the door."""

import re
from pathlib import Path

import pytest

from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.components.timer import oracle as oracle_timer
from wheelproof_spec.components.timer.calls import (
    Add,
    Advance,
    Cancel,
    Reset,
    Size,
    TimerCall,
    TimerConfig,
    TimerObservation,
)
from wheelproof_spec.components.timer.clauses import TimerClause
from wheelproof_spec.components.timer.judge import TimerJudge
from wheelproof_spec.components.timer.reference import ReferenceTimerPort
from wheelproof_spec.components.timer.scenarios import timer_scenarios

ADD = Add(task="a", delay_ms=5)
ADD_LATER = Add(task="b", delay_ms=9)
NOTHING = TimerObservation()


@pytest.mark.parametrize("scenario", timer_scenarios(), ids=lambda scenario: scenario.name)
def test_the_reference_passes_each_named_case(scenario: Scenario[TimerCall]) -> None:
    judge, port = TimerJudge(KAFKA), ReferenceTimerPort()
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
    judge = TimerJudge(KAFKA)
    for earlier in (Reset(config=TimerConfig()), *before):
        assert judge.judge(earlier, NOTHING) is None
    violation = judge.judge(call, seen)
    assert violation is not None
    assert violation.rule == clause


def test_what_is_not_observed_is_not_judged() -> None:
    judge = TimerJudge(KAFKA)
    for call in (ADD, Size(), Cancel(task="a"), Cancel(task="a")):
        assert judge.judge(call, NOTHING) is None


def test_a_reset_forgets_all() -> None:
    judge = TimerJudge(KAFKA)
    for call in (ADD, Reset(config=TimerConfig(start_ms=7)), Advance(to_ms=100)):
        assert judge.judge(call, NOTHING) is None


def test_a_refusal_breaks_a_clause_of_its_own() -> None:
    violation = TimerJudge(KAFKA).judge_refusal(ADD, RefusedError("IllegalArgument", "no"))
    assert violation.rule == TimerClause.ACCEPTS_ITS_DOMAIN
    assert violation.observed == "IllegalArgument: no"


def test_every_rule_of_the_oracle_is_a_clause() -> None:
    source = Path(oracle_timer.__file__).read_text(encoding="utf-8")
    rules = set(re.findall(r'rule="(Timer\.\w+)"', source))
    assert rules
    assert rules <= set(TimerClause)
