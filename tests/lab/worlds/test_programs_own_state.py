"""Programs have no shared state of their own that the model checker does not see.

The orders of two accesses that are no steps are not explored: a clock in a plain field, which one
thread moved and another one read, hid a fifth of the classes of a program, and a failure in them.
"""

import importlib
import pkgutil
import re
from dataclasses import replace
from functools import partial

import pytest

from support import seeds
from wheelproof.producer import RecordAccumulator
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab import worlds
from wheelproof_lab.worlds.accumulator.bench import AccumulatorBench
from wheelproof_lab.worlds.all_programs import PAIRS, PASSING
from wheelproof_spec import components
from wheelproof_spec.components.registry import COMPONENTS

pytestmark = pytest.mark.long

_RUNS = seeds.runs(4, hunted=40)
_HARMLESS = {
    r"list is ": "what happened is collected in it, and read when all threads have ended",
    r"AccumulatorBench\._flushing is ": "how many have begun counts when all threads have ended",
    r"PurgatoryWorld\._shut is written .* written ": "both threads write the same",
    r"Broker\._asked is ": "it makes the names of requests, which are all different",
}
"""Accesses that no step of a thread depends on, and why; what is accessed, as the message says."""
_PROGRAMS = [
    program for component in COMPONENTS for program in (*PASSING[component], *PAIRS[component])
]


for _package in (components, worlds):
    for _module in pkgutil.walk_packages(_package.__path__, f"{_package.__name__}."):
        # What is seen is what is imported: all of it, whatever other tests have imported.
        importlib.import_module(_module.name)


def _race_in(program: Program) -> str | None:
    seeing = replace(program, instrument=(components.__name__, worlds.__name__))
    options = Options(engine=Engine.SAMPLE, seed=seeds.seed(1), max_runs=_RUNS, shrink=False)
    found = explore(seeing, options).counterexample
    if found is None or found.failure.kind is not FailureKind.DATA_RACE:
        return None
    return found.failure.message


@pytest.mark.campaign
@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda program: program.name)
def test_a_program_shares_only_what_the_model_checker_sees(program: Program) -> None:
    race = _race_in(program)
    assert race is None or any(re.match(known, race) for known in _HARMLESS), race


def _moved_by_a_thread() -> Scenario:
    bench = AccumulatorBench(RecordAccumulator, batches=1)
    return Scenario(threads={"move": bench.send_later, "append": partial(bench.append, "a")})


def test_a_plain_clock_that_a_thread_moves_is_seen() -> None:
    race = _race_in(Program(name="moved", summary="", build=_moved_by_a_thread))
    assert race is not None
    assert race.startswith("StandingClock.now_ms is ")
