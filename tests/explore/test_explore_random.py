"""Random programs: the reductions run exactly the classes that brute force runs."""

import pytest
from explore_support import classes
from random_programs import random_program

from wheelproof_spec.explore.engines.brute import BruteStrategy
from wheelproof_spec.explore.engines.optimal import OptimalStrategy
from wheelproof_spec.explore.engines.source import SourceStrategy

_FAST = 300
_ALL = 3_000
_IN_A_TEST = 50
_FAST_RUNS = 1_500
_RUNS = 20_000


def _differences(seed: int, max_runs: int) -> list[str]:
    program = random_program(seed)
    brute = classes(program, BruteStrategy(), max_runs)
    if brute is None:
        return []
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


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, _FAST, _IN_A_TEST))
def test_the_classes_are_those_of_brute_force(first: int) -> None:
    seeds = range(first, first + _IN_A_TEST)
    assert [one for seed in seeds for one in _differences(seed, _FAST_RUNS)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(_FAST, _ALL, _IN_A_TEST))
def test_the_classes_are_those_of_brute_force_in_many_programs(first: int) -> None:
    seeds = range(first, first + _IN_A_TEST)
    assert [one for seed in seeds for one in _differences(seed, _RUNS)] == []


@pytest.mark.slow
def test_nearly_all_random_programs_are_small_enough() -> None:
    left_out = [
        seed
        for seed in range(_IN_A_TEST)
        if classes(random_program(seed), BruteStrategy(), _FAST_RUNS) is None
    ]
    assert len(left_out) <= _IN_A_TEST // 10
