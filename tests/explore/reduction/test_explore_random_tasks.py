"""Every primitive of asyncio: the engine shows what brute force shows, twice over.

The engine `brute` runs every order of steps on the controlled loop, so it finds a step that is not
known to depend on another one. A loop that knows nothing of the model checker runs every order of
turns of Python's own tasks, so it finds what the controlled loop does otherwise than Python.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from support import seeds
from support.explore.outcomes import disagreement, outcomes
from support.explore.task_programs import (
    FAMILIES,
    Kept,
    TaskProgram,
    main_of,
    program_of,
    random_tasks,
)
from support.explore.turns import STUCK, turn_outcomes
from wheelproof_explore.program import TimeMode
from wheelproof_explore.strategies.optimal import OptimalStrategy

_RUNS = 400
_TURNS = 6_000
_FIRST = seeds.seed(0)
_PROGRAMS = seeds.runs(40, hunted=300)
_IN_A_TEST = 20
_TURNS_ALONE = [family for family in FAMILIES if family != "thread"]
"""Families of which all steps that other tasks can see are turns."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """asyncio logs exceptions that nobody retrieves; here that is what a program may do."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _against_brute_force(drawn: TaskProgram) -> str | None:
    kept = Kept()
    return disagreement(program_of(drawn, kept), kept.outcome, _RUNS)


def _against_turns(drawn: TaskProgram) -> str | None:
    """Return how the engine differs from every order of turns; None if there are too many."""
    kept = Kept()
    lazy = drawn.time is TimeMode.LAZY
    turns = turn_outcomes(lambda: main_of(drawn, kept), kept.outcome, _TURNS, lazy=lazy)
    if turns is None:
        return None
    explored = outcomes(program_of(drawn, kept), kept.outcome, OptimalStrategy(), _RUNS)
    if explored is None:
        return None
    shown = frozenset((ending and STUCK, outcome) for ending, outcome in explored.shown)
    if shown == turns:
        return ""
    return f"{drawn.name} ({drawn.said()}, {drawn.time}): missed {turns - shown}, made up " + str(
        shown - turns
    )


def _finished(compared: list[str | None], least: float) -> list[str]:
    finished = [problem for problem in compared if problem is not None]
    assert len(finished) >= least * len(compared) or seeds.hunting()
    return [problem for problem in finished if problem]


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, _PROGRAMS, _IN_A_TEST))
def test_tasks_show_what_brute_force_shows(first: int) -> None:
    drawn = [random_tasks(_FIRST + first + number) for number in range(_IN_A_TEST)]
    assert _finished([_against_brute_force(program) for program in drawn], 0.2) == []


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, _PROGRAMS, _IN_A_TEST))
def test_tasks_show_what_every_order_of_turns_shows(first: int) -> None:
    drawn = [random_tasks(_FIRST + first + number, _TURNS_ALONE) for number in range(_IN_A_TEST)]
    assert _finished([_against_turns(program) for program in drawn], 0.5) == []


class _StuckError(Exception):
    """Nothing is ready, and nothing will be."""


class _TimedError(Exception):
    """A timer is set: what comes first is a matter of time."""


class _PythonsLoop(asyncio.SelectorEventLoop):
    """Python's own loop, which ends where it would wait."""

    def _run_once(self) -> None:
        if vars(self)["_scheduled"]:
            raise _TimedError
        if not vars(self)["_ready"]:
            raise _StuckError
        once: Callable[[object], None] = vars(asyncio.BaseEventLoop)["_run_once"]
        once(self)


def _as_python_does(drawn: TaskProgram) -> str | None:
    """Return how first in, first out differs from Python's own loop; None for programs of time."""
    kept = Kept()
    loop = _PythonsLoop()
    ending = ""
    try:
        loop.run_until_complete(main_of(drawn, kept))
    except _StuckError:
        ending = STUCK
    except _TimedError:
        return None
    finally:
        _discard(loop)
    done = ending, kept.outcome()
    program = program_of(drawn, kept)
    in_line = replace(program, settings=replace(program.settings, first_in_first_out=True))
    explored = outcomes(in_line, kept.outcome, OptimalStrategy(), _RUNS)
    shown = {(ending and STUCK, outcome) for ending, outcome in explored.shown} if explored else ()
    return "" if shown == {done} else f"{drawn.name} ({drawn.said()}): {done}, and not {shown}"


def _discard(loop: asyncio.SelectorEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        with suppress(BaseException):
            task.get_coro().close()
    loop.close()


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, _PROGRAMS, _IN_A_TEST))
def test_first_in_first_out_is_the_one_order_of_asyncio(first: int) -> None:
    drawn = [random_tasks(_FIRST + first + number, _TURNS_ALONE) for number in range(_IN_A_TEST)]
    assert _finished([_as_python_does(program) for program in drawn], 0.5) == []
