"""What may hold a lock or another primitive: its parts, and how each of them is replaced."""

import gc
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from types import (
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
)
from typing import TypeAlias, cast

Put: TypeAlias = Callable[[object], object]
Held: TypeAlias = tuple[object, object, Put | None]
"""A name, what has it, and a function that puts something else there; None: nothing can be."""

_SET_STATE: Callable[[object, object], None] = vars(partial)["__setstate__"]
_ITEMS_OF_TUPLE: Callable[[tuple[object, ...]], Iterator[object]] = vars(tuple)["__iter__"]
_ITEMS_OF_SET: Callable[[frozenset[object]], Iterator[object]] = vars(frozenset)["__iter__"]
_NEW: Mapping[type, Callable[[type, Iterable[object]], object]] = {
    base: vars(base)["__new__"] for base in (tuple, frozenset)
}
_CONTAINERS = frozenset((dict, OrderedDict, list, deque, set, tuple, frozenset))
"""Containers; an object of a subclass may have attributes as well."""
_WITHOUT_OWN_ATTRIBUTES = (
    ContextVar, FunctionType, MappingProxyType, MethodType, classmethod, partial, property,
    staticmethod,
)  # fmt: skip
_DEEPEST = 50
"""How deep tuples in tuples are looked through."""


def held_by(value: object) -> Iterator[Held]:
    """Yield each part of a value, without running its code."""
    kind = type(value)
    if kind is FunctionType:
        yield from _held_by_function(cast("FunctionType", value))
    elif issubclass(kind, dict | MappingProxyType):
        yield from _held_by_mapping(value)
    elif issubclass(kind, list | deque):
        yield from _held_by_sequence(cast("list[object]", value))
    elif issubclass(kind, set):
        yield from _held_by_set(cast("set[object]", value))
    elif issubclass(kind, tuple | frozenset):
        for place, held in enumerate(items_of(value)):
            yield place, held, None
    elif issubclass(kind, MethodType):
        method = cast("MethodType", value)
        yield "self", method.__self__, None
        yield "func", method.__func__, None
    elif issubclass(kind, partial):
        yield from _held_by_partial(cast("partial[object]", value))
    elif issubclass(kind, property | staticmethod | classmethod | ContextVar):
        # That of a variable of a context is its default.
        for place, held in enumerate(gc.get_referents(value)):
            yield place, held, None
    if not issubclass(kind, _WITHOUT_OWN_ATTRIBUTES) and kind not in _CONTAINERS:
        yield from _held_by_object(value)


def items_of(value: object) -> Iterator[object]:
    """Return an iterator through a tuple or a frozen set, not by code of a subclass."""
    if issubclass(type(value), tuple):
        return _ITEMS_OF_TUPLE(cast("tuple[object, ...]", value))
    return _ITEMS_OF_SET(cast("frozenset[object]", value))


def slots_of(value: object) -> Iterator[tuple[str, MemberDescriptorType]]:
    """Yield the slots that the classes of an object declare, set or not."""
    for kind in type(value).__mro__:
        for name, member in list(vars(kind).items()) if "__slots__" in vars(kind) else ():
            if isinstance(member, MemberDescriptorType):
                yield name, member


def rebuilt(value: object, other: Callable[[object], object | None], depth: int = 0) -> object:
    """Return a tuple or a frozen set with other items; None if it holds none that has another."""
    # The collector does not track a tuple of plain values.
    if depth > _DEEPEST or not gc.is_tracked(value) or type(value).__dictoffset__:
        return None
    kind = type(value)
    items = [*items_of(value)]
    found = [
        rebuilt(item, other, depth + 1)
        if issubclass(type(item), tuple | frozenset)
        else other(item)
        for item in items
    ]
    if all(one is None for one in found):
        return None
    made = [item if one is None else one for item, one in zip(items, found, strict=True)]
    # Not by the class's own code.
    make = _NEW[tuple if issubclass(kind, tuple) else frozenset]
    try:
        return make(cast("type", kind), made)
    except TypeError:
        # A structure of C, such as the result of `os.stat`.
        return None


def _held_by_mapping(value: object) -> Iterator[Held]:
    if issubclass(type(value), MappingProxyType):
        for held in gc.get_referents(value):
            yield "mapping", held, None
        return
    held_by_key = cast("dict[object, object]", value)
    if issubclass(type(value), defaultdict):
        factory = cast("MemberDescriptorType", vars(defaultdict)["default_factory"])
        yield "default_factory", factory.__get__(value), partial(factory.__set__, value)
    ordered = issubclass(type(value), OrderedDict)
    base = cast("type[dict[object, object]]", OrderedDict if ordered else dict)
    for place, (key, held) in enumerate([*base.items(held_by_key)]):
        # The key's own text could be code, or differ from process to process.
        name = key if type(key) in (str, int) else place
        yield name, held, partial(base.__setitem__, held_by_key, key)


def _held_by_sequence(value: list[object]) -> Iterator[Held]:
    kinds = cast("Sequence[type[list[object]]]", (list, deque))
    base = next(kind for kind in kinds if issubclass(type(value), kind))
    for place, held in enumerate([*base.__iter__(value)]):
        yield place, held, partial(base.__setitem__, value, place)


def _held_by_set(value: set[object]) -> Iterator[Held]:
    base = cast("type[set[object]]", set)
    for place, held in enumerate([*base.__iter__(value)]):
        now = [held]

        def put(other: object, now: list[object] = now) -> None:
            base.discard(value, now[0])
            base.add(value, other)
            now[0] = other

        yield place, held, put


def _held_by_partial(call: "partial[object]") -> Iterator[Held]:
    def put_function(function: object) -> None:
        set_state((function, call.args, call.keywords, vars(call)))

    def put_values(values: object) -> None:
        set_state((call.func, values, call.keywords, vars(call)))

    set_state = partial(_SET_STATE, call)
    yield "func", call.func, put_function
    yield "args", call.args, put_values
    yield "keywords", call.keywords, None


def _held_by_object(value: object) -> Iterator[Held]:
    if issubclass(type(value), type):
        kind = cast("type", value)
        for name, held in list(vars(kind).items()):
            yield name, held, partial(type.__setattr__, kind, name)
        return
    with suppress(AttributeError):
        named: dict[str, object] = object.__getattribute__(value, "__dict__")
        for name, held in list(named.items()):
            yield name, held, partial(object.__setattr__, value, name)
    for name, slot in slots_of(value):
        with suppress(AttributeError):
            yield name, slot.__get__(value, type(value)), partial(slot.__set__, value)


def _held_by_function(function: FunctionType) -> Iterator[Held]:
    named: dict[str, object] = function.__kwdefaults__ or {}
    for name, value in list(named.items()):
        yield name, value, partial(named.__setitem__, name)
    for place, value in enumerate(function.__defaults__ or ()):
        yield place, value, partial(_set_default, function, place)
    for name, value in list(vars(function).items()):
        yield name, value, partial(vars(function).__setitem__, name)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            yield name, cell.cell_contents, partial(setattr, cell, "cell_contents")


def _set_default(function: FunctionType, place: int, value: object) -> None:
    defaults: list[object] = [*(function.__defaults__ or ())]
    defaults[place] = value
    function.__defaults__ = tuple(defaults)
