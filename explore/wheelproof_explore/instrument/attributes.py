"""The part of the functions that rewritten code calls which is about attributes.

Rewritten code names those without the prefix `_`. The others stand for functions of Python.
"""

import builtins
import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property, partial
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    UnionType,
    WrapperDescriptorType,
)
from typing import cast

from wheelproof_explore.instrument.items import Items
from wheelproof_explore.instrument.unseen.effects import Effect, receiver_of
from wheelproof_explore.instrument.unseen.kinds import (
    ACCESSORS,
    PROXIES,
    behind_proxy,
    is_exposed,
    is_python,
    is_quiet,
    looked_into,
    shares_memory,
)
from wheelproof_explore.instrument.unseen.parts import ADDED, Part, is_foreign
from wheelproof_explore.instrument.unseen.touching import is_ours
from wheelproof_explore.patched.objects import Local
from wheelproof_explore.patched.patching import refuse_missed
from wheelproof_explore.patched.primitives import running

_OF_ATTRIBUTES = frozenset(("__delattr__", "__getattribute__", "__setattr__"))
_OF_SLOTS = frozenset(("__delete__", "__get__", "__set__"))
_DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType)
_SLOTS = (MethodWrapperType, WrapperDescriptorType)
_OF_WHOLE_OBJECTS = frozenset(
    ("__bases__", "__class__", "__code__", "__defaults__", "__dict__", "__kwdefaults__")
) | {"cell_contents"}
"""Attributes whose change is one of all that is read through what has them."""
_CHANGED_BY_PYTHON: Mapping[str, Sequence[str]] = {
    "copyreg": ("dispatch_table",),
    "linecache": ("cache",),
    "logging": ("_handlers",),
    "re": ("_cache",),
    "sys": ("path_importer_cache",),
    "threading": ("_active", "_dangling", "_limbo"),
    "warnings": ("filters", "onceregistry"),
}
"""Variables of Python's modules that hold what other calls and imports leave there."""
_TELLING = frozenset(("__annotations__", "__doc__", "__module__", "__name__", "__qualname__"))
"""Names of that form that say something of a class, and that nothing calls."""
_LOOKING_INSIDE = frozenset((
    "__kwdefaults__", "_is_owned", "ag_await", "ag_frame", "ag_running", "ag_suspended",
    "cell_contents", "cr_await", "cr_frame", "cr_running", "cr_suspended", "f_lasti", "f_lineno",
    "f_locals", "gi_frame", "gi_running", "gi_suspended", "gi_yieldfrom",
))  # fmt: skip
"""Attributes that show variables of functions, how far these have come, or who has a lock."""
_NO_STATE = (MethodType, Local)
_OF_C = (
    FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType,
    WrapperDescriptorType, classmethod, staticmethod,
)  # fmt: skip
"""Kinds of Python's own descriptors that run no code of a property."""


class Attributes(Items):
    """What rewritten code calls where it reads, sets or deletes an attribute, or asks for it."""

    def get(self, instance: object, name: str) -> object:
        """Return an attribute."""
        if running() is not None:
            self._attribute(instance, name, write=False)
        return getattr(instance, name)

    def _by_slot(self, slot: Callable[..., object], *given: object) -> object:
        """Call a method that reads, writes or deletes an attribute without the class's own one."""
        bound: Sequence[object] = [receiver_of(slot)] if type(slot) is MethodWrapperType else []
        instance, name, *_ = *bound, *given, "", ""
        if isinstance(name, str):
            write, drops = slot.__name__ != "__getattribute__", slot.__name__ == "__delattr__"
            self._attribute(instance, name, write=write, drops=drops)
        return slot(*given)

    def _by_descriptor(self, method: Callable[..., object], *given: object) -> object:
        """Call a method of what a class has for one of its slots."""
        name: str = getattr(receiver_of(method), "__name__", "")
        for instance in given[:1] if method.__name__ in _OF_SLOTS else ():
            write, drops = method.__name__ != "__get__", method.__name__ == "__delete__"
            self._attribute(instance, name, write=write, drops=drops)
        return method(*given)

    def _setattr(self, instance: object, name: str, value: object) -> None:
        self.set(value, instance, name)

    def _hasattr(self, instance: object, name: str) -> bool:
        self._attribute(instance, name, write=False)
        return hasattr(instance, name)

    def _getattr(self, instance: object, name: str, *default: object) -> object:
        self._attribute(instance, name, write=False)
        return getattr(instance, name, *default)

    def set(self, value: object, instance: object, name: str) -> None:
        """Store an attribute."""
        if running() is not None:
            self._attribute(instance, name, write=True)
        setattr(instance, name, value)

    def delete(self, instance: object, name: str) -> None:
        """Remove an attribute."""
        if running() is not None:
            self._attribute(instance, name, write=True, drops=True)
        delattr(instance, name)

    def exposed(self, value: object) -> object:
        """Return an object whose attributes are about to be read as a dictionary."""
        if running() is not None:
            self._seeing.expose(value)
        return value

    def blind(self, what: str) -> None:
        """Note what leaves no pass."""
        if running() is not None:
            self._seeing.blind[what] = None

    def _of_attributes(self, function: object) -> object:
        """Return what a function of Python that looks at attributes is replaced by, or None."""
        if function is getattr:
            return self._getattr
        if function is hasattr:
            return self._hasattr
        if function is setattr:
            return self._setattr
        if function is delattr:
            return self.delete
        if function is isinstance or function is issubclass:
            return partial(self._is_of, cast("Callable[..., bool]", function))
        if function is dir:
            return self._dir
        if type(function) in _SLOTS and getattr(function, "__name__", "") in _OF_ATTRIBUTES:
            return partial(self._by_slot, cast("Callable[..., object]", function))
        if type(receiver_of(function)) in _DESCRIPTORS:
            return partial(self._by_descriptor, cast("Callable[..., object]", function))
        return None

    def _is_of(self, test: Callable[..., bool], value: object, kinds: object) -> bool:
        """Tell whether a value is of a kind: a protocol asks for its attributes."""
        if type(kinds) is not type:
            for kind in _kinds_in(kinds):
                if is_foreign(kind):
                    self._calls.touch((kind, value), Effect.READS_ALL)
                for name in _asked_for(kind):
                    self._attribute(value, name, write=False)
        return test(value, kinds)

    def _dir(self, value: object) -> list[str]:
        """Read the names of all attributes."""
        if not issubclass(type(value), type):
            self._seeing.expose(type(value))
        self._seeing.expose(value)
        held: list[object] = [vars(one) for one in (value, type(value)) if hasattr(one, "__dict__")]
        if is_foreign(value):
            held.append(value)
        look = partial(self._calls.touch, held, Effect.READS)
        return self._calls.behind(look, dir, value)

    def _attribute(self, instance: object, name: str, *, write: bool, drops: bool = False) -> None:
        # A proxy's `__class__` is code of the program, which `isinstance` would run.
        kind = type(instance)
        if write and (name in _OF_WHOLE_OBJECTS or instance is builtins):
            self.blind(f"a store to {name}")
        elif write and name in ("_name_", "_value_") and issubclass(kind, Enum):
            self.blind(f"a store to {name} of an enumeration")
        elif name in _LOOKING_INSIDE:
            self.blind(f"a look at {name}")
        if kind is MethodType and not hasattr(MethodType, name):
            # It has the attributes of its function.
            self._attribute(cast("MethodType", instance).__func__, name, write=write)
        if issubclass(kind, _NO_STATE):
            return
        if kind in PROXIES:
            self._attribute(behind_proxy(instance), name, write=write, drops=drops)
            return
        refuse_missed(instance)
        if kind is super:
            self._through(_behind(cast("super", instance)), name)
            return
        if issubclass(kind, type):
            self._of_a_class(cast("type", instance), name, write=write)
            return
        found = inspect.getattr_static(kind, name, None)
        keeper = looked_into(kind, name)
        if keeper is not None and (found is None or name in ACCESSORS or not _is_called(found)):
            self._seeing.look_into(keeper, name)
        if issubclass(type(found), cached_property) and not write:
            self._calls.look_into_cached_property(found)
            if is_exposed(kind):
                self._calls.touch_exposed(instance, name, write=True)
        if name == "__dict__":
            self._seeing.expose(instance)
            return
        if write and self._calls.sets_by_own_code(kind, "__delattr__" if drops else "__setattr__"):
            self._calls.touch((instance,), Effect.WRITES)
        if not write and is_foreign(instance) and _is_made_up(instance, name, found):
            self._calls.touch((instance,), Effect.READS_ALL)
        is_data = inspect.isdatadescriptor(found) and not isinstance(found, _OF_C)
        is_field = is_data and _is_field(found)
        is_property = is_data and not is_field
        is_set = name in self._seeing.set_names
        if is_set or (found is not None and (is_property or not write)):
            self._through(_mro(kind), name)
        if found is not None and not issubclass(type(found), _OF_C):
            self._calls.look_by_descriptor(found, instance, write=write)
        if is_property:
            return
        if found is not None and _is_method(found):
            if write:
                self._seeing.note_set(name)
            elif not is_set and not is_exposed(kind):
                return
        if issubclass(kind, ModuleType):
            module = cast("ModuleType", instance)
            if write:
                self._seeing.replace(module, name)
                self._seeing.write_module(module, name)
            elif module is sys and name == "modules":
                self._seeing.look_at_modules()
            elif name in _CHANGED_BY_PYTHON.get(module.__name__, ()):
                self.blind(f"what changes {module.__name__}.{name}")
            else:
                self._seeing.find(module, name)
            self._access(vars(instance), f"{getattr(instance, '__name__', '')}.", name, write=write)
        elif kind.__module__ != "builtins" or issubclass(kind, BaseException | FunctionType):
            if is_exposed(kind):
                self._calls.touch_exposed(instance, name, write=write, drops=drops)
                return
            if kind is FunctionType:
                keep = self._seeing.replace if write else self._seeing.find
                keep(cast("FunctionType", instance), name)
            elif shares_memory(instance):
                self.blind("memory that objects of ctypes share")
            # Code that is not seen may give it attributes that it does not have yet, and may look
            # at all that there are. A field of C is a part of what C keeps.
            is_new = write and (is_field or drops or not _has(instance, name, found))
            own, new, added = ((instance, f"{kind.__name__}.", one) for one in (name, "", ADDED))
            if kind.__module__ in self._seeing.modules and not (is_new or is_field):
                if write or _has(instance, name, found):
                    self._access(instance, f"{kind.__name__}.", name, write=write)
                else:
                    # The class has it, or nobody; code that is not seen may add it to the object.
                    parts = [(own, False), (added, False)]
                    self._seeing.touch(parts, sure=True, verb="read")
                return
            # What C keeps has no name; a call of its methods touches it as a whole.
            of_c = not (is_python(kind) or is_quiet(kind) or kind.__module__ == "builtins")
            whole = [((instance, kind.__name__, ""), write)] if of_c else []
            self._seeing.touch([(own, write), (new, is_new), *whole], sure=True)

    def _of_a_class(self, kind: type, name: str, *, write: bool) -> None:
        mro = *_mro(kind), *_mro(type(kind))
        found = next((one for one in mro if name in vars(one)), kind)
        owner = kind if write else found
        if write:
            self._seeing.note_set(name)
        (self._seeing.replace if write else self._seeing.find)(owner, name)
        if is_foreign(kind) and not write and not any(name in vars(one) for one in mro):
            self._calls.touch((kind,), Effect.READS_ALL)
        if name == "__dict__":
            self._seeing.expose(owner)
        elif write and _is_special(name):
            # Operators and statements look for it without asking.
            self.blind(f"a store to {name} of {kind.__name__}")
        if self._seeing.is_exposed_class(owner):
            self._calls.touch_class(owner, name, write=write)
        elif not write:
            member: object = vars(found).get(name)
            if self._calls.is_unseen(inspect.getattr_static(type(member), "__get__", None)):
                self._calls.look_by_descriptor(member, kind, write=False)
            self._through(mro, name)
        elif not _is_settled(kind):
            self._access(kind, f"{kind.__name__}.", name, write=True)

    def _through(self, mro: Sequence[type], name: str) -> None:
        """Read an attribute from the first of several classes that has it.

        Each one before it, where it could be set, is read as well.
        """
        parts: list[tuple[Part, bool]] = []
        for one in mro:
            if not _is_settled(one):
                parts.append(((one, f"{one.__name__}.", name), False))
            if name in vars(one):
                break
        if len(parts) == 1:
            [((owner, field, _), _)] = parts
            self._access(owner, field, name, write=False)
        else:
            self._seeing.touch(parts, sure=True)


def _is_method(member: object) -> bool:
    """Tell whether a member of a class is a method or similar, which does not change."""
    return callable(member) or isinstance(member, property | classmethod | staticmethod)


def _is_field(member: object) -> bool:
    """Tell whether a descriptor reads and writes what C keeps, as a field of `ctypes`."""
    store: object = inspect.getattr_static(type(member), "__set__", None)
    return type(store) is WrapperDescriptorType and not isinstance(member, property)


def _is_called(member: object) -> bool:
    """Tell whether a member of a class is a method, a model, or a property whose look is seen."""
    if issubclass(type(member), property):
        found = cast("property", member).fget
        return is_ours(found) or getattr(found, "__qualname__", "").startswith("Thread.")
    return _is_method(member)


def _is_settled(kind: type) -> bool:
    """Tell whether no program sets attributes of a class: it is one of C, or a model."""
    return kind.__module__.partition(".")[0] in ("builtins", "wheelproof_explore")


def _is_special(name: str) -> bool:
    """Tell whether a name is one of the methods that operators and statements call.

    >>> _is_special("__eq__"), _is_special("__doc__"), _is_special("eq")
    (True, False, False)
    """
    is_named_so = name.startswith("__") and name.endswith("__")
    return is_named_so and name not in _TELLING and name not in _OF_WHOLE_OBJECTS


def _has(instance: object, name: str, found: object) -> bool:
    """Tell whether an object has an attribute of its own, without its class's code.

    `found` is what its class has of that name.
    """
    try:
        held: object = object.__getattribute__(instance, "__dict__")
    except AttributeError:
        held = ()
    if name in cast("dict[str, object]", held):
        return True
    if not isinstance(found, MemberDescriptorType):
        return False
    try:
        found.__get__(instance, type(instance))
    except AttributeError:
        return False
    return True


def _is_made_up(instance: object, name: str, found: object) -> bool:
    """Tell whether code of an object's class answers for an attribute."""
    kind = type(instance)
    if type(inspect.getattr_static(kind, "__getattribute__", None)) is FunctionType:
        return True
    is_there = found is not None or _has(instance, name, found)
    return not is_there and inspect.getattr_static(kind, "__getattr__", None) is not None


def _mro(kind: type) -> tuple[type, ...]:
    """Return the classes of a class, without its code; none while it is being made."""
    known: tuple[type, ...] | None = vars(type)["__mro__"].__get__(kind)
    return known or ()


def _behind(proxy: super) -> Sequence[type]:
    """Return the classes where `super()` looks, none if it is bound to nothing."""
    kind: type | None = vars(super)["__self_class__"].__get__(proxy)
    mro = () if kind is None else _mro(kind)
    return mro[mro.index(vars(super)["__thisclass__"].__get__(proxy)) + 1 :] if mro else ()


def _kinds_in(kinds: object) -> Iterator[object]:
    """Yield the classes that `isinstance` is given, from inside tuples and unions."""
    if isinstance(kinds, tuple):
        for part in cast("tuple[object, ...]", kinds):
            yield from _kinds_in(part)
    elif typing.get_origin(kinds) in (typing.Union, UnionType):
        yield from typing.get_args(kinds)
    else:
        yield kinds


def _asked_for(kind: object) -> Sequence[str]:
    """Return the attributes that a protocol asks for; none if it is no protocol."""
    if not issubclass(type(kind), type) or not vars(cast("type", kind)).get("_is_protocol"):
        return ()
    find = cast("Callable[[object], set[str]]", vars(typing)["_get_protocol_attrs"])
    return sorted(find(kind))
