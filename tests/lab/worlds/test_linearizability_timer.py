"""The timer's public operations: as the oracle says, and what overlap allows beyond that."""

import random

import pytest

from support import seeds
from wheelproof_lab.worlds.timer.linearizability import (
    Add,
    Advance,
    Cancel,
    Fire,
    Size,
    TimerModel,
    TimerOperation,
    TimerResult,
)
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.oracle import HeapTimer
from wheelproof_spec.history.linearizability.calls import Event, Invoked, Returned
from wheelproof_spec.history.linearizability.check import check_history

_Events = list[Event[TimerOperation, TimerResult]]
_TICK_MS = 10
_PASS = Verdict.PASS


def _call(operation: TimerOperation, result: TimerResult = None, process: str = "a") -> _Events:
    return [Invoked(process, operation), Returned(process, result)]


def _verdict(*parts: _Events) -> Verdict:
    return check_history(TimerModel(), [event for part in parts for event in part]).verdict


def _sequential(draws: random.Random) -> list[_Events]:
    """Return what the oracle's timer does with random calls, one after the other."""
    timer: HeapTimer[str] = HeapTimer(tick_ms=_TICK_MS, start_ms=0, contract=KAFKA)
    due: dict[str, int] = {}
    calls: list[_Events] = []
    for _ in range(draws.randint(1, 12)):
        task = draws.choice("xyz")
        match draws.choice(("add", "add", "cancel", "size", "advance")):
            case "add":
                delay_ms = draws.randrange(50)
                timer.add(task, delay_ms)
                due[task] = KAFKA.due_ms(timer.now_ms + delay_ms, _TICK_MS)
                calls.append(_call(Add(task, due[task])))
            case "cancel":
                calls.append(_call(Cancel(task), timer.cancel(task)))
            case "size":
                calls.append(_call(Size(), timer.size()))
            case _:
                timer.advance_to(timer.now_ms + draws.randrange(30))
                now_ms = timer.now_ms
                fired = sorted(one for one in timer.waiting() if due[one] <= now_ms)
                fired.sort(key=lambda one: due[one])
                assert timer.observe(fired, advanced=True) is None
                inner = [_call(Fire(one, now_ms), process=f"timer {one}") for one in fired]
                begin, end = _call(Advance(now_ms))
                calls.append([begin, *(event for one in inner for event in one), end])
    return calls


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(200))
def test_calls_that_do_not_overlap_are_answered_as_by_the_oracle(seed: int) -> None:
    assert _verdict(*_sequential(random.Random(seeds.seed(0) + seed))) is Verdict.PASS


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100))
def test_one_wrong_answer_is_enough(seed: int) -> None:
    draws = random.Random(seeds.seed(0) + seed)
    calls = [*_sequential(draws), _call(Size(), 0)]
    waiting = sum(1 for task in "xyz" if _verdict(*calls[:-1], _call(Cancel(task), True)) is _PASS)
    for size in range(5):
        expected = _PASS if size == waiting else Verdict.FAIL
        assert _verdict(*calls[:-1], _call(Size(), size)) is expected
    for task in "xyz":
        answers = [_verdict(*calls[:-1], _call(Cancel(task), answer)) for answer in (True, False)]
        assert sorted(answers) == sorted([_PASS, Verdict.FAIL])


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        # Never early, never twice, never after a cancel that said yes, never left behind.
        ([_call(Add("x", 20)), _call(Fire("x", 19))], Verdict.FAIL),
        ([_call(Add("x", 20)), _call(Fire("x", 20)), _call(Fire("x", 30))], Verdict.FAIL),
        ([_call(Add("x", 20)), _call(Cancel("x"), True), _call(Fire("x", 20))], Verdict.FAIL),
        ([_call(Add("x", 20)), _call(Advance(20))], Verdict.FAIL),
        ([_call(Add("x", 20)), _call(Advance(19))], Verdict.PASS),
        ([_call(Add("x", 20)), _call(Add("x", 40)), _call(Advance(20))], Verdict.PASS),
    ],
)
def test_what_a_timer_promises(parts: list[_Events], verdict: Verdict) -> None:
    assert _verdict(*parts) is verdict


def test_an_advance_owes_only_what_was_added_before_it_began() -> None:
    adding = Invoked("a", Add("x", 0))
    added = Returned("a", None)
    assert _verdict([adding], _call(Advance(5), process="b"), [added]) is Verdict.PASS
    assert _verdict([adding, added], _call(Advance(5), process="b")) is Verdict.FAIL


def test_a_cancel_during_an_add_may_leave_an_entry_behind() -> None:
    """It is counted until an advance clears it (standard 1.11)."""
    overlapping: _Events = [
        Invoked("a", Add("x", 10)),
        *_call(Cancel("x"), True, "b"),
        Returned("a", None),
    ]
    for size in (0, 1):
        assert _verdict(overlapping, _call(Size(), size)) is Verdict.PASS
    assert _verdict(overlapping, _call(Size(), 2)) is Verdict.FAIL
    assert _verdict(overlapping, _call(Size(), 1), _call(Size(), 0)) is Verdict.FAIL
    cleared = [overlapping, _call(Size(), 1), _call(Advance(10))]
    assert _verdict(*cleared, _call(Size(), 0)) is Verdict.PASS


def test_during_an_advance_one_entry_may_be_on_its_way() -> None:
    begin, end = _call(Advance(10))
    waiting = [*_call(Add("x", 30)), *_call(Add("y", 30))]
    assert _verdict(waiting, [begin], _call(Size(), 1, "b"), [end]) is Verdict.PASS
    assert _verdict(waiting, [begin], _call(Size(), 0, "b"), [end]) is Verdict.FAIL
    assert _verdict(waiting, [begin, end], _call(Size(), 1)) is Verdict.FAIL
