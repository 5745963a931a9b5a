"""Names of objects that are the same in every run of a program.

Two runs of one program make different Python objects for the same thing. An object of the runtime
has a number. Any other object is named by its class and by the numbers of the locks and cells that
it holds; a plain value by itself. Two objects of one run without any difference get one name, which
is right for values; an object that cannot be a value is refused.
"""

from collections import deque
from collections.abc import Hashable, Iterable
from enum import Enum
from functools import cache, partial
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TypeGuard, TypeVar, cast

from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.runtime.model import ModelThread, SharedObject
from wheelproof_explore.runtime.read_write_lock import ModelReadWriteLock

Container = (
    tuple[object, ...]
    | list[object]
    | deque[object]
    | dict[object, object]
    | set[object]
    | frozenset[object]
)
_CONTAINERS = (tuple, list, deque, dict, set, frozenset)
_DEEPEST = 20
_MISSING = object()
_BY_CONTENTS = "with"

Kind = TypeVar("Kind")


def attributes(value: object) -> dict[str, object]:
    """Return the attributes that `value` itself holds, whether in slots or not."""
    found: dict[str, object] = {}
    for name in _slots(type(value).__mro__):
        held: object = getattr(value, name, _MISSING)
        if held is not _MISSING:
            found[name] = held
    own: dict[str, object] = getattr(value, "__dict__", {})
    return found | own


@cache
def _slots(kinds: tuple[type, ...]) -> tuple[str, ...]:
    declared: list[str | Iterable[str]] = [vars(kind).get("__slots__", ()) for kind in kinds]
    return tuple(
        name for slots in declared for name in ((slots,) if isinstance(slots, str) else slots)
    )


def members(container: object, kind: type[Kind]) -> list[Kind]:
    """Return the members of a container that are of this class."""
    return (
        [member for member in container if isinstance(member, kind)]
        if _is_container(container)
        else []
    )


def numbered(container: object, kind: type[Kind]) -> list[tuple[int, Kind]]:
    """Return the numbers and the members of this class of a dictionary by numbers, in order."""
    assert isinstance(container, dict)
    found = cast("dict[object, object]", container)
    pairs = [
        (number, member)
        for number, member in found.items()
        if isinstance(number, int) and isinstance(member, kind)
    ]
    return sorted(pairs, key=itemgetter(0))


def has_contents(value: object) -> bool:
    """Tell whether a value may change although it stays the same object."""
    return isinstance(value, _CONTAINERS)


class Names:
    """The names of the objects of one run."""

    def __init__(self, program: str) -> None:
        self._program = program
        # The object is kept, so that no other object gets its address.
        self._known: dict[int, tuple[object, Hashable]] = {}
        self.busy = False
        """Whether attributes are being read for a name, and not by the program."""

    def name(self, value: object, depth: int = 0) -> Hashable:
        """Return the name of a value; raises ProgramRejectedError if it cannot have one."""
        kind = type(value)
        if value is None or kind is int or kind is str:
            return value if isinstance(value, Hashable) else None
        if isinstance(value, bool | float | bytes | Enum):
            return (kind.__name__, value)
        if _is_container(value):
            return self._container_name(value, depth)
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        before, self.busy = self.busy, True
        named = self._object_name(value, depth)
        self.busy = before
        if named[0] != _BY_CONTENTS:
            self._known[id(value)] = value, named
        return named

    def _container_name(self, value: "Container", depth: int) -> Hashable:
        kind = type(value).__name__
        if isinstance(value, dict):
            return (kind, *(self._item_name(key, held, depth) for key, held in value.items()))
        inside = [self.name(member, depth + 1) for member in value]
        if isinstance(value, set | frozenset):
            return (kind, frozenset(inside))
        return (kind, *inside)

    def _item_name(self, key: object, held: object, depth: int) -> Hashable:
        named = self.name(held, depth + 1)
        # A key that is the `id` of its value adds nothing, and differs in every run.
        return named if key == id(held) else (self.name(key, depth + 1), named)

    def _object_name(self, value: object, depth: int) -> tuple[Hashable, ...]:
        if isinstance(value, SharedObject | ModelReadWriteLock | ModelThread):
            return ("#", value.number)
        if isinstance(value, FunctionType | BuiltinFunctionType | type):
            return (value.__module__, value.__qualname__)
        if isinstance(value, MethodType):
            return (value.__func__.__qualname__, self.name(value.__self__, depth + 1))
        if isinstance(value, partial):
            return ("partial", self.name(value.func), self.name(value.args, depth + 1))
        kind = type(value).__qualname__
        held = attributes(value)
        numbers = [
            part.number
            for part in held.values()
            if isinstance(part, SharedObject | ModelReadWriteLock)
        ]
        if numbers:
            return (kind, *sorted(numbers))
        if depth > _DEEPEST or not held:
            raise ProgramRejectedError(
                self._program,
                f"shares an object of the class {kind}, which is the same in no two runs",
                "share values, or objects that hold a lock or a cell of wheelproof.sync",
            )
        # Not kept: the contents may change.
        parts = ((name, self.name(part, depth + 1)) for name, part in sorted(held.items()))
        return (_BY_CONTENTS, kind, *parts)


def _is_container(value: object) -> TypeGuard[Container]:
    return isinstance(value, _CONTAINERS)
