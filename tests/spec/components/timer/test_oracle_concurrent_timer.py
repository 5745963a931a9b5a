"""The history judge of bursts: known verdicts, and agreement with the sequential oracle."""

from dataclasses import dataclass
from enum import Enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.history.concurrent_histories import (
    HISTORIES,
    LEFT_BEHIND,
    Burst,
    Bursts,
    History,
    Made,
    add,
    advance,
    cancel,
    tick,
)
from wheelproof_spec.base.contract import KAFKA, NEVER_EARLY, TimerContract
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.model import HeapTimer

_NAMES = "abc"
_LYING_CANCEL = "Timer.CancelTellsTheTruth"


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.name)
def test_a_history_gets_its_verdict(history: History) -> None:
    bursts = Bursts(history.contract)
    rules = [_rule(bursts.judge(burst)) for burst in history.bursts]
    assert rules == [None] * (len(rules) - 1) + [history.broken_rule]
    if history.broken_rule is None:
        assert bursts.finish() is None
        return
    assert bursts.rules() == [history.broken_rule]
    # What comes then is judged for itself.
    bursts.judge(Burst((add(0, 1, "fresh", 0), advance(2, 3)), ("fresh",), size=9))
    wrong_size = "Timer.SizeCountsWaitingTasks"
    assert set(bursts.rules()) - {wrong_size} == {history.broken_rule} - {wrong_size}


def test_every_rule_is_broken_by_a_history() -> None:
    assert {history.broken_rule for history in HISTORIES} == {
        None,
        "Timer.CancelTellsTheTruth",
        "Timer.NeverBeforeItIsDue",
        "Timer.NothingDueIsLeftBehind",
        "Timer.RunsAtMostOncePerAdd",
        "Timer.RunsInOrderOfDueTime",
        "Timer.SizeCountsWaitingTasks",
    }


def test_a_violation_tells_what_became_of_its_task() -> None:
    calls = (add(0, 2, "a", 5), cancel(1, 3, "a", answer=True), tick(4, 5, 5), advance(6, 7))
    assert Bursts(KAFKA).judge(Burst((*calls, add(8, 9, "b", 1)), ("a",), 1)) == Violation(
        rule="Timer.RunsAtMostOncePerAdd",
        expected="'a' does not run",
        observed="'a' ran",
        reason="'a' ran, but had run already, was cancelled, or was never added",
    )


@pytest.mark.parametrize(("time_ms", "rule"), [(49, None), (50, LEFT_BEHIND)])
def test_an_add_during_a_tick_is_owed_once_it_is_due_by_either_reading(
    time_ms: int, rule: str | None
) -> None:
    bursts = Bursts(KAFKA, tick_ms=10, start_ms=20)
    assert bursts.judge(Burst((add(0, 3, "a", 19), tick(1, 2, 40)), size=1)) is None
    after = Burst((tick(0, 1, time_ms), advance(2, 3)), size=1)
    assert _rule(bursts.judge(after)) == rule


class _Spoil(Enum):
    """What is wrong with what was seen of one call."""

    NOTHING = "nothing"
    DROP = "a run is missing"
    REPEAT = "a run is repeated"
    EARLY = "a waiting task runs"
    REVERSE = "the order is reversed"
    LIE = "a cancel answers wrongly"


class _Do(Enum):
    ADD = "add"
    CANCEL = "cancel"
    ADVANCE = "advance"


@dataclass(frozen=True, slots=True)
class _Step:
    do: _Do
    task: str
    span_ms: int
    spoil: _Spoil


_steps = st.builds(
    _Step,
    st.sampled_from(_Do),
    st.sampled_from(_NAMES),
    st.integers(0, 12),
    st.just(_Spoil.NOTHING) | st.sampled_from(_Spoil),
)


class _Pair:
    """The oracle and the history judge, told of the same calls; `due_ms` is what really waits."""

    def __init__(self, contract: TimerContract, tick_ms: int) -> None:
        self._contract = contract
        self._tick_ms = tick_ms
        self._heap = HeapTimer(tick_ms=tick_ms, start_ms=0, contract=contract)
        self._bursts = Bursts(contract, tick_ms)
        self._due_ms: dict[str, int] = {}

    def verdicts(self, step: _Step) -> tuple[str | None, str | None]:
        """Return the rule that the step breaks by the oracle and by the history judge."""
        match step.do:
            case _Do.ADD:
                return self._add(step)
            case _Do.CANCEL:
                return self._cancel(step)
            case _Do.ADVANCE:
                return self._advance(step)

    def _add(self, step: _Step) -> tuple[str | None, str | None]:
        self._due_ms[step.task] = self._contract.due_ms(
            self._heap.now_ms + step.span_ms, self._tick_ms
        )
        self._heap.add(step.task, step.span_ms)
        return None, self._judge([add(0, 1, step.task, step.span_ms)], [])

    def _cancel(self, step: _Step) -> tuple[str | None, str | None]:
        answer = (self._due_ms.pop(step.task, None) is not None) != (step.spoil is _Spoil.LIE)
        expected = None if self._heap.cancel(step.task) == answer else _LYING_CANCEL
        return expected, self._judge([cancel(0, 1, step.task, answer)], [])

    def _advance(self, step: _Step) -> tuple[str | None, str | None]:
        time_ms = self._heap.now_ms + step.span_ms
        fired = _spoiled(self._take_due(time_ms), self._due_ms, step.spoil)
        expected = self._heap.advance(time_ms, fired)
        return _rule(expected), self._judge([tick(0, 1, time_ms), advance(2, 3)], fired)

    def _take_due(self, time_ms: int) -> list[str]:
        due = sorted(self._due_ms, key=self._due_ms.__getitem__)
        due = [task for task in due if self._due_ms[task] <= time_ms]
        for task in due:
            del self._due_ms[task]
        return due

    def _judge(self, calls: list[Made], fired: list[str]) -> str | None:
        return _rule(
            self._bursts.judge(Burst(tuple(calls), tuple(fired), len(self._heap.entries())))
        )


def _spoiled(fired: list[str], waiting: dict[str, int], spoil: _Spoil) -> list[str]:
    match spoil:
        case _Spoil.DROP:
            return fired[:-1]
        case _Spoil.REPEAT:
            return fired + fired[-1:]
        case _Spoil.EARLY:
            return fired + sorted(waiting)[:1]
        case _Spoil.REVERSE:
            return fired[::-1]
        case _Spoil.NOTHING | _Spoil.LIE:
            return fired


def _rule(violation: Violation | None) -> str | None:
    return None if violation is None else violation.rule


@settings(deadline=None)
@given(
    contract=st.sampled_from([KAFKA, NEVER_EARLY]),
    tick_ms=st.integers(1, 5),
    steps=st.lists(_steps, max_size=25),
)
def test_a_sequential_history_gets_the_verdict_of_the_sequential_oracle(
    contract: TimerContract, tick_ms: int, steps: list[_Step]
) -> None:
    pair = _Pair(contract, tick_ms)
    for step in steps:
        sequential, concurrent = pair.verdicts(step)
        assert concurrent == sequential
        if sequential is not None:
            return
