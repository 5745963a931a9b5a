"""What a call into code that is not rewritten does to its receiver and to its arguments.

Such code is C, the standard library's, or a package's that nobody has named. What it may touch is
written unless a table below says less. So an order that matters is never left out; at worst an
order too many is explored.
"""

import operator
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import partial
from re import Match
from types import BuiltinMethodType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import cast

from wheelproof_explore.failures.places import is_library
from wheelproof_explore.instrument.unseen.foreign import LOOKING_METHODS, may_write
from wheelproof_explore.instrument.unseen.kinds import (
    CONTAINERS,
    QUIET,
    is_python,
    is_quiet,
    is_quiet_module,
    tells,
)


class Effect(IntEnum):
    """What a function does to what it is given; a greater one includes the smaller ones."""

    NOTHING = 0
    READS = 1
    READS_ALL = 2
    """It reads what can be reached from there, as `copy.deepcopy` does."""
    WRITES = 3


_NOTHING = frozenset(
    ("callable", "globals", "id", "input", "isinstance", "issubclass", "locals", "object", "open")
) | {"slice", "staticmethod", "super", "type"}
"""Built-in functions that look at no state, or whose look is seen in another way."""
_READING = frozenset((
    "abs", "all", "any", "bool", "bytearray", "bytes", "complex", "dict", "divmod", "enumerate",
    "filter", "float", "frozenset", "getattr", "hasattr", "hash", "int", "iter", "len", "list",
    "map", "max", "min", "pow", "range", "reversed", "round", "set", "sorted", "sum", "tuple",
    "zip",
))  # fmt: skip
_READING_ALL = frozenset(("ascii", "format", "print", "repr", "str"))
_DEEP = frozenset((
    "all", "any", "dict", "filter", "fromkeys", "frozenset", "map", "max", "min", "set", "sorted",
    "sum",
))  # fmt: skip
_DEEP_PACKAGES = frozenset((
    "_bisect", "_csv", "_functools", "_heapq", "_operator", "bisect", "functools", "heapq",
    "itertools", "operator",
))  # fmt: skip
"""Functions that do something with the items of what they are given."""
_LOOKING_PACKAGES = frozenset(("datetime", "gc", "math", "os", "pathlib", "posix", "re", "sys"))
_LOOKING_FUNCTIONS: Mapping[str, Sequence[str]] = {
    "asyncio": ("as_completed", "wait"),
    "concurrent": ("as_completed", "map", "wait"),
    "logging": ("emit", "filter", "format", "formatMessage", "formatTime", "handle"),
    # In the place of asyncio's own.
    "wheelproof_explore": ("as_completed",),
}
"""Functions of quiet packages that go through what they are given."""
_MODULES: Mapping[str, Effect] = {
    **dict.fromkeys(QUIET, Effect.NOTHING),
    **dict.fromkeys(
        ("_json", "copy", "dataclasses", "json", "_pickle", "pickle"), Effect.READS_ALL
    ),
    **dict.fromkeys(("pprint", "reprlib", "string"), Effect.READS_ALL),
    **dict.fromkeys(("base64", "binascii", "hashlib", "_hashlib", "itertools"), Effect.READS),
    **dict.fromkeys(("_csv", "inspect", "statistics", "textwrap", "zlib"), Effect.READS),
}
_KNOWN = frozenset(
    ("_bisect", "_heapq", "_operator", "_struct", "bisect", "builtins", "heapq", "operator")
)
_OF_HEAPS = frozenset(("merge", "nlargest", "nsmallest"))
"""Functions of `heapq` that only look."""
_CHANGING = frozenset(("delitem", "setitem", "pack_into")) | {
    name for name in vars(operator) if name.startswith("i") and name not in ("index", "is_")
}
"""Functions of `operator` and `struct` that write; the others read."""
_FILLING = frozenset(("pack_into", "readinto", "readinto1", "recv_into", "shuffle"))
"""Methods that write what they are given."""
_OF_BYTES = frozenset(name for name in vars(bytes) if name[0] != "_")
"""Methods of what never changes: those of the same name of a bytearray only look."""
_ALSO_LOOKING = frozenset(("__copy__", "__deepcopy__", "buffer_info", "tofile", "tounicode")) | {
    "elements", "most_common", "total",
}  # fmt: skip
"""Methods of single kinds of containers that change nothing."""
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
    if not tells(type(receiver)) and (is_quiet_module(module) or is_quiet(type(receiver))):
        of_given = _effect_of_quiet(name, module or type(receiver).__module__)
        return Effect.READS if type(receiver) is Match else Effect.NOTHING, of_given
    if type(function) is MethodType and not is_library(module):
        plain = function_behind(function)
        writes = type(plain) is not FunctionType or may_write(plain)
        effect = Effect.WRITES if writes else Effect.READS_ALL
        return effect, effect
    if receiver is not None:
        looks = only_looks(type(receiver), name)
        deep = type(receiver) in (str, bytes) or type(function) is MethodType
        given = Effect.READS_ALL if deep else Effect.READS
        if name in _FILLING:
            given = Effect.WRITES
        return Effect.READS if looks else Effect.WRITES, given
    owner = getattr(function, "__objclass__", None)
    if issubclass(type(owner), type):
        # A method of a class, called with its receiver as the first argument.
        looks = only_looks(cast("type", owner), name)
        return Effect.NOTHING, Effect.READS if looks else Effect.WRITES
    if module == "builtins":
        effect = _effect_of_builtin(name)
        if effect is Effect.WRITES and _is_made_of_what_it_reads(function):
            effect = Effect.READS
        return Effect.NOTHING, effect
    if package in ("operator", "_operator", "struct", "_struct"):
        return Effect.NOTHING, Effect.WRITES if name in _CHANGING else Effect.READS
    if package in ("functools", "_functools") or (package == "heapq" and name in _OF_HEAPS):
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


def has_effects_known(package: str) -> bool:
    """Tell whether it is known what the functions of a package do to what they are given."""
    return package in _MODULES or package in _KNOWN


def method_of(caller: object, receiver: object) -> object:
    """Return the method of a container of C that a `methodcaller` calls, or else the caller.

    >>> method_of(operator.methodcaller("append", 1), [])
    <method 'append' of 'list' objects>
    """
    made, given = cast("tuple[object, tuple[object, ...]]", caller.__reduce__())
    name, *_ = cast("partial[object]", made).args if type(made) is partial else given
    kind = next((kind for kind in CONTAINERS if type(receiver) is kind), None)
    return caller if kind is None else getattr(kind, str(name), caller)


def only_looks(kind: type, name: str) -> bool:
    """Tell whether a method of a class of C changes nothing: a defaultdict makes what it lacks.

    >>> only_looks(dict, "__getitem__"), only_looks(defaultdict, "__getitem__")
    (True, False)
    """
    if name == "__getitem__" and issubclass(kind, defaultdict):
        return False
    looks = name in LOOKING_METHODS or (issubclass(kind, CONTAINERS) and name in _ALSO_LOOKING)
    return looks or (issubclass(kind, bytearray) and name in _OF_BYTES)


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
    if type(function) in (FunctionType, MethodType):
        return False
    kind = getattr(function, "__objclass__", type(receiver_of(function)))
    module = str(getattr(function, "__module__", None)).partition(".")[0]
    return module in _KNOWN or (issubclass(type(kind), type) and issubclass(kind, CONTAINERS))


def _is_made_of_what_it_reads(function: object) -> bool:
    """Tell whether a call makes an object of C, which changes nothing that it is made of.

    A `memoryview` keeps its bytearray from being resized.
    """
    return issubclass(type(function), type) and function is not memoryview


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
