"""Every way of Python to read and write: what passes has shown what brute force shows.

For threads brute force stops them before each bytecode, for tasks it runs each order of turns.
"""

import logging
import textwrap
from collections.abc import Iterator

import pytest

from support import seeds
from support.explore.bytecode import bytecode_outcomes
from support.explore.construct_programs import random_tasks, random_threads
from support.explore.ground_truth import compare
from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.library import Accesses
from wheelproof_lab.worlds.constructs.between import BETWEEN
from wheelproof_lab.worlds.constructs.construct import Construct
from wheelproof_lab.worlds.constructs.made_before import MADE_BEFORE
from wheelproof_lab.worlds.constructs.of_packages import OF_PACKAGES
from wheelproof_lab.worlds.constructs.of_the_system import OF_THE_SYSTEM
from wheelproof_lab.worlds.constructs.programs import loaded
from wheelproof_lab.worlds.constructs.rows import CONSTRUCTS

_FIRST = seeds.seed(0)
_PROGRAMS = seeds.runs(8, hunted=300)
_GROUPS = ["made before", "of packages", "of the system"]
_LOST_UPDATE = """
{before}

def program():
    def add():
        {declares}
        n = {read}
        N = n + 1
{write}

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return repr({read})
"""
_STOPS = seeds.runs(1, hunted=2)
_OF_ONE_ROW = 1
"""A seed whose program uses one row."""


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
    assert sure > _PROGRAMS * 0.7


@pytest.mark.parametrize("seed", range(_FIRST, _FIRST + 4 * _PROGRAMS, 4))
def test_what_c_does_between_calls_of_python_is_explored(seed: int) -> None:
    """Seven of the first 64 passed and did not show all, or failed for no reason, before it was."""
    comparisons = [
        compare(random_threads(one, BETWEEN), accesses="steps", stops=_STOPS)
        for one in range(seed, seed + 4)
    ]
    assert not [one.problem for one in comparisons if one.problem]


@pytest.mark.campaign
@pytest.mark.parametrize("accesses", ["steps", "races"])
@pytest.mark.parametrize("kind", ["threads", "tasks"])
@pytest.mark.parametrize("group", [MADE_BEFORE, OF_PACKAGES, OF_THE_SYSTEM], ids=_GROUPS)
def test_so_does_one_of_what_was_there_before_the_run(
    group: tuple[Construct, ...], kind: str, accesses: Accesses
) -> None:
    draw = random_threads if kind == "threads" else random_tasks
    for seed in range(_FIRST, _FIRST + _PROGRAMS // 8):
        comparison = compare(draw(seed, group), accesses=accesses, stops=_STOPS)
        assert not comparison.problem, f"seed {seed}: {comparison.problem}"


@pytest.mark.parametrize("group", [MADE_BEFORE, OF_PACKAGES, OF_THE_SYSTEM], ids=_GROUPS)
def test_brute_force_begins_each_run_with_what_was_there_before(
    group: tuple[Construct, ...],
) -> None:
    """A lost update counts to 1 or 2 then, and what the model checker refuses as well."""
    for row in group:
        write = textwrap.indent(row.write, " " * 8)
        text = _LOST_UPDATE.format(
            before=row.before, declares=row.declares, read=row.read, write=write
        )
        with loaded(text) as module:
            truth = bytecode_outcomes(module, 1, 200)
        # Between two steps of such a write both may write behind each other.
        is_behind = row.name in ("import: StringIO", "system: file that is open")
        assert truth.outcomes == {"1", "2", *(["11"] if is_behind else [])}, row.name


def test_brute_force_has_all_that_the_rows_use() -> None:
    """It had no timer and no barrier: a program with one was as if it always failed."""
    for row in CONSTRUCTS:
        with loaded(random_threads(_OF_ONE_ROW, [row]).text) as module:
            [outcome] = bytecode_outcomes(module, 0, 1).outcomes
        assert not outcome.startswith("raised"), row.name


def test_a_construct_that_is_not_seen_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge is judged: a model checker that does not see attributes passes what it must not."""
    access = Seeing.access

    def blind(seeing: Seeing, instance: object, name: str, key: str, *, write: bool) -> None:
        if name != "S.":
            access(seeing, instance, name, key, write=write)

    monkeypatch.setattr(Seeing, "access", blind)
    rows = [one for one in CONSTRUCTS if one.name in ("attribute", "list item")]
    drawn = [random_threads(seed, rows) for seed in range(12)]
    problems = (compare(one, accesses="steps", stops=1).problem for one in drawn)
    assert any("it passes, and does not show" in problem for problem in problems)
