"""A late task keeps its turn: what is due later does not run before it (standard 1.9).

Each history is judged as it is, where the general search looks at it as well, and behind so many
calls that it does not. The driven judge sees the same calls, one after the other.
"""

from dataclasses import dataclass

import pytest

from support.agreement.small_histories import History, Line, history_of
from support.history.history_scripts import Lines, begin, call, judged
from wheelproof_spec.base.calls import Advance, AdvanceClock, Advanced, Reset, Tick
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.history.judging import WholeHistory
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerClause,
    TimerConfig,
    TimerObservation,
    WaitingTasks,
)
from wheelproof_spec.components.timer.history.search import search
from wheelproof_spec.components.timer.model import TimerOracle
from wheelproof_spec.history.linearizability.small_histories import MOST_EVENTS

_LATE = "exact,late_ticks=2"
_BY_TICK = f"{_LATE},order=by_tick"
_ANY = f"{_LATE},order=any"
_ORDER = TimerClause.RUNS_IN_ORDER

_Step = tuple[Add | Cancel | Advance, str]
"""A call, and the tasks that run inside it, a letter each."""


@dataclass(frozen=True, slots=True)
class _Case:
    why: str
    steps: tuple[_Step, ...]
    broken: TimerClause | None
    profile: str = _LATE
    tick_ms: int = 1


def _add(task: str, delay_ms: int, ran: str = "") -> _Step:
    return Add(task=task, delay_ms=delay_ms), ran


def _to(to_ms: int, ran: str = "") -> _Step:
    return Advance(to_ms=to_ms), ran


_TWO = (_add("a", 1), _add("b", 2))
_CASES = (
    _Case("in an earlier advance", (*_TWO, _to(2, "b"), _to(3, "a")), _ORDER),
    _Case("in the same advance", (*_TWO, _to(2, "ba")), _ORDER),
    _Case("in an add", (*_TWO, _to(2), _add("c", 0, "c"), _to(3, "ab")), _ORDER),
    _Case("behind one of three", (*_TWO, _add("c", 2), _to(2, "a"), _to(3, "cb")), None),
    _Case("a late task", (*_TWO, _to(2, "a"), _to(3, "b")), None),
    _Case("all late", (*_TWO, _to(2), _to(3, "ab")), None),
    _Case("due at once", (_add("a", 2), _add("b", 2), _to(2, "b"), _to(3, "a")), None),
    _Case("no order", (*_TWO, _to(2, "b"), _to(3, "a")), None, _ANY),
    _Case("cancelled", (*_TWO, _to(2), (Cancel(task="a"), ""), _to(3, "b")), None),
    _Case("added again", (*_TWO, _to(2), _add("a", 5), _to(3, "b"), _to(7, "a")), None),
    _Case("added behind it", (*_TWO, _to(2, "ab"), _add("c", -1), _to(3, "c")), None),
    _Case(
        "added in front of it",
        (_add("b", 3), _to(3), _add("a", -1), _to(3, "b"), _to(4, "a")),
        _ORDER,
    ),
    _Case("run by an add", (_add("b", 2), _to(2), _add("a", -1, "b"), _to(3, "a")), None),
    _Case(
        "in one tick",
        (_add("a", 11), _add("b", 13), _to(13, "b"), _to(15, "a")),
        None,
        _BY_TICK,
        10,
    ),
    _Case(
        "in two ticks",
        (_add("a", 11), _add("b", 23), _to(23, "b"), _to(25, "a")),
        _ORDER,
        _BY_TICK,
        10,
    ),
)


def _driven(case: _Case) -> TimerClause | None:
    oracle = TimerOracle(case.profile, Tally())
    oracle.judge(Reset(config=TimerConfig(tick_ms=case.tick_ms)), TimerObservation())
    for asked, ran in case.steps:
        violation = oracle.judge(asked, TimerObservation(fired=tuple(ran)))
        if violation is not None:
            assert isinstance(violation.rule, TimerClause)
            return violation.rule
    return None


def _lines(case: _Case) -> list[Line]:
    calls: list[Lines] = []
    for asked, ran in case.steps:
        runs = [begin("c", "run", Run(task=task)) for task in ran]
        match asked:
            case Add():
                calls.append(call("c", asked, Nothing(), *runs))
            case Cancel():
                calls.append(call("c", asked, Cancelled(cancelled=True)))
            case Advance(to_ms=to_ms):
                calls.append(call("c", Tick(to_ms=to_ms)))
                calls.append(call("c", AdvanceClock(), Advanced(), *runs))
    return [line for one in calls for line in one]


def _history(case: _Case, *, calls_before: int = 0) -> History:
    before = call("p", Size(), WaitingTasks(size=0)) * calls_before
    config = TimerConfig(tick_ms=case.tick_ms, runs="inline", run_order="promised")
    return history_of("timer", config, [*before, *_lines(case)], quiet=True, clock="virtual")


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.why)
def test_every_judge_says_the_same(case: _Case) -> None:
    assert _driven(case) is case.broken
    history = _history(case)
    assert len(history.ops) < MOST_EVENTS
    for one in (history, _history(case, calls_before=MOST_EVENTS)):
        verdict = judged(one, case.profile)
        assert (verdict.violation and verdict.violation.rule) == case.broken
        assert verdict.verdict is (Verdict.FAIL if case.broken else Verdict.PASS)


@pytest.mark.parametrize(
    "case",
    [case for case in _CASES if case.why != "in the same advance"],
    ids=lambda case: case.why,
)
def test_the_search_says_the_same_by_itself(case: _Case) -> None:
    """But for what one call submits: what it submitted first may begin to run last."""
    history = _history(case)
    whole = WholeHistory(header=history.header, profile=case.profile, ops=history.ops, quiet=True)
    found = search(whole)
    assert found is not None
    assert (found.violation and found.violation.rule) == case.broken


def test_a_lost_task_is_lost_and_not_only_overtaken() -> None:
    lost = _Case("lost", (*_TWO, _to(2), _to(9, "b")), TimerClause.NOTHING_LEFT_BEHIND)
    assert _driven(lost) is lost.broken
