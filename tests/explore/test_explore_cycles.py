"""Runs that do not end: a cycle that nothing ends is a failure, all else is inconclusive."""

import itertools
from collections import deque
from collections.abc import Callable
from functools import partial

import pytest

from support.explore.exploring import make
from wheelproof import sync
from wheelproof.units import Millis
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import (
    Action,
    Scenario,
    Settings,
    TimeMode,
    choose,
)
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_explore.verdicts import Verdict

_LONG = 400
_SHORT_RUNS = Settings(max_steps=300)


class _Box:
    """A flag under a lock, with a condition."""

    def __init__(self) -> None:
        self.lock = sync.lock("lock")
        self.changed = sync.condition(self.lock, "changed")
        self.flag = False

    def poll(self) -> None:
        with self.lock:
            while not self.flag:
                self.changed.wait(Millis(10))

    def put(self, flag: bool) -> None:
        with self.lock:
            self.flag = flag


def _polled(flag: bool) -> Scenario:
    box = _Box()
    return Scenario(threads={"waiter": box.poll, "setter": partial(box.put, flag)})


def _spin(*others: Callable[[sync.Volatile[int]], None]) -> Scenario:
    cell = sync.volatile(0, "x")

    def spin() -> None:
        while cell.get() == 0:
            pass

    threads: dict[str, Action] = {"spinner": spin}
    threads |= {f"other {place}": partial(other, cell) for place, other in enumerate(others)}
    return Scenario(threads=threads)


def _until_a_time() -> Scenario:
    cell = sync.volatile(0, "x")

    def spin() -> None:
        while sync.current_runtime().monotonic_ms() < Millis(5):
            cell.get()

    return Scenario(threads={"spinner": spin, "other": partial(cell.set, 1)})


def _until_chosen() -> Scenario:
    cell = sync.volatile(0, "x")

    def spin() -> None:
        while choose(2) == 0:
            cell.get()

    return Scenario(threads={"spinner": spin, "other": partial(cell.set, 1)})


@pytest.mark.parametrize("time", list(TimeMode))
@pytest.mark.parametrize("substrate", list(SubstrateKind))
def test_a_correct_wait_that_polls_is_no_failure(time: TimeMode, substrate: SubstrateKind) -> None:
    found = explore(make(partial(_polled, True), Settings(time=time)), Options(substrate=substrate))
    if time is TimeMode.LAZY:
        assert found.verdict() is Verdict.PASS
        return
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert "waiter repeats " in found.summary()
    assert "only another thread or the clock can end that" in found.summary()
    assert found.depth < 150


@pytest.mark.parametrize("time", list(TimeMode))
@pytest.mark.parametrize("substrate", list(SubstrateKind))
def test_a_poll_for_what_never_comes_is_a_failure_shown_once(
    time: TimeMode, substrate: SubstrateKind
) -> None:
    program = make(partial(_polled, False), Settings(time=time))
    found = explore(program, Options(substrate=substrate)).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.NEVER_ENDS
    assert found.failure.thread == "waiter"
    assert "nothing else can go on" in found.failure.message
    assert len(found.steps) <= 9
    replayed = explore(program, Options(engine=Engine.REPLAY, schedule=found.schedule))
    assert replayed.counterexample == found


def test_a_thread_that_may_wait_may_poll() -> None:
    settings = Settings(may_wait=frozenset({"waiter"}))
    assert explore(make(partial(_polled, False), settings)).verdict() is Verdict.INCONCLUSIVE


def test_a_spin_that_nobody_ends_is_a_failure_shown_once() -> None:
    found = explore(make(_spin)).counterexample
    assert found is not None
    assert found.failure.sentence() == (
        "no end in spinner: from step 2 on it repeats x.get(), and nothing else can go on"
    )
    assert [step.text for step in found.steps] == ["x.get() = 0"] * 2


@pytest.mark.parametrize(
    "build", [partial(_spin, lambda cell: cell.set(1)), _until_a_time, _until_chosen]
)
@pytest.mark.parametrize("engine", [Engine.OPTIMAL, Engine.SAMPLE])
def test_what_another_thread_a_clock_or_a_choice_can_end_is_no_failure(
    build: Callable[[], Scenario], engine: Engine
) -> None:
    found = explore(make(build), Options(engine=engine, seed=1, max_runs=150))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert found.runs > 1


def test_a_failure_behind_a_cycle_is_found_and_shown_without_the_rounds() -> None:
    def build() -> Scenario:
        scenario = _spin(lambda cell: cell.set(1))

        def check() -> None:
            raise AssertionError

        return Scenario(threads=scenario.threads, check=check)

    found = explore(make(build)).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.CHECK
    assert len(found.steps) <= 3


class _Shared:
    """Counters where a frame does not show them at once."""

    by_class = 0
    numbers = itertools.count()

    def __init__(self) -> None:
        _Shared.by_class = 0
        _Shared.numbers = itertools.count()
        self._rounds = [0]

    def by_instance(self) -> bool:
        self._rounds[0] += 1
        return self._rounds[0] < _LONG

    @classmethod
    def of_the_class(cls) -> bool:
        cls.by_class += 1
        return cls.by_class < _LONG

    @classmethod
    def of_an_iterator(cls) -> bool:
        return next(cls.numbers) < _LONG


_rounds = {"global": 0}


def _by_global() -> bool:
    _rounds["global"] += 1
    return _rounds["global"] < _LONG


def _by_closure() -> Callable[[], bool]:
    left = _LONG

    def more() -> bool:
        nonlocal left
        left -= 1
        return left > 0

    return more


def _by_dictionary() -> Callable[[], bool]:
    _rounds["global"] = 0
    return _by_global


def _while(make: Callable[[], Callable[[], bool]], step: Action) -> None:
    more = make()
    while more():
        step()


def _for(step: Action) -> None:
    for _ in itertools.repeat(None, _LONG):
        step()


def _inside_a_map(step: Action) -> None:
    def once(_none: None) -> None:
        step()

    deque(map(once, itertools.repeat(None, _LONG)), maxlen=0)


def _inside_a_generator(step: Callable[[], object]) -> None:
    any(step() for _ in itertools.repeat(None, _LONG))


@pytest.mark.parametrize(
    "loop",
    [
        _for,
        _inside_a_map,
        _inside_a_generator,
        partial(_while, _by_closure),
        partial(_while, _by_dictionary),
        partial(_while, lambda: _Shared().by_instance),
        partial(_while, lambda: _Shared().of_the_class),
        partial(_while, lambda: _Shared().of_an_iterator),
    ],
)
def test_a_run_that_is_merely_long_is_inconclusive(loop: Callable[[Action], None]) -> None:
    """Nobody else can go on and every step is like the one before, but something counts."""

    def build() -> Scenario:
        lock = sync.lock("lock")

        def step() -> None:
            with lock:
                pass

        return Scenario(threads={"worker": partial(loop, step)})

    found = explore(make(build, _SHORT_RUNS))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert "a run has not ended after 300 steps (max_steps)" in found.summary()


def test_a_list_of_operations_that_are_alike_is_no_cycle() -> None:
    def build() -> Scenario:
        lock = sync.lock("lock")

        def step() -> None:
            with lock:
                pass

        return Scenario(threads={"worker": [step] * 100, "other": step})

    assert explore(make(build), Options(max_runs=3)).depth == 202
