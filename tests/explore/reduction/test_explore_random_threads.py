"""Every primitive of `threading`: the engine shows what brute force shows, and each class once.

Brute force runs every order of the steps of a program and reduces nothing. So a step that observes
something, and is not known to depend on the step that changes it, is found here.
"""

import logging
import threading
from collections.abc import Callable, Iterator

import pytest

from support import seeds
from support.explore.outcomes import disagreement
from support.explore.thread_programs import (
    FAMILIES,
    Kept,
    ThreadProgram,
    pair,
    program_of,
    random_threads,
)
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.options import Options
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import Verdict

_RUNS = 2_500
_FIRST = seeds.seed(0)
_PROGRAMS = seeds.runs(20, hunted=1_000)
_IN_A_TEST = 20
_TOO_LARGE = {"pool"}
"""Families of which brute force cannot finish even two calls."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Futures log what goes wrong with them; here much does."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _disagreement(drawn: ThreadProgram) -> str | None:
    kept = Kept()
    return disagreement(program_of(drawn, kept), kept.outcome, _RUNS)


def _compare(first: int, programs: int) -> None:
    compared = [_disagreement(random_threads(seed)) for seed in range(first, first + programs)]
    finished = [problem for problem in compared if problem is not None]
    assert [problem for problem in finished if problem] == []
    assert len(finished) > programs * 0.8 or seeds.hunting()


@pytest.mark.slow
@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in _TOO_LARGE])
def test_of_every_two_calls_each_order_is_shown(family: str) -> None:
    calls = FAMILIES[family]
    pairs = [pair(family, one, two) for at, one in enumerate(calls) for two in calls[at:]]
    assert [problem for problem in map(_disagreement, pairs) if problem != ""] == []


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, _PROGRAMS, _IN_A_TEST))
def test_random_programs_show_what_brute_force_shows(first: int) -> None:
    _compare(_FIRST + first, _IN_A_TEST)


def _used_and_looked_at() -> None:
    lock = threading.Lock()

    def use() -> None:
        with lock:
            pass

    thread = threading.Thread(target=use)
    thread.start()
    looked = lock.locked()
    thread.join()
    assert not looked


def _released_by_two() -> None:
    lock, raised = threading.Lock(), list[str]()
    lock.acquire()

    def release() -> None:
        try:
            lock.release()
        except RuntimeError as error:
            raised.append(str(error))

    threads = [threading.Thread(target=release) for _ in range(2)]
    for thread in threads:
        thread.start()
    lock.acquire()
    for thread in threads:
        thread.join()
    assert raised


def _barrier_looked_at() -> None:
    barrier = threading.Barrier(2)
    thread = threading.Thread(target=barrier.wait)
    thread.start()
    waiting = barrier.n_waiting
    barrier.wait()
    thread.join()
    assert not waiting


def _condition_of_a_lock_that_another_releases() -> None:
    lock = threading.Lock()
    condition = threading.Condition(lock)

    def release() -> None:
        if lock.locked():
            lock.release()

    thread = threading.Thread(target=release)
    thread.start()
    lock.acquire()
    condition.notify()
    lock.release()
    thread.join()


@pytest.mark.parametrize(
    "main",
    [
        _barrier_looked_at,
        _condition_of_a_lock_that_another_releases,
        _released_by_two,
        _used_and_looked_at,
    ],
)
def test_what_another_thread_can_see_is_seen(main: Callable[[], None]) -> None:
    program = threading_program(main.__name__, main)
    assert program is not None
    result = explore(program, Options())
    assert result.verdict() is Verdict.FAIL, result.summary()


def test_a_lock_inside_a_queue_is_released_by_its_holder_alone() -> None:
    def main() -> None:
        import queue

        tasks: queue.Queue[int] = queue.Queue()
        tasks.mutex.acquire()
        thread = threading.Thread(target=tasks.mutex.release)
        thread.start()
        thread.join()

    program = threading_program("main", main)
    assert program is not None
    with pytest.raises(ProgramRejectedError, match="a lock of Python's own that another thread"):
        explore(program, Options())
