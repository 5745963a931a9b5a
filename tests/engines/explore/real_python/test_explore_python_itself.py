"""Python's own library can be rewritten, and Python's own tests pass when they are rewritten.

What may differ is what looks at a function from outside: `locals()` has the rewriting's temporary
variables, a trace has its lines, and the error of a deleted variable is a NameError.
"""

import importlib
import inspect
import re
import sysconfig
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from wheelproof_spec.engines.explore.instrument.accesses import Seeing
from wheelproof_spec.engines.explore.instrument.loading import instrumented, replacements

_LIBRARY = Path(sysconfig.get_path("stdlib"))
_STATEMENTS = ("augassign", "except_star", "grammar", "named_expressions", "patma", "scope")
_CALLABLES = ("asyncgen", "class", "coroutines", "extcall", "generators", "super", "yield_from")
_OTHERS = ("contextlib", "unpack_ex", "with")
_MAY_DIFFER = re.compile(r"locals\(\)|self\._trace\(|UnboundLocalError")


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["", "asyncio", "concurrent/futures", "email", "unittest"])
def test_every_module_of_the_library_is_rewritten(folder: str) -> None:
    files = sorted((_LIBRARY / folder).glob("*.py"))
    assert files
    for file in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert replacements(file.read_text(encoding="utf-8"), str(file)) is not None, file


@pytest.mark.slow
@pytest.mark.parametrize("name", [*_STATEMENTS, *_CALLABLES, *_OTHERS])
@pytest.mark.filterwarnings("ignore")
def test_the_tests_of_the_language_pass(name: str) -> None:
    module = importlib.import_module(f"test.test_{name}")
    tests = unittest.defaultTestLoader.loadTestsFromModule(module)
    texts = {case.id(): _source(case) for case in _cases(tests)}
    with instrumented(name, [module.__name__], Seeing(steps=False)):
        result = tests.run(unittest.TestResult())
    assert result.testsRun == len(texts)
    for case, problem in result.failures + result.errors:
        assert _MAY_DIFFER.search(texts[case.id()]), problem


def _cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _cases(test)
        else:
            yield test


def _source(case: unittest.TestCase) -> str:
    return inspect.getsource(getattr(case, case.id().rpartition(".")[2], type(case)))
