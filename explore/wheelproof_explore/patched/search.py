"""The search for Python's primitives that modules and programs hold; each gets its model."""

import _thread
import gc
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import cast
from zlib import crc32

from wheelproof_explore.patched import threads
from wheelproof_explore.patched.clocks import CLOCKS
from wheelproof_explore.patched.holders import held_by, rebuilt
from wheelproof_explore.patched.objects import (
    Local,
    SimpleQueue,
    get_ident,
    standing_local,
    standing_queue,
)
from wheelproof_explore.patched.primitives import Lock, RLock
from wheelproof_explore.tasks.futures import as_completed, real_as_completed
from wheelproof_explore.tasks.loop import real_run, run

_OURS = {
    "wheelproof",
    "wheelproof_explore",
    "wheelproof_lab",
    "wheelproof_spark",
    "wheelproof_spec",
}
FOREIGN = frozenset(("_pytest", "greenlet", "hypothesis", "pluggy", "pytest", *_OURS)) | {
    "_frozen_importlib", "_frozen_importlib_external", "_thread", "importlib", "logging",
}  # fmt: skip
"""Packages that keep Python's own primitives."""
_HOLDING = frozenset(("concurrent.futures.thread",))
"""Python modules that hold a lock of their own while the program makes steps."""
LEFT_ALONE = FOREIGN | {
    "abc", "ast", "builtins", "codecs", "encodings", "enum", "inspect", "linecache", "re", "site",
    "sys", "tokenize", "traceback", "typing", "warnings", "zipimport",
}  # fmt: skip
"""Packages whose objects are not looked through: no lock or state of a program is in there."""

_STATEFUL = frozenset(("asyncio.locks", "asyncio.queues", "queue", "threading"))
"""Python modules whose objects have state that each run has to begin with."""
_HOLDERS = (
    dict, list, deque, set, tuple, frozenset, partial,
    MappingProxyType, MethodType, classmethod, property, staticmethod,
)  # fmt: skip
"""Kinds of Python's own objects that may hold a lock of the program."""

_PLAIN = frozenset((str, int, float, bool, bytes, type(None)))
"""The types of most values: they are no primitives, and hold none."""

_FIRST_FOUND = 1 << 18
"""The first number of locks that modules hold: above the set-up's, below other standing ones."""

REAL_LOCAL = threading.local
"""The class itself: `threading` has a model in its place while a program is explored."""

NAMES: dict[int, tuple[object, object]] = {
    id(real): (real, model)
    for real, model in (
        (_thread.allocate_lock, Lock),
        # Since Python 3.13 this class is `threading.Lock`.
        (_thread.LockType, Lock),
        (_thread.RLock, RLock),
        (REAL_LOCAL, Local),
        (threading.get_ident, get_ident),
        (threading.get_native_id, get_ident),
        (threading.current_thread, threads.current_thread),
        (threading.main_thread, threads.main_thread),
        (threading.enumerate, threads.enumerate_threads),
        (threading.active_count, threads.active_count),
        (queue.SimpleQueue, SimpleQueue),
        (real_run, run),
        (real_as_completed, as_completed),
        *((getattr(time, name), model) for name, model in CLOCKS.items()),
    )
}
"""The objects that are replaced in every module, under any name."""
MODELS: dict[type, Callable[[object, int], object]] = {
    type(_thread.allocate_lock()): lambda _, index: Lock(index),
    type(_thread.RLock()): lambda _, index: RLock(index),
    queue.SimpleQueue: cast("Callable[[object, int], object]", standing_queue),
}
"""How the model of an object is made that exists before a run; it has a number there."""


def is_modelled(value: object) -> bool:
    """Tell whether a run has a model in the place of a function or class of Python."""
    return id(value) in NAMES


@dataclass(slots=True)
class Standing:
    """The primitives that were made before a run, and have a model in each run."""

    models: dict[int, tuple[object, object]]
    """The models of locks, queues and thread-local state, by the addresses of those."""
    objects: list[object]
    """The semaphores, conditions and the like, which are Python code and have state of their own"""


class Search:
    """A search of modules for Python's primitives, which replaces them until the stack unwinds."""

    def __init__(self, stack: ExitStack, standing: Standing) -> None:
        self._stack = stack
        self._standing = standing
        self._seen: set[int] = set()

    def module(self, module: ModuleType) -> None:
        """Replace the primitives that a module names, and the locks that a user's module holds."""
        attributes: object = getattr(module, "__dict__", None)
        whole_name = str(getattr(module, "__name__", ""))
        package = whole_name.partition(".")[0]
        if not isinstance(attributes, dict) or package in FOREIGN:
            return
        names = cast("dict[str, object]", attributes)
        is_users = package not in sys.stdlib_module_names
        for name, value in list(names.items()):
            if type(value) in _PLAIN:
                continue
            path, put = f"{whole_name}.{name}", partial(names.__setitem__, name)
            if is_users:
                self._replace(value, path, put)
                self.inside(value, path)
            elif whole_name in _HOLDING or id(value) in NAMES:
                self._replace(value, path, put)

    def _replace(self, value: object, path: str, put: Callable[[object], object]) -> None:
        other = self._other(value, path)
        if other is not None:
            self._stack.callback(put, value)
            put(other)

    def _other(self, value: object, path: str) -> object | None:
        if issubclass(type(value), tuple | frozenset):
            return rebuilt(value, partial(self._model, path=path))
        return self._model(value, path)

    def _model(self, value: object, path: str) -> object | None:
        known = NAMES.get(id(value))
        if known is not None:
            return known[1]
        kind = type(value)
        if issubclass(kind, type) and issubclass(cast("type", value), REAL_LOCAL):
            return self._class(cast("type", value))
        if kind in MODELS or issubclass(kind, REAL_LOCAL):
            if kind not in MODELS:
                self._class(kind)
            if id(value) not in self._standing.models:
                self._standing.models[id(value)] = (value, self._made(value, path))
            return self._standing.models[id(value)][1]
        if kind is BuiltinMethodType:
            method = cast("BuiltinMethodType", value)
            if type(method.__self__) in MODELS:
                return getattr(self._model(method.__self__, path), method.__name__, None)
        return None

    def _made(self, value: object, path: str) -> object:
        """Return the model of an object that was made before the run."""
        if issubclass(type(value), REAL_LOCAL):
            of_main = dict(vars(value))
            local = standing_local(
                self._class(type(value)), cast("threading.local", value), of_main
            )
            self._standing.objects.append(of_main)
            return local
        model: object = MODELS[type(value)](value, _index(path))
        if issubclass(type(model), SimpleQueue):
            self._standing.objects.append(cast("SimpleQueue[object]", model).first)
        return model

    def _class(self, kind: type) -> type:
        """Return the class of thread-local state that is in the place of one; with its methods."""
        if kind is REAL_LOCAL:
            return Local
        if id(kind) not in self._standing.models:
            bases = tuple(
                self._class(base) if issubclass(base, REAL_LOCAL) else base
                for base in kind.__bases__
            )
            members = {
                name: member
                for name, member in vars(kind).items()
                if type(member) not in (GetSetDescriptorType, MemberDescriptorType)
            }
            # Not by a metaclass of the program, which has seen the class.
            made = type.__new__(type(kind), kind.__name__, bases, members)
            self._standing.models[id(kind)] = (kind, made)
        twin = cast("type", self._standing.models[id(kind)][1])
        # A search inside another one finds the twin made, and the methods as they were.
        for cell in chain.from_iterable(map(_cells_of_class, vars(kind).values())):
            if cell.cell_contents is kind:
                self._stack.callback(setattr, cell, "cell_contents", kind)
                cell.cell_contents = twin
        return twin

    def inside(self, value: object, path: str) -> None:
        """Search the functions, classes, containers and objects that a module or a program holds.

        What is deep inside is no reason to recurse deep.
        """
        left = [(path, value)]
        while left:
            path, value = left.pop()
            # `isinstance` would ask the value, which may run code, or be a proxy that is dead.
            kind = type(value)
            if kind in _PLAIN or id(value) in self._seen or issubclass(kind, ModuleType):
                continue
            if not gc.is_tracked(value):
                # Such as a tuple of numbers: it leads to nothing that has a model.
                continue
            if kind.__module__ in _STATEFUL and not (kind is threading.Thread and _runs(value)):
                self._standing.objects.append(value)
                if issubclass(kind, threading.Event):
                    event = cast("threading.Event", value)
                    self._stack.callback(threads.number_event(event, _index(path)))
            inner: list[tuple[str, object]] = []
            for name, held, put in held_by(value) if _may_hold_locks(value) else ():
                # Its address may be another object's later, unless it is held.
                self._seen.add(id(value))
                if type(held) in _PLAIN:
                    continue
                whole_name = f"{path}.{name}"
                if put is not None:
                    self._replace(held, whole_name, partial(_put, put, held, value))
                inner.append((whole_name, held))
            left += reversed(inner)


def _put(put: Callable[[object], object], held: object, holder: object, other: object) -> None:
    """Put a function in the place of one of C, which is no method of the class that holds it."""
    if isinstance(holder, type) and type(other) is FunctionType and type(held) is not FunctionType:
        put(staticmethod(other))
    else:
        put(other)


def _runs(thread: object) -> bool:
    """Tell whether a thread was started, which is no thread of the program then."""
    return vars(thread).get("_ident") is not None


def _index(path: str) -> int:
    """Return a number for what is found there: the same in every exploration, and process."""
    return _FIRST_FOUND + crc32(path.encode()) % _FIRST_FOUND


def _may_hold_locks(value: object) -> bool:
    kind = type(value)
    if kind is FunctionType:
        function = cast("FunctionType", value)
        holds = function.__closure__ or function.__defaults__ or function.__kwdefaults__
        # A module imported during a run keeps our functions under its names; they are skipped.
        return bool(holds or vars(function)) and _package_of(function.__module__) not in FOREIGN
    if issubclass(kind, _HOLDERS):
        return True
    is_class = issubclass(kind, type)
    package = _package_of((cast("type", value) if is_class else kind).__module__)
    if package not in sys.stdlib_module_names and package != "builtins":
        return package not in FOREIGN
    return not is_class and package not in LEFT_ALONE


def _package_of(module: object) -> str:
    return str(module).partition(".")[0]


def _cells_of_class(member: object) -> Iterator[CellType]:
    """Yield the variable by which a method's `super()` finds the class."""
    function: object = getattr(member, "__func__", member)
    if type(function) is FunctionType:
        free = function.__code__.co_freevars
        for name, cell in zip(free, function.__closure__ or (), strict=True):
            if name == "__class__":
                yield cell
