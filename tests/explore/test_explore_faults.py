"""Calls into the environment fail in every interleaving, and at most so many in a run."""

import itertools
from collections.abc import Callable
from functools import partial

import pytest

from support.explore.exploring import make
from wheelproof import sync
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Faults, Scenario
from wheelproof_explore.result import Exploration
from wheelproof_explore.verdicts import Verdict


class _Ledger:
    """Two accounts; a transfer tells somebody of it, who may raise."""

    def __init__(self, tell: Callable[[], None], *, mended: bool) -> None:
        self._lock = sync.lock("lock")
        self._from = sync.volatile(2, "from")
        self._to = sync.volatile(0, "to")
        self._tell = tell
        self._mended = mended

    def transfer(self) -> None:
        """Move one unit."""
        with self._lock:
            self._from.set(self._from.get() - 1)
            if self._mended:
                self._to.set(self._to.get() + 1)
                self._tell()
            else:
                self._tell()
                self._to.set(self._to.get() + 1)

    def total(self) -> int:
        """Return what both accounts have."""
        return self._from.get() + self._to.get()


def _transfers(error: type[BaseException], *, mended: bool) -> Callable[[], Scenario]:
    def build() -> Scenario:
        ledger = _Ledger(Faults().wrap(lambda: None, error, name="tell"), mended=mended)

        def transfer() -> None:
            try:
                ledger.transfer()
            except error:
                return

        def check() -> None:
            assert ledger.total() == 2

        return Scenario(threads={"a": transfer, "b": transfer}, check=check)

    return build


def _explored(build: Callable[[], Scenario], engine: Engine = Engine.OPTIMAL) -> Exploration:
    return explore(make(build), Options(keep_going=True, engine=engine))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_a_fault_breaks_is_found(error: type[BaseException]) -> None:
    found = explore(make(_transfers(error, mended=False)), Options()).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.CHECK
    called = f"tell raises {error.__name__}"
    assert any(called in str(step) for step in found.steps)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_survives_each_fault_passes(error: type[BaseException]) -> None:
    assert _explored(_transfers(error, mended=True)).verdict() is Verdict.PASS


@pytest.mark.parametrize("engine", [Engine.OPTIMAL, Engine.BRUTE])
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_a_run_has_at_most_so_many_faults(most: int, engine: Engine) -> None:
    shown: set[tuple[str, ...]] = set()

    def build() -> Scenario:
        faults = Faults(most)
        raised = {"a": "", "b": ""}

        def call(name: str) -> None:
            for _ in range(2):
                try:
                    faults.may_fail("call", ValueError, KeyError)
                except (ValueError, KeyError) as error:
                    raised[name] += type(error).__name__[0]
                else:
                    raised[name] += "-"

        return Scenario(
            threads={name: partial(call, name) for name in raised},
            check=lambda: shown.add(tuple(raised.values())),
        )

    assert _explored(build, engine).complete
    expected = {
        ("".join(drawn[:2]), "".join(drawn[2:]))
        for drawn in itertools.product("-VK", repeat=4)
        if 4 - drawn.count("-") <= most
    }
    assert shown == expected


def test_an_interrupt_that_nobody_handles_ends_its_thread_and_not_the_exploration() -> None:
    def build() -> Scenario:
        faults = Faults()
        return Scenario(threads={"a": lambda: faults.may_fail("call", KeyboardInterrupt)})

    found = explore(make(build), Options()).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.EXCEPTION
    assert "KeyboardInterrupt" in found.failure.message


def test_nothing_fails_before_and_after_the_run() -> None:
    def build() -> Scenario:
        call = Faults().wrap(lambda: None, ValueError)
        call()
        return Scenario(threads={"a": lambda: None}, check=call)

    assert _explored(build).counterexample is None


def test_faults_are_made_in_a_program_that_is_explored() -> None:
    with pytest.raises(RuntimeError, match="inside a program that is being explored"):
        Faults()
