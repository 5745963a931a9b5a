"""What rewritten code does with containers and iterators: by key, as a whole, one by one."""

import inspect
import operator
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import islice
from types import CoroutineType, FunctionType
from typing import TypeAlias, TypeVar, cast

from wheelproof_explore.instrument.accesses import KEYED, Seeing, label_of
from wheelproof_explore.instrument.calls import Calls
from wheelproof_explore.instrument.unseen.effects import Effect, only_looks
from wheelproof_explore.instrument.unseen.kinds import CONTAINERS
from wheelproof_explore.instrument.unseen.parts import (
    holds_foreign,
    is_foreign,
    may_nest,
    nested,
    parts_of,
)
from wheelproof_explore.instrument.unseen.touching import NO_ITEMS
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.runtime import ControlledRuntime

Container = dict[object, object]
"""Any object that has items."""
_BY_KEY = frozenset(("__getitem__", "get", "pop", "setdefault"))
_GOING_THROUGH = frozenset((
    "difference", "difference_update", "extend", "extendleft", "fromlist", "intersection",
    "intersection_update", "isdisjoint", "issubset", "issuperset", "symmetric_difference",
    "symmetric_difference_update", "union", "update",
    "__add__", "__and__", "__eq__", "__ge__", "__gt__", "__iadd__", "__iand__", "__ior__",
    "__isub__", "__ixor__", "__le__", "__lt__", "__ne__", "__or__", "__radd__", "__rand__",
    "__ror__", "__rsub__", "__rxor__", "__sub__", "__xor__",
))  # fmt: skip
"""Methods of containers that go through what they are given."""
_COMPARING = frozenset(("__contains__", "count", "index", "remove", "sort"))
"""Methods of containers that compare items, which may be containers themselves."""

_APPENDING = frozenset(("append", "appendleft"))
"""Methods of containers that keep what they are given without a look at it."""
_SEQUENCES = (list, deque)
"""Containers in which a value is compared with each item."""
_T = TypeVar("_T")
_Sent: TypeAlias = Generator[object, object, object]


class Items:
    """The part of the functions that rewritten code calls which is about items."""

    def __init__(self, seeing: Seeing, calls: Calls) -> None:
        self._seeing = seeing
        self._access = seeing.access
        self._calls = calls

    def item(self, container: Container, key: object) -> object:
        """Return an item; a defaultdict may make it."""
        if running() is not None and issubclass(type(container), type):
            method = inspect.getattr_static(container, "__class_getitem__", None)
            own = inspect.getattr_static(type(container), "__getitem__", None)
            if own is None and self._calls.is_unseen(method):
                return self._calls.outside(container.__class_getitem__, key)
        makes = issubclass(type(container), defaultdict) and self._may_lack(container, key)
        return self._by_key(operator.getitem, container, key, writes=makes, resizes=makes)

    def _by_key(
        self,
        function: Callable[..., _T],
        container: Container,
        key: object,
        *given: object,
        writes: bool = False,
        resizes: bool = False,
    ) -> _T:
        """Make an access of an item, which may run code: that of a key, or of a class of C."""
        if running() is None:
            return function(container, key, *given)
        if self._calls.is_special(container, f"__{function.__name__}__"):
            effect = Effect.WRITES if writes else Effect.READS_ALL
            self._calls.keep_weakly(container, (key, *given))
            # Code of a package may also look at what it is given, or write it.
            others = (key, *(_ends_of(key) if type(key) is slice else ()), *given)
            all_of_them = is_foreign(container)
            values = (container, *(one for one in others if all_of_them or holds_foreign((one,))))
            look = partial(self._calls.touch, values, effect, asks=True)
        elif type(key) is slice and (given or any(map(is_foreign, _ends_of(key)))):
            look = partial(self._whole_and, (*given, *_ends_of(key)), container, write=writes)
        elif self._may_run_code(function, container, key):
            look = partial(self._whole_and, nested(container, key), container, write=writes)
        else:
            look = partial(self._item, container, key, write=writes, resized=resizes)
        return self._calls.behind(look, function, container, key, *given)

    def _may_run_code(self, function: object, container: Container, key: object) -> bool:
        """Tell whether a look for a key may go through containers, or call code by comparisons."""
        if function is operator.contains:
            goes_through = issubclass(type(container), _SEQUENCES)
            return may_nest(key) or (goes_through and holds_foreign(container))
        return is_foreign(key) or (issubclass(type(key), tuple) and holds_foreign([key]))

    def _may_lack(self, container: Container, key: object) -> bool:
        """Tell whether a key may be absent: before a step is made, others may still remove it."""
        return self._seeing.steps or key not in container

    def set_item(self, value: object, container: Container, key: object) -> None:
        """Store an item."""
        # The number of keys matters to the search for data races, of keys that run no code.
        is_plain = type(container) in KEYED and label_of(key) is not None
        new = not self._seeing.steps and is_plain and key not in container
        self._by_key(operator.setitem, container, key, value, writes=True, resizes=new)

    def delete_item(self, container: Container, key: object) -> None:
        """Remove an item."""
        self._by_key(operator.delitem, container, key, writes=True, resizes=True)

    def hashed(self, key: object) -> object:
        """Return a key or an item of a set, whose hash is asked for."""
        if holds_foreign((key,)):
            self._calls.touch((key,), Effect.READS)
        return key

    def contains(self, value: object, container: Container) -> bool:
        """Tell whether a value is among the items."""
        return self._by_key(operator.contains, container, value)

    def look(self, value: object) -> object:
        """Return a value that is asked whether it is true."""
        self._look(value)
        return value

    def _look(self, value: object) -> Accesses:
        if self._calls.is_special(value, "__iter__"):
            return self._calls.touch((value,), Effect.READS)
        return self._whole(value, write=False)

    def items(self, value: Iterable[object]) -> Iterable[object]:
        """Return what a star makes of a value: what is not a container of C is gone through."""
        if self._calls.is_special(value, "__iter__"):
            return self._calls.behind(partial(self._look, value), list[object], value)
        self._look(value)
        return value

    def pairs(self, value: Container) -> Container:
        """Return what two stars make of a value."""
        if self._calls.is_special(value, "__getitem__") and hasattr(value, "keys"):
            look = partial(self._calls.touch, (value,), Effect.READS_ALL)
            return self._calls.behind(look, dict[object, object], value)
        self._look(value)
        return value

    def unpacked(self, value: Iterable[object], most: int | None) -> Iterable[object]:
        """Return the items that are unpacked into so many targets, and one more if there is one."""
        if self._calls.is_special(value, "__iter__") and hasattr(type(value), "__iter__"):
            iterator = self._iterator(value)
            first = iterator if most is None else islice(iterator, most + 1)
            return self._calls.behind(partial(self._look, value), list[object], first)
        self._look(value)
        return value

    def delegated(self, value: object) -> object:
        """Return what `yield from` goes through: it is sent, and gives, what Python says."""
        if running() is None or issubclass(type(value), CoroutineType):
            return value
        iterator = self._iterator(cast("Iterable[object]", value))
        if type(getattr(type(iterator), "__next__", None)) is FunctionType:
            return iterator
        if hasattr(type(iterator), "send"):
            return self._delegated(cast("_Sent", iterator))
        return self._elements(iterator)

    def _delegated(self, generator: _Sent) -> _Sent:
        resume: Callable[[], object] = partial(next, generator)
        look = partial(self._calls.touch, (generator,), Effect.WRITES)
        while True:
            try:
                element = self._calls.behind(look, resume)
            except StopIteration as end:
                return cast("object", end.value)
            try:
                sent = yield element
            except GeneratorExit:
                generator.close()
                raise
            except BaseException as error:
                resume = partial(generator.throw, error)
            else:
                resume = partial(generator.send, sent)

    def iter(self, value: Iterable[object]) -> Iterable[object]:
        """Return what a loop goes through."""
        if running() is None or type(value) in NO_ITEMS:
            return value
        return self._elements(value)

    def new(self, container: object) -> object:
        """Return a container that has just been made."""
        self._seeing.made(container)
        return container

    def _item(
        self, container: object, key: object, *, write: bool, resized: bool = False
    ) -> Accesses:
        runtime, kind = _running_with(container), type(container)
        if runtime is None:
            return ()
        label = None if self._seeing.steps or kind not in KEYED else label_of(key)
        if label is None:
            return self._whole(container, write=write)
        self._seeing.keyed(container, label, write=write, resizes=resized)
        return ()

    def _whole(self, container: object, *, write: bool) -> Accesses:
        runtime, kind = _running_with(container), type(container)
        if runtime is None:
            return ()
        if self._seeing.steps:
            return self._access(container, kind.__name__, "", write=write)
        self._seeing.whole(container, write=write)
        return ()

    def _whole_and(self, given: Iterable[object], container: object, *, write: bool) -> Accesses:
        """Look at a container, and at others that are gone through at the same time."""
        if not self._seeing.steps:
            self._whole(container, write=write)
            return self._calls.touch(given, Effect.READS)
        return self._calls.touch(
            given, Effect.READS, ((container, type(container).__name__, ""), write)
        )

    def _call(self, container: Container, name: str, /, *given: object, **named: object) -> object:
        by_key = name in _BY_KEY and type(container) in KEYED and given
        if by_key and not self._may_run_code(None, container, given[0]):
            lacks = self._may_lack(container, given[0])
            writes = name == "pop" or (lacks and not only_looks(type(container), name))
            look = partial(self._item, container, given[0], write=writes, resized=writes)
        elif name in _GOING_THROUGH or issubclass(type(container), bytearray):
            write = not only_looks(type(container), name)
            others = nested(*given) if name == "join" else (*given, *nested(*given))
            look = partial(self._whole_and, others, container, write=write)
        elif name not in _APPENDING and holds_foreign(given):
            write = not only_looks(type(container), name)
            look = partial(self._whole_and, given, container, write=write)
        elif name in _COMPARING and any(map(may_nest, (*given, *container))):
            write = not only_looks(type(container), name)
            look = partial(self._whole_and, nested(container, *given), container, write=write)
        else:
            look = partial(self._whole, container, write=not only_looks(type(container), name))
        method: Callable[..., object] = getattr(container, name)
        return self._calls.behind(look, method, *given, **named)

    def _elements(self, container: Iterable[object]) -> Iterator[object]:
        """Go through a container or an iterator: each look for an element reads it, in one step."""
        iterator = self._iterator(container)
        step: object = getattr(type(iterator), "__next__", None)
        is_own = type(step) is FunctionType and self._calls.is_seen(step)
        looked = -2
        # Of what is called to make an element.
        effect = self._calls.effect_of_functions((iterator,))

        def look() -> Accesses:
            nonlocal looked
            runtime = running()
            # For the data race search one look is enough until there is another step.
            if runtime is None or is_own or not (self._seeing.steps or runtime.event != looked):
                return ()
            looked = runtime.event
            return self._seeing.touch(
                (part, write or part[0] is iterator or effect is Effect.WRITES)
                for part, write in parts_of(iterator, everything=bool(effect))
            )

        while True:
            try:
                element = self._calls.behind(look, next, iterator)
            except StopIteration:
                return
            yield element

    def _iterator(self, value: Iterable[object]) -> Iterator[object]:
        """Return an iterator through a value; code that is not seen may look at it by then."""
        if self._calls.is_special(value, "__iter__"):
            return self._calls.behind(partial(self._look, value), iter, value)
        return iter(value)


def _running_with(value: object) -> ControlledRuntime | None:
    """Return the runtime of the running thread, if the value is a container."""
    return running() if issubclass(type(value), CONTAINERS) else None


def _ends_of(part: slice) -> tuple[object, ...]:
    return part.start, part.stop, part.step
