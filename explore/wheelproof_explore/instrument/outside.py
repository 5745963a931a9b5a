"""What a call into code that is not rewritten may read and write: its receiver and its arguments.

Such code is C, the standard library's, or a package's that nobody has named. It is one step: what
it may touch is read or written as a whole, and written unless a table below says less. So an order
that matters is never left out; at worst an order too many is explored.
"""

import gc
import operator
import os
import sys
import threading
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import Context
from enum import IntEnum
from functools import cache, partial
from io import IOBase
from logging import LogRecord
from re import Match
from types import (
    BuiltinMethodType,
    CodeType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)
from typing import cast
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary, finalize

from wheelproof_explore.patched.holders import held_by


class Effect(IntEnum):
    """What a function does to what it is given; a greater one includes the smaller ones."""

    NOTHING = 0
    READS = 1
    READS_ALL = 2
    """It reads what can be reached from there, as `copy.deepcopy` does."""
    WRITES = 3


Part = tuple[object, str, str]
"""Something that can be read and written: an object, and the two halves of the field's name."""

_NOTHING = frozenset(
    ("callable", "globals", "id", "input", "isinstance", "issubclass", "locals", "object", "open")
) | {"range", "slice", "staticmethod", "super", "type"}
"""Built-in functions that look at no state, or whose look is seen in another way."""
_READING = frozenset((
    "abs", "all", "any", "bool", "bytearray", "bytes", "complex", "dict", "divmod", "enumerate",
    "filter", "float", "frozenset", "getattr", "hasattr", "hash", "int", "iter", "len", "list",
    "map", "max", "min", "pow", "reversed", "round", "set", "sorted", "sum", "tuple", "zip",
))  # fmt: skip
_READING_ALL = frozenset(("ascii", "format", "print", "repr", "str"))
_DEEP = frozenset(("all", "any", "dict", "filter", "map", "max", "min", "sorted", "sum"))
_DEEP_PACKAGES = frozenset((
    "_bisect", "_functools", "_heapq", "_operator", "bisect", "functools", "heapq", "itertools",
    "operator",
))  # fmt: skip
"""Functions that do something with the items of what they are given."""
_QUIET = frozenset((
    "_asyncio", "_contextvars", "_queue", "_thread", "_weakref", "abc", "_abc", "asyncio",
    "concurrent", "contextlib", "contextvars", "datetime", "enum", "gc", "logging", "math",
    "os", "pathlib", "posix", "queue", "re", "sys", "threading", "time", "traceback", "typing",
    "unittest", "warnings", "weakref", "wheelproof", "wheelproof_explore",
))  # fmt: skip
"""Modules whose functions only keep what they are given, or run on models of their own.

Some look at it before they return: see `_effect_of_quiet`.
"""
_LOOKING_PACKAGES = frozenset(("gc", "math", "os", "posix", "re", "sys"))
_LOOKING_FUNCTIONS: Mapping[str, Sequence[str]] = {
    "asyncio": ("as_completed", "wait"),
    "concurrent": ("as_completed", "map", "wait"),
    "logging": ("emit", "filter", "format", "formatMessage", "formatTime", "handle"),
    # In the place of asyncio's own.
    "wheelproof_explore": ("as_completed",),
}
"""Functions of quiet packages that go through what they are given."""
_MODULES: Mapping[str, Effect] = {
    **dict.fromkeys(_QUIET, Effect.NOTHING),
    **dict.fromkeys(
        ("_json", "copy", "dataclasses", "json", "_pickle", "pickle"), Effect.READS_ALL
    ),
    **dict.fromkeys(("pprint", "reprlib", "string"), Effect.READS_ALL),
    **dict.fromkeys(("base64", "binascii", "hashlib", "_hashlib", "itertools"), Effect.READS),
    **dict.fromkeys(("inspect", "statistics", "textwrap", "zlib"), Effect.READS),
}
_KNOWN = frozenset(
    ("_bisect", "_heapq", "_operator", "_struct", "bisect", "builtins", "heapq", "operator")
)
_CHANGING = frozenset(("delitem", "setitem", "pack_into")) | {
    name for name in vars(operator) if name.startswith("i") and name not in ("index", "is_")
}
"""Functions of `operator` and `struct` that write; the others read."""
_FILLING = frozenset(("pack_into", "readinto", "readinto1", "recv_into", "shuffle"))
"""Methods that write what they are given."""
_READING_METHODS = frozenset(
    ("copy", "count", "difference", "get", "index", "intersection", "isdisjoint", "issubset")
) | {"issuperset", "items", "keys", "symmetric_difference", "union", "values"}
"""Methods of containers that change nothing."""
LOOKING_METHODS = _READING_METHODS | {
    "getMessage", "getvalue", "tell", "tobytes", "tolist", "__contains__", "__eq__", "__format__",
    "__ge__", "__getitem__", "__gt__", "__iter__", "__le__", "__len__", "__lt__", "__ne__",
    "__reduce__", "__reduce_ex__", "__repr__", "__reversed__", "__sizeof__", "__str__",
}  # fmt: skip
"""The same of any object of C."""
_ATOMS = (
    int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice, CodeType,
    FunctionType, ModuleType, type, property, staticmethod, classmethod,
)  # fmt: skip
_NAMES_OF_OPERATORS = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "MatMult": "matmul",
    "Div": "truediv",
    "Mod": "mod",
    "Pow": "pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "BitOr": "or_",
    "BitXor": "xor",
    "BitAnd": "and_",
    "FloorDiv": "floordiv",
}
_NAMES_OF_OTHERS = {
    "Eq": "eq",
    "NotEq": "ne",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
    "UAdd": "pos",
    "USub": "neg",
    "Invert": "invert",
}
_FUNCTIONS = cast("Mapping[str, Callable[..., object]]", vars(operator))
OPERATORS = {
    node: _FUNCTIONS[name] for node, name in (_NAMES_OF_OPERATORS | _NAMES_OF_OTHERS).items()
}
"""What each operator does, by the name of its node."""
IN_PLACE = {node: _FUNCTIONS[f"i{name.rstrip('_')}"] for node, name in _NAMES_OF_OPERATORS.items()}
"""The same of those that may change their left operand."""
_HOLDING = frozenset((
    Context, LogRecord, WeakKeyDictionary, WeakSet, WeakValueDictionary, finalize, type(os.environ),
))  # fmt: skip
"""Classes of quiet modules that hold what they are given, and tell who asks."""
CONTAINERS = (dict, list, set, deque, bytearray, array)
_NESTING = (*CONTAINERS, tuple, frozenset)
IMMUTABLE_TYPE = 1 << 8
"""The flag of a class that is written in C."""
_VIEWS = frozenset(("builtins", "itertools", "collections", "functools"))
_MOST_PARTS = 2_000
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
MORE: Part = (None, "more", "")
"""In the place of the parts that are left, if there are too many to go through."""


def effects_of(function: object) -> tuple[Effect, Effect]:
    """Return what a function that is not rewritten does to its receiver, and to its arguments."""
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or ""
    package = module.partition(".")[0]
    receiver = receiver_of(function)
    if type(function) is operator.methodcaller:
        return Effect.NOTHING, Effect.WRITES
    if type(function) is operator.attrgetter:
        # It may go along a path of attributes.
        return Effect.NOTHING, Effect.READS_ALL
    if not _tells(type(receiver)) and (_is_quiet_module(module) or is_quiet(type(receiver))):
        of_given = _effect_of_quiet(name, module or type(receiver).__module__)
        return Effect.READS if type(receiver) is Match else Effect.NOTHING, of_given
    if receiver is not None:
        looks = only_looks(type(receiver), name)
        given = Effect.READS_ALL if type(receiver) in (str, bytes) else Effect.READS
        if name in _FILLING:
            given = Effect.WRITES
        return Effect.READS if looks else Effect.WRITES, given
    owner = getattr(function, "__objclass__", None)
    if issubclass(type(owner), type):
        # A method of a class, called with its receiver as the first argument.
        return Effect.NOTHING, Effect.READS if name in LOOKING_METHODS else Effect.WRITES
    if module == "builtins":
        return Effect.NOTHING, _effect_of_builtin(name)
    if package in ("operator", "_operator", "struct", "_struct"):
        return Effect.NOTHING, Effect.WRITES if name in _CHANGING else Effect.READS
    if package in ("functools", "_functools"):
        return Effect.NOTHING, Effect.READS
    if issubclass(type(function), type):
        kind = cast("type[object]", function)
        if issubclass(kind, BaseException):
            # An exception only keeps what it is made of.
            return Effect.NOTHING, Effect.NOTHING
        if package in sys.stdlib_module_names or not is_python(cast("type", kind)):
            # A new object looks at it.
            return Effect.NOTHING, Effect.READS
    return Effect.NOTHING, _MODULES.get(package, Effect.WRITES)


def _effect_of_quiet(name: str, module: str) -> Effect:
    """Return what a function of a quiet package does to what it is given.

    >>> _effect_of_quiet("fsum", "math").name, _effect_of_quiet("put", "queue").name
    ('READS', 'NOTHING')
    """
    package = module.partition(".")[0]
    if package in _LOOKING_PACKAGES:
        return Effect.READS
    compares = package == "unittest" and name.startswith("assert")
    looks = compares or package == "traceback" or name in _LOOKING_FUNCTIONS.get(package, ())
    return Effect.READS_ALL if looks else Effect.NOTHING


def is_quiet(kind: type) -> bool:
    """Tell whether the objects of a class keep no state that the program's own code can see."""
    return _is_quiet_module(kind.__module__) and not _tells(kind) and not _is_made_for_program(kind)


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


def _is_made_for_program(kind: type) -> bool:
    """Tell whether a call of the program made a class: it is said to be of who makes the call."""
    module = kind.__module__
    is_ours = module.partition(".")[0] == "wheelproof_explore" and kind.__qualname__.isidentifier()
    return is_ours and vars(sys.modules[module]).get(kind.__qualname__) is not kind


def _tells(kind: type) -> bool:
    """Tell whether the objects of a class keep state, though its module is quiet."""
    return kind in _HOLDING or is_opened(kind)


def is_opened(kind: type) -> bool:
    """Tell whether the program looks into a class of a quiet package, or into one that it is of."""
    return not opened.isdisjoint(kind.__mro__)


def is_exposed(kind: type) -> bool:
    """Tell whether a run has taken the `__dict__` of an object of a class."""
    return bool(exposed) and name_of(kind) in exposed


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


def _is_quiet_module(module: str) -> bool:
    # A mock has state that its users look at, and so has a suite of tests; a test case has none.
    package, _, inside = module.partition(".")
    return package in _QUIET and (package != "unittest" or inside == "case")


def has_effects_known(package: str) -> bool:
    """Tell whether it is known what the functions of a package do to what they are given."""
    return package in _MODULES or package in _KNOWN


def only_looks(kind: type, name: str) -> bool:
    """Tell whether a method of a class of C changes nothing: a defaultdict makes what it lacks.

    >>> only_looks(dict, "__getitem__"), only_looks(defaultdict, "__getitem__")
    (True, False)
    """
    return name in LOOKING_METHODS and not (name == "__getitem__" and issubclass(kind, defaultdict))


def asks_for_keys(function: object) -> bool:
    """Tell whether a function may ask a mapping for a key, which a defaultdict then makes.

    >>> asks_for_keys(operator.itemgetter(1)), asks_for_keys("".format_map), asks_for_keys(sorted)
    (True, True, False)
    """
    if function is operator.getitem or type(function) is operator.itemgetter:
        return True
    package = str(getattr(function, "__module__", None)).partition(".")[0]
    # What is known of the others is that they go through all that a mapping has.
    return package == "string" or not has_effects_known(package)


def goes_deep(function: object) -> bool:
    """Tell whether a function may compare, call or go through the items of what it is given."""
    module = getattr(function, "__module__", None)
    if module is None:
        # Of a method of a class of C, such as `chain.from_iterable`.
        module = getattr(receiver_of(function), "__module__", None)
    package = str(module).partition(".")[0]
    name = str(getattr(function, "__name__", ""))
    return name in _DEEP if package == "builtins" else package in _DEEP_PACKAGES


def is_builtin(function: object) -> bool:
    """Tell whether a function is one of Python's built-in ones, which read by special methods."""
    return getattr(function, "__module__", None) == "builtins"


def is_known(function: object) -> bool:
    """Tell whether a function is C that surely does what is said of it, without any lock."""
    if type(function) is FunctionType:
        return False
    kind = getattr(function, "__objclass__", type(receiver_of(function)))
    module = str(getattr(function, "__module__", None)).partition(".")[0]
    return module in _KNOWN or (issubclass(type(kind), type) and issubclass(kind, CONTAINERS))


def _effect_of_builtin(name: str) -> Effect:
    if name in _NOTHING:
        return Effect.NOTHING
    if name in _READING_ALL:
        return Effect.READS_ALL
    return Effect.READS if name in _READING else Effect.WRITES


def receiver_of(function: object) -> object:
    """Return the object whose method a function is; None for a plain function."""
    kind = type(function)
    if not issubclass(kind, MethodType | BuiltinMethodType | MethodWrapperType):
        return None
    receiver: object = cast("MethodType", function).__self__
    return None if issubclass(type(receiver), ModuleType) else receiver


def function_behind(function: object) -> object:
    """Return what is called in the end by partial calls and a bound method."""
    # By `type`: a proxy's `__class__` is code of the program, which `isinstance` would run.
    while issubclass(type(function), partial):
        function = cast("partial[object]", function).func
    if issubclass(type(function), MethodType):
        function = cast("MethodType", function).__func__
    return function


_Items = Callable[[object], Iterable[object]]
_GOING_THROUGH: Mapping[type, _Items] = {
    dict: cast("_Items", vars(dict)["values"]),
    list: cast("_Items", vars(list)["__iter__"]),
    set: cast("_Items", vars(set)["__iter__"]),
    deque: cast("_Items", vars(deque)["__iter__"]),
}


def parts_of(value: object, *, everything: bool, asks: bool = False) -> Iterator[tuple[Part, bool]]:
    """Yield what may be touched through a value: containers, iterators and attributes.

    That is `everything` that can be reached from there, or only the items and attributes of the
    value itself. Beside each part stands whether it is written whatever is done to the value: who
    is given a method of a container may call it, and who `asks` a defaultdict may change it.
    """
    left, seen = [(value, False)], set[int]()
    while left and len(seen) < _MOST_PARTS:
        here, written = left.pop()
        kind = type(here)
        if issubclass(kind, _ATOMS) or id(here) in seen:
            continue
        seen.add(id(here))
        inside: Iterable[object] = ()
        if issubclass(kind, tuple | frozenset):
            inside = cast("tuple[object, ...]", here)
        elif issubclass(kind, CONTAINERS):
            yield (here, kind.__name__, ""), written or (asks and issubclass(kind, defaultdict))
            # Not by the methods of a subclass, which are code of the program.
            base = next((base for base in _GOING_THROUGH if issubclass(kind, base)), None)
            if everything and base is not None:
                inside = _GOING_THROUGH[base](here)
        elif issubclass(kind, SimpleNamespace | BaseException) or is_python(kind):
            # An attribute that it does not have yet.
            yield (here, f"{kind.__name__}.", ""), written
            if is_exposed(kind):
                yield (object.__getattribute__(here, "__dict__"), "dict", ""), written
            for name, held in attributes_of(here):
                yield (here, f"{kind.__name__}.", name), written
                inside = (*inside, held) if everything else inside
        elif issubclass(kind, MethodType | BuiltinMethodType | MethodWrapperType):
            name, receiver = cast("MethodType", here).__name__, receiver_of(here)
            left.append((receiver, not only_looks(type(receiver), name)))
            continue
        elif kind is Match:
            # Perhaps of bytes that change.
            inside = (cast("Match[str]", here).string,)
        elif issubclass(kind, threading.Thread):
            for name in ("_daemonic", "_name"):
                yield (here, f"{kind.__name__}.", name), written
        elif issubclass(kind, cast("type", partial)) or _is_of_c(kind):
            # An iterator, a view, a writer: its own place, and what it was made of.
            yield (here, kind.__name__, ""), written or _is_used_up(kind)
            # Inside of a context all is in the order of addresses.
            if kind is not Context and not _tells_itself(here):
                inside = (one for one in gc.get_referents(here) if not issubclass(type(one), type))
        left.extend((one, written) for one in inside)
    if left:
        yield MORE, False


def _tells_itself(iterator: object) -> bool:
    """Tell whether an iterator is a generator whose code is rewritten: it tells what it reads."""
    if type(iterator) is not GeneratorType:
        return False
    return "_wp_entered" in cast("GeneratorType[object]", iterator).gi_code.co_names


def _is_of_c(kind: type) -> bool:
    """Tell whether the objects of a class keep something in C that others see."""
    return kind.__module__ in _VIEWS or hasattr(kind, "__next__") or not is_quiet(kind)


def _is_used_up(kind: type) -> bool:
    """Tell whether who reads an object of a class changes what the next one reads."""
    return hasattr(kind, "__next__") and not issubclass(kind, IOBase)


def may_nest(value: object) -> bool:
    """Tell whether a comparison with a value may go through containers."""
    return issubclass(type(value), _NESTING)


def nested(*values: object) -> list[object]:
    """Return the containers among values, and those in there, which a comparison goes through."""
    left, found = [*values], dict[int, object]()
    while left:
        here = left.pop()
        if id(here) not in found and may_nest(here):
            found[id(here)] = here
            left += (held for _, held, _ in held_by(here))
    return [*found.values()]


def functions_in(values: Iterable[object]) -> Iterator[object]:
    """Yield the functions among values, and those that iterators and partials there call."""
    left, seen = list(values), set[int]()
    while left and len(seen) < _MOST_PARTS:
        here = left.pop()
        kind = type(here)
        if id(here) in seen:
            continue
        seen.add(id(here))
        if callable(here) and not issubclass(kind, type | partial):
            yield here
        elif issubclass(kind, partial | tuple) or (
            kind.__module__ in _VIEWS
            and not issubclass(kind, (*_ATOMS, *CONTAINERS, GeneratorType))
        ):
            left.extend(gc.get_referents(here))


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
