"""The search for an order of calls: every right timer has one, and a wrong answer has none."""

from collections.abc import Mapping, Sequence
from functools import partial

import pytest

from support.reference.python_timer import ReferenceTimer
from wheelproof import sync
from wheelproof_explore import check
from wheelproof_explore.program import Scenario
from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.contract import EXACT, KAFKA, TimerContract
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Size,
    TimerClause,
    TimerObservation,
)
from wheelproof_spec.components.timer.model import HeapTimer
from wheelproof_spec.testing.outcome import Answered, Asked, Outcome

Thread = Sequence[Answered]

_ADVANCE = Answered(Advance(to_ms=5))


def _add(task: str, delay_ms: int) -> Answered:
    return Answered(Add(task=task, delay_ms=delay_ms))


def _cancel(task: str, answer: bool) -> Answered:
    return Answered(Cancel(task=task), answer)


def _size(answer: int) -> Answered:
    return Answered(Size(), answer)


def _world(contract: TimerContract, waiting: Mapping[str, int]) -> HeapTimer:
    heap = HeapTimer(tick_ms=1, start_ms=0, contract=contract)
    for task, due_ms in waiting.items():
        heap.add(task, due_ms)
    return heap


def _explained(
    waiting: Mapping[str, int], threads: Sequence[Thread], ran: str = ""
) -> list[HeapTimer] | Violation:
    outcome = Outcome(threads=threads, ran=ran)
    return outcome.explained_from([_world(EXACT, waiting)])


def _due(found: list[HeapTimer] | Violation) -> list[Mapping[str, int]]:
    """Return the possible due times of the waiting tasks."""
    assert not isinstance(found, Violation), found
    return sorted((world.due_times() for world in found), key=str)


@pytest.mark.parametrize(
    ("waiting", "threads", "ran"),
    [
        pytest.param({}, [[_add("a", 9)], [_cancel("a", True)]], "", id="cancelled once added"),
        pytest.param({}, [[_add("a", 9)], [_cancel("a", False)]], "", id="cancelled before"),
        pytest.param({"a": 5}, [[_ADVANCE], [_cancel("a", True)]], "", id="cancel wins"),
        pytest.param({"a": 5}, [[_ADVANCE], [_cancel("a", False)]], "a", id="advance wins"),
        pytest.param({}, [[_ADVANCE], [_add("a", 0)]], "a", id="due at once, and taken"),
        pytest.param({}, [[_ADVANCE], [_add("a", 0)]], "", id="due at once, not taken"),
        pytest.param(
            {"a": 8, "b": 8, "c": 8}, [[_ADVANCE], [_size(2)]], "", id="one is being carried"
        ),
        pytest.param(
            {}, [[_add("a", 5)], [_add("b", 5), _size(1)], [_ADVANCE]], "a", id="read, then bound"
        ),
    ],
)
def test_what_a_right_timer_may_answer_is_explained(
    waiting: Mapping[str, int], threads: Sequence[Thread], ran: str
) -> None:
    assert not isinstance(_explained(waiting, threads, ran), Violation)


@pytest.mark.parametrize(
    ("waiting", "threads", "ran", "clause"),
    [
        (
            {"a": 9},
            [[_cancel("a", True)], [_cancel("a", True)]],
            "",
            TimerClause.CANCEL_TELLS_THE_TRUTH,
        ),
        (
            {"a": 5},
            [[_ADVANCE], [_cancel("a", True)]],
            "a",
            TimerClause.CANCEL_TELLS_THE_TRUTH,
        ),
        ({"a": 5}, [[_ADVANCE], [_size(1)]], "", TimerClause.NOTHING_LEFT_BEHIND),
        ({}, [[_add("a", 5), _ADVANCE], [_size(0)]], "", TimerClause.NOTHING_LEFT_BEHIND),
        ({"a": 6}, [[_ADVANCE], [_size(1)]], "a", TimerClause.NEVER_BEFORE_DUE),
        ({"a": 5}, [[_ADVANCE], [_size(0)]], "aa", TimerClause.RUNS_AT_MOST_ONCE),
        ({}, [[_ADVANCE], [_add("a", 0)]], "b", TimerClause.RUNS_AT_MOST_ONCE),
        ({"a": 8, "b": 8}, [[_ADVANCE], [_size(0)]], "", TimerClause.SIZE_COUNTS_WAITING),
        ({}, [[_add("a", 9)], [_add("b", 9), _size(0)]], "", TimerClause.SIZE_COUNTS_WAITING),
    ],
)
def test_what_no_order_explains_is_a_violation(
    waiting: Mapping[str, int], threads: Sequence[Thread], ran: str, clause: TimerClause
) -> None:
    found = _explained(waiting, threads, ran)
    assert isinstance(found, Violation)
    assert found.rule == clause
    assert "thread 1: " in found.observed


def test_all_states_that_may_be_are_kept() -> None:
    """An add that meets an advance may have read the clock before it or after it."""
    assert _due(_explained({}, [[_ADVANCE], [_add("a", 8)]])) == [{"a": 13}, {"a": 8}]
    # The thread that advanced has seen its own advance.
    assert _due(_explained({}, [[_ADVANCE, _add("a", 8)], [_size(0)]])) == [{"a": 13}]
    # Nor need the parts of a timer see a new time at the same moment.
    assert len(_due(_explained({}, [[_ADVANCE], [_add("a", 8), _add("b", 8)]]))) == 4


def test_a_cancel_that_meets_an_advance_may_leave_its_entry_until_it_is_due() -> None:
    worlds = _explained({"a": 20}, [[_ADVANCE], [_cancel("a", True)]])
    assert isinstance(worlds, list)
    assert {size for world in worlds for size in world.sizes()} == {0, 1}
    assert [world.advance(20, ran=[]) for world in worlds] == [None] * len(worlds)
    assert {size for world in worlds for size in world.sizes()} == {0}


_PROGRAMS: Sequence[tuple[Mapping[str, int], Sequence[Sequence[Asked]]]] = [
    ({"x": 1}, [[Advance(to_ms=1)], [Add(task="b", delay_ms=1), Cancel(task="x")]]),
    ({"x": 5}, [[Advance(to_ms=7)], [Cancel(task="x"), Size()]]),
    ({"x": 5}, [[Advance(to_ms=1)], [Add(task="b", delay_ms=1), Size()]]),
]


@pytest.mark.parametrize(("waiting", "programs"), _PROGRAMS)
def test_every_interleaving_of_the_reference_is_explained(
    waiting: Mapping[str, int], programs: Sequence[Sequence[Asked]]
) -> None:
    def scenario() -> Scenario:
        # The model checker sees it, and no program here runs two tasks.
        ran = sync.volatile("", "ran")
        timer = ReferenceTimer(1, 2, 0, lambda task: ran.set(ran.get() + task))
        for task, due_ms in waiting.items():
            timer.add(task, due_ms)
        answers: list[list[Answered]] = [[] for _ in programs]

        def make(thread: int) -> None:
            answers[thread] += [Answered(call, _made(timer, call)) for call in programs[thread]]

        def explained() -> None:
            outcome = Outcome(threads=answers, ran=ran.get())
            worlds = outcome.explained_from([_world(KAFKA, waiting)])
            assert not isinstance(worlds, Violation), worlds
            seen = TimerObservation(size=timer.size())
            broken = [world.judge(Size(), seen) for world in worlds]
            assert None in broken, broken

        threads = {f"thread-{number}": partial(make, number) for number in range(len(programs))}
        return Scenario(threads=threads, check=explained)

    check(scenario)


def _made(timer: ReferenceTimer, call: Asked) -> bool | int | None:
    match call:
        case Add(task=task, delay_ms=delay_ms):
            timer.add(task, delay_ms)
            return None
        case Cancel(task=task):
            return timer.cancel(task)
        case Advance(to_ms=to_ms):
            timer.advance(to_ms)
            return None
        case Size():
            return timer.size()
