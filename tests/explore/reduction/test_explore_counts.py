"""The numbers of classes that are known from the literature or by counting, exactly."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import factorial

import pytest

from support.explore.exploring import explored, make
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.program import Scenario
from wheelproof_explore.runs.canonical import ClassNames
from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runtime.numbers import THREAD_MASK
from wheelproof_explore.strategies.brute import BruteStrategy
from wheelproof_explore.strategies.driver import analysed_runs
from wheelproof_explore.substrates.substrate import SubstrateKind, open_substrate
from wheelproof_lab.worlds.classics import (
    cas_rotation,
    cas_then_write,
    coherence,
    file_system,
    increments,
    indexer,
    last_zero,
    locked_increments,
    philosophers,
    readers,
)
from wheelproof_lab.worlds.waiting import event, one_slot

pytestmark = pytest.mark.slow

_COUNTS: list[tuple[Callable[[int], Scenario], int, int]] = [
    *((readers, count, 2**count) for count in range(1, 7)),
    (last_zero, 2, 5),
    (last_zero, 3, 12),
    (last_zero, 4, 28),
    (last_zero, 5, 64),
    (partial(indexer, with_locks=False), 11, 1),
    (partial(indexer, with_locks=False), 12, 8),
    (partial(indexer, with_locks=True), 12, 8),
    (file_system, 14, 2),
    (file_system, 16, 8),
    (file_system, 18, 32),
    *((locked_increments, count, factorial(count)) for count in range(1, 6)),
    *((increments, count, factorial(count) ** 2) for count in range(2, 5)),
    (cas_then_write, 2, 6),
    (cas_then_write, 3, 66),
    (cas_then_write, 4, 1200),
    *(
        (cas_rotation, count, classes)
        for count, classes in enumerate((2, 5, 14, 43, 144, 523, 2048), start=2)
    ),
    (coherence, 1, 4),
    (coherence, 2, 15),
    (coherence, 3, 130),
    (coherence, 4, 2028),
    *((partial(philosophers, ordered=True), count, 2**count - 2) for count in range(2, 7)),
]


def _name(value: object) -> str:
    function: object = getattr(value, "func", value)
    return str(getattr(function, "__name__", value))


@pytest.mark.parametrize(("build", "parameter", "expected"), _COUNTS, ids=_name)
def test_every_class_is_run_exactly_once(
    build: Callable[[int], Scenario], parameter: int, expected: int
) -> None:
    found = explored(partial(build, parameter))
    assert (found.classes, found.runs, found.blocked_runs) == (expected, expected, 0)
    assert found.failing_runs == 0


def test_ten_writers_and_the_search_for_the_last_zero() -> None:
    found = explored(partial(last_zero, 10))
    assert (found.classes, found.runs) == (3328, 3328)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_philosophers_who_take_the_left_fork_first_have_one_deadlock(count: int) -> None:
    found = explored(partial(philosophers, count, ordered=False))
    assert (found.classes, found.runs, found.deadlocks) == (2**count - 1, 2**count - 1, 1)


@pytest.mark.parametrize(
    ("build", "expected", "stuck"),
    [
        (partial(event, mended=False), 3, 1),
        (partial(event, mended=True), 3, 0),
        (partial(one_slot, 1, 1, timed=False), 2, 0),
        (partial(one_slot, 1, 1, timed=True), 4, 0),
        (partial(one_slot, 2, 1, timed=False), 8, 0),
        (partial(one_slot, 1, 2, timed=False), 8, 8),
    ],
)
def test_conditions(build: Callable[[], Scenario], expected: int, stuck: int) -> None:
    found = explored(build)
    assert (found.classes, found.runs, found.failing_runs) == (expected, expected, stuck)
    if stuck:
        assert found.counterexample is not None
        assert found.counterexample.failure.kind is FailureKind.LOST_WAKEUP


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (partial(cas_then_write, 3), [6, 24, 54, 66]),
        pytest.param(
            partial(cas_then_write, 4), [24, 168, 576, 1056, 1200], marks=pytest.mark.slow
        ),
        pytest.param(partial(coherence, 3), [24, 90, 130], marks=pytest.mark.slow),
    ],
)
def test_classes_with_few_preemptions(build: Callable[[], Scenario], expected: list[int]) -> None:
    fewest: dict[bytes, int] = {}
    world = World(make(build), open_substrate(SubstrateKind.GREENLET))
    names = ClassNames(world)
    for analysis in analysed_runs(world, BruteStrategy()):
        name = names.name(analysis.execution)
        count = _preemptions(analysis.execution)
        fewest[name] = min(count, fewest.get(name, count))
    most = max(fewest.values())
    assert [sum(few <= bound for few in fewest.values()) for bound in range(most + 1)] == expected


def _preemptions(execution: Execution) -> int:
    """Count the switches away from a thread that had more to do: none of these ever blocks."""
    threads = [actor & THREAD_MASK for actor in execution.actors]
    return sum(
        this != following and this in threads[place + 1 :]
        for place, (this, following) in enumerate(pairwise(threads))
    )
