"""Calls of code that is not rewritten: what they may read and write is one step."""

import contextlib
import gc
import inspect
import sys
import threading
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, closing
from enum import EnumType
from functools import WRAPPER_ASSIGNMENTS, cache, partial, update_wrapper
from itertools import chain
from operator import attrgetter, methodcaller
from pathlib import Path
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TypeVar, cast, get_type_hints
from weakref import finalize

from wheelproof_explore.failures.places import is_library
from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.instrument.module_state import ModuleState
from wheelproof_explore.instrument.outside import (
    CONTAINERS,
    IMMUTABLE_TYPE,
    Effect,
    Part,
    asks_for_keys,
    attributes_of,
    effects_of,
    function_behind,
    functions_in,
    goes_deep,
    is_builtin,
    is_known,
    is_opened,
    is_python,
    is_quiet,
    looked_into,
    nested,
    parts_of,
    receiver_of,
)
from wheelproof_explore.instrument.system import (
    FILES,
    IN_MEMORY,
    attribute_of,
    lasts,
    swapped_by,
    system_parts,
)
from wheelproof_explore.patched.clocks import of_the_run
from wheelproof_explore.patched.deaths import tells_of_deaths
from wheelproof_explore.patched.holders import held_by
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.patched.threads import thread_init
from wheelproof_explore.runtime.accesses import Accesses, joined

NO_ITEMS = frozenset((range, str, bytes, tuple, frozenset))
"""Kinds that never change, though they can be gone through."""
PLAIN = frozenset((int, float, bool, complex, str, bytes, type(None)))
"""Kinds that never change."""
_MAKING = frozenset(("__init__", "__new__", "__init_subclass__", "__set_name__"))
_LOOKING = (attrgetter, methodcaller, getattr, hasattr, vars)
"""Functions of C, and kinds of them, that read the attributes they are told."""
UNSEEN_CALLS: Mapping[int, str] = {
    id(eval): "eval()",
    id(exec): "exec()",
    id(gc.get_objects): "gc.get_objects(), which finds all there is",
    id(gc.get_referrers): "gc.get_referrers(), which finds all there is",
    id(sys.getrefcount): "sys.getrefcount(), which each new reference changes",
    id(get_type_hints): "typing.get_type_hints(), which looks for annotations",
    id(gc.isenabled): "gc.isenabled(), of a collector that is off in each run",
}
"""Calls that leave no pass, by the identity of the function."""
_STARTING = frozenset((
    "call_at", "call_later", "call_soon", "call_soon_threadsafe", "map", "run_in_executor",
    "submit", "to_thread",
))  # fmt: skip
_LOOKING_BY_METHODS = frozenset((
    "_collections_abc", "abc", "builtins", "collections.abc", "contextlib", "enum", "numbers",
    "typing",
))  # fmt: skip
"""Modules of classes whose special methods look at an object by its other methods alone."""
_TEXTS = (ascii, format, print, repr, str)
"""Functions that make texts of what they are given."""
_WRAPPED = (*WRAPPER_ASSIGNMENTS, "__dict__", "__wrapped__")
"""What `functools.wraps` sets of a function."""
_MADE_BY_GENERATOR = cast("type", vars(contextlib)["_GeneratorContextManager"])
_Named = Mapping[str, object]
_CACHE_OF = "cache of "
_CACHE = type(cache(lambda: None))


_T = TypeVar("_T")


class Calls:
    """The calls in one exploration; `seen` returns a function of attributes that is seen."""

    def __init__(self, seeing: Seeing, seen: Callable[[object], object]) -> None:
        self._seeing = seeing
        self._seen_at_once = seen
        self._module_state = ModuleState(seeing)
        self._stdout = sys.stdout
        # Functions of C by their identity, and whether they touch nothing but what they are given.
        self._alone: dict[int, tuple[object, bool]] = {}
        # Classes by their identity, how much code was known, and whether that has their methods.
        self._looking: dict[int, tuple[object, int, bool]] = {}

    def is_seen(self, function: object) -> bool:
        """Tell whether a function's own code says what it reads and writes, or it has no need."""
        function = function_behind(function)
        kind = type(function)
        if kind is FunctionType:
            plain = cast("FunctionType", function)
            if id(plain.__code__) in self._seeing.known:
                return True
            module = str(plain.__module__).partition(".")[0]
            return module in ("wheelproof", "wheelproof_explore")
        if kind is BuiltinMethodType:
            return False
        if issubclass(kind, type):
            return not is_library(str(cast("type", function).__module__)) and all(
                one is getattr(object, name) or self._is_ones_own(one)
                for name in ("__init__", "__new__")
                for one in (getattr(function, name),)
            )
        return self._is_ones_own(inspect.getattr_static(kind, "__call__", None))

    def _is_ones_own(self, function: object) -> bool:
        """Tell whether a method is written in Python, and not in a package that is not seen.

        One that was made by a decorator, as that of a dataclass, only keeps what it is given.
        """
        if type(function) is not FunctionType:
            return False
        module = str(function.__module__)
        return module in self._seeing.modules or self.is_seen(function)

    def outside(
        self, function: Callable[..., object], /, *given: object, **named: object
    ) -> object:
        """Call a function that is not seen, as a step in which it touches what it is given."""
        runtime = running()
        thread = None if runtime is None else runtime.current
        if thread is None:
            # It may be a thread of the run that is made while the run is set up.
            given, named = self._given_later(function, given, named)
            return function(*given, **named)
        dated = of_the_run(function)
        if dated is not None:
            return dated(*given, **named)
        before, thread.is_looking = thread.is_looking, True
        try:
            values = (*given, *named.values())
            if self._is_alone(function) and all(type(one) in PLAIN for one in values):
                look, files = None, False
            else:
                given, named = self._given_later(function, given, named)
                look, files = self._look_of(function, given, named)
        finally:
            thread.is_looking = before
        thread.uses_files += files
        try:
            result = (
                function(*given, **named)
                if look is None
                else self.behind(look, function, *given, **named)
            )
        finally:
            thread.uses_files -= files
        if issubclass(type(result), type):
            _set_module(cast("type", result))
        return result

    def _look_of(
        self, function: object, given: tuple[object, ...], named: _Named
    ) -> tuple[Callable[[], Accesses] | None, bool]:
        """Return the step of a call, None if it touches nothing, and whether it uses files."""
        if type(function) is FunctionType and function.__code__.co_filename in self._seeing.files:
            code = function.__code__
            where = f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
            self._seeing.blind[f"{code.co_name} ({where})"] = None
        if type(function) is FunctionType or type(function) is MethodType:
            self._note_registration(function)
        target: object = function
        while issubclass(type(target), partial):
            bound = cast("partial[object]", target)
            given, named = (*bound.args, *given), {**bound.keywords, **named}
            target = bound.func
        parts, sure = self._touched_by(function, target, (*given, *named.values()))
        if function is print:
            parts += self._stream_of(named.get("file"))
        of_system = system_parts(target, given, named)
        parts += of_system
        if lasts(target):
            called = f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', '')}"
            self._seeing.blind[f"{called}(), whose effect stays for the next run"] = None
        look = partial(self._seeing.touch, parts, sure=sure and not of_system)
        return look if parts else None, any(part is FILES for part, _ in of_system)

    def _touched_by(
        self, function: object, target: object, values: tuple[object, ...]
    ) -> tuple[list[tuple[Part, bool]], bool]:
        """Return what a call may touch through its receiver and these values, and if it is sure."""
        of_receiver, of_given = effects_of(target)
        receiver = receiver_of(target)
        if tells_of_deaths(target) and not tells_of_deaths(receiver):
            # What follows the object is called when it has died.
            self._seeing.deaths.watch((target, *values[:1]))
        elif any(map(tells_of_deaths, (receiver, *values))):
            self._seeing.deaths.watch((receiver, *values))
        made_by: type = type(target)
        if made_by is attrgetter:
            for kind in map(type, values):
                if looked_into(kind, "__dict__") is not None:
                    self._seeing.blind[f"attrgetter() of a {kind.__name__}"] = None
        parts: list[tuple[Part, bool]] = []
        inside: list[object] = []
        if of_receiver:
            parts += _parts((receiver,), max(of_receiver, Effect.READS_ALL))
        if of_given:
            called = Effect.NOTHING if _calls_later(target) else self.effect_of_functions(values)
            of_given = max(of_given, called)
            if of_given is Effect.READS:
                of_given = max(map(self.effect_of_look, values), default=of_given)
            if of_given is Effect.READS and goes_deep(target):
                inside = [one for one in nested(*values) if all(one is not each for each in values)]
            read = _parts((*values, *inside), of_given, asks=asks_for_keys(target))
            looks = is_builtin(target) and all(map(self._looks_by_methods, functions_in(values)))
            parts += self._not_seen(read) if looks else read
        if issubclass(type(receiver), EnumType):
            # A call of the class, which looks for the member of a value.
            members: object = vars(cast("type", receiver))["_value2member_map_"]
            parts += _parts((members,), Effect.READS)
        if target is type:
            # A class copies the dictionary that it is made of.
            parts += _parts(values[2:], Effect.READS)
        elif target is update_wrapper and values:
            parts += (((values[0], "function.", name), True) for name in _WRAPPED)
            parts += (part for wrapped in values[1:2] for part in _taken_from(wrapped))
        if type(receiver) is str or any(one is target for one in _TEXTS):
            self._look_at_texts(values)
        if not issubclass(made_by, type):
            # A stream, to which all that is given one writes; a class only keeps it.
            streams = [one for one in values if issubclass(type(one), IN_MEMORY)]
            parts += (((one, type(one).__name__, ""), True) for one in streams)
        parts += self._module_state.written_by(target)
        for cached in (function, receiver):
            if type(cached) is _CACHE:
                parts += _cache_of(getattr(cached, "__wrapped__", None))
        return parts, is_known(target) and not inside

    def effect_of_look(self, value: object) -> Effect:
        """Return what a look at a value does that calls its special methods.

        Those of a class that is not seen may look at all that can be reached from there.
        """
        kind = type(value)
        looks_deep = is_python(kind) and not issubclass(kind, type) and not self._looks_itself(kind)
        return Effect.READS_ALL if looks_deep else Effect.READS

    def _look_at_texts(self, values: Iterable[object]) -> None:
        """Look at what the texts of semaphores and the like tell, also inside of containers."""
        inside = (held for one in nested(*values) for _, held, _ in held_by(one))
        for one in chain(values, inside):
            kind = type(one)
            if kind.__module__ != "threading":
                continue
            text: object = inspect.getattr_static(kind, "__repr__", None)
            if type(text) is FunctionType and not is_ours(text):
                for name in text.__code__.co_names:
                    keeper = looked_into(kind, name)
                    if keeper is not None:
                        self._seeing.look_into(keeper, name)

    def _is_alone(self, function: object) -> bool:
        """Tell whether a function of C touches nothing but what it is given."""
        if type(function) is BuiltinMethodType:
            receiver: object = function.__self__
            if type(receiver) in PLAIN:
                return True
            if not issubclass(type(receiver), ModuleType):
                return False
        elif type(function) is not type or function not in PLAIN:
            return False
        if id(function) not in self._alone:
            acts = lasts(function) or system_parts(function, (), {})
            is_alone = function is not print and not acts
            self._alone[id(function)] = function, is_alone
        return self._alone[id(function)][1]

    def behind(
        self,
        look: Callable[[], Accesses],
        function: Callable[..., _T],
        /,
        *given: object,
        **named: object,
    ) -> _T:
        """Look at what a function that is not seen may touch, as a step, and call it.

        It may call code that makes steps. What it does behind each of them is part of that step.
        """
        accesses = look()
        runtime = running()
        thread = None if runtime is None else runtime.current
        if runtime is None or thread is None:
            return function(*given, **named)
        if self._seeing.steps:
            if not accesses:
                return function(*given, **named)
            before = thread.within
            thread.within = joined(before, accesses)
            try:
                return function(*given, **named)
            finally:
                thread.within = before
        event = runtime.event
        try:
            return function(*given, **named)
        finally:
            if runtime.event != event:
                look()

    def _stream_of(self, file: object) -> list[tuple[Part, bool]]:
        """Return what `print` uses: a stream, which is `sys.stdout` unless it is given."""
        if file is not None:
            return _parts((file,), Effect.WRITES)
        parts: list[tuple[Part, bool]] = [(attribute_of(sys, "stdout"), False)]
        if sys.stdout is not self._stdout:
            parts += _parts((sys.stdout,), Effect.WRITES)
        return parts

    def managed(self, manager: object) -> object:
        """Return a context manager whose two ends are steps, if its code is not seen."""
        kind = type(manager)
        if swapped_by(manager):
            return _Managed(manager, self.outside)
        if kind is closing:
            thing: object = vars(manager)["thing"]
            if self.is_seen(getattr(thing, "close", None)):
                return manager
            return self._managed_as(manager, _parts((thing,), Effect.WRITES))
        ends = [inspect.getattr_static(kind, name, None) for name in ("__enter__", "__exit__")]
        if kind is _MADE_BY_GENERATOR:
            made = cast("Mapping[str, object]", vars(manager))
            if self.is_seen(made["func"]):
                return manager
            given = (
                *cast("tuple[object, ...]", made["args"]),
                *cast("_Named", made["kwds"]).values(),
            )
            parts = [*_parts(given, Effect.WRITES), *self._module_state.written_by(made["func"])]
            return self._managed_as(manager, parts)
        if None in ends or is_quiet(kind) or all(map(self.is_seen, ends)):
            return manager
        return _Managed(manager, self.outside)

    def _managed_as(self, manager: object, parts: list[tuple[Part, bool]]) -> object:
        return _Managed(manager, partial(self.behind, partial(self._seeing.touch, parts)))

    def _note_registration(self, function: FunctionType | MethodType) -> None:
        """Note what changes the answers of isinstance(), or which function a call finds."""
        is_abstract = issubclass(type(receiver_of(function)), ABCMeta)
        if function.__name__ == "register" and (is_abstract or function.__module__ == "functools"):
            self._seeing.blind["register() of an abstract class or of a dispatch"] = None

    def _given_later(
        self, function: object, given: tuple[object, ...], named: dict[str, object]
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        """Return what a function is given, so that what it calls later on is seen then."""
        while issubclass(type(function), partial):
            function = cast("partial[object]", function).func
        later = self._called_later if _starts(function) else self._seen_later
        first, *more = map(later, given or (None,))
        if given and issubclass(type(receiver_of(function)), ExitStack | AsyncExitStack):
            name = getattr(function, "__name__", "")
            if name == "enter_context":
                first = self.managed(first)
            elif name == "callback":
                first = self._called_later(first)
        changed = {name: later(value) for name, value in named.items()}
        return (first, *more) if given else (), changed

    def _called_later(self, value: object) -> object:
        """Return a function so that a call of it by a thread, a pool or a stack is seen."""
        if type(function_behind(value)) is BuiltinMethodType:
            return self._seen_at_once(value)
        is_code = is_python_code(value) and not issubclass(type(value), type)
        if not is_code or self.is_seen(value) or inspect.iscoroutinefunction(value):
            return self._seen_later(value)
        method = inspect.getattr_static(type(value), "__call__", None)
        # The receiver of a call of an object is the object itself.
        called = MethodType(method, value) if type(method) is FunctionType else value
        return partial(self.outside, cast("Callable[..., object]", called))

    def _seen_later(self, value: object) -> object:
        """Return a function of C that reads or writes so that a call of it later on is seen."""
        if value is setattr or value is delattr or value is getattr:
            return self._seen_at_once(value)
        function = value
        while issubclass(type(function), partial):
            function = cast("partial[object]", function).func
        if type(function) in (MethodDescriptorType, WrapperDescriptorType):
            holder: type = cast("MethodDescriptorType", function).__objclass__
            touches = issubclass(holder, CONTAINERS)
        elif type(function) in (BuiltinMethodType, MethodWrapperType):
            touches = issubclass(type(receiver_of(function)), CONTAINERS)
        else:
            touches = False
        return partial(self.outside, cast("Callable[..., object]", value)) if touches else value

    def is_special(self, value: object, name: str) -> bool:
        """Tell whether a value has items of its own kind, by a method that is not seen."""
        kind = type(value)
        if running() is None or kind in CONTAINERS or kind in NO_ITEMS or kind in PLAIN:
            return False
        method = inspect.getattr_static(kind, name, None)
        is_function = isinstance(method, FunctionType)
        if issubclass(kind, CONTAINERS) and not is_function:
            return False
        return not is_function or id(method.__code__) not in self._seeing.known

    def touch(
        self,
        values: Iterable[object],
        effect: Effect,
        *others: tuple[Part, bool],
        asks: bool = False,
    ) -> Accesses:
        """Read or write, as one step, what can be reached through these values, and others.

        With `asks` their code may ask a defaultdict for a key, which it then makes.
        """
        values = [*values]
        for one in filter(tells_of_deaths, values):
            self._seeing.deaths.watch((one,))
        of_files = system_parts(None, values, {})
        called = self.effect_of_functions(values)
        if effect is Effect.READS_ALL:
            self._look_at_texts(values)
        elif effect is Effect.READS:
            effect = max(map(self.effect_of_look, values), default=effect)
        parts = _parts(values, max(effect, called), asks=asks)
        told = parts if called else self._not_seen(parts)
        return self._seeing.touch([*others, *told, *of_files])

    def effect_of_functions(self, values: Iterable[object]) -> Effect:
        """Return what functions that C is given, and calls, do to the items it calls them with."""
        most = Effect.NOTHING
        for function in functions_in(values):
            if id(function) in UNSEEN_CALLS:
                self._seeing.blind[UNSEEN_CALLS[id(function)]] = None
            if not self.is_seen(function):
                most = max(most, effects_of(function)[1])
            if not self._looks_by_methods(function):
                most = max(most, Effect.READS_ALL)
        return Effect.READS_ALL if most is Effect.READS else most

    def keep_weakly(self, container: object, given: Iterable[object]) -> None:
        """Watch the deaths of what a container is given that keeps no object alive."""
        if tells_of_deaths(container):
            self._seeing.deaths.watch(given)

    def operate(
        self, function: Callable[..., object], method: str, left: object, right: object
    ) -> object:
        """Make an operation in place, which changes its left operand if that has the method."""
        kind = type(left)
        found = inspect.getattr_static(kind, method, None)
        is_function = isinstance(found, FunctionType)
        if is_function and id(found.__code__) in self._seeing.known:
            return function(left, right)
        if issubclass(kind, CONTAINERS) and not is_function:
            parts: list[tuple[Part, bool]] = [((left, kind.__name__, ""), True)]
            parts += self._not_seen(_parts((right,), Effect.READS))
        else:
            effect = Effect.READS_ALL if found is None else Effect.WRITES
            parts = _parts((left,), effect) + _parts((right,), Effect.READS_ALL)
            parts = self._not_seen(parts)
        return self.behind(partial(self._seeing.touch, parts), function, left, right)

    def _not_seen(self, parts: list[tuple[Part, bool]]) -> list[tuple[Part, bool]]:
        """Leave out the attributes that only code that is seen reads, for the data race search."""
        if self._seeing.steps:
            return parts
        return [
            ((here, name, key), write)
            for (here, name, key), write in parts
            if not (name.endswith(".") and self._looks_itself(type(here)))
        ]

    def _looks_by_methods(self, function: object) -> bool:
        """Tell whether a function reads attributes by special methods alone, or is seen."""
        if type(function) is FunctionType:
            return self.is_seen(function)
        return not any(one is function or one is type(function) for one in _LOOKING)

    def _looks_itself(self, kind: type) -> bool:
        """Tell whether all special methods of a class are code that is seen, or Python's own."""
        if not is_python(kind) or is_opened(kind):
            return False
        known = len(self._seeing.known)
        if self._looking.get(id(kind), (None, -1, False))[1] != known:
            self._looking[id(kind)] = kind, known, self._has_own_methods(kind)
        return self._looking[id(kind)][2]

    def _has_own_methods(self, kind: type) -> bool:
        if any(one.__flags__ & IMMUTABLE_TYPE for one in kind.__mro__ if not _is_builtin(one)):
            # Such as an array of `ctypes`.
            return False
        return all(
            id(member.__code__) in self._seeing.known
            for one in kind.__mro__
            if one.__module__ not in _LOOKING_BY_METHODS
            for name, member in list(vars(one).items())
            if type(member) is FunctionType and name.startswith("__") and name not in _MAKING
        )

    def look_by_descriptor(self, found: object, instance: object, *, write: bool) -> None:
        """Make a step of an attribute that code which is not seen reads or writes."""
        kind = type(found)
        if tells_of_deaths(instance):
            self._seeing.deaths.watch((instance,))
        if issubclass(kind, property):
            made = cast("property", found)
            if type(made.fget) is FunctionType and made.fget.__module__ == "threading":
                # It reads or writes what it names, and nothing behind it.
                owner, used = type(instance).__name__, made.fget.__code__.co_names
                names = [one for one, _ in attributes_of(instance) if one in used]
                self._seeing.touch(((instance, f"{owner}.", one), write) for one in names)
                return
            function: object = made.fset or made.fdel if write else made.fget
        else:
            function = inspect.getattr_static(kind, "__set__" if write else "__get__", None)
        if type(function) is not FunctionType or self.is_seen(function):
            return
        package = str(function.__module__).partition(".")[0]
        if is_quiet(type(instance)) or package in ("enum", "functools", "types"):
            return
        reads = not write and package in sys.stdlib_module_names
        held = (instance,) if issubclass(kind, property) else (instance, found)
        parts = _parts(held, Effect.READS_ALL if reads else Effect.WRITES)
        parts += self._module_state.written_by(function)
        self._seeing.touch(parts)

    def touch_exposed(
        self, instance: object, name: str, *, write: bool, drops: bool = False
    ) -> None:
        """Read or write an attribute of an object whose `__dict__` others may go through."""
        held: object = object.__getattribute__(instance, "__dict__")
        field = f"{type(instance).__name__}."
        # Whoever goes through all that there is sees whether it is there.
        is_new = drops or name not in cast("dict[str, object]", held)
        parts = [((instance, field, one), write) for one in ((name, "") if is_new else (name,))]
        keys = [""] if self._seeing.steps else [f"[{name!r}]", *([""] if is_new else [])]
        self._seeing.touch([*parts, *(((held, "dict", key), write) for key in keys)], sure=True)

    def touch_class(self, owner: type, name: str, *, write: bool) -> None:
        """Read or write an attribute of a class whose `__dict__` others may go through."""
        own: Part = (owner, f"{owner.__name__}.", name)
        inside = gc.get_referents(vars(owner))
        whole: list[tuple[Part, bool]] = [((each, "dict", ""), write) for each in inside]
        self._seeing.touch([(own, write), *whole], sure=True)

    def pause(self, names: object, name: str) -> None:
        """Make a step inside a function whose results are cached: others may look meanwhile."""
        self._seeing.touch([((names, _CACHE_OF, name), True)])

    def look_into_cached_property(self, found: object) -> None:
        """Make a step of the look for what a cached property has."""
        self._seeing.touch(_cache_of(getattr(found, "func", None)))


def _starts(function: object) -> bool:
    """Tell whether a function makes a thread, a pool or a loop call what it is given."""
    if issubclass(type(function), type):
        return issubclass(cast("type", function), threading.Thread | threading.Barrier | finalize)
    if type(function) is MethodType and function.__func__ is thread_init:
        return True
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    return getattr(function, "__name__", "") in _STARTING and module in (
        "asyncio",
        "concurrent",
        "threading",
    )


class _Managed:
    """What a `with` enters and leaves in the place of a context manager that is not seen."""

    __slots__ = ("_call", "_manager")

    def __init__(self, manager: object, call: Callable[..., object]) -> None:
        self._manager = cast("AbstractContextManager[object]", manager)
        self._call = call

    def __enter__(self) -> object:
        return self._call(self._manager.__enter__)

    def __exit__(self, *error: object) -> bool:
        return bool(self._call(self._manager.__exit__, *error))


def is_python_code(function: object) -> bool:
    """Tell whether a call begins with a function that is written in Python."""
    function = function_behind(function)
    kind = type(function)
    if issubclass(kind, type):
        made = (inspect.getattr_static(function, name) for name in ("__init__", "__new__"))
        return any(type(getattr(one, "__func__", one)) is FunctionType for one in made)
    called = inspect.getattr_static(kind, "__call__", None)
    return kind is FunctionType or type(called) is FunctionType


def is_ours(function: object) -> bool:
    """Tell whether a function is the checker's, such as a model of one of Python's."""
    module = getattr(getattr(function, "__func__", function), "__module__", None)
    return str(module).partition(".")[0] == "wheelproof_explore"


def _is_builtin(kind: type) -> bool:
    return kind.__module__ == "builtins"


def _cache_of(function: object) -> list[tuple[Part, bool]]:
    """Return the cache of a function, as the function itself knows it."""
    if type(function) is not FunctionType:
        return []
    return [((function.__globals__, _CACHE_OF, function.__name__), True)]


def _set_module(kind: type) -> None:
    """Have a class that `type()` or `namedtuple()` has made be of the module that called them."""
    if kind.__module__ == __name__:
        frame, home = inspect.currentframe(), __name__
        while frame is not None and home.startswith("wheelproof_explore."):
            home = str(frame.f_globals["__name__"])
            frame = frame.f_back
        kind.__module__ = home


def _taken_from(wrapped: object) -> Iterator[tuple[Part, bool]]:
    """Yield what `functools.wraps` reads of a function."""
    if type(wrapped) is FunctionType:
        for name in ("", *_WRAPPED, *vars(wrapped)):
            yield (wrapped, "function.", name), False
        yield (vars(wrapped), "dict", ""), False


def _calls_later(function: object) -> bool:
    """Tell whether a class of C keeps the function that it is given, as `map` does."""
    if not issubclass(type(function), type):
        return False
    return function is partial or hasattr(function, "__next__")


def _parts(
    values: Iterable[object], effect: Effect, *, asks: bool = False
) -> list[tuple[Part, bool]]:
    everything, write = effect is not Effect.READS, effect is Effect.WRITES
    return [
        (part, write or always)
        for value in values
        for part, always in parts_of(value, everything=everything, asks=asks)
    ]
