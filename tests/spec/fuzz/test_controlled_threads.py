"""Bursts whose schedule is drawn: what fails shrinks, repeats itself and can be replayed."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import pytest
from hypothesis import Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from support import seeds
from wheelproof import sync
from wheelproof_explore.strategies.drawn import keep_running
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.timer import BUGS
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.timer.machine import MACHINE
from wheelproof_spec.fuzz.burst import BurstError
from wheelproof_spec.fuzz.controlled_threads import (
    ControlledThreads,
    burst_line,
    drawn_schedule,
)

_SEED = 20_261_120
_SWITCH = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Look(Call):
    """A look at the counter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Increment(Call):
    """An increment."""


LOOK, INCREMENT = Look(), Increment()


class Counter:
    """A counter of which two increments at the same time count once."""

    def __init__(self) -> None:
        self.stage = ControlledThreads("Counter")
        with self.stage.alone():
            self._cell = sync.volatile(0, "cell")
        self.expected = 0

    def increment(self) -> None:
        self.expected += 1
        self._cell.set(self._cell.get() + 1)

    def look(self) -> None:
        self._cell.get()

    def value(self) -> int:
        with self.stage.alone():
            return self._cell.get()


def _bursts_lose_nothing(seen: list[str], data: st.DataObject) -> None:
    counter = Counter()
    steps: st.SearchStrategy[Call | None] = st.sampled_from((None, LOOK, INCREMENT))
    burst: list[list[Call]] = [[], []]

    def program(made: list[Call]) -> Iterator[tuple[Call, Callable[[], None]]]:
        while (step := data.draw(steps)) is not None:
            made.append(step)
            yield step, counter.look if step == LOOK else counter.increment

    try:
        counter.stage.run([program(made) for made in burst], drawn_schedule(data, 5))
        seen.append(burst_line(burst, counter.stage.deviations))
        assert counter.value() == counter.expected, "lost"
    finally:
        counter.stage.close()


def _losing(seen: list[str]) -> Callable[[], None]:
    """Return the property anew: Hypothesis knows it again in its database by its source."""

    @seed(_SEED)
    @given(st.data())
    def property_(data: st.DataObject) -> None:
        _bursts_lose_nothing(seen, data)

    return property_


@pytest.mark.slow
@pytest.mark.long
def test_calls_and_schedule_shrink_together_and_come_back_from_the_database() -> None:
    seen: list[str] = []
    database = InMemoryExampleDatabase()
    quiet = partial(settings, database=database, verbosity=Verbosity.quiet, deadline=None)
    with pytest.raises(AssertionError, match="lost"):
        quiet(max_examples=2_000)(_losing(seen))()
    smallest = seen[-1]
    assert smallest.count("increment") == 2
    assert smallest.count("look") <= 1
    assert 1 <= smallest.count('"thread ') <= 2
    seen.clear()
    with pytest.raises(AssertionError, match="lost"):
        quiet(phases=(Phase.reuse,))(_losing(seen))()
    assert smallest in seen[:3]


def test_bursts_follow_each_other_on_the_same_object() -> None:
    counter = Counter()
    for _ in range(3):
        counter.stage.run([[(INCREMENT, counter.increment)]] * 2, keep_running)
    assert counter.value() == 6
    assert counter.stage.deviations == ()
    assert counter.stage.story()[0].split() == ["step", "thread", "0", "thread", "1"]
    counter.stage.close()


def test_a_call_is_not_invoked_before_its_thread_runs() -> None:
    order: list[str] = []
    stage = ControlledThreads("Order")
    programs = [[(LOOK, partial(order.append, name))] * 2 for name in "ab"]
    stage.run(programs, lambda _choices: _SWITCH)
    assert order in (["a", "b", "a", "b"], ["b", "a", "b", "a"])
    stage.close()


def test_a_deadlock_is_a_call_that_does_not_return() -> None:
    stage = ControlledThreads("Forks")
    with stage.alone():
        one, two = sync.lock("one"), sync.lock("two")

    def nest(first: sync.Lock, second: sync.Lock) -> None:
        with first, second:
            pass

    forth, back = [(LOOK, partial(nest, one, two))], [(LOOK, partial(nest, two, one))]
    with pytest.raises(BurstError, match="circle: thread 0 -> thread 1") as caught:
        stage.run([forth, back], lambda _choices: _SWITCH)
    assert caught.value.violation.rule == "Forks.EveryCallReturns"
    stage.close()


def test_a_call_that_raises_breaks_a_rule() -> None:
    stage = ControlledThreads("Sum")
    with pytest.raises(BurstError, match="ZeroDivisionError") as caught:
        stage.run([[(LOOK, lambda: 1 // 0)]], keep_running)
    assert caught.value.violation.rule == "Sum.NoCallFails"
    stage.close()


def _fuzz(bug: str | None, cases: int, seed: int = _SEED) -> FuzzReport:
    # No limit of time that a busy machine could reach: two runs have to shrink to the same case.
    plan = FuzzPlan(threads="controlled", cases=cases, seed=seed, shrink_seconds=math.inf)
    variant = None if bug is None else find_bug(BUGS, bug).variant()
    [report] = MACHINE.reports(plan, variant)
    return report


@pytest.mark.campaign
@pytest.mark.slow
def test_the_timer_holds_under_drawn_schedules() -> None:
    report = _fuzz(None, seeds.runs(100, hunted=1_000), seeds.seed(_SEED))
    assert report.failure is None
    assert report.cases >= 100


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["KAFKA-2226/no-cancelled-test", "test-then-submit"])
def test_a_known_bug_shrinks_to_a_handful_of_calls(bug: str) -> None:
    first, second = _fuzz(bug, 1_000), _fuzz(bug, 1_000)
    assert first.failure is not None
    bursts = [line for line in first.failure.steps if line.startswith('{"burst"')]
    # One that races, perhaps one that moves the clock before it, and the one that ends the case.
    assert len(bursts) <= 3
    assert sum(line.count("(") for line in bursts) <= 6
    assert sum(line.count('"thread ') for line in bursts) <= 2
    assert second.failure == first.failure
