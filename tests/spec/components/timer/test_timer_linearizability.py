"""The timer's operations in the search: as one by one, and what overlap allows beyond that."""

import random

import pytest

from support import seeds
from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.component import Add, Cancel, Run, Size
from wheelproof_spec.components.timer.history.search import TimerModel, TimerOperation
from wheelproof_spec.components.timer.model import HeapTimer
from wheelproof_spec.history.linearizability.calls import Event, Invoked, Returned
from wheelproof_spec.history.linearizability.check import check_history

_Events = list[Event[TimerOperation, int | None]]
_TICK_MS = 10
_PASS = Verdict.PASS


def _call(operation: TimerOperation, result: int | None = None, process: str = "a") -> _Events:
    return [Invoked(process, operation), Returned(process, result)]


def _add(task: str, delay_ms: int) -> Add:
    return Add(task=task, delay_ms=delay_ms)


def _cancel(task: str, answer: bool, process: str = "a") -> _Events:
    return _call(Cancel(task=task), answer, process)


def _advance(to_ms: int, ran: str = "", process: str = "a") -> _Events:
    begin, end = _call(Advance(to_ms=to_ms), process=process)
    inner = [event for task in ran for event in _call(Run(task=task), process=f"timer {task}")]
    return [begin, *inner, end]


def _verdict(*parts: _Events) -> Verdict:
    empty = HeapTimer(tick_ms=_TICK_MS, start_ms=0, contract=KAFKA)
    return check_history(TimerModel(empty), [event for part in parts for event in part]).verdict


def _sequential(draws: random.Random) -> list[_Events]:
    """Return what a list of due times does with random calls, one after the other."""
    due: dict[str, int] = {}
    now_ms = 0
    calls: list[_Events] = []
    for _ in range(draws.randint(1, 12)):
        task = draws.choice("xyz")
        match draws.choice(("add", "add", "cancel", "size", "advance")):
            case "add":
                delay_ms = draws.randrange(50)
                due[task] = (now_ms + delay_ms) // _TICK_MS * _TICK_MS
                calls.append(_call(_add(task, delay_ms)))
            case "cancel":
                calls.append(_cancel(task, due.pop(task, None) is not None))
            case "size":
                calls.append(_call(Size(), len(due)))
            case _:
                now_ms += draws.randrange(30)
                ran = [one for one in sorted(due, key=due.__getitem__) if due[one] <= now_ms]
                for one in ran:
                    del due[one]
                calls.append(_advance(now_ms, "".join(ran)))
    return calls


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(200))
def test_calls_that_do_not_overlap_are_answered_as_by_a_list_of_due_times(seed: int) -> None:
    assert _verdict(*_sequential(random.Random(seeds.seed(0) + seed))) is Verdict.PASS


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100))
def test_one_wrong_answer_is_enough(seed: int) -> None:
    draws = random.Random(seeds.seed(0) + seed)
    calls = [*_sequential(draws), _call(Size(), 0)]
    waiting = sum(1 for task in "xyz" if _verdict(*calls[:-1], _cancel(task, True)) is _PASS)
    for size in range(5):
        expected = _PASS if size == waiting else Verdict.FAIL
        assert _verdict(*calls[:-1], _call(Size(), size)) is expected
    for task in "xyz":
        answers = [_verdict(*calls[:-1], _cancel(task, answer)) for answer in (True, False)]
        assert sorted(answers) == sorted([_PASS, Verdict.FAIL])


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        # Never early, never twice, never after a cancel that said yes, never left behind.
        ([_call(_add("x", 20)), _advance(19, "x")], Verdict.FAIL),
        ([_call(_add("x", 20)), _advance(20, "x"), _advance(30, "x")], Verdict.FAIL),
        ([_call(_add("x", 20)), _cancel("x", True), _advance(20, "x")], Verdict.FAIL),
        ([_call(_add("x", 20)), _advance(20)], Verdict.FAIL),
        ([_call(_add("x", 20)), _advance(19)], Verdict.PASS),
        ([_call(_add("x", 20)), _call(_add("x", 40)), _advance(20)], Verdict.PASS),
    ],
)
def test_what_a_timer_promises(parts: list[_Events], verdict: Verdict) -> None:
    assert _verdict(*parts) is verdict


def test_an_advance_owes_only_what_was_added_before_it_began() -> None:
    adding = Invoked("a", _add("x", 0))
    added = Returned("a", None)
    assert _verdict([adding], _advance(5, process="b"), [added]) is Verdict.PASS
    assert _verdict([adding, added], _advance(5, process="b")) is Verdict.FAIL


def test_a_cancel_during_an_add_may_leave_an_entry_behind() -> None:
    """It is counted until an advance clears it (standard 1.11)."""
    overlapping: _Events = [
        Invoked("a", _add("x", 10)),
        *_cancel("x", True, "b"),
        Returned("a", None),
    ]
    for size in (0, 1):
        assert _verdict(overlapping, _call(Size(), size)) is Verdict.PASS
    assert _verdict(overlapping, _call(Size(), 2)) is Verdict.FAIL
    assert _verdict(overlapping, _call(Size(), 1), _call(Size(), 0)) is Verdict.FAIL
    cleared = [overlapping, _call(Size(), 1), _advance(10)]
    assert _verdict(*cleared, _call(Size(), 0)) is Verdict.PASS
    # It was due, so that advance has cleared it.
    assert _verdict(*cleared, _call(Size(), 1)) is Verdict.FAIL


def test_during_an_advance_one_entry_may_be_on_its_way() -> None:
    begin, end = _advance(10)
    waiting = [*_call(_add("x", 30)), *_call(_add("y", 30))]
    assert _verdict(waiting, [begin], _call(Size(), 1, "b"), [end]) is Verdict.PASS
    assert _verdict(waiting, [begin], _call(Size(), 0, "b"), [end]) is Verdict.FAIL
    assert _verdict(waiting, [begin, end], _call(Size(), 1)) is Verdict.FAIL
