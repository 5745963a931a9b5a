"""The functions that rewritten code calls: they log an access or make it a step, then make it.

Outside a run, in its set-up and in its checks, only the access itself is made.
"""

import builtins
import gc
import inspect
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from importlib.util import resolve_name
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TypeAlias, cast

from wheelproof_explore.failures.places import is_library
from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.instrument.calls import PLAIN, Calls, is_ours, is_python_code
from wheelproof_explore.instrument.items import Container, Items
from wheelproof_explore.instrument.outside import (
    ACCESSORS,
    CONTAINERS,
    IN_PLACE,
    OPERATORS,
    Effect,
    attributes_of,
    is_exposed,
    is_python,
    is_quiet,
    looked_into,
    receiver_of,
    shares_memory,
)
from wheelproof_explore.patched.objects import Local
from wheelproof_explore.patched.patching import refuse_missed
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.patched.threads import thread_init
from wheelproof_explore.runtime.runtime import ControlledRuntime

_OF_ATTRIBUTES = frozenset(("__delattr__", "__getattribute__", "__setattr__"))
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
_SET_BY_RAISING = ("__cause__", "__context__", "__suppress_context__", "__traceback__")
_UNSEEN_CALLS: Mapping[int, str] = {
    id(eval): "eval()",
    id(exec): "exec()",
    id(gc.isenabled): "gc.isenabled(), of a collector that is off in each run",
}
"""Calls that leave no pass, by the identity of the function."""
_NO_STATE = (MethodType, Local)
_OF_C = (
    FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType,
    WrapperDescriptorType, classmethod, staticmethod,
)  # fmt: skip
"""Kinds of Python's own descriptors that run no code of a property."""
_CONVERSIONS: Mapping[int, Callable[[object], str]] = {
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}

_Pattern: TypeAlias = "list[tuple[str, object, dict[str | int, _Pattern]]]"
"""The alternatives of a pattern: the sort of its test, what that needs, and the parts.

A pattern without alternatives matches everything; see `patterns`.
"""


class _Functions(Items):
    """The functions that rewritten code calls, named without the prefix `_wp_`."""

    def __init__(self, seeing: Seeing) -> None:
        super().__init__(seeing, Calls(seeing, self.call))

    def get(self, instance: object, name: str) -> object:
        if running() is not None:
            self._attribute(instance, name, write=False)
        return getattr(instance, name)

    def method(self, instance: object, name: str) -> object:
        runtime = running()
        if runtime is None:
            return getattr(instance, name)
        if issubclass(type(instance), CONTAINERS) and not isinstance(
            inspect.getattr_static(type(instance), name, None), FunctionType
        ):
            call = partial(self._call, cast("Container", instance), name)
            return call if runtime.interruptible is None else self._interruptible(runtime, call)
        return self.call(self.get(instance, name))

    def call(self, function: object) -> object:
        """Return a function, so that it touches what it may read and write if it is not seen."""
        runtime = running()
        if runtime is None:
            return function
        call = self._call_of(function)
        if runtime.interruptible is None:
            return call
        return self._interruptible(runtime, call, function)

    def _interruptible(
        self, runtime: ControlledRuntime, call: object, function: object = None
    ) -> object:
        """Let Ctrl-C come where a function of Python begins, and where another returns."""
        if runtime.current is not runtime.interruptible or is_ours(function):
            return call

        def interruptible(*given: object, **named: object) -> object:
            if is_python_code(function):
                runtime.may_interrupt()
            result = cast("Callable[..., object]", call)(*given, **named)
            if not self._calls.is_seen(function):
                runtime.may_interrupt()
            return result

        return interruptible

    def _call_of(self, function: object) -> object:
        if type(function) is MethodType and function.__func__ is thread_init:
            # Of a subclass of Thread, which may be given what the thread calls.
            return partial(self._calls.outside, function)
        if self._calls.is_seen(function):
            return function
        if function is getattr:
            return self._getattr
        if function is hasattr:
            return self._hasattr
        if function is setattr:
            return self._setattr
        if function is delattr:
            return self.delete
        if type(function) in _SLOTS and getattr(function, "__name__", "") in _OF_ATTRIBUTES:
            return partial(self._by_slot, cast("Callable[..., object]", function))
        if id(function) in _UNSEEN_CALLS:
            self._seeing.blind[_UNSEEN_CALLS[id(function)]] = None
        refuse_missed(function)
        if id(function) in self._seeing.faulty:
            missed = self._seeing.faulty[id(function)]
            self._seeing.blind[f"{missed}, by a name that no search found, cannot fail"] = None
        receiver = receiver_of(function)
        if receiver is not None and getattr(function, "__name__", "") == "__subclasses__":
            self._seeing.blind["__subclasses__(), which each new class changes"] = None
        if type(function) is BuiltinMethodType and issubclass(type(receiver), CONTAINERS):
            return partial(self._call, cast("Container", receiver), function.__name__)
        if type(function) is not BuiltinMethodType:
            method = inspect.getattr_static(type(function), "__call__", None)
            if type(method) is FunctionType:
                # Its receiver is the object itself.
                function = MethodType(method, function)
        return partial(self._calls.outside, cast("Callable[..., object]", function))

    def operate(self, sign: str, *operands: object) -> object:
        """Make an operation, which may go through all that is in its operands."""
        operation = OPERATORS[sign]
        if running() is None or all(type(one) in PLAIN for one in operands):
            return operation(*operands)
        look = partial(self._calls.touch, operands, Effect.READS_ALL)
        return self._calls.behind(look, operation, *operands)

    def operate_in_place(self, sign: str, left: object, right: object) -> object:
        """Make an operation that may change its left operand."""
        operation = IN_PLACE[sign]
        if running() is None or (type(left) in PLAIN and type(right) in PLAIN):
            return operation(left, right)
        return self._calls.operate(operation, f"__{operation.__name__}__", left, right)

    def formatted(self, value: object, conversion: int, spec: str) -> str:
        """Return a value as a part of an f-string: all that can be reached from there is read."""
        if running() is None or type(value) in PLAIN:
            return _format(value, conversion, spec)
        look = partial(self._calls.touch, (value,), Effect.READS_ALL)
        return self._calls.behind(look, _format, value, conversion, spec)

    def _by_slot(self, slot: Callable[..., object], *given: object) -> object:
        """Call a method that reads, writes or deletes an attribute without the class's own one."""
        bound: Sequence[object] = [receiver_of(slot)] if type(slot) is MethodWrapperType else []
        instance, name, *_ = *bound, *given, "", ""
        if isinstance(name, str):
            self._attribute(instance, name, write=slot.__name__ != "__getattribute__")
        return slot(*given)

    def _setattr(self, instance: object, name: str, value: object) -> None:
        self.set(value, instance, name)

    def _hasattr(self, instance: object, name: str) -> bool:
        self._attribute(instance, name, write=False)
        return hasattr(instance, name)

    def _getattr(self, instance: object, name: str, *default: object) -> object:
        self._attribute(instance, name, write=False)
        return getattr(instance, name, *default)

    def set(self, value: object, instance: object, name: str) -> None:
        if running() is not None:
            self._attribute(instance, name, write=True)
        setattr(instance, name, value)

    def delete(self, instance: object, name: str) -> None:
        if running() is not None:
            self._attribute(instance, name, write=True)
        delattr(instance, name)

    def exposed(self, value: object) -> object:
        if running() is not None:
            self._seeing.expose(value)
        return value

    def raised(self, error: object) -> object:
        """Return what is raised: Python keeps there where that was, and what it was raised from."""
        if running() is not None and isinstance(error, BaseException):
            name = f"{type(error).__name__}."
            self._seeing.touch(((error, name, one), True) for one in _SET_BY_RAISING)
        return error

    def noted(self, what: str, value: object) -> object:
        self.blind(what)
        return value

    def blind(self, what: str) -> None:
        if running() is not None:
            self._seeing.blind[what] = None

    def entering(self, manager: object) -> object:
        """Return what a `with` enters, so that what is not seen of it is a step at both ends."""
        if running() is None:
            return manager
        refuse_missed(manager)
        return self._calls.managed(manager)

    def entered(self) -> None:
        """Make a step in a function that code calls which is not seen, and goes on behind it."""
        if running() is not None:
            self._seeing.enter()

    def resumed(self, value: object) -> object:
        self.entered()
        return value

    def pause(self, names: dict[str, object], name: str) -> None:
        if running() is not None:
            self._calls.pause(names, name)

    def get_cell(self, reader: Callable[[], object], name: str) -> object:
        cell = _cell_of(reader, name)
        self._access(cell, name, "", write=False)
        if not _is_full(cell):
            raise NameError(f"cannot access free variable {name!r}")
        return cell.cell_contents

    def set_cell(self, value: object, reader: Callable[[], object], name: str) -> object:
        cell = _cell_of(reader, name)
        self._access(cell, name, "", write=True)
        cell.cell_contents = value
        return value

    def write_cell(self, reader: Callable[[], object], name: str) -> None:
        self._access(_cell_of(reader, name), name, "", write=True)

    def write_global(self, names: dict[str, object], name: str) -> None:
        self._access(names, f"{names.get('__name__')}.", name, write=True)

    def last(self, *values: object) -> object:
        return values[-1]

    def imported(self, names: dict[str, object], module: str, looked_up: Sequence[str]) -> None:
        """Look at what a module has, if it is there; else its first import makes it."""
        if running() is None:
            return
        package = str(names.get("__package__") or "")
        there = sys.modules.get(resolve_name(module, package))
        for name in looked_up if there is not None else ():
            self._attribute(there, name, write=False)

    def get_global(self, names: dict[str, object], name: str) -> object:
        self._access(names, f"{names.get('__name__')}.", name, write=False)
        try:
            return names[name] if name in names else getattr(builtins, name)
        except AttributeError:
            raise NameError(f"name {name!r} is not defined") from None

    def set_global(self, value: object, names: dict[str, object], name: str) -> object:
        self._access(names, f"{names.get('__name__')}.", name, write=True)
        names[name] = value
        return value

    def match(self, value: object, pattern: _Pattern) -> bool:
        """Read what a pattern reads; the result keeps the case in front of it from matching."""
        if running() is not None:
            self._matches(value, pattern)
        return False

    def _matches(self, value: object, pattern: _Pattern) -> bool:
        return not pattern or any(self._is(value, *alternative) for alternative in pattern)

    def _is(self, value: object, sort: str, test: object, parts: dict[str | int, _Pattern]) -> bool:
        """Tell whether a value matches, as Python does: all parts are read before any is tested."""
        if sort == "equal":
            return value == test
        if sort == "same":
            return value is test
        read: list[object]
        if sort == "class":
            kind = cast("type", test)
            if not isinstance(value, kind):
                return False
            try:
                read = [self._part(value, kind, name) for name in parts]
            except AttributeError:
                return False
        else:
            self._whole(value, write=False)
            if sort == "whole" or not isinstance(value, tuple | list):
                return True
            items = cast("Sequence[object]", value)
            if len(items) < len(parts) or (len(items) > len(parts) and not test):
                return False
            read = [items[cast(int, place)] for place in parts]
        return all(map(self._matches, read, parts.values()))

    def _part(self, value: object, kind: type, name: str | int) -> object:
        """Read an attribute, perhaps given by its place; that of `int(x)` is the value itself."""
        names: Sequence[str] = getattr(kind, "__match_args__", ())
        if isinstance(name, str):
            return self.get(value, name)
        return self.get(value, names[name]) if names else value

    def _attribute(self, instance: object, name: str, *, write: bool) -> None:
        # A proxy's `__class__` is code of the program, which `isinstance` would run.
        kind = type(instance)
        if write and name in _OF_WHOLE_OBJECTS:
            self.blind(f"a store to {name}")
        elif name in ("cell_contents", "f_locals"):
            self.blind(f"a look at {name}")
        if issubclass(kind, _NO_STATE):
            return
        refuse_missed(instance)
        if issubclass(kind, type):
            mro = *_mro(cast("type", instance)), *(() if write else _mro(kind))
            owner = next((one for one in mro if name in vars(one)), cast("type", instance))
            (self._seeing.replace if write else self._seeing.find)(owner, name)
            if name == "__dict__":
                self._seeing.expose(owner)
            if self._seeing.is_exposed_class(owner):
                self._calls.touch_class(owner, name, write=write)
                return
            if owner.__module__ != "builtins" and (write or not _is_method(vars(owner).get(name))):
                self._access(owner, f"{owner.__name__}.", name, write=write)
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
        is_property = inspect.isdatadescriptor(found) and not isinstance(found, _OF_C)
        if found is not None and not (write or is_property):
            self._of_class(kind, name)
        if found is not None and not issubclass(type(found), _OF_C):
            self._calls.look_by_descriptor(found, instance, write=write)
        if is_property or (not write and found is not None and _is_method(found)):
            # A property, or a method.
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
                self._calls.touch_exposed(instance, name, write=write)
                return
            if kind is FunctionType:
                keep = self._seeing.replace if write else self._seeing.find
                keep(cast("FunctionType", instance), name)
            elif shares_memory(instance):
                self.blind("memory that objects of ctypes share")
            if kind.__module__ in self._seeing.modules:
                self._access(instance, f"{kind.__name__}.", name, write=write)
                return
            # Code that is not seen may give it attributes that it does not have yet.
            is_new = write and not _has(instance, name)
            own, new = ((instance, f"{kind.__name__}.", one) for one in (name, ""))
            # What C keeps has no name; a call of its methods touches it as a whole.
            of_c = not (is_python(kind) or is_quiet(kind) or kind.__module__ == "builtins")
            whole = [((instance, kind.__name__, ""), write)] if of_c else []
            self._seeing.touch([(own, write), (new, is_new), *whole], sure=True)

    def _of_class(self, kind: type, name: str) -> None:
        """Read an attribute that an object may have from its class, as `Kind.name = ...` writes."""
        owner = next((one for one in _mro(kind) if name in vars(one)), kind)
        if not is_library(owner.__module__):
            self._access(owner, f"{owner.__name__}.", name, write=False)


def _format(value: object, conversion: int, spec: str) -> str:
    return format(_CONVERSIONS[conversion](value) if conversion >= 0 else value, spec)


def _is_method(member: object) -> bool:
    """Tell whether a member of a class is a method or similar, which does not change."""
    return callable(member) or isinstance(member, property | classmethod | staticmethod)


def _is_called(member: object) -> bool:
    """Tell whether a member of a class is a method, a model, or a property whose look is seen."""
    if issubclass(type(member), property):
        found = cast("property", member).fget
        return is_ours(found) or getattr(found, "__qualname__", "").startswith("Thread.")
    return _is_method(member)


def _has(instance: object, name: str) -> bool:
    """Tell whether an object has an attribute of its own, without its class's code."""
    return any(name == one for one, _ in attributes_of(instance))


def _mro(kind: type) -> tuple[type, ...]:
    """Return the classes of a class, without its code; none while it is being made."""
    known: tuple[type, ...] | None = vars(type)["__mro__"].__get__(kind)
    return known or ()


def _is_full(cell: CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _cell_of(reader: Callable[[], object], name: str) -> CellType:
    assert isinstance(reader, FunctionType)
    closure = reader.__closure__ or ()
    return closure[reader.__code__.co_freevars.index(name)]


@contextmanager
def seen(seeing: Seeing) -> Generator[None]:
    """Route the accesses of rewritten functions to `seeing`, inside the block."""
    functions = _Functions(seeing)
    names = [name for name in dir(functions) if not name.startswith("_")]
    given = {f"_wp_{name}": getattr(functions, name) for name in names}
    # Under these names the program has no variables of its own.
    given |= {"_wp_slice": slice, "_wp_globals": globals}
    before = vars(builtins).copy()
    for name, function in given.items():
        setattr(builtins, name, function)
    seeing.active = True
    try:
        yield
    finally:
        seeing.active = False
        # Functions that the program made inside the block, and kept, still call these.
        for name, function in given.items():
            setattr(builtins, name, before.get(name, function))
