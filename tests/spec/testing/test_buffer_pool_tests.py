"""`BufferPoolMachine`: a right pool passes, however it is made; a wrong one fails by its clause."""

import doctest
import re
import threading
from collections.abc import Collection
from types import ModuleType

import hypothesis
import pytest
from hypothesis import Phase

from support.checkout import ROOT
from support.contract_tests import failure, steps
from support.reference.shelf_pool import ShelfPool, Waiter
from support.testing import wrong_pools as wrong
from wheelproof_spec.fuzz import burst
from wheelproof_spec.testing import (
    Buffer,
    BufferPoolMachine,
    MakePool,
    NothingToTestError,
    PoolClause,
    PoolLimit,
    buffer_pool,
    machine,
    python_pool,
    use_together,
)

pytest_plugins = ("pytester",)


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


_SHORT = hypothesis.settings(BufferPoolMachine.settings, max_examples=20)
_NOT_SMALLER = hypothesis.settings(BufferPoolMachine.settings, phases=(Phase.generate,))


def _tests(
    pool: MakePool,
    chosen: hypothesis.settings = _SHORT,
    *,
    known: Collection[PoolClause | PoolLimit] = (),
    profile_name: str = "longest-waiting-first",
) -> BufferPoolMachine:
    class TestIt(BufferPoolMachine):
        make = pool
        profile = profile_name
        skip = known
        settings = chosen

    return TestIt()


def test_a_failure_is_made_small() -> None:
    _, *allocations, _ = steps(failure(_tests(wrong.LosesAtTimeOut)))
    assert len(allocations) <= 3, (
        "one that has memory, one whose time is out, perhaps one of nothing"
    )
    assert all(step.startswith("state.allocate(size=") for step in allocations)


def test_a_race_needs_threads_that_meet() -> None:
    error = failure(_tests(wrong.LosesUpdates, _NOT_SMALLER))
    assert error.violation.rule == PoolClause.MEMORY_IS_CONSERVED
    assert any(step.startswith("state.together(first=(Use(") for step in steps(error))


def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine wait no longer; what it waits for from now on never happens."""
    monkeypatch.setattr(burst, "STUCK_AFTER_S", 0.01)


def _many_threads() -> bool:
    return threading.current_thread().name.startswith("burst-")


def test_a_wait_that_close_does_not_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class LeavesOne(ShelfPool):
        _again = False

        def _released(self) -> list[Waiter]:
            if self._again or not self._line or _many_threads():
                return super()._released()
            self._again = True
            _impatient(monkeypatch)
            return self._line[:-1]

    error = failure(_tests(LeavesOne, _NOT_SMALLER))
    assert error.violation.rule == PoolClause.CLOSE_RELEASES
    assert "nothing was made smaller" in error.__notes__[-1]
    assert steps(error)[-1] == "state.close()"


def test_a_wait_that_goes_on_though_memory_is_back_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Sleeps(ShelfPool):
        def _serve(self) -> None:
            if _many_threads():
                super()._serve()
            elif self._line and self._line[0].size <= self._left:
                _impatient(monkeypatch)

    error = failure(_tests(Sleeps, _NOT_SMALLER))
    assert error.violation.rule == PoolClause.NO_LOST_WAKE_UP
    assert "nothing was made smaller" in error.__notes__[-1]


def test_a_call_without_time_that_does_not_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, released = threading.Event(), threading.Event()

    class Blocks(ShelfPool):
        def allocate(self, size: int, max_block_ms: int) -> Buffer:
            begun.set()
            released.wait()
            return super().allocate(size, max_block_ms)

    class CallersOfIt(python_pool.Callers):
        def allocate(self, name: str, size: int, max_block_ms: int) -> python_pool.Allocation:
            allocation = super().allocate(name, size, max_block_ms)
            begun.wait()
            _impatient(monkeypatch)
            return allocation

    monkeypatch.setattr(buffer_pool, "Callers", CallersOfIt)
    try:
        error = failure(_tests(Blocks))
    finally:
        released.set()
    assert error.violation.rule == PoolClause.WAIT_IS_BOUNDED
    assert "nothing was made smaller" in error.__notes__[-1]


def test_an_error_that_no_caller_expects_is_shown() -> None:
    violation = failure(_tests(wrong.Raises)).violation
    assert violation.rule == "BufferPool.NoCallFails"
    assert "no shelf for " in violation.observed


@pytest.mark.parametrize(
    ("pool", "known"),
    [
        (wrong.CountsOneMore, PoolClause.WAITERS_ARE_LIVE),
        (wrong.KeepsNothing, PoolClause.KEEPS_BUFFERS),
        (wrong.NoSizeChecked, PoolLimit.SIZE_OUTSIDE),
        (wrong.TakesEverything, PoolLimit.GIVEN_BACK_TWICE),
    ],
)
def test_a_known_limit_is_not_judged(pool: MakePool, known: PoolClause | PoolLimit) -> None:
    few = hypothesis.settings(_SHORT, max_examples=10)
    _tests(pool, few, known=[known]).test_it_keeps_its_contract()


def test_by_the_profile_of_kafka_a_newcomer_may_be_first() -> None:
    _tests(wrong.Barging, profile_name="kafka").test_it_keeps_its_contract()


def test_a_test_without_a_pool_or_with_an_unknown_profile_says_so() -> None:
    class TestNothing(BufferPoolMachine):
        pass

    with pytest.raises(
        NothingToTestError, match=r"^TestNothing has no buffer pool; write in it: make = "
    ):
        TestNothing().test_it_keeps_its_contract()
    with pytest.raises(NothingToTestError, match=r"'kafak'; take longest-waiting-first, kafka$"):
        _tests(ShelfPool, profile_name="kafak").test_it_keeps_its_contract()
    with pytest.raises(NothingToTestError, match="BufferPoolMachine has no buffer pool"):
        BufferPoolMachine.machine()


@pytest.mark.parametrize(
    "module",
    [buffer_pool, python_pool, machine, use_together],
    ids=lambda module: module.__name__,
)
def test_the_examples_run(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted or module is use_together


def _documented() -> str:
    page = (ROOT / "docs" / "judge-your-implementation.md").read_text(encoding="utf-8")
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (block,) = (block for block in blocks if "BufferPoolMachine" in block)
    return block


@pytest.mark.parametrize(
    ("instead", "ends"),
    [("self.free += ", {"passed": 1}), ("self.free = ", {"failed": 1})],
)
def test_the_documented_test_passes_and_its_error_is_found(
    instead: str, ends: dict[str, int], pytester: pytest.Pytester
) -> None:
    few = "    settings = hypothesis.settings(BufferPoolMachine.settings, max_examples=20)\n"
    text = _documented().replace("self.free += ", instead)
    pytester.makepyfile(test_mine=f"import hypothesis\n{text}{few}")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(**ends)
    if "failed" in ends:
        result.stdout.fnmatch_lines(["*BufferPool.MemoryIsConserved: *", "*state.deallocate(*"])
