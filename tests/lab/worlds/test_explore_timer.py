"""Everything concurrent in the timer passes, and each known bug of it is found."""

from functools import partial

import pytest

from wheelproof.timer import SystemTimerReaper, Timer
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.program import Action, Program
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.bugs.timer import (
    BUGS,
)
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.timer import BUG_PROGRAMS
from wheelproof_lab.worlds.timer.entry_migration import ENTRY_MIGRATION
from wheelproof_lab.worlds.timer.system_timer import SYSTEM_TIMER
from wheelproof_lab.worlds.timer.world import TIMER_WORLD, closed_in_a_pass

pytestmark = pytest.mark.slow

_BUGS = {program.name.removeprefix("bug/"): program for program in BUG_PROGRAMS}
_NEEDS_ONE_THREAD = {"one-bucket"}


@pytest.mark.repeats("wheel-one-overflow", "list-retry")
@pytest.mark.parametrize(
    "program", [*ENTRY_MIGRATION, *SYSTEM_TIMER, *TIMER_WORLD], ids=lambda program: program.name
)
def test_the_reference_passes(program: Program) -> None:
    found = explore(program)
    assert found.verdict() is Verdict.PASS, found.details()
    assert found.classes > 1


@pytest.mark.repeats("wheel-volatile", "k-2112", "k-2226")
@pytest.mark.parametrize("bug", _BUGS)
def test_a_known_bug_is_found(bug: str) -> None:
    found = explore(_BUGS[bug])
    assert found.verdict() is Verdict.FAIL
    assert found.counterexample is not None
    never_ends = found.counterexample.failure.kind is FailureKind.NEVER_ENDS
    assert never_ends == (bug == "advance-after-flush")
    assert len(found.counterexample.deviations) <= 2


def test_a_reaper_that_is_not_waited_for_is_found() -> None:
    def reaping(timer: Timer) -> Action:
        SystemTimerReaper("reaper", timer)
        return timer.close

    found = explore(program("no join", partial(closed_in_a_pass, reaping)))
    assert found.verdict() is Verdict.FAIL


def test_every_concurrency_bug_of_the_timer_has_a_program() -> None:
    timer = {bug.id for bug in BUGS}
    assert set(_BUGS) == timer - _NEEDS_ONE_THREAD
