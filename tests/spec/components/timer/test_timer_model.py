"""The heap of due times and the contract profiles: what each one allows, exactly."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.contract import (
    EXACT,
    HASHED_WHEEL,
    KAFKA,
    NEVER_EARLY,
    FiringOrder,
    Rounding,
    TimerContract,
)
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import Add, TimerObservation
from wheelproof_spec.components.timer.model import HeapTimer

_LATE_IN_ANY_ORDER = TimerContract(
    name="late-in-any-order", rounding=Rounding.DOWN, lateness_ms=5, order=FiringOrder.ANY
)


def _timer(contract: TimerContract = KAFKA, *, tick_ms: int = 1, start_ms: int = 0) -> HeapTimer:
    return HeapTimer(tick_ms=tick_ms, start_ms=start_ms, contract=contract)


@pytest.mark.parametrize(
    ("contract", "tick_ms", "deadline_ms", "due_ms"),
    [
        (KAFKA, 1, 29, 29),
        (KAFKA, 10, 29, 20),
        (KAFKA, 10, 30, 30),
        (KAFKA, 10, -1, -10),
        (NEVER_EARLY, 1, 29, 29),
        (NEVER_EARLY, 10, 21, 30),
        (NEVER_EARLY, 10, 30, 30),
        (NEVER_EARLY, 10, -1, 0),
        (HASHED_WHEEL, 1, 29, 30),
        (HASHED_WHEEL, 10, 29, 30),
        (HASHED_WHEEL, 10, 30, 40),
        (EXACT, 10, 29, 29),
        (EXACT, 10, -1, -1),
    ],
)
def test_a_contract_says_when_a_deadline_is_due(
    contract: TimerContract, tick_ms: int, deadline_ms: int, due_ms: int
) -> None:
    assert contract.due_ms(deadline_ms, tick_ms) == due_ms


def test_the_profiles_are_what_they_promise() -> None:
    assert (
        TimerContract(
            name="kafka",
            rounding=Rounding.DOWN,
            lateness_ms=0,
            order=FiringOrder.BY_DUE_TIME,
            truncates=True,
        )
        == KAFKA
    )
    assert (
        TimerContract(
            name="never-early", rounding=Rounding.UP, lateness_ms=0, order=FiringOrder.BY_DUE_TIME
        )
        == NEVER_EARLY
    )


def test_a_task_waits_until_it_is_observed_to_run() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("b", 7)
    assert timer.due_times() == {"a": 5, "b": 7}
    timer.move_clock(5)
    assert timer.sizes() == range(2, 3)
    assert timer.submit("a") is None
    assert (timer.sizes(), timer.due_times()) == (range(1, 2), {"b": 7})


def test_an_empty_timer_waits_for_nothing() -> None:
    timer = _timer(start_ms=12)
    assert (timer.sizes(), timer.due_times(), timer.now_ms) == (range(1), {}, 12)
    assert timer.advance(12, ran=[]) is None


def test_the_clock_never_goes_back() -> None:
    timer = _timer(start_ms=12)
    timer.move_clock(5)
    assert timer.now_ms == 12
    timer.move_clock(20)
    assert timer.now_ms == 20


def test_cancel_tells_whether_the_task_was_waiting() -> None:
    timer = _timer()
    assert not timer.cancel("a")
    timer.add("a", 5)
    assert timer.cancel("a")
    assert not timer.cancel("a")
    assert timer.advance(5, ran=[]) is None


def test_a_later_add_makes_the_earlier_one_void() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("a", 10)
    assert timer.sizes() == range(1, 2)
    assert timer.advance(5, ran=[]) is None
    assert timer.advance(10, ran=["a"]) is None


def test_a_task_due_already_may_run_with_its_add_or_with_the_next_advance() -> None:
    add, advance = Add(task="a", delay_ms=0), Advance(to_ms=0)
    ran, nothing = TimerObservation(fired=("a",)), TimerObservation()
    at_once, later = _timer(), _timer()
    assert [at_once.judge(add, ran), at_once.judge(advance, nothing)] == [None, None]
    assert [later.judge(add, nothing), later.judge(advance, ran)] == [None, None]


@pytest.mark.parametrize("fired", [["a", "b"], ["b", "a"]])
def test_tasks_of_one_tick_run_in_any_order(fired: list[str]) -> None:
    timer = _timer(tick_ms=10)
    timer.add("a", 21)
    timer.add("b", 29)
    assert timer.advance(20, ran=fired) is None


def test_runs_at_most_once_per_add_is_broken_by_a_second_run() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("b", 6)
    assert timer.advance(5, ran=["a", "a"]) == Violation(
        rule="Timer.RunsAtMostOncePerAdd",
        expected="only waiting tasks run: 'b'",
        observed="'a' ran",
        reason="'a' ran, but had run already, was cancelled, or was never added",
    )


@pytest.mark.parametrize("cancelled", [True, False])
def test_runs_at_most_once_per_add_is_broken_by_a_cancelled_or_unknown_task(
    cancelled: bool,
) -> None:
    timer = _timer()
    if cancelled:
        timer.add("a", 0)
        timer.cancel("a")
    violation = timer.submit("a")
    assert violation is not None
    assert violation.rule == "Timer.RunsAtMostOncePerAdd"
    assert violation.expected == "only waiting tasks run: none"


def test_never_before_it_is_due_is_broken_by_an_early_run() -> None:
    timer = _timer(NEVER_EARLY, tick_ms=10)
    timer.add("a", 29)
    assert timer.advance(29, ran=["a"]) == Violation(
        rule="Timer.NeverBeforeItIsDue",
        expected="'a' runs at 30 ms or later",
        observed="'a' ran at 29 ms",
        reason="'a' ran 1 ms before it was due at 30 ms",
    )


def test_runs_in_order_of_due_time_is_broken_by_the_later_task_first() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("b", 6)
    assert timer.advance(6, ran=["b", "a"]) == Violation(
        rule="Timer.RunsInOrderOfDueTime",
        expected="'a', due at 5 ms, runs first",
        observed="'b', due at 6 ms, ran first",
        reason="'b', due at 6 ms, ran before 'a', due at 5 ms",
    )


def test_any_order_is_allowed_where_the_contract_leaves_it_open() -> None:
    timer = _timer(_LATE_IN_ANY_ORDER)
    timer.add("a", 5)
    timer.add("b", 6)
    assert timer.advance(6, ran=["b", "a"]) is None


def test_nothing_due_is_left_behind_is_broken_by_a_late_task() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("b", 3)
    assert timer.advance(7, ran=["b"]) == Violation(
        rule="Timer.NothingDueIsLeftBehind",
        expected="'a', due at 5 ms, has run when advance(7) returns",
        observed="ran: 'b'",
        reason="'a' was due at 5 ms; advance(7) returned without running it",
    )


def test_an_add_is_due_by_the_time_that_it_has_read() -> None:
    timer = _timer()
    timer.read_clock(1)
    timer.move_clock(3)
    assert timer.due_times() == {}
    timer.bind("a", 5, 1)
    assert timer.due_times() == {"a": 5}


@pytest.mark.parametrize("settled", [True, False])
def test_an_advance_owes_what_was_due_and_whose_add_had_returned(settled: bool) -> None:
    timer = _timer()
    timer.read_clock(1)
    timer.bind("a", 0, 1)
    if settled:
        timer.settle(1)
    timer.begin_advance(2)
    timer.settle(1)
    timer.add("b", 0)
    assert (timer.end_advance(2) is not None) is settled
    timer.begin_advance(3)
    assert timer.submit_all("ab") is None
    assert timer.end_advance(3) is None


def test_two_advances_owe_the_same_task() -> None:
    timer = _timer()
    timer.add("a", 0)
    timer.begin_advance(1)
    timer.begin_advance(2)
    ends = [timer.copy().end_advance(advance) for advance in (1, 2)]
    assert None not in ends
    assert timer.cancel("a")
    assert [timer.end_advance(advance) for advance in (1, 2)] == [None, None]


def test_an_entry_that_a_cancel_left_behind_is_counted_until_it_is_due() -> None:
    timer = _timer()
    timer.add("a", 20)
    timer.begin_advance(7)
    assert timer.cancel("a")
    assert timer.end_advance(7) is None
    assert timer.sizes() == range(2)
    counted, cleared = timer.copy(), timer.copy()
    # Either answer shows what is there.
    assert counted.judge_size(counted.sizes(), 1) is None
    assert counted.sizes() == range(1, 2)
    assert cleared.judge_size(cleared.sizes(), 0) is None
    assert cleared.sizes() == range(1)
    # Another advance may clear it early, and has to clear it when it is due.
    assert counted.advance(19, ran=[]) is None
    assert counted.sizes() == range(2)
    assert counted.advance(20, ran=[]) is None
    assert counted.sizes() == range(1)


def test_a_size_during_an_advance_may_lack_what_is_carried_and_what_is_due() -> None:
    timer = _timer()
    for task, delay_ms in (("a", 0), ("b", 9), ("c", 9)):
        timer.add(task, delay_ms)
    timer.begin_advance(1)
    assert timer.sizes() == range(1, 4)
    assert timer.submit("a") is None
    assert timer.end_advance(1) is None
    assert timer.sizes() == range(2, 3)


def test_a_copy_goes_its_own_way() -> None:
    timer = _timer()
    timer.add("a", 5)
    copy = timer.copy()
    assert copy.key() == timer.key()
    copy.add("b", 5)
    copy.cancel("a")
    assert (timer.due_times(), copy.due_times()) == ({"a": 5}, {"b": 5})
    assert copy.key() != timer.key()


def test_each_effect_of_calls_that_overlap_makes_another_state() -> None:
    timer = _timer()
    keys = [timer.key()]
    effects: Sequence[Callable[[], object]] = (
        partial(timer.read_clock, 1),
        partial(timer.bind, "a", 0, 1),
        partial(timer.settle, 1),
        partial(timer.begin_advance, 2),
        partial(timer.submit, "a"),
        partial(timer.end_advance, 2),
    )
    for effect in effects:
        effect()
        keys.append(timer.key())
    first, *others, last = keys
    assert first == last
    assert len({first, *others}) == 1 + len(others)


def test_an_advance_looks_up_none_of_the_tasks_that_are_due_much_later() -> None:
    looks = 0

    class Task(str):
        __slots__ = ()

        def __hash__(self) -> int:
            nonlocal looks
            looks += 1
            return super().__hash__()

    timer = _timer()
    for number in range(20_000):
        timer.add(Task(number), number)
    looks = 0
    for now_ms in range(100):
        assert timer.advance(now_ms, ran=[str(now_ms)]) is None
    assert looks < 2_000


def test_nothing_is_owed_before_an_advance_has_returned() -> None:
    timer = _timer()
    timer.add("a", 0)
    timer.begin_advance(1)
    assert timer.copy().end_advance(1) is not None
    assert timer.submit("a") is None
    assert timer.end_advance(1) is None


@pytest.mark.parametrize(("time_ms", "late"), [(9, False), (10, True)])
def test_a_task_may_be_as_late_as_the_contract_says(time_ms: int, late: bool) -> None:
    timer = _timer(_LATE_IN_ANY_ORDER)
    timer.add("a", 5)
    violation = timer.advance(time_ms, ran=[])
    assert (violation is not None) is late


def test_a_violation_names_no_more_than_a_few_tasks() -> None:
    timer = _timer()
    for number in range(20):
        timer.add(f"t{number}", 5)
    violation = timer.submit("ghost")
    assert violation is not None
    assert violation.expected.endswith("'t7', and 12 more")


def test_entries_of_cancelled_and_repeated_adds_are_overlooked() -> None:
    timer = _timer()
    for delay_ms in (1, 2, 3):
        timer.add("a", delay_ms)
    timer.add("b", 1)
    timer.cancel("b")
    assert timer.advance(2, ran=[]) is None
    violation = timer.advance(3, ran=[])
    assert violation is not None
    assert violation.reason == "'a' was due at 3 ms; advance(3) returned without running it"
