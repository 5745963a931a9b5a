"""Every way of Python to read and write: what passes has shown what brute force shows.

For threads brute force stops them before each bytecode, for tasks it runs each order of turns.
"""

import logging
from collections.abc import Iterator

import pytest

from support import seeds
from support.explore.construct_programs import random_tasks, random_threads
from support.explore.ground_truth import compare
from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.library import Accesses
from wheelproof_lab.worlds.constructs.between import BETWEEN
from wheelproof_lab.worlds.constructs.rows import CONSTRUCTS

_FIRST = seeds.seed(0)
_PROGRAMS = seeds.runs(16, hunted=300)
_STOPS = seeds.runs(1, hunted=2)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """asyncio logs exceptions that nobody retrieves; here that is what a program may do."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.campaign
@pytest.mark.parametrize("accesses", ["steps", "races"])
@pytest.mark.parametrize("kind", ["threads", "tasks"])
def test_a_pass_has_shown_what_every_order_shows(kind: str, accesses: Accesses) -> None:
    draw = random_threads if kind == "threads" else random_tasks
    sure = 0
    for seed in range(_FIRST, _FIRST + _PROGRAMS):
        comparison = compare(draw(seed), accesses=accesses, stops=_STOPS)
        assert not comparison.problem, f"seed {seed}: {comparison.problem}"
        sure += comparison.sure
    assert sure > _PROGRAMS * 0.8


@pytest.mark.parametrize("seed", range(_FIRST, _FIRST + 4 * _PROGRAMS, 4))
def test_what_c_does_between_calls_of_python_is_explored(seed: int) -> None:
    """Seven of the first 64 passed and did not show all, or failed for no reason, before it was."""
    comparisons = [
        compare(random_threads(one, BETWEEN), accesses="steps", stops=_STOPS)
        for one in range(seed, seed + 4)
    ]
    assert not [one.problem for one in comparisons if one.problem]


def test_a_construct_that_is_not_seen_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge is judged: a model checker that does not see attributes passes what it must not."""
    access = Seeing.access

    def blind(seeing: Seeing, instance: object, name: str, key: str, *, write: bool) -> None:
        if name != "S.":
            access(seeing, instance, name, key, write=write)

    monkeypatch.setattr(Seeing, "access", blind)
    rows = [one for one in CONSTRUCTS if one.name in ("attribute", "list item")]
    drawn = [random_threads(seed, rows) for seed in range(12)]
    problems = [compare(one, accesses="steps", stops=1).problem for one in drawn]
    assert any("it passes, and does not show" in problem for problem in problems)
