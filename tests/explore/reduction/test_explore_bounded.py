"""Few reversals of races before many: defects are found, and nothing passes."""

import logging
from collections.abc import Iterator
from functools import partial

import pytest

from support.explore.exploring import make
from support.explore.outcomes import outcomes
from support.explore.thread_programs import Kept, program_of, random_threads
from wheelproof import sync
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program, Scenario, choose
from wheelproof_explore.strategies.bounded import BoundedStrategy
from wheelproof_explore.strategies.brute import BruteStrategy
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.all_programs import failing_programs
from wheelproof_lab.worlds.classics import locked_increments

pytestmark = pytest.mark.slow

_MOST = 700
"""No known bug needs more runs; the engine `optimal` needs 1,899 for one of them."""
_RUNS = 1_500
_DEEP = 12


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Futures log what goes wrong with them; here much does."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("program", failing_programs(), ids=lambda program: program.name)
def test_known_bugs_are_found_and_repeated(program: Program) -> None:
    found = explore(program, Options(engine=Engine.BOUNDED, max_runs=_MOST)).counterexample
    assert found is not None
    again = explore(program, Options(engine=Engine.REPLAY, schedule=found.schedule))
    assert again.counterexample is not None
    assert again.counterexample.failure.kind is found.failure.kind


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_what_brute_force_shows_is_shown_in_the_end(first: int) -> None:
    compared = 0
    for seed in range(first, first + 20):
        drawn, kept = random_threads(seed), Kept()
        program = program_of(drawn, kept)
        every = outcomes(program, kept.outcome, BruteStrategy(), _RUNS)
        bounded = outcomes(program, kept.outcome, BoundedStrategy(), _RUNS)
        if every is not None and bounded is not None:
            compared += 1
            assert bounded.shown == every.shown, f"seed {seed}: {drawn}"
            assert bounded.classes == every.classes, f"seed {seed}: {drawn}"
    assert compared > 10


def test_what_has_no_failure_is_no_pass() -> None:
    found = explore(make(partial(locked_increments, 2)), Options(engine=Engine.BOUNDED))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert "no race is left to be reversed, each run that reverses at most 2 races was made" in (
        found.summary()
    )
    assert "no failure among them" in found.summary()


@pytest.mark.parametrize(("most", "bound"), [(1, "at most 0 races"), (5, "at most 1 races")])
def test_a_bound_on_runs_tells_how_many_reversals_were_tried(most: int, bound: str) -> None:
    program = make(partial(locked_increments, 3))
    found = explore(program, Options(engine=Engine.BOUNDED, max_runs=most))
    assert found.runs == most
    assert f"the bound on runs was reached, each run that reverses {bound}" in found.summary()


def test_another_choice_counts_like_a_reversal() -> None:
    shown: list[tuple[int, ...]] = []

    def build() -> Scenario:
        drawn: list[int] = []

        def draw() -> None:
            drawn.extend(choose(3) for _ in range(2))
            shown.append(tuple(drawn))

        return Scenario(threads={"a": draw})

    explore(make(build), Options(engine=Engine.BOUNDED, check_every=10**6))
    zeros = [2 - pair.count(0) for pair in shown]
    assert zeros == sorted(zeros)
    assert len(set(shown)) == 9


def test_a_defect_at_the_beginning_of_a_long_program_is_found_soon() -> None:
    """A search in depth comes to the first steps last: not in a thousand runs."""

    def build() -> Scenario:
        first, later = sync.volatile(0, "first"), sync.atomic_integer(0, "later")

        def work() -> None:
            first.set(first.get() + 1)
            for _ in range(_DEEP):
                later.add_and_get(1)

        def check() -> None:
            assert first.get() == 2

        return Scenario(threads={"a": work, "b": work}, check=check)

    most = 1_000
    assert explore(make(build), Options(max_runs=most)).counterexample is None
    found = explore(make(build), Options(engine=Engine.BOUNDED, max_runs=most))
    assert found.counterexample is not None
    assert found.runs < 2 * _DEEP
