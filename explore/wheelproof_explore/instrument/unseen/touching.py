"""What calls of code that is not rewritten touch, and what looks at its objects do."""

import asyncio
import gc
import inspect
import queue
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import EnumType
from functools import WRAPPER_ASSIGNMENTS, cache, partial, update_wrapper
from itertools import chain
from operator import attrgetter, methodcaller
from types import BuiltinMethodType, FunctionType
from typing import cast, get_type_hints

from wheelproof_explore.failures.places import is_library
from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.instrument.unseen.effects import (
    Effect,
    asks_for_keys,
    effects_of,
    function_behind,
    goes_deep,
    is_builtin,
    is_known,
    method_of,
    receiver_of,
)
from wheelproof_explore.instrument.unseen.foreign import IMMUTABLE_TYPE, Look, look_at
from wheelproof_explore.instrument.unseen.kinds import (
    CONTAINERS,
    attributes_of,
    is_opened,
    is_python,
    is_quiet,
    looked_into,
)
from wheelproof_explore.instrument.unseen.module_state import ModuleState
from wheelproof_explore.instrument.unseen.parts import (
    Part,
    functions_in,
    is_foreign,
    is_iterator,
    nested,
    only_takes,
    parts_of,
)
from wheelproof_explore.instrument.unseen.system import IN_MEMORY, system_parts
from wheelproof_explore.patched.deaths import tells_of_deaths
from wheelproof_explore.patched.holders import held_by
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.runtime.accesses import Accesses

NO_ITEMS = frozenset((range, str, bytes, tuple, frozenset))
"""Kinds that never change, though they can be gone through."""
PLAIN = frozenset((int, float, bool, complex, str, bytes, type(None)))
"""Kinds that never change."""
_LOOKING = (attrgetter, methodcaller, getattr, hasattr, vars)
"""Functions of C, and kinds of them, that read the attributes they are told."""
_MAKING = frozenset(("__init__", "__new__", "__init_subclass__", "__set_name__"))
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
_LOOKING_BY_METHODS = frozenset((
    "_collections_abc", "abc", "builtins", "collections.abc", "contextlib", "enum", "numbers",
    "typing",
))  # fmt: skip
"""Modules of classes whose special methods look at an object by its other methods alone."""
_TEXTS = (ascii, format, print, repr, str)
"""Functions that make texts of what they are given."""
_WRAPPED = (*WRAPPER_ASSIGNMENTS, "__dict__", "__wrapped__")
"""What `functools.wraps` sets of a function."""
_CACHE_OF = "cache of "
_PRIORITY_QUEUES = (queue.PriorityQueue, asyncio.PriorityQueue)
_CACHE = type(cache(lambda: None))


class Touching:
    """What is touched in one exploration by code that is not seen."""

    def __init__(self, seeing: Seeing) -> None:
        self._seeing = seeing
        self._module_state = ModuleState(seeing)
        # Classes by their identity, how much code was known, and whether that has their methods.
        self._looking: dict[int, tuple[object, int, bool]] = {}
        # How classes store attributes: a search through their bases takes long.
        self._setters: dict[tuple[type, str], object] = {}

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
            making = inspect.getattr_static(kind, "__call__", None)
            return (
                not is_library(str(cast("type", function).__module__))
                and (making is vars(type)["__call__"] or self._is_ones_own(making))
                and all(
                    one is getattr(object, name) or self._is_ones_own(one)
                    for name in ("__init__", "__new__")
                    for one in (getattr(function, name),)
                )
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

    def is_unseen(self, function: object) -> bool:
        """Tell whether a function is one of a package: it is not seen, and not Python's own."""
        plain = getattr(function, "__func__", function)
        if type(plain) is not FunctionType or is_library(str(plain.__globals__.get("__name__"))):
            return False
        return not self.is_seen(plain)

    def code_of_new_classes(self, base: type) -> str:
        """Return the name of what is not seen and runs when a class is made, or nothing."""
        maker: type = type(base)
        if issubclass(base, type):
            maker = base
        looked_up: list[tuple[type, str]] = [(base, "__init_subclass__")]
        looked_up += [(maker, name) for name in ("__prepare__", "__new__", "__init__")]
        for owner, name in looked_up:
            if self.is_unseen(inspect.getattr_static(owner, name, None)):
                return f"{owner.__name__}.{name}"
        return ""

    def sets_by_own_code(self, kind: type, method: str) -> bool:
        """Tell whether a class stores attributes by code that is not seen, nor Python's own."""
        if (kind, method) not in self._setters:
            self._setters[kind, method] = inspect.getattr_static(kind, method, None)
        return self.is_unseen(self._setters[kind, method])

    def touched_by(
        self, function: object, target: object, values: tuple[object, ...]
    ) -> tuple[list[tuple[Part, bool]], bool]:
        """Return what a call may touch through its receiver and these values, and if it is sure."""
        if type(target) is methodcaller and values:
            target = method_of(target, values[0])
        of_receiver, of_given = effects_of(target)
        receiver = receiver_of(target)
        # Whoever takes an element from an iterator of C only looks at what that goes through.
        is_sure = is_known(target) and target is not next
        if target is next and values and only_takes(values[0]):
            is_sure, of_given = True, Effect.READS
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
            parts += parts_touched((receiver,), max(of_receiver, Effect.READS_ALL))
        if of_given:
            called = Effect.NOTHING if _calls_later(target) else self.effect_of_functions(values)
            of_given = max(of_given, called)
            if of_given is Effect.READS:
                of_given = max(map(self.effect_of_look, values), default=of_given)
            if of_given is Effect.READS and goes_deep(target):
                inside = [one for one in nested(*values) if all(one is not each for each in values)]
            read = parts_touched((*values, *inside), of_given, asks=asks_for_keys(target))
            looks = is_builtin(target) and all(map(self._looks_by_methods, functions_in(values)))
            parts += self._not_seen(read) if looks else read
        elif _looks_at_values(target, receiver):
            waiting = _waiting_in(receiver)
            foreign = [one for one in nested(*values, *waiting) if is_foreign(one)]
            parts += parts_touched(foreign, Effect.READS)
        if issubclass(type(receiver), EnumType):
            # A call of the class, which looks for the member of a value.
            members: object = vars(cast("type", receiver))["_value2member_map_"]
            parts += parts_touched((members,), Effect.READS)
        if target is type:
            # A class copies the dictionary that it is made of.
            parts += parts_touched(values[2:], Effect.READS)
        elif target is update_wrapper and values:
            parts += (((values[0], "function.", name), True) for name in _WRAPPED)
            parts += (part for wrapped in values[1:2] for part in _taken_from(wrapped))
        if type(receiver) is str or any(one is target for one in _TEXTS):
            self._look_at_texts(values)
            # No element is taken from an iterator for its text.
            parts = [
                (part, write and (is_foreign(part[0]) or not is_iterator(part[0])))
                for part, write in parts
            ]
        if not issubclass(made_by, type):
            # A stream, to which all that is given one writes; a class only keeps it.
            streams = [one for one in values if issubclass(type(one), IN_MEMORY)]
            parts += (((one, type(one).__name__, ""), True) for one in streams)
        parts += self._module_state.written_by(target)
        for cached in (function, receiver):
            if type(cached) is _CACHE:
                parts += _cache_of(getattr(cached, "__wrapped__", None))
        return parts, is_sure and not inside and not any(is_foreign(one) for (one, *_), _ in parts)

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
        parts = parts_touched(values, max(effect, called), asks=asks)
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
        parts = parts_touched(held, Effect.READS_ALL if reads else Effect.WRITES)
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


def _taken_from(wrapped: object) -> Iterator[tuple[Part, bool]]:
    """Yield what `functools.wraps` reads of a function."""
    if type(wrapped) is FunctionType:
        for name in ("", *_WRAPPED, *vars(wrapped)):
            yield (wrapped, "function.", name), False
        yield (vars(wrapped), "dict", ""), False


def _looks_at_values(function: object, receiver: object) -> bool:
    """Tell whether a call that only keeps its values may compare, hash or show them."""
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    return module == "logging" or any(
        issubclass(type(one), EnumType) or issubclass(type(one), _PRIORITY_QUEUES)
        for one in (function, receiver)
    )


def _waiting_in(receiver: object) -> Sequence[object]:
    """Return the items of a queue that compares them."""
    if not issubclass(type(receiver), _PRIORITY_QUEUES):
        return ()
    held = vars(receiver)
    return cast("Sequence[object]", held.get("queue", held.get("_queue", ())))


def _calls_later(function: object) -> bool:
    """Tell whether a class of C keeps the function that it is given, as `map` does."""
    if not issubclass(type(function), type):
        return False
    return function is partial or hasattr(function, "__next__")


def parts_touched(
    values: Iterable[object], effect: Effect, *, asks: bool = False
) -> list[tuple[Part, bool]]:
    """Return what is touched through these values, and whether it is written."""
    values = [*values]
    if any(look_at(type(value)) is Look.WRITES for value in values):
        # Its code may also change what it is given.
        effect = Effect.WRITES
    everything, write = effect is not Effect.READS, effect is Effect.WRITES
    return [
        (part, write or always)
        for value in values
        for part, always in parts_of(value, everything=everything, asks=asks)
    ]
