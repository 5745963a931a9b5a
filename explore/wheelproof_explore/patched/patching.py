"""Replacement of Python's primitives by the models while a program is explored."""

import _thread
import concurrent.futures.thread
import gc
import queue
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import BuiltinMethodType, FunctionType, ModuleType
from typing import cast
from unittest.mock import patch
from zlib import crc32

from wheelproof_explore.patched import threads
from wheelproof_explore.patched.objects import CLOCKS, Local, SimpleQueue, get_ident
from wheelproof_explore.patched.primitives import (
    Lock,
    RLock,
    allocate_lock,
    bystanders,
    importing,
    real_ident,
    running,
)
from wheelproof_explore.patched.refusing import refuse_thread, refused_calls
from wheelproof_explore.runtime.model import UnwindError
from wheelproof_explore.tasks.loop import real_run, run

_OURS = {
    "wheelproof",
    "wheelproof_explore",
    "wheelproof_lab",
    "wheelproof_spark",
    "wheelproof_spec",
}
_FOREIGN = frozenset(("_pytest", "greenlet", "hypothesis", "pluggy", "pytest", *_OURS)) | {
    "_frozen_importlib", "_frozen_importlib_external", "_thread", "importlib", "logging",
}  # fmt: skip
"""Packages that keep Python's own primitives."""
_HOLDING = frozenset(("concurrent.futures.thread",))
"""Python modules that hold a lock of their own while the program makes steps."""
_MADE_BY_PYTHON = frozenset(("functools", "queue", "threading"))
"""Python modules whose objects may hold a lock of the program."""

_PLAIN = frozenset((str, int, float, bool, bytes, tuple, set, frozenset, type(None)))
"""The types of most values: they are no primitives, and hold none that could be replaced."""

_FIRST_FOUND = 1 << 18
"""The first number of locks that modules hold: above the set-up's, below other standing ones."""
_METHODS = (staticmethod, classmethod)

_names: dict[int, tuple[object, object]] = {
    id(real): (real, model)
    for real, model in (
        (_thread.allocate_lock, Lock),
        # Since Python 3.13 this class is `threading.Lock`.
        (_thread.LockType, Lock),
        (_thread.RLock, RLock),
        (threading.local, Local),
        (threading.get_ident, get_ident),
        (threading.get_native_id, get_ident),
        (threading.current_thread, threads.current_thread),
        (threading.enumerate, threads.enumerate_threads),
        (threading.active_count, threads.active_count),
        (queue.SimpleQueue, SimpleQueue),
        (real_run, run),
        *((getattr(time, name), model) for name, model in CLOCKS.items()),
    )
}
"""The objects that are replaced in every module, under any name."""
_models: dict[type, type[Lock | RLock]] = {
    type(_thread.allocate_lock()): Lock,
    type(_thread.RLock()): RLock,
}


_open: list["_Locks"] = []


def is_modelled(value: object) -> bool:
    """Tell whether a run has a model in the place of a function or class of Python."""
    return id(value) in _names


@contextmanager
def replaced(pairs: Iterable[tuple[object, object]]) -> Generator[None]:
    """Have the searches inside the block replace these objects as well, each by the other one."""
    more = {id(value): (value, other) for value, other in pairs}
    _names.update(more)
    try:
        yield
    finally:
        for address in more:
            del _names[address]


@contextmanager
def patched_threading(given: object = None) -> Generator[None]:
    """Make `threading`, and code built on it, use the current run, inside the block.

    The locks that the program `given` was made with are replaced as well. A nested block patches
    nothing else, because the search through all modules takes long.
    """
    with ExitStack() as stack:
        locks = _open[0] if _open else _Locks()
        if not _open:
            _patch(_Search(stack, locks), stack)
        _Search(stack, locks).inside(given, "given")
        _open.append(locks)
        stack.callback(_open.pop)
        yield


def _patch(search: "_Search", stack: ExitStack) -> None:
    """Patch until the stack unwinds."""
    others = {thread.ident for thread in threads.real_enumerate()} - {real_ident()}
    bystanders.update(number for number in others if number is not None)
    stack.callback(bystanders.clear)
    for module in list(sys.modules.values()):
        search.module(module)
    for kind, methods in (
        (threading.Thread, threads.THREAD),
        (threading.Event, threads.EVENT),
        (threading.Barrier, threads.BARRIER),
    ):
        for name, method in methods.items():
            stack.enter_context(patch.object(kind, name, method))
    _patch_internals(stack)
    stack.enter_context(refused_calls())
    # Garbage collection could run finalisers, which would make steps at random.
    if gc.isenabled():
        gc.disable()
        stack.callback(gc.enable)


def _patch_internals(stack: ExitStack) -> None:
    def replace(owner: object, name: str, value: object) -> None:
        stack.enter_context(patch.object(owner, name, value, create=True))

    new_name: Callable[..., str] = vars(threading)["_newname"]
    replace(threading, "_allocate_lock", allocate_lock)
    for name, value in list(vars(_thread).items()):
        _, model = _names.get(id(value), (None, None))
        if model is Lock or model is RLock:
            replace(_thread, name, model)
    replace(threading, "_newname", partial(threads.new_name, new_name))
    pools, base = concurrent.futures.thread, sys.modules["concurrent.futures._base"]
    counter: Callable[[], int] = vars(ThreadPoolExecutor)["_counter"]
    replace(ThreadPoolExecutor, "_counter", staticmethod(partial(threads.count_of, counter)))
    queues: weakref.WeakKeyDictionary[object, object] = weakref.WeakKeyDictionary()
    replace(pools, "_threads_queues", queues)
    start_thread: Callable[..., int] = vars(_thread)["start_new_thread"]
    for owner, name in ((_thread, "start_new_thread"), (_thread, "start_new")):
        replace(owner, name, partial(refuse_thread, start_thread))
    replace(threading, "_start_new_thread", partial(refuse_thread, start_thread))
    machinery = sys.modules["_frozen_importlib"]
    load: Callable[[str, object], object] = vars(machinery)["_find_and_load"]
    replace(machinery, "_find_and_load", partial(_import, load))
    # Futures are ordered by creation, not by address.
    replace(Future, "__hash__", _number)
    replace(base, "id", _number)
    logger: object = vars(base)["LOGGER"]
    critical: Callable[..., None] = getattr(logger, "critical")  # noqa: B009
    replace(logger, "critical", partial(_unless_unwinding, critical))


def _import(load: Callable[[str, object], object], name: str, how: object) -> object:
    """Import a module for the first time; this is not part of the run."""
    importing.append(name)
    try:
        return load(name, how)
    finally:
        importing.pop()


def _number(future: object) -> int:
    """Return the number of a future's lock, which is the same in every run."""
    condition: object = vars(future).get("_condition")
    lock: object = vars(condition).get("_lock")
    runtime = running()
    if isinstance(lock, RLock) and runtime is not None:
        return lock.model(runtime).number
    return object.__hash__(future)


def _unless_unwinding(log: Callable[..., None], *args: object, **named: object) -> None:
    """Log an error that a pool caught; re-raise the checker's own UnwindError."""
    error = sys.exc_info()[1]
    if isinstance(error, UnwindError):
        raise error
    log(*args, **named)


def _attributes(value: object) -> list[tuple[str, object]]:
    """Return the attributes of an object itself, without running its code."""
    if issubclass(type(value), type):
        return list(vars(cast("type", value)).items())
    try:
        held: dict[str, object] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    return list(held.items())


_Locks = dict[int, tuple[object, Lock | RLock]]
"""The models of locks that were made before a run, by the addresses of those."""


class _Search:
    """A search of modules for Python's primitives, which replaces them until the stack unwinds."""

    def __init__(self, stack: ExitStack, locks: _Locks) -> None:
        self._stack = stack
        self._locks = locks
        self._seen: set[int] = set()

    def module(self, module: ModuleType) -> None:
        """Replace the primitives that a module names, and the locks that a user's module holds."""
        attributes: object = getattr(module, "__dict__", None)
        whole_name = str(getattr(module, "__name__", ""))
        package = whole_name.partition(".")[0]
        if not isinstance(attributes, dict) or package in _FOREIGN:
            return
        names = cast("dict[str, object]", attributes)
        is_users = package not in sys.stdlib_module_names
        for name, value in list(names.items()):
            if type(value) in _PLAIN:
                continue
            path = f"{whole_name}.{name}"
            if is_users or whole_name in _HOLDING or type(value) not in _models:
                self._replace(value, path, partial(names.__setitem__, name))
            if is_users:
                self.inside(value, path)

    def _replace(self, value: object, path: str, put: Callable[[object], object]) -> None:
        model = self._model(value, path)
        if model is not None:
            self._stack.callback(put, value)
            put(model)

    def _model(self, value: object, path: str) -> object | None:
        known = _names.get(id(value))
        if known is not None:
            return known[1]
        kind = _models.get(type(value))
        if kind is not None:
            # The same number in every exploration, and in every process.
            index = _FIRST_FOUND + crc32(path.encode()) % _FIRST_FOUND
            return self._locks.setdefault(id(value), (value, kind(index)))[1]
        if type(value) is BuiltinMethodType and type(value.__self__) in _models:
            return getattr(self._model(value.__self__, path), value.__name__, None)
        return None

    def inside(self, value: object, path: str) -> None:
        """Search the functions, classes, containers and objects that a module or a program holds.

        What is deep inside is no reason to recurse deep.
        """
        left = [(path, value)]
        while left:
            path, value = left.pop()
            # `isinstance` would ask the value, which may run code, or be a proxy that is dead.
            if id(value) in self._seen or issubclass(type(value), ModuleType):
                continue
            inner: list[tuple[str, object]] = []
            for name, held, put in self._parts(value):
                self._seen.add(id(value))
                whole_name = f"{path}.{name}"
                self._replace(held, whole_name, put)
                of = getattr(held, "__func__", held) if type(held) in _METHODS else held
                inner.append((whole_name, of))
            left += reversed(inner)

    def _parts(self, value: object) -> Iterator[tuple[object, object, Callable[[object], object]]]:
        """Yield each part of a value: its name, the part, and a function that replaces it."""
        if type(value) is FunctionType:
            # A module imported during a run keeps our functions under its names; they are skipped.
            if str(value.__module__).partition(".")[0] not in _FOREIGN:
                yield from _parts_of_function(value)
        elif type(value) in (dict, list):
            items = cast("dict[object, object]", value)
            for key in range(len(items)) if type(value) is list else list(items):
                if type(items[key]) not in _PLAIN:
                    yield key, items[key], partial(items.__setitem__, key)
        elif _may_hold_locks(value):
            is_class = issubclass(type(value), type)
            store = type.__setattr__ if is_class else object.__setattr__
            for name, held in _attributes(value):
                if type(held) in _PLAIN:
                    continue
                yield name, held, cast("Callable[[object], object]", partial(store, value, name))


def _may_hold_locks(value: object) -> bool:
    is_class = issubclass(type(value), type)
    kind = cast("type", value) if is_class else type(value)
    package = str(kind.__module__).partition(".")[0]
    if package not in sys.stdlib_module_names and package != "builtins":
        return package not in _FOREIGN
    return package in _MADE_BY_PYTHON and not is_class


def _parts_of_function(
    function: FunctionType,
) -> Iterator[tuple[object, object, Callable[[object], object]]]:
    named: dict[str, object] = function.__kwdefaults__ or {}
    for name, value in list(named.items()):
        yield name, value, partial(named.__setitem__, name)
    for place, value in enumerate(function.__defaults__ or ()):
        yield place, value, partial(_set_default, function, place)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            yield name, cell.cell_contents, partial(setattr, cell, "cell_contents")


def _set_default(function: FunctionType, place: int, value: object) -> None:
    defaults: list[object] = [*(function.__defaults__ or ())]
    defaults[place] = value
    function.__defaults__ = tuple(defaults)
