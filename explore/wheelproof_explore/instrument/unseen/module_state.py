"""The state of its module that a function may use whose code is not rewritten.

`cache.get(key)` is given nothing that threads share, and yet they share what it looks into. Such a
function names the variables of its module; what it calls there names others. The containers and
objects among them may be written, and so may the variables that functions there assign.
"""

import dis
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import cast

from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.instrument.unseen.effects import (
    function_behind,
    has_effects_known,
    receiver_of,
)
from wheelproof_explore.instrument.unseen.kinds import CONTAINERS, is_python
from wheelproof_explore.instrument.unseen.parts import Part, is_iterator, parts_of
from wheelproof_explore.patched.search import FOREIGN

_ASSIGNS = frozenset(("STORE_GLOBAL", "DELETE_GLOBAL"))
_STORES = frozenset(("STORE_ATTR", "DELETE_ATTR"))
_WITHOUT_STATE = frozenset(("fnmatch", "genericpath", "ntpath", "posixpath"))
"""Packages whose variables never change, but for caches of what is always the same."""
_MOST_FUNCTIONS = 200
"""How many functions are looked into for one call; what the others use is not known."""
_Variables = Mapping[str, object]


_Variable = tuple[_Variables, str, str]
"""A variable of a module: where it is, the module's name if functions assign it, and its name."""


class ModuleState:
    """What the functions that one exploration calls use of their modules."""

    def __init__(self, seeing: Seeing) -> None:
        self._seeing = seeing
        # By the identity of a code or a class, which is kept alive here.
        self._known: dict[int, tuple[object, tuple[_Variable, ...]]] = {}

    def written_by(self, called: object) -> Iterator[tuple[Part, bool]]:
        """Yield what a call may write that belongs to modules; nothing if that is known better."""
        yield from self._of_class(receiver_of(called))
        called = function_behind(called)
        if type(called) is not FunctionType and not issubclass(type(called), type):
            return
        if type(called) is FunctionType and _may_have_state(called.__module__):
            for cell in called.__closure__ or ():
                with suppress(ValueError):
                    yield from _of_cell(cell, cell.cell_contents)
            for value in (*(called.__defaults__ or ()), *(called.__kwdefaults__ or {}).values()):
                yield from _written(value)
        # A function with the same code uses the same variables.
        key = called.__code__ if type(called) is FunctionType else called
        if id(key) not in self._known:
            self._known[id(key)] = key, (*_variables_of(called),)
        for variables, module, name in self._known[id(key)][1]:
            if module:
                yield (variables, f"{module}.", name), True
            yield from _written(variables.get(name))

    def _of_class(self, receiver: object) -> Iterator[tuple[Part, bool]]:
        """Yield what classes of a method's receiver share that are not seen."""
        is_class = issubclass(type(receiver), type)
        kind = cast("type", receiver) if is_class else type(receiver)
        for owner in kind.__mro__ if is_python(kind) else ():
            home = owner.__module__
            if home in self._seeing.modules or not (is_python(owner) and _may_have_state(home)):
                continue
            for name, value in _shared_by(owner):
                yield (owner, f"{owner.__name__}.", name), True
                yield from _written(value)


def _shared_by(owner: type) -> Iterator[tuple[str, object]]:
    """Yield what the objects of a class share: its own attributes but for methods."""
    for name, value in list(vars(owner).items()):
        if not (name.startswith("__") or _is_bound(value)):
            yield name, value


def _stored_by(owner: object) -> list[str]:
    """Return what a class of a package has that functions of its module store somewhere."""
    if not issubclass(type(owner), type) or not is_python(cast("type", owner)):
        return []
    home = cast("type", owner).__module__
    stored = _assigned_in(home, _STORES) if _may_have_state(home) else frozenset[str]()
    return [name for name, _ in _shared_by(cast("type", owner)) if name in stored]


def _is_bound(member: object) -> bool:
    """Tell whether a member of a class is a method, a property or the like, not a value."""
    return callable(member) or any("__get__" in vars(one) for one in type(member).__mro__)


def _of_cell(cell: CellType, value: object) -> Iterator[tuple[Part, bool]]:
    """Yield a variable of the function around one, which others there may use as well."""
    if type(value) is not FunctionType and not issubclass(type(value), type):
        yield (cell, "cell.", ""), True
        yield from _written(value)


def _variables_of(called: object) -> Iterator[_Variable]:
    seen, left = set[int](), [*_functions_of(called)]
    while left and len(seen) < _MOST_FUNCTIONS:
        function = left.pop()
        if id(function.__code__) in seen or not _may_have_state(function.__module__):
            continue
        seen.add(id(function.__code__))
        module, variables = str(function.__module__), cast("_Variables", function.__globals__)
        names, assigned = _names_in(function.__code__), _assigned_in(module)
        for name in names:
            value = variables.get(name)
            if issubclass(type(value), ModuleType):
                inner = cast("_Variables", vars(value))
                yield from ((inner, "", one) for one in names if _may_change(inner.get(one)))
                left += (each for one in names for each in _functions_of(inner.get(one)))
            elif name in variables and (name in assigned or _may_change(value)):
                yield variables, module if name in assigned else "", name
            left += _functions_of(value)


def _functions_of(called: object) -> Iterator[FunctionType]:
    """Yield the functions that a call may run: one, or those of a class."""
    if type(called) is FunctionType:
        yield called
    elif issubclass(type(called), type):
        for kind in cast("type", called).__mro__:
            for member in vars(kind).values():
                # What is found lazily is not to be found now.
                is_wrapped = type(member) in (staticmethod, classmethod)
                function: object = member.__func__ if is_wrapped else member
                if type(function) is FunctionType:
                    yield function


def _may_change(value: object) -> bool:
    kind = type(value)
    if issubclass(kind, tuple | frozenset):
        return any(map(_may_change, cast("Iterable[object]", value)))
    if issubclass(kind, type):
        return bool(_stored_by(value))
    if type(value) is FunctionType:
        return bool(vars(value)) and _may_have_state(value.__module__)
    if issubclass(kind, (*CONTAINERS, BaseException)) or is_iterator(value):
        return True
    return is_python(kind) and _may_have_state(kind.__module__)


def _written(value: object) -> Iterator[tuple[Part, bool]]:
    if issubclass(type(value), type):
        field = f"{cast('type', value).__name__}."
        yield from (((value, field, name), True) for name in _stored_by(value))
    elif type(value) is FunctionType:
        yield from (((value, "function.", name), True) for name in ("", *vars(value)))
    elif _may_change(value):
        for part, _ in parts_of(value, everything=False):
            yield part, True


def _may_have_state(module: str | None) -> bool:
    package = str(module).partition(".")[0]
    alone = package in FOREIGN or package in _WITHOUT_STATE
    return not alone and not has_effects_known(package)


@cache
def _names_in(code: CodeType) -> tuple[str, ...]:
    names = dict.fromkeys(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            names |= dict.fromkeys(_names_in(inner))
    return (*names,)


@cache
def _assigned_in(module: str, steps: frozenset[str] = _ASSIGNS) -> frozenset[str]:
    """Return the variables of a module, or the attributes, that its functions assign."""
    left = [
        function.__code__
        for value in list(vars(sys.modules[module]).values() if module in sys.modules else ())
        for function in _functions_of(value)
        if function.__module__ == module
    ]
    found = set[str]()
    while left:
        code = left.pop()
        found |= {str(one.argval) for one in dis.get_instructions(code) if one.opname in steps}
        left += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    return frozenset(found)
