"""The state machine of a timer: right timers pass, wrong ones and known bugs fail."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from support import seeds
from support.contract_tests import NOT_SMALLER, failure, machine_of, steps
from support.reference.heap_timer import UpTimer
from support.reference.python_timer import ReferenceTimer
from support.testing import wrong_timers as wrong
from support.testing.meeting import run_in_order
from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.timer import BUGS
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime, StepLimit
from wheelproof_spec.testing import MakeTimer, TimerClause, TimerLimit, TimerMachine


@pytest.mark.campaign
class TestReference(TimerMachine):
    make = ReferenceTimer
    seed = seeds.seed(TimerMachine.seed)


@pytest.mark.campaign
class TestUpTimer(TimerMachine):
    """A dictionary under a lock, which rounds up."""

    make = UpTimer
    profile = "never-early"
    seed = seeds.seed(TimerMachine.seed)


@pytest.mark.parametrize(
    ("timer", "clause"),
    [
        (wrong.Early, TimerClause.NEVER_BEFORE_DUE),
        (wrong.RunsTwice, TimerClause.RUNS_AT_MOST_ONCE),
        (wrong.LeavesOneBehind, TimerClause.NOTHING_LEFT_BEHIND),
        (wrong.LosesOverdue, TimerClause.NOTHING_LEFT_BEHIND),
        (wrong.Backwards, TimerClause.RUNS_IN_ORDER),
        (wrong.CancelLies, TimerClause.CANCEL_TELLS_THE_TRUTH),
        (wrong.CountsCancelled, TimerClause.SIZE_COUNTS_WAITING),
        (wrong.LosesUpdates, TimerClause.SIZE_COUNTS_WAITING),
    ],
)
def test_a_wrong_timer_fails_by_its_clause(timer: MakeTimer, clause: TimerClause) -> None:
    error = failure(machine_of(TimerMachine, timer, profile="never-early", settings=NOT_SMALLER))
    assert error.violation.rule == clause
    assert steps(error)[0].startswith("state.new_timer("), "shown as code"


class _InOrder(TimerMachine):
    """The threads of a burst run in the order of `support.testing.meeting`."""

    profile = "never-early"

    def run_burst(self, programs: Sequence[Sequence[Callable[[], object]]], of: str) -> object:
        return run_in_order(programs, of)


def test_a_task_that_runs_though_it_was_cancelled_is_found_by_a_race() -> None:
    error = failure(machine_of(_InOrder, wrong.RunsTheCancelled, settings=NOT_SMALLER))
    assert error.violation.rule == TimerClause.RUNS_AT_MOST_ONCE


def test_a_right_timer_passes_however_late_it_takes_a_task_in() -> None:
    machine_of(_InOrder, wrong.ReadsTheClockFirst).test_it_keeps_its_contract()


class _Bounded(ReferenceTimer):
    """A call that makes more steps than any call could need raises: it would not end."""

    def __init__(
        self, tick_ms: int, wheel_size: int, start_ms: int, run: Callable[[str], None]
    ) -> None:
        self._limit = StepLimit(20_000)
        with use_runtime(InstrumentedRuntime(ThreadsRuntime(), self._limit)):
            super().__init__(tick_ms, wheel_size, start_ms, run)

    def add(self, task: str, delay_ms: int) -> None:
        self._limit.restart()
        super().add(task, delay_ms)

    def advance(self, to_ms: int) -> None:
        self._limit.restart()
        super().advance(to_ms)


_FOUND: Mapping[str, str] = {
    "KAFKA-2226/no-cancelled-test": TimerClause.CANCEL_TELLS_THE_TRUTH,
    "advance-after-flush": "Timer.NoCallFails",
    "test-then-submit": TimerClause.CANCEL_TELLS_THE_TRUTH,
    "one-bucket": "Timer.NoCallFails",
}
"""All known bugs of a timer that one thread can meet, and what shows each of them."""


@pytest.mark.parametrize("bug", _FOUND)
def test_a_known_bug_is_found_by_one_call_after_the_other(bug: str) -> None:
    made = type("Buggy", (_Bounded,), {"timer_class": find_bug(BUGS, bug).timer_class})
    error = failure(machine_of(TimerMachine, made, settings=NOT_SMALLER))
    assert error.violation.rule == _FOUND[bug]
    assert not any(step.startswith(("state.together(", "state.race(")) for step in steps(error))


def test_a_wheel_of_one_bucket_may_be_a_known_limit() -> None:
    made = type("Buggy", (_Bounded,), {"timer_class": find_bug(BUGS, "one-bucket").timer_class})
    known = machine_of(TimerMachine, made, skip=(TimerLimit.ONE_BUCKET,))
    known.test_it_keeps_its_contract()
