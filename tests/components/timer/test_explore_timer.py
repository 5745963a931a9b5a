"""Everything concurrent in the timer passes, and each known bug of it is found."""

import pytest

from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.bugs import (
    BUGS,
)
from wheelproof_spec.components.timer.programs import BUG_PROGRAMS
from wheelproof_spec.components.timer.programs.entry_migration import ENTRY_MIGRATION
from wheelproof_spec.components.timer.programs.system_timer import SYSTEM_TIMER
from wheelproof_spec.components.timer.programs.world import TIMER_WORLD
from wheelproof_spec.engines.explore.explorer import explore
from wheelproof_spec.engines.explore.failures.failure import FailureKind
from wheelproof_spec.engines.explore.program import Program

_BUGS = {program.name.removeprefix("bug/"): program for program in BUG_PROGRAMS}
_NEEDS_ONE_THREAD = {"one-bucket"}


@pytest.mark.repeats("wheel-one-overflow", "list-retry")
@pytest.mark.parametrize(
    "program", [*ENTRY_MIGRATION, *SYSTEM_TIMER, *TIMER_WORLD], ids=lambda program: program.name
)
def test_the_reference_passes(program: Program) -> None:
    found = explore(program)
    assert found.verdict() is Verdict.PASS, found.details()
    # A close that waits for the pass leaves one order; it is a defect that brings in others.
    assert found.classes > 1 or program.name == "timer-reaper-pass"


@pytest.mark.repeats("wheel-volatile", "k-2112", "k-2226")
@pytest.mark.parametrize("bug", _BUGS)
def test_a_known_bug_is_found(bug: str) -> None:
    found = explore(_BUGS[bug])
    assert found.verdict() is Verdict.FAIL
    assert found.counterexample is not None
    never_ends = found.counterexample.failure.kind is FailureKind.NEVER_ENDS
    assert never_ends == (bug == "advance-after-flush")
    assert len(found.counterexample.deviations) <= 2


def test_every_concurrency_bug_of_the_timer_has_a_program() -> None:
    timer = {bug.id for bug in BUGS}
    assert set(_BUGS) == timer - _NEEDS_ONE_THREAD
