"""The linearizability check: histories with verdicts, and a checker that tries everything."""

import random
from collections.abc import Hashable

import pytest

from support import seeds
from support.history.linearizability import (
    Give,
    Permits,
    PermitsInPlace,
    Take,
    is_linearizable,
    longest_prefix,
    random_history,
)
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.history.linearizability.calls import (
    Event,
    Failed,
    Invoked,
    Lost,
    Returned,
)
from wheelproof_spec.history.linearizability.check import (
    Judgement,
    MalformedHistoryError,
    check_history,
)
from wheelproof_spec.history.linearizability.models import (
    GetAndSet,
    Read,
    RegisterOperation,
    Registers,
    Write,
)

_History = list[Event[RegisterOperation, Hashable]]
_FIRST = seeds.seed(0)
_IN_A_TEST = 500
_ANSWERS: tuple[Hashable, ...] = (None, 0, 1, 2)
_PERMITS_LEFT: tuple[int | None, ...] = (None, 0, 1)
_TAKES_AND_GIVES: tuple[Take | Give, ...] = (Take(), Take(), Give())


def _history(text: str) -> _History:
    """Return the history that a line for each event says.

    "a w1" and "a r" invoke a write and a read, "a =1" and "a ok" return, "a fail" and "a lost".
    """
    events: _History = []
    for line in text.split(";"):
        process, what = line.split()
        match what[0], what[1:]:
            case "w", value:
                events.append(Invoked(process, Write(int(value))))
            case "r", _:
                events.append(Invoked(process, Read()))
            case "=", value:
                events.append(Returned(process, int(value)))
            case "o", _:
                events.append(Returned(process, None))
            case "f", _:
                events.append(Failed(process))
            case _:
                events.append(Lost(process))
    return events


def _judged(text: str) -> Judgement[RegisterOperation, Hashable]:
    return check_history(Registers(0), _history(text))


@pytest.mark.parametrize(
    "text",
    [
        "a r; a =0",
        "a w1; a ok; b r; b =1",
        # A read that overlaps a write answers either.
        "a w1; b r; b =0; a ok",
        "a w1; b r; b =1; a ok",
        # A write that nobody has seen return may have taken effect, or take it later, or never.
        "a w1; b r; b =1",
        "a w1; b r; b =0; b r; b =1",
        "a w1; a lost; b r; b =0; b r; b =1",
        "a w1; a lost; b r; b =0",
        "a w1; a lost; a w2; a ok; b r; b =2; b r; b =1",
        # One that failed has done nothing.
        "a w1; a fail; b r; b =0",
        # Three processes, of which two write at once.
        "a w1; b w2; c r; c =1; c r; c =2; a ok; b ok",
    ],
)
def test_linearizable_histories(text: str) -> None:
    judged = _judged(text)
    assert judged.verdict is Verdict.PASS
    assert judged.explanation is None


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("a r; a =1", 1),
        # Returned before the read was called, and yet not seen.
        ("a w1; a ok; b r; b =0", 3),
        # Once seen, it cannot be unseen: neither by another reader nor by the same.
        ("a w1; b r; b =1; c r; c =0; a ok", 4),
        ("a w1; a lost; b r; b =1; b r; b =0", 5),
        # Two readers see two writes in different orders.
        ("a w1; b w2; c r; c =1; c r; c =2; d r; d =1; a ok; b ok", 7),
        ("a w1; a fail; b r; b =1", 3),
    ],
)
def test_histories_that_are_not(text: str, prefix: int) -> None:
    judged = _judged(text)
    assert judged.verdict is Verdict.FAIL
    assert judged.explanation is not None
    assert judged.explanation.prefix == prefix


def test_the_explanation_has_the_longest_prefix_and_what_comes_next() -> None:
    found = _judged("a w1; a ok; b w2; c r; c =2; b ok; d r; d =1").explanation
    assert str(found) == (
        "the first 7 events of x are linearizable, for example as a: write(x, 1) = None, "
        "b: write(x, 2) = None, c: read(x) = 2, which gives 2; "
        "no order explains that then d: read(x) = 1"
    )


def test_a_linearization_is_given() -> None:
    (order,) = _judged("a w1; b r; c r; b =0; c =1; a ok").linearizations.values()
    assert [str(moment) for moment in order] == [
        "b: read(x) = 0",
        "a: write(x, 1) = None",
        "c: read(x) = 1",
    ]


def test_objects_are_judged_one_by_one() -> None:
    """Many overlapping calls, which together would have far too many orders."""
    events: _History = []
    for number in range(60):
        events.append(Invoked(f"p{number}", Write(number % 2, f"x{number % 20}")))
    events.extend(Returned(f"p{number}", None) for number in range(60))
    events += [Invoked("reader", Read("x7")), Returned("reader", 2)]
    judged = check_history(Registers(0), events)
    assert judged.explanation is not None
    assert judged.explanation.object == "x7"
    assert judged.configurations < 500


def test_the_memory_keeps_a_history_with_much_overlap_small() -> None:
    events: _History = [Invoked(f"p{number}", Write(0)) for number in range(12)]
    events += [Returned(f"p{number}", None) for number in range(12)]
    events += [Invoked("reader", Read()), Returned("reader", 1)]
    judged = check_history(Registers(0), events)
    assert judged.verdict is Verdict.FAIL
    assert judged.configurations <= 2**12 + 2


def test_a_bound_makes_it_inconclusive() -> None:
    events: _History = [Invoked(f"p{number}", Write(number)) for number in range(8)]
    events += [Returned(f"p{number}", None) for number in range(8)]
    events += [Invoked("reader", Read()), Returned("reader", -1)]
    assert check_history(Registers(0), events, max_configurations=5).verdict is (
        Verdict.INCONCLUSIVE
    )
    assert check_history(Registers(0), _history("a w1; a ok"), max_configurations=5).verdict is (
        Verdict.PASS
    )


def test_nothing_is_linearizable() -> None:
    empty: _History = []
    assert check_history(Registers(0), empty).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("text", "event", "problem"),
    [
        ("a ok", 0, "a has no call that could end"),
        ("a r; a r", 1, "a calls while its last call runs"),
        ("a r; a =0; a lost", 2, "a has no call that could end"),
    ],
)
def test_events_that_no_program_can_have_recorded(text: str, event: int, problem: str) -> None:
    with pytest.raises(MalformedHistoryError, match=f"event {event + 1} .*{problem}") as caught:
        _judged(text)
    assert caught.value.event == event
    assert caught.value.exit_code is ExitCode.INPUT_REJECTED


def _fair(*steps: str) -> Verdict:
    events: list[Event[Take | Give, int | None]] = []
    for step in steps:
        process, what = step.split()
        match what:
            case "take":
                events.append(Invoked(process, Take()))
            case "give":
                events.append(Invoked(process, Give()))
            case "ok":
                events.append(Returned(process, None))
            case _:
                events.append(Returned(process, int(what)))
    return check_history(Permits(), events).verdict


def test_an_operation_that_waits_has_its_place_in_the_line_from_its_request() -> None:
    served_in_turn = ("a take", "a 0", "b take", "c give", "c ok", "b 0", "c take")
    assert _fair(*served_in_turn) is Verdict.PASS
    # d asked before e did or after; that e was served first means that it asked first.
    overlapping = ("a take", "a 0", "d take", "e take", "c give", "c ok", "e 0")
    assert _fair(*overlapping) is Verdict.PASS
    # Two permits come back one by one: d goes second, so it cannot have asked first.
    assert _fair(*overlapping, "c give", "c ok", "d 0") is Verdict.PASS


def test_an_operation_that_waits_is_not_answered_out_of_thin_air() -> None:
    assert _fair("a take", "a 0", "b take", "b 0") is Verdict.FAIL
    assert _fair("a take", "a 0", "b take", "c give", "b 0") is Verdict.PASS


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(0, 2_000, _IN_A_TEST))
def test_random_histories_of_a_register_are_judged_as_by_trying_everything(first: int) -> None:
    operations: tuple[RegisterOperation, ...] = (Read(), Write(1), Write(2), GetAndSet(1))
    linearizable = 0
    for seed in range(first, first + _IN_A_TEST):
        events = random_history(random.Random(_FIRST + seed), operations, _ANSWERS, 4)
        judged = check_history(Registers(0), events)
        expected = is_linearizable(Registers(0), events)
        linearizable += expected
        assert (judged.verdict is Verdict.PASS) == expected, events
        if judged.explanation is not None:
            assert judged.explanation.prefix == longest_prefix(Registers(0), events), events
    assert 20 < linearizable < _IN_A_TEST - 20


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(0, 1_000, _IN_A_TEST))
def test_random_histories_of_those_who_wait_are_judged_as_by_trying_everything(first: int) -> None:
    linearizable = 0
    for seed in range(first, first + _IN_A_TEST):
        events = random_history(random.Random(_FIRST + seed), _TAKES_AND_GIVES, _PERMITS_LEFT, 3)
        expected = is_linearizable(Permits(), events)
        linearizable += expected
        judged = check_history(Permits(), events)
        assert (judged.verdict is Verdict.PASS) == expected, events
        if judged.explanation is not None:
            assert judged.explanation.prefix == longest_prefix(Permits(), events), events
        in_place = check_history(PermitsInPlace(), events)
        assert in_place.verdict is judged.verdict, events
        assert in_place.configurations == judged.configurations, events
    assert 20 < linearizable < _IN_A_TEST - 20


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(20))
def test_histories_of_two_registers_are_judged_as_a_whole(seed: int) -> None:
    draws = random.Random(_FIRST + seed)
    operations: tuple[RegisterOperation, ...] = (
        Write(1, "x"), Read("x"), Write(1, "y"), Read("y"),
    )  # fmt: skip
    for _ in range(50):
        events: _History = random_history(draws, operations, _ANSWERS, 4)
        parts = [
            [event for event in events if event.process in mine]
            for name in "xy"
            for mine in [_processes(events, name)]
        ]
        expected = all(is_linearizable(Registers(0), part) for part in parts)
        assert (check_history(Registers(0), events).verdict is Verdict.PASS) == expected


def _processes(events: _History, name: str) -> set[str]:
    return {
        event.process
        for event in events
        if isinstance(event, Invoked) and event.operation.name == name
    }
