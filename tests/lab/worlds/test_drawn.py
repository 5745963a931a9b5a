"""Programs that are drawn from a component's work: the reference passes, known bugs fall."""

import logging
from collections.abc import Iterator

import pytest

from support import seeds
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.bugs.accumulator import BUGS as BATCH_BUGS
from wheelproof_lab.bugs.buffer_pool import BUGS as POOL_BUGS
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.purgatory import BUGS as PURGATORY_BUGS
from wheelproof_lab.bugs.replication import BUGS as REPLICATION_BUGS
from wheelproof_lab.bugs.timer import BUGS as TIMER_BUGS
from wheelproof_lab.worlds import drawn
from wheelproof_lab.worlds.all_programs import find_program
from wheelproof_lab.worlds.drawn import DRAWN

_FIXED = 36
_SEED = seeds.seed(_FIXED)
_PROGRAMS = seeds.runs(4, hunted=40)
_RUNS = seeds.runs(10, hunted=200)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Do not print the errors of callbacks."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.campaign
@pytest.mark.parametrize("component", DRAWN)
def test_the_reference_passes_what_is_drawn(component: str) -> None:
    for number in range(_PROGRAMS):
        program = DRAWN[component](_SEED + number)
        found = explore(program, Options(engine=Engine.SAMPLE, seed=_SEED, max_runs=_RUNS))
        assert found.counterexample is None, found.details()


@pytest.mark.parametrize("component", DRAWN)
def test_the_name_of_a_program_draws_it_once_more(component: str) -> None:
    program = DRAWN[component](17)
    assert find_program(program.name).summary == program.summary
    assert DRAWN[component](18).summary != program.summary


@pytest.mark.parametrize(
    "faulty",
    [
        drawn.TIMER.program(0, find_bug(TIMER_BUGS, "KAFKA-2226/no-cancelled-test").timer_class),
        drawn.PURGATORY.program(1, find_bug(PURGATORY_BUGS, "KAFKA-2160").purgatory_class),
        drawn.REPLICATION.program(3, find_bug(REPLICATION_BUGS, "silent-append").manager_class),
        drawn.BUFFER_POOL.program(0, find_bug(POOL_BUGS, "KAFKA-4840/no-refund").pool_class),
        drawn.ACCUMULATOR.program(8, find_bug(BATCH_BUGS, "KAFKA-3147").accumulator_class),
    ],
    ids=list(DRAWN),
)
def test_what_is_drawn_shows_a_known_bug(faulty: Program) -> None:
    options = Options(engine=Engine.SAMPLE, seed=_FIXED, max_runs=200, shrink=False)
    assert explore(faulty, options).counterexample is not None


def test_a_small_program_passes_in_every_interleaving() -> None:
    found = explore(DRAWN["buffer_pool"](1))
    assert found.verdict() is Verdict.PASS, found.summary()
