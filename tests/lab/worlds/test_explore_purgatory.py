"""Everything concurrent in the purgatory passes, and each known bug of it is found."""

import pytest

from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.program import Program
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.bugs.known_bug import Finder
from wheelproof_lab.bugs.purgatory import BUGS
from wheelproof_lab.worlds.purgatory import FAILING, PROGRAMS
from wheelproof_lab.worlds.purgatory.on_timer import LEFT_IN_TIMER
from wheelproof_lab.worlds.purgatory.users import EXCLUSIVE_EXPIRY, USER_DEADLOCKS

pytestmark = pytest.mark.slow

_SLOW = {
    "complete-pending-flag-one-of-3",
    "purgatory-appends-leaders",
    "purgatory-group-expiry",
    "purgatory-group-expiry-blocking",
    "purgatory-group-triggers",
    "purgatory-purge-counts",
    "purgatory-watch-trigger-purge",
}
_BUGS = {
    program.name.removeprefix("bug/"): program
    for program in FAILING
    if program.name.startswith("bug/")
}
_DEADLOCKS = {
    "KAFKA-2253/list-then-map",
    "KAFKA-3994",
    "KAFKA-5970",
    "KAFKA-6042",
    "KAFKA-7697",
    "KAFKA-8334/first-fix",
}


@pytest.mark.repeats("op-safe", "pu-some-keys", "pu-second-test", "pu-remove-same")
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.slow] if one.name in _SLOW else [])
        for one in PROGRAMS
    ],
)
def test_the_reference_passes(program: Program) -> None:
    found = explore(program)
    assert found.verdict() is Verdict.PASS, found.details()
    assert found.classes > 1


@pytest.mark.repeats(
    "pu-no-exclusive-lock",
    "pu-recount",
    "k-385",
    "k-2160",
    "k-2253",
    "k-3994",
    "k-5970",
    "k-6042",
    "k-6653",
    "k-7697",
    "k-8334",
    "k-19312",
)
@pytest.mark.parametrize("bug", _BUGS)
def test_a_known_bug_is_found(bug: str) -> None:
    found = explore(_BUGS[bug])
    assert found.verdict() is Verdict.FAIL
    assert found.counterexample is not None
    deadlocks = found.counterexample.failure.kind is FailureKind.DEADLOCK
    assert deadlocks == (bug in _DEADLOCKS)


@pytest.mark.repeats("op-lock-shared")
def test_an_expiry_that_takes_the_lock_can_wait_for_a_group() -> None:
    found = explore(EXCLUSIVE_EXPIRY)
    assert found.counterexample is not None
    assert found.counterexample.failure.kind is FailureKind.DEADLOCK


@pytest.mark.parametrize("program", USER_DEADLOCKS, ids=lambda program: program.name)
def test_callbacks_that_may_not_act_on_each_other_deadlock(program: Program) -> None:
    found = explore(program)
    assert found.counterexample is not None
    assert found.counterexample.failure.kind is FailureKind.DEADLOCK


@pytest.mark.repeats("pu-timer-tail")
def test_a_completion_can_leave_a_time_out_between_two_levels() -> None:
    """So that the judge has it in its histories, on the timer that the purgatory is used with."""
    found = explore(LEFT_IN_TIMER)
    assert found.counterexample is not None
    assert "1 time-outs of operations that are done" in found.counterexample.failure.message


def test_every_concurrency_bug_of_the_purgatory_has_a_program() -> None:
    named = {bug.id for bug in BUGS if Finder.EXPLORE in bug.finders}
    assert set(_BUGS) == named
