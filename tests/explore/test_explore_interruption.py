"""Interruption in the controlled runtime, over all interleavings and on both substrates."""

from collections.abc import Callable

import pytest

from support.explore.exploring import make
from wheelproof import sync
from wheelproof.errors import ThreadInterruptedError
from wheelproof.units import Millis
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import DEFAULT_SETTINGS, Scenario, Settings, TimeMode
from wheelproof_explore.result import Exploration
from wheelproof_explore.substrates.substrate import SubstrateKind


class _Run:
    """A thread that waits so many times, and what its waits came to in all runs."""

    def __init__(self, outcomes: set[tuple[str, ...]], waits: int, timeout_ms: int | None) -> None:
        self.lock = sync.lock("lock")
        self.changed = sync.condition(self.lock, "changed")
        self.got: list[str] = []
        self._outcomes = outcomes
        self._waits = waits
        self._timeout_ms = None if timeout_ms is None else Millis(timeout_ms)
        self.waiter = sync.thread(self._wait, "waiter")
        self.waiter.start()

    def scenario(self, threads: dict[str, Callable[[], None]]) -> Scenario:
        return Scenario(threads=threads, check=lambda: self._outcomes.add(tuple(self.got)))

    def notify(self) -> None:
        with self.lock:
            self.changed.notify()

    def _wait(self) -> None:
        with self.lock:
            for _ in range(self._waits):
                try:
                    self.got.append(str(self.changed.wait(self._timeout_ms)))
                except ThreadInterruptedError:
                    self.got.append("interrupted")


def _explored(
    build: Callable[[], Scenario],
    settings: Settings = DEFAULT_SETTINGS,
    substrate: SubstrateKind = SubstrateKind.GREENLET,
    engine: Engine = Engine.OPTIMAL,
) -> Exploration:
    options = Options(keep_going=True, substrate=substrate, engine=engine)
    return explore(make(build, settings), options)


@pytest.mark.parametrize("substrate", list(SubstrateKind))
def test_an_interrupt_ends_the_wait_before_it_or_during_it(substrate: SubstrateKind) -> None:
    outcomes: set[tuple[str, ...]] = set()

    def build() -> Scenario:
        run = _Run(outcomes, 1, None)
        return run.scenario({"interrupter": run.waiter.interrupt})

    found = _explored(build, substrate=substrate)
    assert (found.classes, found.failing_runs) == (2, 0)
    assert outcomes == {("interrupted",)}


@pytest.mark.parametrize("substrate", list(SubstrateKind))
def test_an_interrupt_races_with_a_notification(substrate: SubstrateKind) -> None:
    """Whoever is first ends the wait; a status that came too late ends the next one."""
    outcomes: set[tuple[str, ...]] = set()

    def build() -> Scenario:
        run = _Run(outcomes, 2, None)
        return run.scenario({"interrupter": run.waiter.interrupt, "notifier": run.notify})

    found = _explored(build, Settings(may_wait=frozenset({"waiter"})), substrate)
    assert found.failing_runs == 0
    assert outcomes == {
        ("True", "interrupted"),
        ("interrupted", "True"),
        ("interrupted",),
    }


@pytest.mark.parametrize("mode", list(TimeMode))
def test_an_interrupt_races_with_a_time_out(mode: TimeMode) -> None:
    outcomes: set[tuple[str, ...]] = set()

    def build() -> Scenario:
        run = _Run(outcomes, 1, 5)
        return run.scenario({"interrupter": run.waiter.interrupt})

    assert _explored(build, Settings(time=mode)).failing_runs == 0
    expected = {("interrupted",)}
    assert outcomes == (expected if mode is TimeMode.LAZY else expected | {("False",)})


@pytest.mark.parametrize("timeout_ms", [None, 5])
@pytest.mark.parametrize("spurious_wakeups", [0, 1])
def test_no_outcome_is_lost_to_the_reduction(timeout_ms: int | None, spurious_wakeups: int) -> None:
    """Brute force knows nothing of which steps commute."""

    def outcomes_with(engine: Engine) -> set[tuple[str, ...]]:
        outcomes: set[tuple[str, ...]] = set()

        def build() -> Scenario:
            run = _Run(outcomes, 2, timeout_ms)
            return run.scenario({"interrupter": run.waiter.interrupt, "notifier": run.notify})

        settings = Settings(may_wait=frozenset({"waiter"}), spurious_wakeups=spurious_wakeups)
        _explored(build, settings, engine=engine)
        return outcomes

    assert outcomes_with(Engine.OPTIMAL) == outcomes_with(Engine.BRUTE)


def test_a_notification_is_never_spent_on_an_interrupted_waiter() -> None:
    """Two wait, one is interrupted and one notification comes: the other one never hangs."""

    def build() -> Scenario:
        lock = sync.lock("lock")
        changed = sync.condition(lock, "changed")
        tokens = [0]

        def take() -> None:
            with lock:
                try:
                    while not tokens[0]:
                        changed.wait()
                    tokens[0] -= 1
                except ThreadInterruptedError:
                    return

        def give() -> None:
            with lock:
                tokens[0] += 1
                changed.notify()

        interrupted = sync.thread(take, "interrupted")
        interrupted.start()
        threads = {"other": take, "giver": give, "interrupter": interrupted.interrupt}

        def check() -> None:
            assert not tokens[0], "the token lies there and the other one sleeps"

        return Scenario(threads=threads, check=check)

    found = _explored(build, Settings(may_wait=frozenset({"other"})))
    assert found.failing_runs == 0


def test_whoever_swallows_an_interrupt_hangs() -> None:
    def build() -> Scenario:
        lock = sync.lock("lock")
        changed = sync.condition(lock, "changed")

        def wait() -> None:
            with lock:
                try:
                    changed.wait()
                except ThreadInterruptedError:
                    changed.wait()

        waiter = sync.thread(wait, "waiter")
        waiter.start()
        return Scenario(threads={"interrupter": waiter.interrupt})

    found = _explored(build).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.LOST_WAKEUP
    assert any("interrupted" in step.text for step in found.steps)


def test_a_wait_that_is_interrupted_while_it_may_wake_for_no_reason() -> None:
    outcomes: set[tuple[str, ...]] = set()

    def build() -> Scenario:
        run = _Run(outcomes, 1, None)
        return run.scenario({"interrupter": run.waiter.interrupt})

    assert _explored(build, Settings(spurious_wakeups=1)).failing_runs == 0
    assert outcomes == {("interrupted",), ("True",)}
