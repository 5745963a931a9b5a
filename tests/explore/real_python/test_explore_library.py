"""The model checker as a library, in tests of somebody's own code."""

import threading

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from wheelproof_explore import (
    InterleavingError,
    check,
    check_drawn,
    every_interleaving,
    explore,
)
from wheelproof_explore.patched.patching import patched_threading
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.slow


class _Account:
    """Looks under its lock, and takes under it, and may not in between."""

    def __init__(self, balance: int, *, whole: bool = False) -> None:
        self._lock = threading.RLock()
        self._whole = whole
        self.balance = balance

    def withdraw(self, amount: int) -> None:
        if self._whole:
            self._lock.acquire()
        with self._lock:
            enough = self.balance >= amount
        with self._lock:
            self.balance -= amount if enough else 0
        if self._whole:
            self._lock.release()


def _withdraw(*amounts: int, whole: bool = False) -> None:
    account = _Account(10, whole=whole)
    threads = [threading.Thread(target=account.withdraw, args=(amount,)) for amount in amounts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance >= 0, f"{amounts} overdraw it"


def _twice() -> None:
    _withdraw(6, 6)


@every_interleaving
def test_a_decorated_test_passes_in_every_interleaving() -> None:
    _withdraw(6, 6, whole=True)


def test_a_failure_shows_the_switch_in_the_source_and_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InterleavingError, match=r"\(6, 6\) overdraw it") as caught:
        every_interleaving(_twice)()
    told = str(caught.value)
    assert "stops before test_explore_library.py, line" in told
    assert "in withdraw: with self._lock:" in told
    found = caught.value.exploration.counterexample
    assert found is not None
    assert f"WHEELPROOF_REPLAY={found.schedule} before" in told
    monkeypatch.setenv("WHEELPROOF_REPLAY", found.schedule)
    again = explore(_twice)
    assert (again.engine, again.runs) == ("replay", 1)
    assert again.counterexample is not None
    assert again.counterexample.schedule == found.schedule
    assert check(lambda: _withdraw(6, 6, whole=True)).verdict() is Verdict.PASS


def test_what_is_not_explored_to_its_end_is_no_pass() -> None:
    with pytest.raises(InterleavingError, match="inconclusive: the bound on runs was reached"):
        check(lambda: _withdraw(6, 6, whole=True), max_runs=1)


def test_hypothesis_draws_and_shrinks_calls_and_schedule_together() -> None:
    @given(st.data(), st.lists(st.integers(0, 20), max_size=3))
    @settings(
        max_examples=100,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    def property_of_accounts(data: st.DataObject, amounts: list[int]) -> None:
        check_drawn(lambda: _withdraw(*amounts), data)

    # Patched once and not for each example: in a process with many modules that takes long.
    with patched_threading(), pytest.raises(InterleavingError, match="overdraw it") as caught:
        property_of_accounts()
    found = caught.value.exploration.counterexample
    assert found is not None
    # Two threads, whose amounts are as small as they can be, and one switch.
    assert "(1, 10) overdraw it" in found.failure.message
    assert len(found.deviations) == 1
