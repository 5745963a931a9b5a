"""The same classes, the same traces and the same digest, whatever the threads run on."""

import gc
import threading
from functools import partial

import pytest

from support import seeds
from support.explore.exploring import make
from support.explore.random_programs import random_program
from wheelproof_explore.counterexamples.counterexample import run_of
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.problems import OptionRejectedError
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program
from wheelproof_explore.runs.execution import World
from wheelproof_explore.runtime.numbers import Actor
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.strategies.driver import analysed_runs
from wheelproof_explore.strategies.optimal import OptimalStrategy
from wheelproof_explore.substrates.substrate import SubstrateKind, open_substrate
from wheelproof_lab.worlds.all_programs import passing_programs
from wheelproof_lab.worlds.classics import last_zero, philosophers

_FIRST = seeds.seed(1_000)
_PROGRAMS = 30

_WITH_FREE_CHOICES = {"pool-failing", "pool-failing-after-a-wait", "pool-metric-fails"}


def _traces(program: Program, kind: SubstrateKind) -> list[tuple[object, ...]]:
    substrate = open_substrate(kind)
    try:
        return [
            (tuple(one.execution.actors), tuple(one.execution.accesses), one.execution.judge())
            for one in analysed_runs(World(program, substrate), OptimalStrategy())
        ]
    finally:
        substrate.close()


def _alive() -> int:
    gc.collect()
    return sum(type(one) in (World, ControlledRuntime) for one in gc.get_objects())


def test_nothing_of_an_exploration_is_kept() -> None:
    """What a suspended greenlet holds is out of the collector's reach: each one has to end."""
    before = _alive()
    explore(make(partial(last_zero, 2)))
    assert _alive() <= before


@pytest.mark.campaign
@pytest.mark.parametrize("number", range(_PROGRAMS))
def test_random_programs_make_the_same_steps(number: int) -> None:
    program = random_program(_FIRST + number)
    on_greenlets = _traces(program, SubstrateKind.GREENLET)
    assert _traces(program, SubstrateKind.THREADS) == on_greenlets


def test_no_thread_is_left() -> None:
    before = threading.active_count()
    found = explore(
        make(partial(philosophers, 3, ordered=False)),
        Options(substrate=SubstrateKind.THREADS, keep_going=True),
    )
    assert found.deadlocks == 1
    assert threading.active_count() == before


@pytest.mark.campaign
@pytest.mark.long
@pytest.mark.parametrize(
    "program", passing_programs()[:: seeds.runs(6, hunted=1)], ids=lambda program: program.name
)
def test_the_digest_depends_on_the_classes_alone(program: Program) -> None:
    optimal = explore(program)
    threads = explore(program, Options(substrate=SubstrateKind.THREADS))
    assert threads.digest == optimal.digest
    assert optimal.classes == optimal.runs == threads.classes
    two = explore(program, Options(jobs=2))
    assert (two.digest, two.classes, two.runs) == (optimal.digest, optimal.runs, optimal.runs)
    if program.name in _WITH_FREE_CHOICES:
        with pytest.raises(OptionRejectedError, match="takes no free choices"):
            explore(program, Options(engine=Engine.SOURCE))
        return
    source = explore(program, Options(engine=Engine.SOURCE))
    assert (source.digest, source.classes) == (optimal.digest, optimal.classes)


def test_other_classes_have_another_digest() -> None:
    assert (
        explore(make(partial(last_zero, 3))).digest != explore(make(partial(last_zero, 4))).digest
    )


def test_a_schedule_gives_the_same_table_on_both() -> None:
    program = make(partial(philosophers, 3, ordered=False))
    tables: list[str] = []
    for kind in SubstrateKind:
        substrate = open_substrate(kind)
        found = run_of(World(program, substrate), [Actor(0), Actor(1), Actor(2)])
        substrate.close()
        assert found is not None
        tables.append(found.table())
    assert tables[0] == tables[1]
