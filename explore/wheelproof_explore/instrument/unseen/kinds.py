"""Classes, and what is known of the state of their objects: quiet ones keep none that shows."""

import ctypes
import os
import sys
import threading
from array import array
from collections import deque
from collections.abc import Iterator
from contextvars import Context
from functools import cache
from logging import LogRecord
from types import CodeType, FunctionType, MemberDescriptorType
from typing import cast
from weakref import (
    CallableProxyType,
    ProxyType,
    WeakKeyDictionary,
    WeakSet,
    WeakValueDictionary,
    finalize,
)

from wheelproof_explore.instrument.unseen.foreign import IMMUTABLE_TYPE

QUIET = frozenset((
    "_asyncio", "_contextvars", "_queue", "_thread", "_weakref", "abc", "_abc", "asyncio",
    "concurrent", "contextlib", "contextvars", "datetime", "enum", "gc", "logging", "math",
    "os", "pathlib", "posix", "queue", "re", "sys", "threading", "time", "traceback", "typing",
    "unittest", "warnings", "weakref", "wheelproof", "wheelproof_explore",
))  # fmt: skip
"""Modules whose functions only keep what they are given, or run on models of their own.

Some look at it before they return: see `effects_of`.
"""
_HOLDING = frozenset((
    Context, LogRecord, WeakKeyDictionary, WeakSet, WeakValueDictionary, finalize, type(os.environ),
))  # fmt: skip
"""Classes of these modules whose objects hold what they are given, and hand it out again."""
PROXIES = (ProxyType, CallableProxyType)
_BEHIND = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(
    ("PyWeakref_GetObject", ctypes.pythonapi)
)
_SHOWS_MEMORY = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(
    ("PyObject_CheckBuffer", ctypes.pythonapi)
)
CONTAINERS = (dict, list, set, deque, bytearray, array)
_KEEPING = frozenset(("concurrent", "contextlib", "queue", "threading"))
"""Quiet packages whose objects have attributes that their own code changes."""
_OF_THREADS = frozenset((
    "_handle", "_ident", "_is_stopped", "_native_id", "_os_thread_handle", "_started",
    "_tstate_lock",
))  # fmt: skip
"""Attributes of threads that a model stands for."""
ACCESSORS = frozenset(("getName", "isDaemon", "setDaemon", "setName"))
"""Methods of threads that only read or write an attribute."""
_BY_MODELS = {threading.Event: ("_cond", "_flag"), threading.Thread: ACCESSORS}
"""Attributes that code which a model replaces would use, and those methods."""
opened: set[type] = set()
"""The classes of quiet packages that the program looks into: their calls change attributes.

An exploration begins with none.
"""
exposed: set[tuple[str, str]] = set()
"""The classes of objects whose `__dict__` a run has taken; an exploration begins with none.

By their names: a class that a function defines is another one in each run.
"""


def is_quiet(kind: type) -> bool:
    """Tell whether the objects of a class keep no state that the program's own code can see."""
    return is_quiet_module(kind.__module__) and not tells(kind) and not _is_made_for_program(kind)


def shares_memory(instance: object) -> bool:
    """Tell whether an object of `ctypes` shows memory that is not its own.

    >>> import ctypes
    >>> number = ctypes.c_int(0)
    >>> shares_memory(number), shares_memory(ctypes.pointer(number).contents)
    (False, True)
    """
    for kind in type(instance).__mro__:
        if kind.__module__ == "_ctypes" and "_b_needsfree_" in vars(kind):
            inside, owns = (vars(kind)[name] for name in ("_b_base_", "_b_needsfree_"))
            return inside.__get__(instance) is not None or not owns.__get__(instance)
    return False


def shows_memory(instance: object) -> bool:
    """Tell whether an object of C shows its memory to others, as an array of numbers does.

    >>> shows_memory(bytearray()), shows_memory([])
    (True, False)
    """
    return bool(_SHOWS_MEMORY(instance))


def _is_made_for_program(kind: type) -> bool:
    """Tell whether a call of the program made a class: it is said to be of who makes the call."""
    module = kind.__module__
    is_ours = module.partition(".")[0] == "wheelproof_explore" and kind.__qualname__.isidentifier()
    return is_ours and vars(sys.modules[module]).get(kind.__qualname__) is not kind


def tells(kind: type) -> bool:
    """Tell whether the objects of a class keep state, though its module is quiet."""
    return kind in _HOLDING or is_opened(kind)


def is_opened(kind: type) -> bool:
    """Tell whether the program looks into a class of a quiet package, or into one that it is of."""
    return not opened.isdisjoint(kind.__mro__)


def is_exposed(kind: type) -> bool:
    """Tell whether a run has taken the `__dict__` of an object of a class."""
    return bool(exposed) and name_of(kind) in exposed


def behind_proxy(proxy: object) -> object:
    """Return the object that a weak proxy stands for, None if it has died, without its code.

    >>> from weakref import proxy
    >>> one = {1}
    >>> behind_proxy(proxy(one)) is one
    True
    """
    return ctypes.cast(_BEHIND(proxy), ctypes.py_object).value


def name_of(kind: type) -> tuple[str, str]:
    """Return the module and the name of a class."""
    return kind.__module__, kind.__qualname__


def looked_into(kind: type, name: str) -> type | None:
    """Return the class of a quiet package whose code may change an attribute of these objects."""
    for owner in kind.__mro__:
        names = _names_in(owner.__module__)
        # Who makes no attributes, as `ContextDecorator`, changes none.
        keeps = name == "__dict__" and "__init__" in vars(owner)
        if names and (name in names or keeps or name in _BY_MODELS.get(owner, ())):
            return owner
    return None


def has_model(owner: type, name: str) -> bool:
    """Tell whether an attribute of a class of Python is another one in a run, or changes unseen."""
    if owner.__module__.partition(".")[0] == "concurrent" or owner is threading.Event:
        return True
    return owner is threading.Thread and name in _OF_THREADS


@cache
def _names_in(module: str) -> frozenset[str]:
    """Return the attributes that the functions of a module use whose objects change."""
    if module.partition(".")[0] not in _KEEPING:
        return frozenset()
    left: list[object] = [*vars(sys.modules[module]).values()]
    found, seen = set[str](), set[int]()
    while left:
        here = left.pop()
        if id(here) in seen or getattr(here, "__module__", module) != module:
            continue
        seen.add(id(here))
        if issubclass(type(here), type):
            left += vars(cast("type", here)).values()
        elif issubclass(type(here), property):
            left += (cast("property", here).fget, cast("property", here).fset)
        elif type(here) is FunctionType:
            left.append(here.__code__)
        elif type(here) is CodeType:
            found.update(here.co_names)
            left += here.co_consts
    return frozenset(found)


def is_quiet_module(module: str) -> bool:
    """Tell whether the functions of a module only keep what they are given."""
    # A mock has state that its users look at, and so has a suite of tests; a test case has none.
    package, _, inside = module.partition(".")
    return package in QUIET and (package != "unittest" or inside == "case")


def attributes_of(value: object) -> Iterator[tuple[str, object]]:
    """Yield the attributes of an object itself, without running its code."""
    try:
        held: dict[str, object] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        held = {}
    yield from list(held.items())
    for kind in type(value).__mro__:
        for name, member in list(vars(kind).items()):
            if isinstance(member, MemberDescriptorType) and kind.__module__ != "builtins":
                try:
                    yield name, member.__get__(value, kind)
                except AttributeError:
                    yield name, None


def is_python(kind: type) -> bool:
    """Tell whether a class is written in Python: its objects are known by their attributes."""
    # A class of C can say that it belongs to a module of Python.
    if is_quiet(kind) or kind.__flags__ & IMMUTABLE_TYPE:
        return False
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return isinstance(file, str) and file.endswith(".py")
