"""The deaths of objects of which weak references tell: no access of anything stands for them.

Whoever drops the last reference to an object changes what `reference()` returns, and what is in a
`WeakSet`. The drop may be the end of a function. A pass says nothing, once that has happened while
other threads could look.
"""

from collections.abc import Callable, Iterable, Iterator
from inspect import getattr_static
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType
from typing import cast
from weakref import (
    ReferenceType,
    WeakKeyDictionary,
    WeakSet,
    WeakValueDictionary,
    finalize,
)

from wheelproof_explore.failures.places import is_library
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.runtime.numbers import TIME

_CONTAINERS = (WeakKeyDictionary, WeakSet, WeakValueDictionary)
_WEAK = (ReferenceType, *_CONTAINERS, finalize)
_FUNCTIONS = (BuiltinFunctionType, FunctionType, MethodType, type)
_REFERENT: Callable[[object], object] = vars(ReferenceType)["__call__"]
_MODULES = frozenset(("_weakref", "_weakrefset", "weakref"))


def tells_of_deaths(value: object) -> bool:
    """Tell whether a value is a weak reference, or a function, a class or an object of these."""
    kind = type(value)
    if issubclass(kind, _FUNCTIONS):
        # A finaliser tells nobody: what it calls is seen when it is called.
        return cast("type", value).__module__ in _MODULES and value is not finalize
    return issubclass(kind, _WEAK)


class Deaths:
    """The objects of one exploration that weak references lead to; `blind` gets what they tell."""

    def __init__(self, blind: dict[str, None]) -> None:
        self._blind = blind
        self._alive: dict[int, ReferenceType[object]] = {}

    def watch(self, values: Iterable[object]) -> None:
        """Watch what the weak references among values lead to, and what they are given."""
        for value in values:
            for one in _referents(value):
                self._watch(one)

    def note_outlived(self, kept: Iterable[object]) -> None:
        """Note the finalisers that did not run, since the checker has kept something alive."""
        for one in kept:
            if id(one) in self._alive or has_finaliser(one):
                self._blind[f"the death of a {type(one).__name__}, which was kept alive"] = None

    def _watch(self, value: object) -> None:
        key, name = id(value), type(value).__name__
        if key in self._alive:
            return

        def dies(_: object) -> None:
            del self._alive[key]
            if _others_live():
                self._blind[f"the death of a {name}, of which a weak reference tells"] = None

        try:
            self._alive[key] = ReferenceType(value, dies)
        except TypeError:
            # There are no weak references to these.
            return


def _others_live() -> bool:
    """Tell whether a thread of a run is under way, and another one may go on."""
    runtime = running()
    thread = None if runtime is None else runtime.current
    if runtime is None or thread is None or thread.aborted:
        return False
    others = [one for one in runtime.threads.values() if one is not thread and one.number != TIME]
    return not all(one.ended for one in others)


def has_finaliser(value: object) -> bool:
    """Tell whether code of the program runs when an object dies."""
    kind = type(value)
    if kind is GeneratorType:
        return cast("GeneratorType[object, object, object]", value).gi_frame is not None
    made = getattr_static(kind, "__del__", None)
    return type(made) is FunctionType and not is_library(made.__module__)


def _referents(value: object) -> Iterator[object]:
    """Yield the objects that a weak reference, or a container of them, leads to; else the value."""
    kind = type(value)
    if issubclass(kind, MethodType):
        # What `WeakMethod` is given.
        yield cast("MethodType", value).__self__
    elif issubclass(kind, _FUNCTIONS):
        return
    elif not issubclass(kind, _WEAK):
        yield value
    elif issubclass(kind, ReferenceType):
        # Not by the method of a subclass, which is code of the program.
        referent = _REFERENT(value)
        if referent is not None:
            yield referent
    elif issubclass(kind, _CONTAINERS):
        held: Iterable[object] = vars(value)["data"]
        if issubclass(kind, WeakValueDictionary):
            held = cast("dict[object, object]", held).values()
        for one in list(held):
            yield from _referents(one)
    else:
        alive = cast("finalize[..., object]", value).peek()
        if alive is not None:
            yield alive[0]
