"""State of the process that no object of the program stands for: each use of it is a step.

Warnings, streams, loggers, limits of the interpreter, mocks. And what a run uses up: counters,
random numbers and iterators that were made before it.
"""

import contextlib
import ctypes
import encodings.aliases
import gc
import itertools
import json
import locale
import logging
import random
import reprlib
import sys
import threading
import warnings
from abc import ABC, abstractmethod
from array import array
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial, singledispatch
from io import StringIO
from types import SimpleNamespace
from unittest import mock

import pytest

from wheelproof_explore.library import explore
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.usefixtures("unshrunk")

_LOCK = threading.Lock()


def _run(*works: Callable[[], object]) -> None:
    """Run one in two threads, or several in one thread each."""
    threads = [threading.Thread(target=work) for work in (works if len(works) > 1 else works * 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _meet() -> None:
    """Share something that is seen, so that a pass is possible."""
    with _LOCK:
        pass


def _records_warnings() -> None:
    seen = list[int]()

    def work() -> None:
        with warnings.catch_warnings(record=True) as recorded:
            warnings.simplefilter("always")
            warnings.warn("old", stacklevel=1)
            seen.append(len(recorded))

    _run(work)
    assert seen == [1, 1]


def _prints_elsewhere() -> None:
    found = list[str]()

    def work() -> None:
        stream = StringIO()
        with contextlib.redirect_stdout(stream):
            print("a", end="")
        found.append(stream.getvalue())

    _run(work)
    sys.stdout = sys.__stdout__
    assert found == ["a", "a"]


def _adds_handlers() -> None:
    logger = logging.getLogger("of test_explore_process")

    def work() -> None:
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())

    _run(work)
    assert len(logger.handlers) == 1


def _logs_at_a_level() -> None:
    logger, heard = logging.getLogger("of test_explore_process"), list[bool]()

    def configure() -> None:
        logger.setLevel(logging.ERROR)

    def ask() -> None:
        heard.append(logger.isEnabledFor(logging.WARNING))

    _run(configure, ask)
    assert heard == [True]


def _raises_a_limit() -> None:
    before = sys.getrecursionlimit()

    def work() -> None:
        sys.setrecursionlimit(sys.getrecursionlimit() + 1)

    _run(work)
    assert sys.getrecursionlimit() == before + 2


class _Settings:
    size = 1


def _patches() -> None:
    _run(partial(_patch, _meet))
    assert _Settings.size == 1


def _patch(then: Callable[[], object]) -> None:
    with mock.patch.object(_Settings, "size", 2):
        then()


def _looks_while_patched() -> None:
    seen = list[int]()
    _run(partial(_patch, _meet), lambda: seen.append(_Settings.size))
    assert seen == [1]


@mock.patch.object(_Settings, "size", 3)
def _patched_by_decorator() -> None:
    pass


def _looks_while_a_decorator_patches() -> None:
    seen = list[int]()

    def work() -> None:
        seen.append(_Settings.size)
        _meet()
        seen.append(_Settings.size)

    _run(_patched_by_decorator, work)
    assert _Settings.size == 1


def _looks_in_a_patched_dict() -> None:
    held, seen = {"size": 1}, list[int]()

    def work() -> None:
        with mock.patch.dict(held, {"size": 2}):
            _meet()

    _run(work, lambda: seen.append(held["size"]))
    assert seen == [1]


def _calls_a_mock_once() -> None:
    call = mock.Mock()

    def work() -> None:
        if not call.called:
            call()

    _run(work)
    assert call.call_count == 1


def _closes() -> None:
    seen, shared = list[bool](), StringIO()

    def work() -> None:
        with contextlib.closing(shared):
            pass

    _run(work, lambda: seen.append(shared.closed))
    assert seen == [False]


def _enters_by_a_stack() -> None:
    seen = list[int]()

    def work() -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(_Settings, "size", 2))

    _run(work, lambda: seen.append(_Settings.size))
    assert seen == [1]


def _calls_back_by_a_stack() -> None:
    seen, shared = list[int](), SimpleNamespace(size=1)

    def work() -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(setattr, shared, "size", 2)

    _run(work, lambda: seen.append(shared.size))
    assert seen == [1]


_POOL = ThreadPoolExecutor(2)


def _uses_a_pool_of_its_module() -> None:
    box = [0]

    def work() -> None:
        now = box[0]
        box[0] = now + 1

    for future in [_POOL.submit(work), _POOL.submit(work)]:
        future.result()
    assert box == [2]


def _uses_a_pool_of_its_module_and_a_lock() -> None:
    box = [0]

    def work() -> None:
        with _LOCK:
            box[0] += 1

    for future in [_POOL.submit(work), _POOL.submit(work)]:
        future.result()
    assert box == [2]


def _goes_through_a_deque() -> None:
    items = deque([1, 2])

    def work() -> None:
        _meet()
        for _ in items:
            pass

    def change() -> None:
        _meet()
        items.append(3)

    _run(work, change)


def _goes_on_through_an_array() -> None:
    items, seen = array("i", [1, 2]), list[int]()
    iterator = iter(items)

    def change() -> None:
        items[1] = 7

    _run(lambda: seen.extend(iterator), change)
    assert seen == [1, 2]


@pytest.mark.parametrize(
    "program",
    [
        _records_warnings,
        _prints_elsewhere,
        _adds_handlers,
        _logs_at_a_level,
        _raises_a_limit,
        _patches,
        _looks_while_patched,
        _looks_in_a_patched_dict,
        _calls_a_mock_once,
        _closes,
        _enters_by_a_stack,
        _calls_back_by_a_stack,
        _uses_a_pool_of_its_module,
        _goes_through_a_deque,
        _goes_on_through_an_array,
    ],
)
def test_a_race_in_the_state_of_the_process_is_found(program: Callable[[], None]) -> None:
    assert explore(program, max_runs=400).verdict() is Verdict.FAIL


def test_a_race_with_a_function_that_patches_while_it_runs_is_explored() -> None:
    assert explore(_looks_while_a_decorator_patches).classes > 2


_IDS = itertools.count(5)
_NEXT = itertools.count(0, 2).__next__
_BY_PARTIAL = partial(next, itertools.count())
_NAMES = itertools.count()
_RANDOM = random.Random(7)


class _Job:
    ids = itertools.count(1)

    def __init__(self) -> None:
        self.id = next(self.ids)


def _counts() -> None:
    jobs, found = list[int](), list[int]()

    def work() -> None:
        jobs.append(_Job().id)
        found.append(next(_IDS) + _NEXT())
        with _LOCK:
            _BY_PARTIAL()

    _run(work)
    assert {*jobs} == {1, 2}
    assert sum(found) == 5 + 6 + 0 + 2
    assert _BY_PARTIAL() == 2


def _draws() -> None:
    drawn = list[float]()

    def work() -> None:
        with _LOCK:
            drawn.append(_RANDOM.random())
            random.random()

    _run(work)
    assert drawn[0] == random.Random(7).random()


def _warns_once() -> None:
    seen = list[int]()

    def work() -> None:
        with _LOCK, warnings.catch_warnings(record=True) as recorded:
            warnings.simplefilter("default")
            warnings.warn("older", stacklevel=1)
            seen.append(len(recorded))

    _run(work)
    assert sorted(seen) == [0, 1] or seen == [1, 1]


def _asks_for_a_level() -> None:
    logger = logging.getLogger("of test_explore_process")
    assert logger.isEnabledFor(logging.WARNING)
    logger.level = logging.ERROR
    logger.isEnabledFor(logging.INFO)
    logging.getLogger("new one of test_explore_process").setLevel(logging.ERROR)
    _run(_meet)


def _adds_handlers_under_a_lock() -> None:
    logger = logging.getLogger("of test_explore_process")
    assert not logger.handlers

    def work() -> None:
        with _LOCK:
            if not logger.handlers:
                logger.addHandler(logging.NullHandler())

    _run(work)
    assert len(logger.handlers) == 1


@pytest.mark.parametrize(
    "program",
    [
        _counts,
        _draws,
        _warns_once,
        _asks_for_a_level,
        _adds_handlers_under_a_lock,
        _uses_a_pool_of_its_module_and_a_lock,
    ],
)
def test_each_run_begins_with_the_state_of_the_process_as_it_was(
    program: Callable[[], None],
) -> None:
    for _ in range(2):
        exploration = explore(program)
        assert exploration.verdict() is Verdict.PASS, exploration.summary()


def _documented(number: int = 0) -> int:
    """Return a number."""
    return number


_LOOKS: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "digits": (lambda: sys.set_int_max_str_digits(5_000), sys.get_int_max_str_digits),
    "collector": (lambda: gc.set_debug(gc.DEBUG_LEAK), gc.get_debug),
    "locale": (
        lambda: locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"),
        lambda: locale.setlocale(locale.LC_NUMERIC),
    ),
    "list": (lambda: sys.path.append("made up"), lambda: "made up" in sys.path),
    "dict": (
        lambda: encodings.aliases.aliases.update(made_up="utf_8"),
        lambda: encodings.aliases.aliases.get("made_up"),
    ),
    "object": (lambda: setattr(reprlib.aRepr, "maxlist", 1), lambda: reprlib.aRepr.maxlist),
    "class": (
        lambda: setattr(json.JSONEncoder, "key_separator", "="),
        lambda: json.JSONEncoder.key_separator,
    ),
    "new in a class": (
        lambda: setattr(json.JSONEncoder, "made_up", 1),
        lambda: getattr(json.JSONEncoder, "made_up", None),
    ),
    "function": (
        lambda: setattr(json.dumps, "made_up", 1),
        lambda: getattr(json.dumps, "made_up", None),
    ),
    "text of a function": (
        lambda: setattr(_documented, "__doc__", ""),
        lambda: _documented.__doc__,
    ),
    "name of a function": (
        lambda: setattr(_documented, "__name__", "made_up"),
        lambda: _documented.__name__,
    ),
    "types of a function": (
        lambda: _documented.__annotations__.update(number=str),
        lambda: _documented.__annotations__["number"],
    ),
}
"""What one thread changes and another one looks at twice; a second change would change nothing."""


@pytest.mark.parametrize("name", _LOOKS)
def test_what_a_run_changes_of_python_is_brought_back(name: str) -> None:
    """Each of them passed, since all runs but the first found it changed."""
    write, look = _LOOKS[name]
    first = look()

    def program() -> None:
        def looks() -> None:
            one, other = look(), look()
            assert one == other

        _run(write, looks)

    found = explore(program).counterexample
    assert found is not None
    assert "AssertionError" in found.failure.message
    assert explore(program, accesses="races").verdict() is not Verdict.PASS
    assert look() == first


@pytest.mark.parametrize("owner", [_documented, json, json.JSONEncoder])
def test_what_a_run_sets_there_itself_is_not_kept_alive(owner: object) -> None:
    def program() -> None:
        ended, name = list[int](), "made_up"

        class Finalised:
            def __del__(self) -> None:
                ended.append(1)

        def work() -> None:
            with _LOCK:
                setattr(owner, name, Finalised())
                getattr(owner, name)
                delattr(owner, name)

        _run(work)
        assert len(ended) == 2

    exploration = explore(program)
    assert exploration.verdict() is Verdict.PASS, exploration.summary()


def test_ctypes_shows_what_belongs_to_another_object() -> None:
    """The search for data races passed it: it knows objects, and not their memory."""

    def program() -> None:
        number = ctypes.c_int(0)
        pointer = ctypes.pointer(number)

        def writes() -> None:
            pointer.contents.value = 1

        def looks() -> None:
            one, other = number.value, number.value
            assert one == other

        _run(writes, looks)

    for exploration in (explore(program), explore(program, accesses="races")):
        assert exploration.verdict() is Verdict.INCONCLUSIVE


@cache
def _of(key: str) -> list[str]:
    return [key]


_of("import")
_SPENT, _GENERATED = itertools.cycle([1, 2]), (one for one in (1, 2, 3))


def _fills_a_cache() -> None:
    found = list[list[str]]()

    def work() -> None:
        _meet()
        found.append(_of("run"))

    _run(work)


def _takes_from_an_iterator() -> None:
    def work() -> None:
        with _LOCK:
            next(_SPENT)

    _run(work)


def _sets_flags_of_the_process() -> None:
    def work() -> None:
        _meet()
        sys.setdlopenflags(sys.getdlopenflags())

    _run(work)


def _takes_from_a_generator() -> None:
    def work() -> None:
        with _LOCK:
            next(_GENERATED, None)

    _run(work)


class _Kind(ABC):
    @abstractmethod
    def show(self) -> str:
        """Return a text."""


@singledispatch
def _show(value: object) -> str:
    return str(value)


def _registers_a_class() -> None:
    def work() -> None:
        _meet()
        _Kind.register(int)

    _run(work)


def _registers_a_function() -> None:
    def work() -> None:
        _meet()
        _show.register(int, str)

    _run(work)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (_fills_a_cache, "the cache of _of, which was not empty before the run"),
        (_takes_from_an_iterator, "a cycle that was made before the run"),
        (_takes_from_a_generator, "a generator that was made before the run"),
        (_sets_flags_of_the_process, "sys.setdlopenflags(), whose effect stays"),
        (_registers_a_class, "register() of an abstract class or of a dispatch"),
        (_registers_a_function, "register() of an abstract class or of a dispatch"),
    ],
)
def test_what_cannot_be_brought_back_leaves_no_pass(program: Callable[[], None], why: str) -> None:
    exploration = explore(program)
    assert exploration.verdict() is Verdict.INCONCLUSIVE
    assert why in exploration.summary()


def test_an_iterator_that_no_run_takes_from_is_no_reason() -> None:
    def program() -> None:
        def work() -> None:
            with _LOCK:
                pass

        _run(work)

    assert explore(program).verdict() is Verdict.PASS
