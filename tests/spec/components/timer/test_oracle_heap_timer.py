"""The oracle's heap timer and the contract profiles: what each one allows, exactly."""

import pytest

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
from wheelproof_spec.components.timer.oracle import HeapTimer

_LATE_IN_ANY_ORDER = TimerContract(
    name="late-in-any-order", rounding=Rounding.DOWN, lateness_ms=5, order=FiringOrder.ANY
)


def _timer(
    contract: TimerContract = KAFKA, *, tick_ms: int = 1, start_ms: int = 0
) -> HeapTimer[str]:
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
            order=FiringOrder.BY_TICK,
            truncates=True,
        )
        == KAFKA
    )
    assert (
        TimerContract(
            name="never-early", rounding=Rounding.UP, lateness_ms=0, order=FiringOrder.BY_TICK
        )
        == NEVER_EARLY
    )


def test_a_task_waits_until_it_is_observed_to_run() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("b", 7)
    assert (timer.size(), timer.waiting(), timer.latest_due_ms()) == (2, frozenset({"a", "b"}), 7)
    timer.advance_to(5)
    assert timer.size() == 2
    assert timer.observe(["a"], advanced=True) is None
    assert (timer.size(), timer.waiting(), timer.latest_due_ms()) == (1, frozenset({"b"}), 7)


def test_an_empty_timer_waits_for_nothing() -> None:
    timer = _timer(start_ms=12)
    assert (timer.size(), timer.waiting(), timer.latest_due_ms()) == (0, frozenset(), None)
    assert timer.now_ms == 12
    assert timer.observe([], advanced=True) is None


def test_the_clock_never_goes_back() -> None:
    timer = _timer(start_ms=12)
    timer.advance_to(5)
    assert timer.now_ms == 12
    timer.advance_to(20)
    assert timer.now_ms == 20


def test_cancel_tells_whether_the_task_was_waiting() -> None:
    timer = _timer()
    assert not timer.cancel("a")
    timer.add("a", 5)
    assert timer.cancel("a")
    assert not timer.cancel("a")
    timer.advance_to(5)
    assert timer.observe([], advanced=True) is None


def test_a_later_add_makes_the_earlier_one_void() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("a", 10)
    assert timer.size() == 1
    timer.advance_to(5)
    assert timer.observe([], advanced=True) is None
    timer.advance_to(10)
    assert timer.observe(["a"], advanced=True) is None


def test_a_task_due_already_may_run_with_its_add_or_with_the_next_advance() -> None:
    at_once, later = _timer(), _timer()
    for timer in (at_once, later):
        timer.add("a", 0)
    assert at_once.observe(["a"], advanced=False) is None
    assert later.observe([], advanced=False) is None
    assert later.observe(["a"], advanced=True) is None


@pytest.mark.parametrize("fired", [["a", "b"], ["b", "a"]])
def test_tasks_of_one_tick_run_in_any_order(fired: list[str]) -> None:
    timer = _timer(tick_ms=10)
    timer.add("a", 21)
    timer.add("b", 29)
    timer.advance_to(20)
    assert timer.observe(fired, advanced=True) is None


def test_runs_at_most_once_per_add_is_broken_by_a_second_run() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("b", 6)
    timer.advance_to(5)
    assert timer.observe(["a", "a"], advanced=True) == Violation(
        rule="Timer.RunsAtMostOncePerAdd",
        expected="only waiting tasks run: 'b'",
        observed="'a' ran",
        reason="'a' has run already, was cancelled, or was never added",
    )


@pytest.mark.parametrize("cancelled", [True, False])
def test_runs_at_most_once_per_add_is_broken_by_a_cancelled_or_unknown_task(
    cancelled: bool,
) -> None:
    timer = _timer()
    if cancelled:
        timer.add("a", 0)
        timer.cancel("a")
    violation = timer.observe(["a"], advanced=False)
    assert violation is not None
    assert violation.rule == "Timer.RunsAtMostOncePerAdd"
    assert violation.expected == "only waiting tasks run: none"


def test_never_before_it_is_due_is_broken_by_an_early_run() -> None:
    timer = _timer(NEVER_EARLY, tick_ms=10)
    timer.add("a", 29)
    timer.advance_to(29)
    assert timer.observe(["a"], advanced=True) == Violation(
        rule="Timer.NeverBeforeItIsDue",
        expected="'a' runs at 30 ms or later",
        observed="'a' ran at 29 ms",
        reason="'a' ran 1 ms before it was due",
    )


def test_runs_in_order_of_due_time_is_broken_by_the_later_task_first() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("b", 6)
    timer.advance_to(6)
    assert timer.observe(["b", "a"], advanced=True) == Violation(
        rule="Timer.RunsInOrderOfDueTime",
        expected="'a', due at 5 ms, runs before what is due later",
        observed="it ran after a task that was due at 6 ms",
        reason="one advance submits by due time",
    )


def test_any_order_is_allowed_where_the_contract_leaves_it_open() -> None:
    timer = _timer(_LATE_IN_ANY_ORDER)
    timer.add("a", 5)
    timer.add("b", 6)
    timer.advance_to(6)
    assert timer.observe(["b", "a"], advanced=True) is None


def test_nothing_due_is_left_behind_is_broken_by_a_late_task() -> None:
    timer = _timer()
    timer.add("a", 5)
    timer.add("b", 3)
    timer.advance_to(7)
    assert timer.observe(["b"], advanced=True) == Violation(
        rule="Timer.NothingDueIsLeftBehind",
        expected="'a', due at 5 ms, has run when the advance to 7 ms returns",
        observed="ran: 'b'",
        reason="'a' has been due for 2 ms and still waits",
    )


def test_nothing_is_owed_before_an_advance_has_returned() -> None:
    timer = _timer()
    timer.add("a", 0)
    assert timer.observe([], advanced=False) is None


@pytest.mark.parametrize(("time_ms", "late"), [(9, False), (10, True)])
def test_a_task_may_be_as_late_as_the_contract_says(time_ms: int, late: bool) -> None:
    timer = _timer(_LATE_IN_ANY_ORDER)
    timer.add("a", 5)
    timer.advance_to(time_ms)
    violation = timer.observe([], advanced=True)
    assert (violation is not None) is late


def test_a_violation_names_no_more_than_a_few_tasks() -> None:
    timer = _timer()
    for number in range(20):
        timer.add(f"t{number}", 5)
    violation = timer.observe(["ghost"], advanced=False)
    assert violation is not None
    assert violation.expected.endswith("'t7', and 12 more")


def test_entries_of_cancelled_and_repeated_adds_are_overlooked() -> None:
    timer = _timer()
    for delay_ms in (1, 2, 3):
        timer.add("a", delay_ms)
    timer.add("b", 1)
    timer.cancel("b")
    timer.advance_to(2)
    assert timer.observe([], advanced=True) is None
    timer.advance_to(3)
    violation = timer.observe([], advanced=True)
    assert violation is not None
    assert violation.reason == "'a' has been due for 0 ms and still waits"
