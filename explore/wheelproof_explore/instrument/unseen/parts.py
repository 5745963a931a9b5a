"""What can be touched through an object by code that is not rewritten: its parts, as one step."""

import gc
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import Context
from functools import partial
from io import IOBase
from re import Match
from types import (
    BuiltinMethodType,
    CodeType,
    FunctionType,
    GeneratorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)
from typing import TypeGuard, cast

from wheelproof_explore.failures.places import is_library
from wheelproof_explore.instrument.unseen.effects import only_looks, receiver_of
from wheelproof_explore.instrument.unseen.foreign import Look, look_at
from wheelproof_explore.instrument.unseen.kinds import (
    CONTAINERS,
    PROXIES,
    attributes_of,
    behind_proxy,
    is_exposed,
    is_python,
    is_quiet,
    shows_memory,
)
from wheelproof_explore.patched.holders import held_by

Part = tuple[object, str, str]
"""Something that can be read and written: an object, and the two halves of the field's name."""
ADDED = "*"
"""In the place of a name: what code that is not seen may add to an object."""
_ATOMS = (
    int, float, complex, str, bytes, type(None), type(Ellipsis), range, CodeType,
    FunctionType, ModuleType, type, property, staticmethod, classmethod,
)  # fmt: skip
_NESTING = (*CONTAINERS, tuple, frozenset)
_VIEWS = frozenset(("builtins", "itertools", "collections", "functools"))
_GONE_THROUGH_BY = frozenset(("_collections", "_csv", "array", "builtins", "itertools"))
"""Modules of iterators that are written in C."""


class _Sequence:
    def __getitem__(self, place: int) -> int:
        return place


_BY_GETITEM = type(iter(_Sequence()))
_MOST_PARTS = 2_000
MORE: Part = (None, "more", "")
"""It stands for the remaining parts, if there are too many to go through."""
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
        if id(here) in seen:
            continue
        seen.add(id(here))
        if issubclass(kind, _ATOMS):
            if issubclass(kind, type) and is_foreign(here):
                # Code of its metaclass looks at the attributes of a class.
                owner = cast("type", here)
                written = written or look_at(kind) is Look.WRITES
                yield from (((here, f"{owner.__name__}.", one), written) for one in vars(owner))
            continue
        # Code that is not seen may change an object that somebody looks at.
        written = written or look_at(kind) is Look.WRITES or _is_foreign_generator(here)
        inside: Iterable[object] = ()
        if issubclass(kind, tuple | frozenset):
            inside = cast("tuple[object, ...]", here)
        elif kind is slice:
            inside = gc.get_referents(here)
        elif kind in PROXIES:
            inside = (behind_proxy(here),)
        elif issubclass(kind, CONTAINERS):
            yield (here, kind.__name__, ""), written or (asks and issubclass(kind, defaultdict))
            # Not by the methods of a subclass, which are code of the program.
            base = next((base for base in _GOING_THROUGH if issubclass(kind, base)), None)
            if everything and base is not None:
                inside = _GOING_THROUGH[base](here)
        elif issubclass(kind, SimpleNamespace | BaseException) or is_python(kind):
            # An attribute that it does not have yet.
            yield (here, f"{kind.__name__}.", ""), written
            yield (here, f"{kind.__name__}.", ADDED), written
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
            yield (here, kind.__name__, ""), written or is_iterator(here)
            if is_foreign(here) and shows_memory(here):
                # Several objects may show the same memory, as an array and a part of it.
                package = kind.__module__.partition(".")[0]
                yield (sys.modules.get(package), f"memory of {package}", ""), written
            # Inside of a context all is in the order of addresses.
            if kind is not Context and not _tells_itself(here):
                inside = (one for one in gc.get_referents(here) if not issubclass(type(one), type))
        left.extend((one, written) for one in inside)
    if left:
        yield MORE, False


def _is_generator(value: object) -> TypeGuard["GeneratorType[object]"]:
    return type(value) is GeneratorType


def _tells_itself(iterator: object) -> bool:
    """Tell whether an iterator is a generator whose code is rewritten: it tells what it reads."""
    return _is_generator(iterator) and "_wp_entered" in iterator.gi_code.co_names


def _is_foreign_generator(value: object) -> bool:
    """Tell whether a value is a generator whose code is neither seen nor Python's own."""
    if not _is_generator(value) or _tells_itself(value):
        return False
    frame = value.gi_frame
    return frame is not None and not is_library(str(frame.f_globals.get("__name__")))


def _is_of_c(kind: type) -> bool:
    """Tell whether the objects of a class keep something in C that others see."""
    return kind.__module__ in _VIEWS or hasattr(kind, "__next__") or not is_quiet(kind)


def is_iterator(value: object) -> bool:
    """Tell whether a value is an iterator: who reads it changes what the next one reads."""
    return hasattr(type(value), "__next__") and not issubclass(type(value), IOBase)


def only_takes(iterator: object) -> bool:
    """Tell whether an iterator only looks at what it goes through: only its own place changes.

    That of a class of Python, or of a generator that is not seen, may do anything.

    >>> only_takes(enumerate({1})), only_takes(element for element in [1])
    (True, False)
    """
    left, seen = [iterator], set[int]()
    while left and len(seen) < _MOST_PARTS:
        here = left.pop()
        if id(here) in seen or not hasattr(type(here), "__next__") or _tells_itself(here):
            continue
        seen.add(id(here))
        # An iterator of C through an object of Python calls its `__getitem__`.
        if type(here).__module__ not in _GONE_THROUGH_BY or type(here) is _BY_GETITEM:
            return False
        if type(here) is GeneratorType:
            return False
        left += gc.get_referents(here)
    return not left


def may_nest(value: object) -> bool:
    """Tell whether a comparison with a value may go through it, or call code that is not seen."""
    return issubclass(type(value), _NESTING) or is_foreign(value)


def is_foreign(value: object) -> bool:
    """Tell whether a look at a value calls code that is not seen, nor Python's own."""
    return look_at(type(value)) is not Look.SEEN


def holds_foreign(value: object) -> bool:
    """Tell whether items of a container, or of the tuples in there, are `is_foreign`."""
    left: list[object] = [value]
    while left:
        here = cast("Iterable[object]", left.pop())
        for kind in {*map(type, here)}:
            if look_at(kind) is not Look.SEEN:
                return True
            if issubclass(kind, tuple | frozenset):
                left += (item for item in here if type(item) is kind)
    return False


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
