"""Steps of the alphabets: the same again from the same numbers, simpler from smaller ones."""

import random
from collections.abc import Callable

import pytest

from wheelproof_spec.base.calls import Close
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.accumulator.work import BURSTS as ACCUMULATOR_BURSTS
from wheelproof_spec.components.accumulator.work import AccumulatorWork
from wheelproof_spec.components.buffer_pool.component import Allocate, PoolFault
from wheelproof_spec.components.buffer_pool.work import BURSTS as POOL_BURSTS
from wheelproof_spec.components.buffer_pool.work import PoolWork
from wheelproof_spec.components.purgatory.work import PurgatoryWork, work_of_bursts
from wheelproof_spec.components.replication.work import BURSTS as REPLICATION_BURSTS
from wheelproof_spec.components.replication.work import DrivenSteps
from wheelproof_spec.components.timer.work import TASKS, TimerBursts, TimerWork
from wheelproof_spec.drive.work import (
    AdvanceBy,
    Draw,
    Kind,
    RepeatedDraw,
    SeededDraw,
    SetupT,
    StepT,
    Work,
    always,
    shown,
)

Drawn = tuple[object, ...]
DrawAll = Callable[[Draw], Drawn]


def _all_of(work: Work[SetupT, StepT]) -> DrawAll:
    """Return what draws a set-up, then a step of each kind."""

    def draw_all(draw: Draw) -> Drawn:
        setup = work.setup(draw)
        return (setup, *(kind.driven(draw, setup) for kind in work.kinds().values()))

    return draw_all


WORKS: dict[str, DrawAll] = {
    "timer": _all_of(TimerWork()),
    "timer, bursts": _all_of(TimerBursts(within=TimerWork(), tasks=TASKS[:3], near=True)),
    "purgatory": _all_of(PurgatoryWork()),
    "purgatory, bursts": _all_of(work_of_bursts(5)),
    "replication": _all_of(DrivenSteps()),
    "replication, bursts": _all_of(REPLICATION_BURSTS),
    "buffer pool": _all_of(PoolWork()),
    "buffer pool, bursts": _all_of(POOL_BURSTS),
    "accumulator": _all_of(AccumulatorWork()),
    "accumulator, bursts": _all_of(ACCUMULATOR_BURSTS),
}


@pytest.mark.parametrize("work", WORKS)
def test_the_same_numbers_give_the_same_steps(work: str) -> None:
    found: set[str] = set()
    for seed in range(100):
        seeded = SeededDraw(random.Random(seed))
        steps = WORKS[work](seeded)
        assert WORKS[work](RepeatedDraw(seeded.numbers)) == steps
        found.add(repr(steps))
    assert len(found) > 50, "most seeds give other steps"


@pytest.mark.parametrize("work", WORKS)
def test_numbers_of_a_case_that_shrinks_always_give_steps(work: str) -> None:
    """Too few numbers, or numbers that lie outside now that others are smaller."""
    simplest = WORKS[work](RepeatedDraw(()))
    assert simplest == WORKS[work](RepeatedDraw([0] * 200))
    largest, least = (WORKS[work](RepeatedDraw([number] * 200)) for number in (10**15, -(10**15)))
    assert len(largest) == len(least) == len(simplest)
    assert largest != simplest


def test_the_simplest_number_is_the_one_nearest_to_0() -> None:
    bounds = ((-3, 5), (2, 5), (-5, -2))
    assert [RepeatedDraw(()).between(*ends) for ends in bounds] == [0, 2, -2]
    seeded = SeededDraw(random.Random(1))
    drawn = [seeded.between(*ends) for ends in bounds]
    assert seeded.numbers == [drawn[0], drawn[1] - 2, drawn[2] + 2]


def test_half_of_all_numbers_are_small_if_that_is_asked_for() -> None:
    draw = SeededDraw(random.Random(1))
    small = sum(draw.between(1, 1_000, often_to=4) <= 4 for _ in range(1_000))
    assert 450 < small < 550


def test_a_rare_step_of_a_driven_case_is_made_at_times() -> None:
    rare: Kind[None, Close] = Kind(draw=always(Close()), one_in=4)
    draw = SeededDraw(random.Random(1))
    made = [rare.driven(draw, None) for _ in range(1_000)]
    assert 200 < made.count(Close()) < 300
    assert made.count(None) == 1_000 - made.count(Close())
    assert rare.draw(draw, None) == Close(), "a burst has it as often as its weight says"


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (AdvanceBy(jump_ms=0), "advance_by(jump_ms=0)"),
        (Close(), "close()"),
        (Allocate(size=16, max_time_to_block_ms=5), "allocate(size=16, max_time_to_block_ms=5)"),
        (
            Allocate(size=0, max_time_to_block_ms=0, fault=PoolFault.METRIC),
            "allocate(size=0, max_time_to_block_ms=0, fault='metric')",
        ),
    ],
)
def test_a_step_is_shown_as_a_call(step: Call, text: str) -> None:
    assert shown(step) == text
