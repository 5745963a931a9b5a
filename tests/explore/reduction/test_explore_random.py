"""Random programs: the reductions run exactly the classes that brute force runs."""

import pytest

from support import seeds
from support.explore.exploring import classes
from support.explore.random_programs import random_program
from wheelproof_explore.strategies.brute import BruteStrategy
from wheelproof_explore.strategies.optimal import OptimalStrategy
from wheelproof_explore.strategies.source import SourceStrategy

_FIRST = seeds.seed(0)
_PROGRAMS = seeds.runs(200, hunted=1_500)
_IN_A_TEST = 100
_ENOUGH = 80
"""Of a hundred programs, how many must be small enough for brute force."""
_RUNS = 1_500
_LARGE = seeds.runs(50, hunted=100)
_MANY_RUNS = 20_000


def _differences(seed: int, max_runs: int) -> list[str] | None:
    """Return what the reductions do otherwise; None if brute force takes more than `max_runs`."""
    program = random_program(seed)
    brute = classes(program, BruteStrategy(), max_runs)
    if brute is None:
        return None
    optimal = classes(program, OptimalStrategy(), max_runs)
    problems: list[str] = []
    if optimal is None or optimal.endings != brute.endings:
        problems.append(f"{program.name}: other classes than {len(brute.endings)}")
    elif optimal.runs != len(optimal.endings):
        problems.append(f"{program.name}: a class was run twice")
    if "choose" not in program.summary:
        source = classes(program, SourceStrategy(), max_runs)
        if source is None or source.endings != brute.endings:
            problems.append(f"{program.name}: other classes with source sets")
    return problems


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, _PROGRAMS, _IN_A_TEST))
def test_the_classes_are_those_of_brute_force(first: int) -> None:
    programs = range(_FIRST + first, _FIRST + first + _IN_A_TEST)
    compared = [_differences(seed, _RUNS) for seed in programs]
    small_enough = [problems for problems in compared if problems is not None]
    assert [one for problems in small_enough for one in problems] == []
    assert len(small_enough) >= _ENOUGH or seeds.hunting()


@pytest.mark.campaign
@pytest.mark.long
def test_the_classes_of_larger_programs_are_those_of_brute_force() -> None:
    large = [
        seed
        for seed in range(_FIRST, _FIRST + _LARGE)
        if classes(random_program(seed), BruteStrategy(), _RUNS) is None
    ]
    compared = [_differences(seed, _MANY_RUNS) for seed in large]
    finished = [problems for problems in compared if problems is not None]
    assert finished or seeds.hunting()
    assert [one for problems in finished for one in problems] == []
