"""Classes of code that is not seen and not Python's own: a look at an object may write it.

A cache that drops what was not used for long changes whenever somebody reads it. So it is asked of
each such class what its methods do that a look may call. A method surely only looks if its code
stores nothing and calls nothing but functions of which that is known.
"""

import dis
import sys
from collections.abc import Iterator
from enum import IntEnum
from types import CodeType, FunctionType

from wheelproof_explore.failures.places import is_library

_HEAP_TYPE = 1 << 9
"""The flag of a class that is made while Python runs: all those written in Python have it."""
IMMUTABLE_TYPE = 1 << 8
"""The flag of a class that is written in C."""
_NOT_BY_LOOKS = frozenset((
    "__aenter__", "__aexit__", "__anext__", "__call__", "__class_getitem__", "__del__",
    "__delattr__", "__delete__", "__delitem__", "__enter__", "__exit__", "__init__",
    "__init_subclass__", "__new__", "__post_init__", "__set__", "__set_name__",
    "__setattr__", "__setitem__", "__setstate__",
))  # fmt: skip
"""Special methods that no look calls, or whose calls are taken for writes anyhow."""
_OPERATORS = frozenset(
    f"__{right}{name}__"
    for name in ("add", "and", "mod", "mul", "or", "sub", "xor")
    for right in ("", "r")
)
READING_METHODS = frozenset(
    ("copy", "count", "difference", "get", "index", "intersection", "isdisjoint", "issubset")
) | {"issuperset", "items", "keys", "symmetric_difference", "union", "values"}
"""Methods of containers that change nothing."""
LOOKING_METHODS = READING_METHODS | _OPERATORS | {
    "getMessage", "getvalue", "tell", "tobytes", "tolist", "__contains__", "__eq__", "__format__",
    "__ge__", "__getitem__", "__gt__", "__iter__", "__le__", "__len__", "__lt__", "__ne__",
    "__reduce__", "__reduce_ex__", "__repr__", "__reversed__", "__sizeof__", "__str__",
}  # fmt: skip
"""The same of any object of C."""
_ONLY_LOOKING = frozenset((
    "abs", "all", "any", "bool", "bytes", "complex", "dict", "divmod", "enumerate", "float",
    "format", "frozenset", "getattr", "hasattr", "hash", "id", "int", "isinstance", "issubclass",
    "iter", "len", "list", "max", "min", "pow", "range", "repr", "reversed", "round", "set",
    "slice", "sorted", "str", "sum", "super", "tuple", "type", "zip",
))  # fmt: skip
"""Built-in functions that change nothing of their own accord."""
_STORES = ("STORE_", "DELETE_", "IMPORT_", "BEFORE_", "SEND")
_MADE_BY_ATTRS = "<attrs generated "
_LOCAL = ("STORE_FAST", "DELETE_FAST")
_UNKNOWN = frozenset(("PUSH_NULL", "CALL_FUNCTION_EX", "GET_AWAITABLE"))
"""Steps of calls that do not name what they call, and of what others may resume."""


class Look(IntEnum):
    """What a look at an object of a class may do."""

    SEEN = 0
    """Its code is seen, or is Python's own, whose effects are known."""
    READS = 1
    """It calls code that is not seen, which only reads."""
    WRITES = 2


_looks: dict[type, Look] = {}
_writing: dict[FunctionType, bool] = {}


def forget() -> None:
    """Begin an exploration, in which other modules may be seen."""
    _looks.clear()
    _writing.clear()


def look_at(kind: type) -> Look:
    """Return what a look at an object of a class may do.

    >>> look_at(dict).name
    'SEEN'
    """
    known = _looks.get(kind)
    if known is None:
        known = _looks[kind] = max(map(_look_of, kind.__mro__), default=Look.SEEN)
    return known


def _look_of(owner: type) -> Look:
    if is_library(str(owner.__module__)) or _is_ours(str(owner.__module__)):
        return Look.SEEN
    if _is_of_c(owner):
        return Look.WRITES
    looks = [
        Look.WRITES if may_write(function) else Look.READS
        for name, member in list(vars(owner).items())
        if name in LOOKING_METHODS or (name[:2] == name[-2:] == "__" and name not in _NOT_BY_LOOKS)
        for function in _functions_of(member)
        if not _is_rewritten(function.__code__)
    ]
    return max(looks, default=Look.SEEN)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("wheelproof", "wheelproof_explore", "greenlet")


def _is_of_c(owner: type) -> bool:
    if not owner.__flags__ & _HEAP_TYPE or owner.__flags__ & IMMUTABLE_TYPE:
        return True
    file = getattr(sys.modules.get(owner.__module__), "__file__", None) or ".py"
    return not str(file).endswith((".py", ".pyc")) and not any(
        type(member) is FunctionType for member in vars(owner).values()
    )


def _functions_of(member: object) -> Iterator[FunctionType]:
    """Yield the function of a method, and the one that a decorator has kept of it."""
    function: object = getattr(member, "__func__", member)
    while type(function) is FunctionType:
        yield function
        function = getattr(function, "__wrapped__", None)


def _is_rewritten(code: CodeType) -> bool:
    return any(name.startswith("_wp_") for name in code.co_names)


def may_write(function: FunctionType) -> bool:
    """Tell whether a function that is not seen may do more than look at what it is given.

    >>> def size(given): return len(given.items)
    >>> def put(given): given.items.append(1)
    >>> may_write(size), may_write(put)
    (False, True)
    """
    if function not in _writing:
        # Functions may call each other: each that it reaches is asked once.
        reached = [function]
        writes = any(_may_write(one.__code__, one, reached) for one in reached)
        _writing[function] = writes
    return _writing[function]


def _is_known(function: FunctionType) -> bool:
    """Tell whether a function is Python's, or one that attrs makes: it looks at fields."""
    module = str(function.__globals__.get("__name__"))
    of_attrs = module == "attr._make" or function.__code__.co_filename.startswith(_MADE_BY_ATTRS)
    return of_attrs or is_library(module)


def _may_write(code: CodeType, function: FunctionType, reached: list[FunctionType]) -> bool:
    """Tell whether a code may write by itself; the functions that it calls join `reached`."""
    if _is_known(function):
        return False
    for step in dis.get_instructions(code):
        name = step.opname
        if name.startswith(_STORES) and not name.startswith(_LOCAL):
            return True
        if name in _UNKNOWN or (name == "RETURN_GENERATOR" and code.co_name != "<genexpr>"):
            return True
        if name == "BINARY_OP" and step.argrepr.endswith("="):
            return True
        is_called = "NULL" in step.argrepr or name == "LOAD_METHOD"
        if is_called and not _only_looks(name, str(step.argval), function, reached):
            return True
    inside = (one for one in code.co_consts if isinstance(one, CodeType))
    return any(_may_write(one, function, reached) for one in inside)


def _only_looks(step: str, name: str, function: FunctionType, reached: list[FunctionType]) -> bool:
    """Tell whether something that a function calls by its name surely changes nothing."""
    if step != "LOAD_GLOBAL":
        return name in LOOKING_METHODS or (name in _ONLY_OF_TEXTS)
    if name not in function.__globals__:
        return name in _ONLY_LOOKING
    called: object = function.__globals__[name]
    if type(called) is not FunctionType:
        return False
    if called not in reached:
        reached.append(called)
    return True


_ONLY_OF_TEXTS = frozenset((
    "casefold", "encode", "endswith", "isoformat", "join", "lower", "split", "startswith", "strip",
    "upper",
))  # fmt: skip
"""Methods that texts have, and hardly anything else."""
