"""Everything concurrent in the producer's memory passes, and each known bug of it is found."""

import pytest

from wheelproof_explore.explorer import explore
from wheelproof_explore.program import Program
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.bugs.accumulator import (
    BUGS as ACCUMULATOR_BUGS,
)
from wheelproof_lab.bugs.buffer_pool import (
    BUGS as BUFFER_POOL_BUGS,
)
from wheelproof_lab.bugs.known_bug import (
    Finder,
)
from wheelproof_lab.worlds.accumulator.programs import FAILING as ACCUMULATOR_FAILING
from wheelproof_lab.worlds.accumulator.programs import PROGRAMS as ACCUMULATOR
from wheelproof_lab.worlds.buffer_pool.programs import FAILING as POOL_FAILING
from wheelproof_lab.worlds.buffer_pool.programs import PROGRAMS as BUFFER_POOL

pytestmark = pytest.mark.slow

_FAILING = (*POOL_FAILING, *ACCUMULATOR_FAILING)
_MANY_CLASSES = {
    "accumulator-two-appends-abort-without-close",
    "accumulator-two-partitions-abort",
}


def _programs() -> list[object]:
    return [
        pytest.param(
            program,
            id=program.name,
            marks=[pytest.mark.long] if program.name in _MANY_CLASSES else [],
        )
        for program in (*BUFFER_POOL, *ACCUMULATOR)
    ]


@pytest.mark.repeats(
    "ac-try-again",
    "ac-unused-buffer",
    "ac-flush-waits",
    "ac-abort-loop",
    "ac-abort-unblocks",
    "pr-flush-post",
    "pr-flush-others",
    "pr-flush-interrupted",
)
@pytest.mark.parametrize("program", _programs())
def test_the_producer_of_the_reference_passes(program: Program) -> None:
    found = explore(program)
    assert found.verdict() is Verdict.PASS, found.details()
    assert found.classes > 1


@pytest.mark.repeats("k-3147", "k-3651", "k-3655", "k-4840", "k-9312")
@pytest.mark.parametrize("program", _FAILING, ids=lambda program: program.name)
def test_a_known_bug_of_the_producer_is_found(program: Program) -> None:
    found = explore(program)
    assert found.verdict() is Verdict.FAIL
    assert found.counterexample is not None


def test_every_concurrency_bug_of_the_producer_has_a_program() -> None:
    bugs = (*BUFFER_POOL_BUGS, *ACCUMULATOR_BUGS)
    found = {program.name.removeprefix("bug/") for program in _FAILING}
    assert found == {bug.id for bug in bugs if Finder.EXPLORE in bug.finders}
