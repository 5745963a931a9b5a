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


def test_a_construct_that_is_not_seen_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge is judged: a model checker that does not see attributes passes what it must not."""
    access = Seeing.access

    def blind(seeing: Seeing, instance: object, name: str, key: str, *, write: bool) -> None:
        if name != "S.":
            access(seeing, instance, name, key, write=write)

    monkeypatch.setattr(Seeing, "access", blind)
    drawn = [random_threads(seed) for seed in range(2_000)]
    written = [one for one in drawn if "attribute" in one.names and len(one.names) == 2]
    problems = [compare(one, accesses="steps", stops=1).problem for one in written[:12]]
    assert any("it passes, and does not show" in problem for problem in problems)
