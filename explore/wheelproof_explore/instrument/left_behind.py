"""What modules and classes hold between two runs: each run begins with what the first one found.

A singleton, a cache or a counter of a module would be there already in the second run otherwise,
and the race to make it would be explored in the first one alone.
"""

import gc
import locale
import logging
import os
import random
import socket
import sys
import threading
import warnings
from array import array
from ast import literal_eval
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from decimal import Decimal
from functools import cache, partial
from io import BytesIO, IOBase, StringIO
from itertools import chain, count, cycle, islice, repeat, starmap
from operator import attrgetter, is_not, itemgetter, methodcaller
from random import Random, SystemRandom
from struct import Struct
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    GeneratorType,
    GenericAlias,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    UnionType,
)
from typing import cast

from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.instrument.loading import OWN, modules_seen
from wheelproof_explore.instrument.unseen.effects import has_effects_known
from wheelproof_explore.instrument.unseen.foreign import IMMUTABLE_TYPE
from wheelproof_explore.instrument.unseen.kinds import is_quiet
from wheelproof_explore.patched.holders import held_by, rebuilt, slots_of
from wheelproof_explore.patched.search import LEFT_ALONE

_Mapping = dict[object, object]
_OF_PROCESS: tuple[tuple[Callable[[], object], Callable[[object], object]], ...] = (
    (sys.getrecursionlimit, cast("Callable[[object], object]", sys.setrecursionlimit)),
    (sys.getswitchinterval, cast("Callable[[object], object]", sys.setswitchinterval)),
    (random.getstate, cast("Callable[[object], object]", random.setstate)),
    (sys.get_int_max_str_digits, cast("Callable[[object], object]", sys.set_int_max_str_digits)),
    (gc.get_debug, cast("Callable[[object], object]", gc.set_debug)),
    (gc.get_threshold, lambda before: gc.set_threshold(*cast("tuple[int, int, int]", before))),
    (
        partial(locale.setlocale, locale.LC_ALL),
        cast("Callable[[object], object]", partial(locale.setlocale, locale.LC_ALL)),
    ),
    (socket.getdefaulttimeout, cast("Callable[[object], object]", socket.setdefaulttimeout)),
    *(
        (partial(getattr, owner, name), partial(setattr, owner, name))
        for owner, names in (
            (sys, ("displayhook", "excepthook", "stderr", "stdin", "stdout", "unraisablehook")),
            (threading, ("excepthook",)),
        )
        for name in names
    ),
)
"""What all threads of the process use, as functions that tell it and set it."""

_PLAIN = frozenset((int, str, bytes, float, bool, type(None)))
_CONTAINERS = frozenset((dict, OrderedDict, list, deque, bytearray, array, set, tuple, frozenset))
"""Containers; an object of a subclass may have attributes as well."""
_CACHE = type(cache(lambda: None))
_NO_ITEMS = dict[int, int]()
_EMPTY: tuple[Iterable[object], ...] = (
    list[int](), tuple[int](), _NO_ITEMS, _NO_ITEMS.values(), _NO_ITEMS.items(), set[int](),
    range(0), "", b"", reversed(tuple[int]()),
)  # fmt: skip
_ITERATORS = frozenset[type]((
    *(type(iter(one)) for one in _EMPTY),
    chain, cycle, enumerate, filter, islice, map, repeat, starmap, zip,
))  # fmt: skip
"""Kinds of iterator that do not tell how far they have come."""
_HOLDERS = (
    dict, list, deque, bytearray, array, set, tuple, frozenset, ContextVar,
    MappingProxyType, MethodType, classmethod, partial, property, staticmethod,
    GeneratorType, *_ITERATORS,
)  # fmt: skip
"""Python's own kinds of object that state of the program may be in."""
_CLEAR = (
    *_HOLDERS, BaseException, BuiltinMethodType, Decimal, FunctionType, GenericAlias,
    MethodWrapperType, Random, SimpleNamespace, Struct, UnionType, bool, bytes, complex, float,
    int, range, slice, str, type, type(None), _CACHE, attrgetter, itemgetter, methodcaller, count,
)  # fmt: skip
"""Kinds of object in C that never change, or whose state is brought back."""
_WITHOUT_OWN_ATTRIBUTES = (FunctionType, MethodType, partial, type, _CACHE)
_NOT_LOOKED_INTO = (BuiltinMethodType, FunctionType, IOBase, ModuleType, type, _CACHE)
"""What modules of Python have, that is code, or a stream of the process."""
_SKIPPED = frozenset(("__dict__", "__weakref__", "__doc__", "__module__", "__builtins__"))


def _reached(names: Iterable[str]) -> frozenset[str]:
    """Return the user's own modules among these, what they import, and the packages they use."""
    own, found, left = modules_seen((OWN,)), set[str](), [*names]
    used = set[str]()
    while left:
        name = left.pop()
        if name in found:
            continue
        if name not in own:
            used.add(name.partition(".")[0])
            continue
        found.add(name)
        held = cast("dict[str, object]", vars(sys.modules[name]))
        for value in list(held.values()):
            kind = type(value)
            if issubclass(kind, ModuleType):
                left.append(cast("ModuleType", value).__name__)
            else:
                is_named = kind is FunctionType or issubclass(kind, type)
                left.append(str((cast("type", value) if is_named else kind).__module__))
    kept = {one for one in used if one in sys.stdlib_module_names and has_effects_known(one)}
    return frozenset(found) | modules_seen([*(used - kept - LEFT_ALONE)])


def _content_of(stream: StringIO) -> object:
    return None if stream.closed else (stream.getvalue(), stream.tell())


def _set_content(stream: StringIO, before: object) -> object:
    if before is not None and not stream.closed:
        content, place = cast("tuple[str, int]", before)
        stream.seek(0)
        stream.truncate()
        stream.write(content)
        stream.seek(place)
    return before


def _is_opaque(kind: type) -> bool:
    """Tell whether objects of a class have state in C that nobody can bring back."""
    if issubclass(kind, _CLEAR) or is_quiet(kind):
        return False
    return any(one.__flags__ & IMMUTABLE_TYPE for one in kind.__mro__ if one is not object)


class LeftBehind:
    """The state of the modules that a program names when this was made, and a way back to it.

    `packages` are those whose accesses are seen. The modules that they import are restored as well,
    also those of installed packages, and so is whatever `given`, the program itself, was made with.
    """

    def __init__(self, packages: Iterable[str], given: object, seeing: Seeing) -> None:
        self._seeing = seeing
        self._modules = _reached(modules_seen([one for one in packages if one != OWN]))
        self._checks: list[tuple[Callable[[], bool], Callable[[], None]]] = []
        # Kept alive, so that nothing else gets their addresses.
        self._seen: dict[int, object] = {}
        self._left: list[object] = []
        self._counters = _Counters()
        for name in sorted(self._modules):
            module = sys.modules[name]
            held = cast(_Mapping, vars(module))
            self._mapping(held, partial(setattr, module), partial(delattr, module))
            for place, value in held.items():
                if place not in _SKIPPED:
                    self._look(value)
                    self._counters.note(value, partial(setattr, module, str(place)))
        self._look(given)
        self._look(os.environ)
        self._look_into_all()
        for get, put in _OF_PROCESS:
            self._pair(get, put)
        self._look_at_warnings_and_loggers()
        # After the mappings that they are in.
        self._checks.append((lambda: True, self._counters.renew))
        seeing.tell_what_is_found(self._look_at_found)

    def restore(self) -> None:
        """Bring all of it back that has changed."""
        for has_changed, set_back in self._checks:
            if has_changed():
                set_back()
        self._seeing.put_back()

    def forget(self) -> None:
        """Let go of all of it: what leads in circles would be left for the collector."""
        self._checks.clear()
        self._seen.clear()

    def _look_at_found(self, value: object) -> None:
        """Look at what a run is about to read of a module of Python, such as its settings."""
        if not issubclass(type(value), _NOT_LOOKED_INTO):
            self._look(value)
            self._look_into_all()

    def _look_into_all(self) -> None:
        # What is deep inside is no reason to recurse deep.
        while self._left:
            self._look_into(self._left.pop())

    def _look(self, value: object) -> None:
        if id(value) not in self._seen and type(value) not in _PLAIN:
            self._seen[id(value)] = value
            self._left.append(value)

    def _look_into(self, value: object) -> None:
        kind = type(value)
        if self._is_left_alone(value, kind):
            return
        if issubclass(kind, dict):
            # Not by the methods of a subclass, which are code of the program.
            base = OrderedDict if issubclass(kind, OrderedDict) else dict
            self._dict(cast("_Mapping", value), cast("type[_Mapping]", base))
        elif issubclass(kind, list | deque):
            self._sequence(cast("list[object]", value))
        elif issubclass(kind, bytearray | array):
            numbers = cast("bytearray", value)
            is_bytes = issubclass(kind, bytearray)
            self._numbers(numbers, bytearray if is_bytes else cast("type[bytearray]", array))
        elif issubclass(kind, set):
            self._set(cast("set[object]", value))
        elif issubclass(kind, FunctionType):
            self._function(cast("FunctionType", value))
        elif kind is _CACHE:
            self._cache(value)
        elif kind is GeneratorType or kind in _ITERATORS:
            self._iterator(value)
        elif issubclass(kind, Random) and not issubclass(kind, SystemRandom):
            drawn = cast("Random", value)
            set_state = cast("Callable[[object], object]", partial(Random.setstate, drawn))
            self._pair(partial(Random.getstate, drawn), set_state)
        elif kind is StringIO or kind is BytesIO:
            stream = cast("StringIO", value)
            self._pair(partial(_content_of, stream), partial(_set_content, stream))
        elif _is_opaque(kind):
            lost = partial(self._lose, f"a {kind.__name__} that was made before the run")
            self._checks.append((partial(self._seeing.has_touched, value, write=True), lost))
        elif issubclass(kind, type):
            self._class(cast("type", value))
        if not issubclass(kind, _WITHOUT_OWN_ATTRIBUTES) and kind not in _CONTAINERS:
            self._object(value)
        for name, held, put in held_by(value):
            if name not in _SKIPPED:
                self._look(held)
                if put is not None:
                    self._counters.note(held, put)

    def _is_left_alone(self, value: object, kind: type) -> bool:
        """Tell whether no state of the program is in there."""
        if issubclass(kind, ModuleType):
            return True
        if issubclass(kind, type) or kind is FunctionType:
            return cast("type", value).__module__ not in self._modules
        package = str(kind.__module__).partition(".")[0]
        return package in LEFT_ALONE and not issubclass(kind, _HOLDERS)

    def _dict(self, held: _Mapping, base: type[_Mapping]) -> None:
        def put(name: object, value: object) -> None:
            base.__setitem__(held, name, value)

        def drop(name: object) -> None:
            base.__delitem__(held, name)

        self._mapping(held, put, drop, base)

    def _mapping(
        self,
        held: _Mapping,
        put: Callable[..., None],
        drop: Callable[..., None],
        base: type[_Mapping] = dict,
    ) -> None:
        before = dict(base.items(held))
        values = [*before.values()]

        def has_changed() -> bool:
            now = base.values(held)
            return len(now) != len(values) or any(map(is_not, now, values))

        def set_back() -> None:
            now = dict(base.items(held))
            for name, value in now.items():
                # A module that was imported meanwhile stays loaded.
                if name not in before and not issubclass(type(value), ModuleType):
                    drop(name)
            for name, value in before.items():
                if name not in now or now[name] is not value:
                    put(name, value)

        self._checks.append((has_changed, set_back))

    def _sequence(self, held: list[object]) -> None:
        kinds = cast("Sequence[type[list[object]]]", (list, deque))
        base = next(kind for kind in kinds if issubclass(type(held), kind))
        items = [*base.__iter__(held)]

        def has_changed() -> bool:
            differ = map(is_not, base.__iter__(held), items)
            return base.__len__(held) != len(items) or any(differ)

        def set_back() -> None:
            base.clear(held)
            base.extend(held, items)

        self._checks.append((has_changed, set_back))

    def _numbers(self, held: bytearray, base: type[bytearray]) -> None:
        before = held[:]

        def set_back() -> None:
            base.__setitem__(held, slice(None), before)

        self._checks.append((lambda: bool(base.__ne__(held, before)), set_back))

    def _set(self, held: set[object]) -> None:
        base = cast("type[set[object]]", set)
        items = {*base.__iter__(held)}

        def set_back() -> None:
            base.clear(held)
            base.update(held, items)

        self._checks.append((lambda: {*base.__iter__(held)} != items, set_back))

    def _class(self, kind: type) -> None:
        held = cast(_Mapping, vars(kind))
        put, drop = partial(type.__setattr__, kind), partial(type.__delattr__, kind)
        self._mapping(held, put, drop, cast(type[_Mapping], MappingProxyType))

    def _object(self, value: object) -> None:
        with suppress(AttributeError):
            held: dict[object, object] = object.__getattribute__(value, "__dict__")
            self._mapping(held, held.__setitem__, held.__delitem__)
        for _, slot in slots_of(value):
            self._slot(value, slot)

    def _slot(self, value: object, member: MemberDescriptorType) -> None:
        nothing = object()

        def now() -> object:
            try:
                return member.__get__(value, type(value))
            except AttributeError:
                return nothing

        before = now()

        def set_back() -> None:
            if before is nothing:
                member.__delete__(value)
            else:
                member.__set__(value, before)

        self._checks.append((lambda: now() is not before, set_back))

    def _function(self, function: FunctionType) -> None:
        held = cast("dict[object, object]", function.__dict__)
        self._mapping(held, held.__setitem__, held.__delitem__)
        for cell in function.__closure__ or ():
            self._cell(cell)

    def _cell(self, cell: CellType) -> None:
        def now() -> object:
            try:
                return cell.cell_contents
            except ValueError:
                return nothing

        nothing = object()
        before = now()
        if before is not nothing:
            set_back = partial(setattr, cell, "cell_contents", before)
            self._checks.append((lambda: now() is not before, set_back))

    def _cache(self, cached: object) -> None:
        """An empty cache is made empty again; what is in a full one cannot be brought back."""
        info, clear = getattr(cached, "cache_info"), getattr(cached, "cache_clear")  # noqa: B009
        before = info()
        name = getattr(cached, "__qualname__", "a function")

        def has_changed() -> bool:
            now = info()
            return bool((now.misses, now.currsize) != (before.misses, before.currsize))

        def set_back() -> None:
            if before.currsize:
                self._lose(f"the cache of {name}, which was not empty before the run")
            else:
                clear()

        self._checks.append((has_changed, set_back))

    def _iterator(self, iterator: object) -> None:
        """How far an iterator has come cannot be brought back."""
        lost = partial(self._lose, f"a {type(iterator).__name__} that was made before the run")
        self._checks.append((partial(self._seeing.has_touched, iterator, write=False), lost))

    def _lose(self, what: str) -> None:
        if self._seeing.active:
            self._seeing.lost[what] = None
            self._seeing.blind[f"{what}, and keeps what a run has done to it"] = None

    def _pair(self, get: Callable[[], object], put: Callable[[object], object]) -> None:
        before = get()

        def set_back() -> None:
            put(before)

        self._checks.append((lambda: get() != before, set_back))

    def _look_at_warnings_and_loggers(self) -> None:
        of_warnings = cast(_Mapping, vars(warnings))
        self._mapping(of_warnings, of_warnings.__setitem__, of_warnings.__delitem__)
        self._sequence(cast("list[object]", warnings.filters))
        manager = logging.root.manager
        known = dict(manager.loggerDict)
        for one in (manager, logging.root, *known.values()):
            held = cast(_Mapping, vars(one))
            self._mapping(held, held.__setitem__, held.__delitem__)
            for value in held.values():
                if type(value) is list:
                    self._sequence(cast("list[object]", value))

        # What loggers have found out about their levels.
        clear: Callable[[logging.Manager], None] = vars(logging.Manager)["_clear_cache"]

        def set_back() -> None:
            for name, one in manager.loggerDict.items():
                # Modules that a run has imported keep theirs.
                if name not in known and isinstance(one, logging.Logger):
                    one.handlers, one.filters = [], []
                    one.level, one.propagate, one.disabled = logging.NOTSET, True, False
            clear(manager)

        self._checks.append((lambda: True, set_back))


class _Counters:
    """Counters of `itertools` that are held: each run has new ones, which begin where these do."""

    def __init__(self) -> None:
        # Kept alive, with how a new one is made.
        self._first: dict[int, tuple[object, Callable[[], object]]] = {}
        self._places: list[tuple[Callable[[object], object], object]] = []
        self._new: dict[int, object] = {}

    def note(self, value: object, put: Callable[[object], object]) -> None:
        """Keep a place that holds a counter, its method or a tuple of such; others are ignored."""
        if self._renewed(value) is not None:
            self._places.append((put, value))

    def renew(self) -> None:
        """Put new counters into all places."""
        self._new.clear()
        for put, value in self._places:
            put(self._renewed(value))

    def _renewed(self, value: object) -> object | None:
        if issubclass(type(value), tuple):
            return rebuilt(value, self._renewed)
        if type(value) is MethodWrapperType and value.__name__ == "__next__":
            method: object = getattr(self._renewed(value.__self__), "__next__", None)
            return method
        address = id(value)
        if type(value) is not cast("type[object]", count):
            return None
        if address not in self._first:
            # The text is `count(5)` or `count(5, 2)`.
            with suppress(ValueError):
                begin: object = literal_eval(repr(value).removeprefix("count"))
                given = cast("tuple[int, ...]", begin if isinstance(begin, tuple) else (begin,))
                self._first[address] = value, partial(cast("Callable[..., object]", count), *given)
        if address not in self._new and address in self._first:
            self._new[address] = self._first[address][1]()
        return self._new.get(address)
