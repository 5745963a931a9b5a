"""`PurgatoryMachine`: a right purgatory passes, whatever it is; a wrong one fails by its clause.

The threads of the wrong ones run in one order, so their races happen whenever threads meet.
"""

import doctest
import re
import threading
from collections.abc import Collection
from contextlib import AbstractContextManager
from types import ModuleType

import hypothesis
import pytest

from support.checkout import ROOT
from support.contract_tests import failure
from support.testing import wrong_purgatories as wrong
from support.testing.heap_purgatory import HeapPurgatory
from support.testing.meeting import run_in_order
from wheelproof.errors import PurgatoryClosedError
from wheelproof_spec.fuzz import burst
from wheelproof_spec.testing import (
    MakePurgatory,
    NothingToTestError,
    NotLookedAtWarning,
    PurgatoryClause,
    PurgatoryMachine,
    purgatory,
    purgatory_programs,
    python_purgatory,
)

pytest_plugins = ("pytester",)


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the threads of a burst run in the order of `support.testing.meeting`."""
    monkeypatch.setattr(PurgatoryMachine, "run_burst", staticmethod(run_in_order))


_SHORT = hypothesis.settings(PurgatoryMachine.settings, max_examples=25)
_FEW_STEPS = hypothesis.settings(PurgatoryMachine.settings, max_examples=150, stateful_step_count=8)
"""What fails is short at once, so that it is made smaller in little time."""


def _tests(
    made: MakePurgatory,
    chosen: hypothesis.settings = _SHORT,
    *,
    known: Collection[PurgatoryClause] = (),
    profile_name: str = "wheelproof",
) -> PurgatoryMachine:
    class TestIt(PurgatoryMachine):
        make = made
        profile = profile_name
        skip = known
        settings = chosen

    return TestIt()


def test_an_early_expiry_is_found() -> None:
    error = failure(_tests(wrong.ExpiresEarly, _FEW_STEPS))
    assert error.violation.rule in (
        PurgatoryClause.EXPIRES_IN_TIME,
        PurgatoryClause.COMPLETES_FOR_A_REASON,
    )


def test_what_is_not_there_is_not_looked_at_and_the_test_says_so() -> None:
    with pytest.warns(NotLookedAtWarning) as warned:
        _tests(wrong.Minimal).test_it_keeps_its_contract()
    (warning,) = warned
    assert str(warning.message) == (
        "TestIt has not looked at what is not there: cancel_for_key, force_complete, num_delayed, "
        "num_keys, watched"
    )


def test_by_the_profile_of_kafka_only_time_outs_are_cancelled() -> None:
    _tests(wrong.CancelsTimeouts, profile_name="kafka").test_it_keeps_its_contract()
    error = failure(_tests(HeapPurgatory, _FEW_STEPS, profile_name="kafka"))
    assert error.violation.rule in (
        PurgatoryClause.TRIGGER_COMPLETES,
        PurgatoryClause.ANSWERS_TRULY,
        PurgatoryClause.WATCHED_COUNTS,
    )


@pytest.mark.parametrize(
    ("made", "known"),
    [
        (wrong.CountsTheDone, PurgatoryClause.WATCHED_COUNTS),
        (wrong.KeepsKeys, PurgatoryClause.NO_EMPTY_KEY),
        (HeapPurgatory, PurgatoryClause.ATTEMPTS_EXCLUDE),
    ],
)
def test_a_known_limit_is_not_judged(made: MakePurgatory, known: PurgatoryClause) -> None:
    _tests(made, known=[known]).test_it_keeps_its_contract()


def test_an_error_of_a_call_is_shown() -> None:
    with pytest.raises(OverflowError, match="too many operations wait for x") as caught:
        _tests(wrong.Raises, _FEW_STEPS).test_it_keeps_its_contract()
    assert any("state.check_and_complete(key='x')" in note for note in caught.value.__notes__)


def test_an_error_in_a_thread_is_shown() -> None:
    violation = failure(_tests(wrong.RaisesInThreads, _FEW_STEPS)).violation
    assert violation.rule == "Purgatory.NoCallFails"
    assert "too many operations wait for x" in violation.observed


def test_a_refusal_is_an_error() -> None:
    with pytest.raises(PurgatoryClosedError):
        _tests(wrong.Refuses, _FEW_STEPS).test_it_keeps_its_contract()


def test_a_thread_that_does_not_come_back_ends_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    class Gate(AbstractContextManager[None]):
        def __enter__(self) -> None:
            if threading.current_thread() is not threading.main_thread():
                released.wait()

        def __exit__(self, *raised: object) -> None:
            del raised

    class Stuck(HeapPurgatory):
        def _map_lock(self) -> AbstractContextManager[object]:
            return Gate()

    # Its threads never end before `released` is set, however long the machine waits for them.
    monkeypatch.setattr(burst, "STUCK_AFTER_S", 0.01)
    try:
        error = failure(_tests(Stuck, _FEW_STEPS))
    finally:
        released.set()
    assert error.violation.rule.endswith(".EveryCallReturns")
    assert "nothing was made smaller" in error.__notes__[-1]


def test_a_test_without_a_purgatory_or_with_an_unknown_profile_says_so() -> None:
    class TestNothing(PurgatoryMachine):
        pass

    with pytest.raises(NothingToTestError, match=r"^TestNothing has no purgatory; write in it: "):
        TestNothing().test_it_keeps_its_contract()
    with pytest.raises(NothingToTestError, match=r"'kafak'; take kafka, wheelproof$"):
        _tests(HeapPurgatory, profile_name="kafak").test_it_keeps_its_contract()
    with pytest.raises(NothingToTestError, match="PurgatoryMachine has no purgatory"):
        PurgatoryMachine.machine()


@pytest.mark.parametrize(
    "module",
    [purgatory, purgatory_programs, python_purgatory],
    ids=lambda module: module.__name__,
)
def test_the_examples_run(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert result.failed == 0


def _documented() -> str:
    page = (ROOT / "docs" / "judge-your-implementation.md").read_text(encoding="utf-8")
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (block,) = (block for block in blocks if "PurgatoryMachine" in block)
    return block


@pytest.mark.parametrize(
    ("instead", "ends"),
    [
        ("one.due_ms <= to_ms", {"passed": 1}),
        ("one.due_ms < to_ms", {"failed": 1}),
    ],
)
def test_the_documented_test_passes_and_its_error_is_found(
    instead: str, ends: dict[str, int], pytester: pytest.Pytester
) -> None:
    few = "    settings = hypothesis.settings(PurgatoryMachine.settings, max_examples=20)\n"
    text = _documented().replace("one.due_ms <= to_ms", instead)
    pytester.makepyfile(test_mine=f"import hypothesis\n{text}{few}")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(**ends)
    if "failed" in ends:
        result.stdout.fnmatch_lines(["*Purgatory.ExpiresInTime: *", "*state.advance(*"])
