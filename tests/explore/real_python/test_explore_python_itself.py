"""Python's own tests pass when they are rewritten, and when the models stand for Python's threads.

What may differ of rewritten code is what looks at a function from outside: `locals()` has the
rewriting's temporary variables, a trace has its lines, and the error of a deleted variable is a
NameError. Models have no address and no fork, threads live as long as their run, and a lock is
taken with a time-out in TimeMode.ANY alone, in which a test that measures time may fail.
"""

import asyncio
import importlib
import inspect
import re
import sysconfig
import threading
import unittest
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from wheelproof_explore.explorer import explore
from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.instrument.loading import instrumented, replacements
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Settings, TimeMode
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.long

_LIBRARY = Path(sysconfig.get_path("stdlib"))
_STATEMENTS = ("augassign", "except_star", "grammar", "named_expressions", "patma", "scope")
_CALLABLES = ("asyncgen", "class", "coroutines", "extcall", "generators", "super", "yield_from")
_OTHERS = ("contextlib", "unpack_ex", "with")
_MAY_DIFFER = re.compile(r"locals\(\)|self\._trace\(|UnboundLocalError")

_MODELS: dict[str, tuple[str, Callable[..., object]]] = {
    "LockTests": ("locktype", lambda: threading.Lock()),
    "RLockTests": ("locktype", lambda: threading.RLock()),
    "PyRLockTests": ("locktype", vars(threading)["_PyRLock"]),
    "EventTests": ("eventtype", threading.Event),
    "ConditionTests": ("condtype", threading.Condition),
    "SemaphoreTests": ("semtype", threading.Semaphore),
    "BoundedSemaphoreTests": ("semtype", threading.BoundedSemaphore),
    "BarrierTests": ("barriertype", threading.Barrier),
}
"""The tests of Python's locks, and what they are to test; the factories are patched in a run."""
_NO_MODEL = re.compile(
    r"repr\(|_recursion_count|_at_fork_reinit|local_refs|lock\.acquire\((?:True, -1\)|timeout=)"
)
_RUNS = 4


def _tests(name: str) -> list[unittest.TestCase]:
    module = importlib.import_module(f"test.{name}")
    return [*_cases(unittest.defaultTestLoader.loadTestsFromModule(module))]


def _cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _cases(test)
        else:
            yield test


def _name(case: unittest.TestCase) -> str:
    return case.id().rpartition(".")[2]


def _source(case: unittest.TestCase) -> str:
    return inspect.getsource(getattr(case, _name(case), type(case)))


@pytest.mark.parametrize("folder", ["", "asyncio", "concurrent/futures", "email", "unittest"])
def test_every_module_of_the_library_is_rewritten(folder: str) -> None:
    files = sorted((_LIBRARY / folder).glob("*.py"))
    assert files
    for file in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert replacements(file.read_text(encoding="utf-8"), str(file)) is not None, file


@pytest.mark.parametrize("name", [*_STATEMENTS, *_CALLABLES, *_OTHERS])
@pytest.mark.filterwarnings("ignore")
def test_the_tests_of_the_language_pass(name: str) -> None:
    cases = _tests(f"test_{name}")
    texts = {case.id(): _source(case) for case in cases}
    with instrumented(name, [f"test.test_{name}"], Seeing(steps=False)):
        result = unittest.TestSuite(cases).run(unittest.TestResult())
    assert result.testsRun == len(texts)
    for case, problem in result.failures + result.errors:
        assert _MAY_DIFFER.search(texts[case.id()]), problem


def _run(case: unittest.TestCase) -> None:
    """Run a test with objects of its own."""
    again = type(case)(_name(case))
    test = getattr(again, _name(case))
    again.setUp()
    try:
        if inspect.iscoroutinefunction(test):
            asyncio.run(test())
        else:
            test()
    finally:
        again.tearDown()
        again.doCleanups()


def _passes(case: unittest.TestCase) -> bool:
    """Tell whether a test passes in runs of the model checker, and makes steps in them."""
    if _NO_MODEL.search(_source(case)):
        return False
    program = threading_program(case.id(), lambda: _run(case))
    assert program is not None
    program = replace(program, settings=Settings(time=TimeMode.LAZY, max_steps=20_000))
    result = explore(program, Options(engine=Engine.SAMPLE, seed=1, max_runs=_RUNS, shrink=False))
    assert result.verdict() is not Verdict.FAIL, result.summary()
    return True


def _start(function: Callable[..., object], given: tuple[object, ...] = ()) -> int | None:
    thread = threading.Thread(target=function, args=given, daemon=True)
    thread.start()
    return thread.ident


@pytest.mark.parametrize("name", _MODELS)
def test_the_tests_of_locks_pass_with_models(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("test.lock_tests")
    monkeypatch.setattr(module, "start_new_thread", _start)
    attribute, factory = _MODELS[name]
    base: type[unittest.TestCase] = vars(module)[name.removeprefix("Py")]
    kind = type(name, (base,), {attribute: staticmethod(factory)})
    cases = [kind(test) for test in unittest.defaultTestLoader.getTestCaseNames(kind)]
    passed = [case for case in cases if _passes(case)]
    assert len(passed) > len(cases) // 2


@pytest.mark.parametrize(
    "name", ["test_sched", "test_threading_local", "test_asyncio.test_taskgroups"]
)
def test_the_tests_of_what_is_built_on_threads_pass(name: str) -> None:
    cases = [case for case in _tests(name) if type(case).__module__.startswith("test.")]
    passed = [case for case in cases if _passes(case)]
    assert len(passed) > len(cases) // 2
