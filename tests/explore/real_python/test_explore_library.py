"""The model checker as a library, in tests of somebody's own code."""

import functools
import importlib
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from wheelproof_explore import (
    InterleavingError,
    Settings,
    TimeMode,
    check,
    check_drawn,
    every_interleaving,
    explore,
)
from wheelproof_explore.instrument import accesses
from wheelproof_explore.program import DEFAULT_SETTINGS
from wheelproof_explore.result import Exploration
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.slow


_IMPORTED_LATE = """
import threading

class Total:
    def __init__(self):
        self.lock = threading.Lock()
        self.total = 0

    def add(self):
        with self.lock:
            pass
        self.total += 1

def two_add():
    total = Total()
    threads = [threading.Thread(target=total.add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total.total == 2

instance = None

def get():
    global instance
    if instance is None:
        instance = Total()
    return instance

def two_get():
    got = []
    threads = [threading.Thread(target=lambda: got.append(get())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = got
    assert first is second
"""


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


def _python_of(told: str) -> str:
    (line,) = (line for line in told.splitlines() if line.startswith("  in Python: "))
    return line.removeprefix("  in Python: ")


@pytest.mark.parametrize(
    ("world", "said"),
    [
        (Settings(time=TimeMode.CLOCK), "settings=Settings(time=TimeMode.CLOCK)"),
        (Settings(first_in_first_out=True), "settings=Settings(first_in_first_out=True)"),
        (DEFAULT_SETTINGS, "settings=Settings()"),
    ],
)
def test_a_failure_shows_a_line_of_python_that_repeats_it(world: Settings, said: str) -> None:
    with pytest.raises(InterleavingError) as caught:
        every_interleaving(accesses="races", settings=world, max_runs=100)(_withdraw)(6, 6)
    python = _python_of(str(caught.value))
    assert said in python
    assert "max_runs" not in python
    names = {
        "explore": explore,
        "partial": partial,
        "_withdraw": _withdraw,
        "Settings": Settings,
        "TimeMode": TimeMode,
    }
    again: object = eval(python, names)
    assert isinstance(again, Exploration)
    found = caught.value.exploration.counterexample
    assert found is not None
    assert again.counterexample is not None
    assert (again.engine, again.counterexample.schedule) == ("replay", found.schedule)


def test_a_lambda_is_left_out_of_the_line() -> None:
    with pytest.raises(InterleavingError) as caught:
        check(lambda: _withdraw(6, 6))
    assert _python_of(str(caught.value)).startswith("explore(lambda: ..., replay='wp1-")


class _Total:
    """Adds without the lock that stands beside it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.total = 0

    def add(self) -> None:
        with self.lock:
            pass
        self.total += 1


def _two_add() -> None:
    total = _Total()
    threads = [threading.Thread(target=total.add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total.total == 2


def test_a_lost_update_beside_a_lock_is_found_without_any_option() -> None:
    with pytest.raises(InterleavingError, match=r"assert total\.total == 2"):
        check(_two_add)
    with pytest.raises(InterleavingError, match=r"assert total\.total == 2"):
        every_interleaving(_two_add)()
    assert explore(_two_add, samples=50).counterexample is not None
    assert "data race" in explore(_two_add, accesses="races").summary()
    assert "not looked at" in check(_two_add, instrument=["none"]).summary()


def test_a_drawn_schedule_finds_a_lost_update_without_any_option() -> None:
    @given(st.data())
    @settings(max_examples=50, database=None, derandomize=True, phases=[Phase.generate])
    def draws(data: st.DataObject) -> None:
        check_drawn(_two_add, data)

    with pytest.raises(InterleavingError, match=r"total\.total == 2"):
        draws()


def test_what_a_loop_unpacks_is_seen() -> None:
    def writes_between_two_looks() -> None:
        shared, lock = [0], threading.Lock()

        def write() -> None:
            with lock:
                pass
            shared[0] = 1

        def look() -> None:
            with lock:
                pass
            seen: list[int] = []
            for (one,) in [shared, shared]:
                seen.append(one)
            assert seen[0] == seen[1]

        threads = [threading.Thread(target=body) for body in (write, look)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    with pytest.raises(InterleavingError, match=r"seen\[0\] == seen\[1\]"):
        check(writes_between_two_looks)


class _Counted:
    count = 0


class _Single:
    """A textbook singleton, and what the same mistake is called elsewhere."""

    instance: "_Single | None" = None

    @classmethod
    def get(cls) -> "_Single":
        if cls.instance is None:
            cls.instance = cls()
        return cls.instance


_CACHE: dict[str, object] = {}


def _load(key: str) -> object:
    if key not in _CACHE:
        _CACHE[key] = object()
    return _CACHE[key]


@functools.lru_cache
def _made(_key: str) -> object:
    return object()


_WEAK: weakref.WeakValueDictionary[str, _Single] = weakref.WeakValueDictionary()


def _known(key: str) -> object:
    found = _WEAK.get(key)
    if found is None:
        found = _WEAK[key] = _Single()
    return found


@pytest.mark.parametrize(
    "get", [_Single.get, lambda: _load("a"), lambda: _made("a"), lambda: _known("a")]
)
def test_what_the_first_run_leaves_behind_is_gone_in_the_next(get: Callable[[], object]) -> None:
    def two_get() -> None:
        got: list[object] = []
        threads = [threading.Thread(target=lambda: got.append(get())) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got[0] is got[1]

    with pytest.raises(InterleavingError, match=r"got\[0\] is got\[1\]"):
        check(two_get)
    assert (_Single.instance, _CACHE, _made.cache_info().currsize) == (None, {}, 0)


def test_many_shared_objects_of_a_field_begin_anew_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """filelock 4 was explored anew for ever: its objects have other numbers in each order."""
    begun: list[str] = []
    anew = vars(accesses)["_explore_anew"]

    def counted(runtime: ControlledRuntime, reason: str) -> None:
        begun.append(reason)
        anew(runtime, reason)

    monkeypatch.setattr(accesses, "_explore_anew", counted)

    def shares_many() -> None:
        lock, singles = threading.Lock(), [_Counted() for _ in range(30)]

        def count() -> None:
            with lock:
                for single in singles:
                    single.count += 1

        threads = [threading.Thread(target=count) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(single.count == 2 for single in singles)

    check(shares_many)
    assert begun == ["shares _Counted.count"] * 8


def test_a_module_that_a_run_imports_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_late.py").write_text(_IMPORTED_LATE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "imported_late", raising=False)

    def imports() -> None:
        importlib.import_module("imported_late").two_add()

    with pytest.raises(InterleavingError, match=r"assert total\.total == 2"):
        check(imports)
    monkeypatch.delitem(sys.modules, "imported_late")
    with pytest.raises(InterleavingError, match="assert first is second"):
        check(lambda: importlib.import_module("imported_late").two_get())


@pytest.mark.parametrize("text", [f"\n{_IMPORTED_LATE}", _IMPORTED_LATE.replace("+= 1", "+= 2")])
def test_a_source_that_has_changed_since_its_import_is_no_pass(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "imported_late.py"
    file.write_text(_IMPORTED_LATE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "imported_late", raising=False)
    module = importlib.import_module("imported_late")
    file.write_text(text, encoding="utf-8")
    importlib.invalidate_caches()

    def adds() -> None:
        total = module.Total()
        threads = [threading.Thread(target=total.add) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    result = explore(adds)
    assert result.verdict() is Verdict.INCONCLUSIVE
    assert "imported_late.py, which has changed since it was imported" in result.gap
    monkeypatch.delitem(sys.modules, "imported_late")


_DELEGATES = """
import threading
import types

class Echo:
    asked = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.asked += 1
        if self.asked > 2:
            raise StopIteration("the end")
        return self.asked

    def send(self, value):
        return self.__next__()

class Key:
    asked = 0

    def __hash__(self):
        self.asked += 1
        return 1

async def seven():
    return 7

@types.coroutine
def old():
    return (yield from seven())

async def new():
    return await old()

def ends(going, *sent):
    try:
        for value in (None, *sent):
            going.send(value)
    except StopIteration as end:
        return end.value

def delegates():
    return (yield from Echo())

def program():
    lock, total = threading.Lock(), [0]

    def add():
        key = Key()
        found = {}
        found[key] = 1
        assert key.asked == 1
        assert ends(delegates(), 1, 2) == "the end"
        assert ends(new()) == 7
        with lock:
            total[0] += 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == [2]
"""


def test_delegation_gives_what_python_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result of a class's iterator was lost, and the hash of a key was asked for twice."""
    (tmp_path / "delegates.py").write_text(_DELEGATES, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    result = explore(importlib.import_module("delegates").program)
    monkeypatch.delitem(sys.modules, "delegates")
    assert result.verdict() is Verdict.PASS


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
        check_drawn(lambda: _withdraw(*amounts), data, instrument=["none"])

    with pytest.raises(InterleavingError, match="overdraw it") as caught:
        property_of_accounts()
    found = caught.value.exploration.counterexample
    assert found is not None
    # Two threads, whose amounts are as small as they can be, and one switch.
    assert "(1, 10) overdraw it" in found.failure.message
    assert len(found.deviations) == 1


def test_hypothesis_does_not_count_a_run_for_its_deadline() -> None:
    times: list[dict[str, float]] = []

    @given(st.data())
    @settings(max_examples=1, database=None, phases=[Phase.generate])
    def draws(data: st.DataObject) -> None:
        begin = time.perf_counter()
        check_drawn(lambda: _withdraw(6, 4, whole=True), data)
        times.append(
            {
                **vars(data.conjecture_data)["_stateful_run_times"],
                "all": time.perf_counter() - begin,
            }
        )

    draws()
    assert all(0 < one["execute:check_drawn"] < one["all"] for one in times)


@every_interleaving(instrument=["none"], max_runs=100)
@pytest.mark.parametrize("amounts", [(6, 6), (1, 2, 3)])
def test_a_decorated_test_has_parameters_and_options(amounts: Sequence[int]) -> None:
    _withdraw(*amounts, whole=True)


@pytest.fixture
def account() -> _Account:
    return _Account(10)


@every_interleaving
def test_a_decorated_test_has_fixtures(account: _Account) -> None:
    """The fixture's lock is seen, and its balance is there anew for each run."""
    assert account.balance == 10
    threads = [threading.Thread(target=account.withdraw, args=(5,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance in (0, 5)
