"""What a driver says that it cannot be asked: cases are drawn inside it, named ones left out."""

import random
import shlex
import sys
from pathlib import Path

import pytest

from support.drive.adapters import HEAPQ, conform
from wheelproof_spec.base.codec.bounds import Bound, outside, parse_bounds
from wheelproof_spec.base.contract import EXACT, KAFKA, WITHIN_A_TICK, TimerContract
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.strict_json import JsonObject, MalformedError
from wheelproof_spec.components.timer.cases import SUITE, TIMER
from wheelproof_spec.components.timer.component import TimerClause
from wheelproof_spec.components.timer.model import HeapTimer
from wheelproof_spec.components.timer.work import TimerWork, driven_work
from wheelproof_spec.drive.named_cases import lacking

BOUNDS = {
    "tick_ms": Bound(least=4, most=4),
    "wheel_size": Bound(power_of_two=True),
    "start_ms": Bound(most=0),
    "delay_ms": Bound(least=1, most=1_000),
}


@pytest.mark.parametrize(
    ("bound", "number", "nearest"),
    [
        (Bound(most=5), 6, 5),
        (Bound(least=5), 4, 5),
        (Bound(least=-2), -2, -2),
        (Bound(power_of_two=True), 63, 32),
        (Bound(power_of_two=True), 64, 64),
        (Bound(power_of_two=True), 0, 1),
        (Bound(), -(2**70), -(2**70)),
    ],
)
def test_a_number_outside_has_one_inside_that_stands_for_it(
    bound: Bound, number: int, nearest: int
) -> None:
    assert bound.nearest(number) == nearest
    assert bound.holds(nearest)
    assert bound.holds(number) is (number == nearest)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"delay_ms": {"longest": 1}}, "has a bound 'longest'; there are least, most"),
        ({"delay_ms": 3}, "bounds 'delay_ms' by no JSON object"),
        ({"delay_ms": {"most": "1"}}, "has 'most' that is no integer"),
        ({"delay_ms": {"power_of_two": 1}}, "neither true nor false"),
        ({"delay_ms": {"least": 2, "most": 1}}, "a bound whose ends do not keep it"),
        ({"wheel_size": {"least": 3, "power_of_two": True}}, "a bound whose ends do not keep it"),
    ],
)
def test_bounds_that_say_nothing_are_refused(said: JsonObject, wrong: str) -> None:
    with pytest.raises(MalformedError, match=wrong):
        parse_bounds(said)


def test_every_case_that_is_drawn_lies_inside() -> None:
    cases = driven_work(TimerWork(bounds=BOUNDS), EXACT)
    chance = random.Random(1)
    for _ in range(200):
        assert outside(BOUNDS, filter(None, cases.calls(cases.draw(chance)))) == ()


def test_a_named_case_that_lies_outside_says_what_it_needs() -> None:
    tally = Tally(bounds={"delay_ms": Bound(most=600)})
    needs = {one.name: lacking(SUITE, one, tally) for one in TIMER.scenarios()}
    assert needs["what is due in 10 s has 5 s left after 5 s"] == (
        "delay_ms 10000, declared: at most 600",
    )
    assert needs["adding again moves a task and keeps the size"] == ()


def _bounded(folder: Path, bounds: str) -> str:
    """Return a driver like python-heapq that declares bounds."""
    text = HEAPQ.read_text(encoding="utf-8")
    script = folder / "driver.py"
    old, new = (
        '"capabilities": capabilities}',
        f'"capabilities": capabilities, "bounds": {bounds}}}',
    )
    assert old in text
    script.write_text(text.replace(old, new), encoding="utf-8")
    return shlex.join([sys.executable, "-I", str(script)])


def test_what_is_left_out_is_counted_and_shown(tmp_path: Path) -> None:
    driver = _bounded(tmp_path, '{"timer": {"delay_ms": {"least": 0, "most": 600}}}')
    result = conform(driver, 20)
    assert result.verdict is Verdict.PASS
    left_out = {one.case: one.needs for one in result.not_applicable}
    assert len(left_out) == 8
    assert left_out["delays of -5 to -1 ms run at once"] == (
        "delay_ms -5, declared: at least 0 and at most 600",
    )


def test_a_run_in_which_no_case_applies_is_inconclusive(tmp_path: Path) -> None:
    result = conform(_bounded(tmp_path, '{"timer": {"start_ms": {"least": 7, "most": 7}}}'), 0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.open_question == "nothing was driven: no case is applicable"


def test_a_bound_of_what_cannot_be_bounded_is_unsupported(tmp_path: Path) -> None:
    result = conform(_bounded(tmp_path, '{"timer": {"task": {"most": 7}}}'), 1)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.open_question is not None
    assert "bounds 'task'; what may be bounded is tick_ms" in result.open_question


@pytest.mark.parametrize(
    ("contract", "now_ms", "ran", "broken"),
    [
        (EXACT, 14, ["a"], TimerClause.NEVER_BEFORE_DUE),
        (EXACT, 15, ["a"], None),
        (EXACT, 15, [], TimerClause.NOTHING_LEFT_BEHIND),
        (WITHIN_A_TICK, 14, ["a"], TimerClause.NEVER_BEFORE_DUE),
        (WITHIN_A_TICK, 15, ["a"], None),
        (WITHIN_A_TICK, 24, [], None),
        (WITHIN_A_TICK, 25, [], TimerClause.NOTHING_LEFT_BEHIND),
        (KAFKA, 14, ["a"], None),
    ],
)
def test_a_deadline_inside_a_tick_is_judged_by_the_contract(
    contract: TimerContract, now_ms: int, ran: list[str], broken: TimerClause | None
) -> None:
    timer = HeapTimer(tick_ms=10, start_ms=0, contract=contract)
    timer.add("a", 15)
    violation = timer.advance(now_ms, ran)
    assert (violation.rule if violation else None) == broken
