"""What modules and classes hold between two runs: each run begins with what the first one found.

A singleton, a cache or a counter of a module would be there already in the second run otherwise,
and the race to make it would be explored in the first one alone.
"""

import os
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache, partial
from operator import is_not
from types import (
    CellType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import cast

from wheelproof_explore.instrument.loading import OWN, modules_seen
from wheelproof_explore.instrument.outside import has_effects_known
from wheelproof_explore.patched.search import FOREIGN

_LEFT_ALONE = FOREIGN | {
    "abc", "ast", "builtins", "codecs", "encodings", "enum", "inspect", "linecache", "re", "site",
    "sys", "tokenize", "traceback", "typing", "warnings", "zipimport",
}  # fmt: skip
"""Packages whose objects are not looked through: no state of a program is in there."""
_Mapping = dict[object, object]

_PLAIN = frozenset((int, str, bytes, float, bool, type(None)))
_CONTAINERS = frozenset((dict, OrderedDict, list, deque, bytearray, set, tuple, frozenset))
"""Containers; an object of a subclass may have attributes as well."""
_CACHE = type(cache(lambda: None))
_WITHOUT_OWN_ATTRIBUTES = (FunctionType, MethodType, ModuleType, partial, type, _CACHE)
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
    return frozenset(found) | modules_seen([*(used - kept - _LEFT_ALONE)])


class LeftBehind:
    """The state of the modules that a program names when this was made, and a way back to it.

    `packages` are those whose accesses are seen. What they import belongs to them, also installed
    packages, and so does what `given`, the program itself, was made with.
    """

    def __init__(self, packages: Iterable[str], given: object = None) -> None:
        self._modules = _reached(modules_seen([one for one in packages if one != OWN]))
        self._checks: list[tuple[Callable[[], bool], Callable[[], None]]] = []
        # Kept alive, so that nothing else gets their addresses.
        self._seen: dict[int, object] = {}
        self._left: list[object] = []
        for name in sorted(self._modules):
            module = sys.modules[name]
            held = cast(_Mapping, vars(module))
            self._mapping(held, partial(setattr, module), partial(delattr, module))
        self._look(given)
        self._look(os.environ)
        # What is deep inside is no reason to recurse deep.
        while self._left:
            self._look_into(self._left.pop())

    def restore(self) -> None:
        """Bring all of it back that has changed."""
        for has_changed, set_back in self._checks:
            if has_changed():
                set_back()

    def _look(self, value: object) -> None:
        if id(value) not in self._seen and type(value) not in _PLAIN:
            self._seen[id(value)] = value
            self._left.append(value)

    def _look_into(self, value: object) -> None:
        kind = type(value)
        if issubclass(kind, dict):
            # Not by the methods of a subclass, which are code of the program.
            base = OrderedDict if issubclass(kind, OrderedDict) else dict
            self._dict(cast("_Mapping", value), cast("type[_Mapping]", base))
        elif issubclass(kind, list | deque | bytearray):
            self._sequence(cast("list[object]", value))
        elif issubclass(kind, set):
            self._set(cast("set[object]", value))
        elif issubclass(kind, tuple | frozenset):
            for item in cast("tuple[object, ...]", value):
                self._look(item)
        elif issubclass(kind, FunctionType):
            self._function(cast("FunctionType", value))
        elif issubclass(kind, MethodType):
            method = cast("MethodType", value)
            self._look((method.__self__, method.__func__))
        elif issubclass(kind, partial):
            call = cast("partial[object]", value)
            self._look((call.func, *call.args, *call.keywords.values()))
        elif kind is _CACHE:
            self._cache(value)
        elif issubclass(kind, type):
            self._class(cast("type", value))
        if not issubclass(kind, _WITHOUT_OWN_ATTRIBUTES) and kind not in _CONTAINERS:
            self._object(value)

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
        for name, value in before.items():
            if name not in _SKIPPED:
                self._look(value)

    def _sequence(self, held: list[object]) -> None:
        kinds = cast("Sequence[type[list[object]]]", (list, deque, bytearray))
        base = next(kind for kind in kinds if issubclass(type(held), kind))
        items = [*base.__iter__(held)]

        def has_changed() -> bool:
            differ = map(is_not, base.__iter__(held), items)
            return base.__len__(held) != len(items) or any(differ)

        def set_back() -> None:
            base.clear(held)
            base.extend(held, items)

        self._checks.append((has_changed, set_back))
        for item in items:
            self._look(item)

    def _set(self, held: set[object]) -> None:
        base = cast("type[set[object]]", set)
        items = {*base.__iter__(held)}

        def set_back() -> None:
            base.clear(held)
            base.update(held, items)

        self._checks.append((lambda: {*base.__iter__(held)} != items, set_back))
        for item in items:
            self._look(item)

    def _class(self, kind: type) -> None:
        if kind.__module__ in self._modules:
            held = cast(_Mapping, vars(kind))
            put, drop = partial(type.__setattr__, kind), partial(type.__delattr__, kind)
            self._mapping(held, put, drop, cast(type[_Mapping], MappingProxyType))

    def _object(self, value: object) -> None:
        if str(type(value).__module__).partition(".")[0] in _LEFT_ALONE:
            return
        with suppress(AttributeError):
            held: dict[object, object] = object.__getattribute__(value, "__dict__")
            self._mapping(held, held.__setitem__, held.__delitem__)
        for kind in type(value).__mro__:
            for member in vars(kind).values() if "__slots__" in vars(kind) else ():
                if isinstance(member, MemberDescriptorType):
                    self._slot(value, member)
        if issubclass(type(value), SimpleNamespace):
            self._look(vars(value))

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
        self._look(before)

    def _function(self, function: FunctionType) -> None:
        if function.__module__ not in self._modules:
            return
        held = cast("dict[object, object]", function.__dict__)
        self._mapping(held, held.__setitem__, held.__delitem__)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._look(value)
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
            self._look(before)

    def _cache(self, cached: object) -> None:
        """An empty cache is made empty again; what is in a full one cannot be brought back."""
        info, clear = getattr(cached, "cache_info"), getattr(cached, "cache_clear")  # noqa: B009
        if info().currsize == 0:
            self._checks.append((lambda: info().currsize != 0, clear))
        self._look(getattr(cached, "__wrapped__", None))
