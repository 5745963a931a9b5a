"""Programs that are drawn from a component's work: the reference passes, known bugs fall."""

import logging
from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import pytest

from support import seeds
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.bugs.accumulator import BUGS as BATCH_BUGS
from wheelproof_lab.bugs.buffer_pool import BUGS as POOL_BUGS
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.purgatory import BUGS as PURGATORY_BUGS
from wheelproof_lab.bugs.replication import BUGS as REPLICATION_BUGS
from wheelproof_lab.bugs.timer import BUGS as TIMER_BUGS
from wheelproof_lab.worlds import drawn
from wheelproof_lab.worlds.all_programs import find_program
from wheelproof_lab.worlds.drawn import DRAWN
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.components.registry import recorded

_FIXED = 36
_SEED = seeds.seed(_FIXED)
_PROGRAMS = seeds.runs(4, hunted=40)
_RUNS = seeds.runs(10, hunted=200)
_MOST_PLANS = 1_000
"""More than the enumeration of any component has: behind it all is drawn."""
_RUNS_OF_A_PLAN = {"accumulator": 8}
"""What the sender does beside a call depends on the schedule; for the others one run is enough."""
_NO_METHOD = {"tick", "satisfy", "await_submitted", "interrupt"}
"""Calls of a test, of a clock or of a thread, not of the component."""
_SENDER = {
    "abort",
    "drain",
    "expire",
    "mute",
    "ready",
    "reenqueue",
    "respond",
    "split",
    "unmute",
}
"""What only one thread at a time may call, the sender, and no callback."""
_RARE = {"split"}
"""What needs two records in one batch: longer programs do it, behind the enumeration."""
_WAITS = {"flush"}
"""What a callback must not wait for (standard 6.5.3)."""


class Met:
    """Which two methods two threads have called in one run, and which a callback has called."""

    def __init__(self) -> None:
        self.histories: list[KeptHistory] = []

    def counts(self) -> tuple[Counter[tuple[str, str]], Counter[str]]:
        """Return in how many runs two methods met, and how many calls callbacks made of each."""
        pairs: Counter[tuple[str, str]] = Counter()
        called_back: Counter[str] = Counter()
        for history in self.histories:
            calls = [op for op in history.ops if op.type == "invoke"]
            called_back.update(op.f for op in calls if "/" in op.process)
            # The threads of a program are t0, t1 and so on.
            made = {(op.f, op.process) for op in calls if op.process[1:].isdecimal()}
            pairs.update(
                {
                    (one, other)
                    for (one, here), (other, there) in product(made, made)
                    if here != there and one <= other
                }
            )
        return pairs, called_back


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Do not print the errors of callbacks."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _explored(component: str, some: range) -> Met:
    """Explore the programs of some seeds, which have to pass, and return who met."""
    met, runs = Met(), _RUNS_OF_A_PLAN.get(component, 1)
    options = Options(engine=Engine.SAMPLE, seed=_FIXED, max_runs=runs)
    for seed in some:
        program = DRAWN[component].program(seed, keep=met.histories.append)
        found = explore(program, options)
        assert found.counterexample is None, found.details()
    print(f"{component}: {len(some)} programs, {len(met.histories)} runs")
    return met


def _methods(component: str) -> list[str]:
    """Return what a history of the component has as calls of its methods."""
    happens = recorded(component).happens
    known = recorded(component).definition.operations
    names = [one.call.name_on_the_wire() for one in known if one.wire is not Wire.DRIVEN]
    return sorted(name for name in names if not happens[name] and name not in _NO_METHOD)


@pytest.mark.slow
@pytest.mark.parametrize("component", DRAWN)
def test_a_callback_calls_each_method(component: str) -> None:
    calling, _ = DRAWN[component].plans()
    _, called_back = _explored(component, range(calling)).counts()
    methods = [one for one in _methods(component) if one not in _SENDER | _WAITS]
    print(*(f"{one} in a callback: {called_back[one]}" for one in methods), sep="\n")
    assert [one for one in methods if not called_back[one]] == []


@pytest.mark.slow
@pytest.mark.parametrize("component", DRAWN)
def test_each_two_methods_meet(component: str) -> None:
    calling, together = DRAWN[component].plans()
    pairs, _ = _explored(component, range(calling, calling + together)).counts()
    both = combinations_with_replacement(_methods(component), 2)
    apart = [pair for pair in both if not _SENDER.issuperset(pair)]
    print(*(f"{one} + {other}: {pairs[one, other]}" for one, other in apart), sep="\n")
    assert [pair for pair in apart if not pairs[pair] and _SENDER.isdisjoint(pair)] == []
    # What the sender does beside a call depends on its batches, so one call is enough here.
    served = {one for pair, count in pairs.items() if count for one in pair}
    assert {*_methods(component)} <= served | _RARE


@pytest.mark.campaign
@pytest.mark.parametrize("component", DRAWN)
def test_the_reference_passes_what_is_drawn(component: str) -> None:
    for number in range(_PROGRAMS):
        program = DRAWN[component].program(_MOST_PLANS + _SEED + number)
        found = explore(program, Options(engine=Engine.SAMPLE, seed=_SEED, max_runs=_RUNS))
        assert found.counterexample is None, found.details()


@pytest.mark.parametrize("component", DRAWN)
def test_the_name_of_a_program_draws_it_once_more(component: str) -> None:
    program = DRAWN[component].program(17)
    assert find_program(program.name).summary == program.summary
    assert DRAWN[component].program(18).summary != program.summary


@pytest.mark.parametrize("component", DRAWN)
def test_behind_the_enumeration_everything_is_drawn(component: str) -> None:
    assert sum(DRAWN[component].plans()) < _MOST_PLANS


@pytest.mark.parametrize(
    "faulty",
    [
        drawn.TIMER.program(1, find_bug(TIMER_BUGS, "KAFKA-2226/no-cancelled-test").timer_class),
        drawn.PURGATORY.program(0, find_bug(PURGATORY_BUGS, "KAFKA-2160").purgatory_class),
        drawn.REPLICATION.program(5, find_bug(REPLICATION_BUGS, "silent-append").manager_class),
        drawn.BUFFER_POOL.program(2, find_bug(POOL_BUGS, "KAFKA-4840/no-refund").pool_class),
        drawn.ACCUMULATOR.program(3, find_bug(BATCH_BUGS, "KAFKA-3147").accumulator_class),
    ],
    ids=list(DRAWN),
)
def test_what_is_drawn_shows_a_known_bug(faulty: Program) -> None:
    options = Options(engine=Engine.SAMPLE, seed=_FIXED, max_runs=200, shrink=False)
    assert explore(faulty, options).counterexample is not None


def test_a_small_program_passes_in_every_interleaving() -> None:
    found = explore(DRAWN["buffer_pool"].program(9))
    assert found.verdict() is Verdict.PASS, found.summary()
