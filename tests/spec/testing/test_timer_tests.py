"""`TimerMachine`: a right timer passes, whatever it is made of; a wrong one fails by its clause."""

import doctest
import importlib
import re
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType

import hypothesis
import pytest
from hypothesis import Phase

from support.checkout import ROOT
from support.contract_tests import failure, steps
from support.reference.heap_timer import UpTimer
from support.reference.python_timer import ReferenceTimer
from support.testing import wrong_timers as wrong
from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.fuzz import burst
from wheelproof_spec.testing import (
    MakeTimer,
    NothingToTestError,
    TimerClause,
    TimerMachine,
    machine,
    python_timer,
    timer,
)

pytest_plugins = ("pytester",)


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


class _Raises(UpTimer):
    def add(self, task: str, delay_ms: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise OverflowError("no bucket for it")
        super().add(task, delay_ms)


class _ByLuck(UpTimer):
    """Its cancel answers wrongly once, and never again."""

    lies = 0

    def cancel(self, task: str) -> bool:
        found = super().cancel(task)
        _ByLuck.lies += 1
        return not found if _ByLuck.lies == 1 else found


_SHORT = hypothesis.settings(TimerMachine.settings, max_examples=25)
_NOT_SMALLER = hypothesis.settings(TimerMachine.settings, phases=(Phase.generate,))


def _tests(
    timer: MakeTimer,
    profile_name: str = "never-early",
    chosen: hypothesis.settings = _SHORT,
) -> TimerMachine:
    class TestIt(TimerMachine):
        make = timer
        profile = profile_name
        settings = chosen

    return TestIt()


def test_a_failure_is_made_small() -> None:
    _, cancel, _ = steps(failure(_tests(wrong.CancelLies)))
    assert cancel == "state.cancel(task='a')"


def test_a_race_needs_threads_that_meet() -> None:
    _, together, _ = steps(failure(_tests(wrong.LosesUpdates)))
    assert together.startswith("state.together(first=(Add(task='a', delay_ms=0),), second=(")


def test_another_profile_is_another_verdict() -> None:
    late = failure(_tests(UpTimer, "kafka", _NOT_SMALLER))
    assert late.violation.rule == TimerClause.NOTHING_LEFT_BEHIND
    early = failure(_tests(ReferenceTimer, chosen=_NOT_SMALLER))
    assert early.violation.rule == TimerClause.NEVER_BEFORE_DUE


def test_an_exception_in_a_thread_is_shown() -> None:
    violation = failure(_tests(_Raises)).violation
    assert violation.rule == "Timer.NoCallFails"
    assert "no bucket for it" in violation.observed


def test_a_failure_that_does_not_repeat_is_shown_with_its_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_ByLuck, "lies", 0)
    error = failure(_tests(_ByLuck))
    assert error.violation.rule == TimerClause.CANCEL_TELLS_THE_TRUTH
    assert "it takes luck how the threads meet" in error.__notes__[-1]
    assert steps(error)[0].startswith("state.new_timer(")


def test_a_thread_that_does_not_come_back_ends_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    stuck: list[str] = []

    @contextmanager
    def gate() -> Generator[None]:
        if threading.current_thread().name.startswith("burst-"):
            stuck.append(threading.current_thread().name)
            released.wait()
        yield

    class Stuck(UpTimer):
        def __init__(
            self, tick_ms: int, wheel_size: int, start_ms: int, run: Callable[[str], None]
        ) -> None:
            super().__init__(tick_ms, wheel_size, start_ms, run)
            self._lock = _Again(gate)

        def close(self) -> None:
            assert not stuck, "whoever closes it now gets stuck as well"

    class TestIt(TimerMachine):
        make = Stuck
        profile = "never-early"

        def run_burst(self, programs: Sequence[Sequence[Callable[[], object]]], of: str) -> object:
            # Its threads never end before `released` is set, however long the machine waits.
            monkeypatch.setattr(burst, "STUCK_AFTER_S", 0.01)
            return super().run_burst(programs, of)

    try:
        error = failure(TestIt())
    finally:
        released.set()
    assert error.violation.rule.endswith(".EveryCallReturns")
    assert "nothing was made smaller" in error.__notes__[-1]
    assert steps(error)[-1].startswith("state.together(")


class _Again(AbstractContextManager[None]):
    """Enters a new context each time."""

    def __init__(self, make: Callable[[], AbstractContextManager[None]]) -> None:
        self._make = make

    def __enter__(self) -> None:
        self._make().__enter__()

    def __exit__(self, *raised: object) -> None:
        del raised


def test_a_known_limit_is_not_judged() -> None:
    class TestIt(TimerMachine):
        make = wrong.CountsCancelled
        profile = "never-early"
        skip = (TimerClause.SIZE_COUNTS_WAITING,)
        settings = _SHORT

    TestIt().test_it_keeps_its_contract()


def test_a_test_without_a_timer_or_with_an_unknown_profile_says_so() -> None:
    class TestNothing(TimerMachine):
        pass

    with pytest.raises(
        NothingToTestError, match=r"^TestNothing has no timer; write in it: make = "
    ):
        TestNothing().test_it_keeps_its_contract()
    with pytest.raises(
        NothingToTestError, match="has the profile 'kafak'; take kafka, never-early, "
    ):
        _tests(UpTimer, "kafak").test_it_keeps_its_contract()
    with pytest.raises(NothingToTestError, match="TimerMachine has no timer"):
        TimerMachine.machine()


def test_the_same_cases_are_drawn_in_each_run_and_others_with_another_seed() -> None:
    def drawn(number: int) -> list[tuple[int, int, int]]:
        made: list[tuple[int, int, int]] = []

        def make_it(
            *, tick_ms: int, wheel_size: int, start_ms: int, run: Callable[[str], None]
        ) -> UpTimer:
            made.append((tick_ms, wheel_size, start_ms))
            return UpTimer(tick_ms, wheel_size, start_ms, run)

        class TestIt(TimerMachine):
            make = staticmethod(make_it)
            profile = "never-early"
            seed = number
            settings = hypothesis.settings(TimerMachine.settings, max_examples=5)

        TestIt().test_it_keeps_its_contract()
        return made

    assert drawn(0) == drawn(0) != drawn(1)


def test_without_hypothesis_the_import_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("wheelproof_spec.testing")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(MissingToolError, match=r"hypothesis was not found; .* '\.\[fuzz\]'"):
        importlib.import_module("wheelproof_spec.testing")


def _documented() -> str:
    page = (ROOT / "docs" / "judge-your-implementation.md").read_text(encoding="utf-8")
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (block,) = (block for block in blocks if "TimerMachine" in block)
    return block


@pytest.mark.parametrize(
    ("instead", "ends"), [("<= to_ms", {"passed": 1}), ("< to_ms", {"failed": 1})]
)
def test_the_documented_test_passes_and_its_error_is_found(
    instead: str, ends: dict[str, int], pytester: pytest.Pytester
) -> None:
    few = "    settings = hypothesis.settings(TimerMachine.settings, max_examples=30)\n"
    text = _documented().replace("<= to_ms", instead)
    pytester.makepyfile(test_mine=f"import hypothesis\n{text}{few}")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(**ends)
    if "failed" in ends:
        result.stdout.fnmatch_lines(["*Timer.NothingDueIsLeftBehind: *", "*state.add(*"])


@pytest.mark.parametrize(
    "module", [machine, python_timer, timer], ids=lambda module: module.__name__
)
def test_the_examples_run(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert result.failed == 0


_FILE = """
import hypothesis
from support.checkout import ROOT
from support.reference.heap_timer import UpTimer
from wheelproof_spec.testing import TimerMachine

class TestMine(TimerMachine):
    make = UpTimer
    settings = hypothesis.settings(TimerMachine.settings, max_examples=10)
"""


def test_pytest_collects_two_lines_and_a_right_timer_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine=_FILE + '    profile = "never-early"\n')
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_pytest_shows_the_clause_and_the_steps_of_a_wrong_timer(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine=_FILE)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*ContractViolationError: Timer.NothingDueIsLeftBehind: *",
            "*state = TimerMachine()",
            "*state.new_timer(*",
            "*state.advance_until_due(early=*",
        ]
    )
