"""Plain fields that threads share under a lock, seen by the graph engine.

A read of such a field is no step. So the local state of a thread would miss the values that it has
read there, and the shared state the values of the fields. While a program is explored, every field
that a class declares with `GuardedBy` reports its reads and writes.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from types import MemberDescriptorType
from typing import Annotated, get_args, get_origin

from wheelproof.sync import GuardedBy

ReadListener = Callable[[object, str, object], None]
"""A function that gets the owner, the field's name and the value that was read."""
WriteListener = Callable[[object, str], None]
"""A function that gets the owner and the field's name."""
_MISSING = "no value"


def guarded_fields(kind: type) -> tuple[str, ...]:
    """Return the fields that the body of a class declares as guarded by a lock."""
    declared: dict[str, object] = vars(kind).get("__annotations__", {})
    return tuple(
        name
        for name, hint in declared.items()
        if get_origin(hint) is Annotated
        and any(isinstance(extra, GuardedBy) for extra in get_args(hint)[1:])
    )


class FieldAccesses:
    """The listeners for accesses to guarded fields; None outside a run."""

    def __init__(self) -> None:
        self.read: ReadListener | None = None
        self.write: WriteListener | None = None


class _WatchedField:
    """The replacement of a slot, or of an attribute in the dictionary of each instance."""

    def __init__(
        self, name: str, slot: MemberDescriptorType | None, accesses: FieldAccesses
    ) -> None:
        self._name = name
        self._slot = slot
        self._accesses = accesses

    def __get__(self, instance: object, owner: type) -> object:
        if instance is None:
            return self
        read = self._accesses.read
        try:
            value = self._value(instance, owner)
        except AttributeError:
            if read is not None:
                read(instance, self._name, _MISSING)
            raise
        if read is not None:
            read(instance, self._name, value)
        return value

    def __set__(self, instance: object, value: object) -> None:
        if self._slot is None:
            vars(instance)[self._name] = value
        else:
            self._slot.__set__(instance, value)
        if self._accesses.write is not None:
            self._accesses.write(instance, self._name)

    def __delete__(self, instance: object) -> None:
        if self._slot is None:
            del vars(instance)[self._name]
        else:
            self._slot.__delete__(instance)
        if self._accesses.write is not None:
            self._accesses.write(instance, self._name)

    def _value(self, instance: object, owner: type) -> object:
        if self._slot is not None:
            value: object = self._slot.__get__(instance, owner)
            return value
        held: dict[str, object] = vars(instance)
        if self._name not in held:
            raise AttributeError(self._name)
        return held[self._name]


@contextmanager
def watched_fields(
    kinds: Iterable[type], others: Iterable[tuple[type, str]] = ()
) -> Generator[FieldAccesses]:
    """Watch the guarded fields of these classes, and these other fields, inside the block."""
    accesses = FieldAccesses()
    fields = [(kind, name) for kind in kinds for name in guarded_fields(kind)]
    slots: list[tuple[type, str, MemberDescriptorType | None]] = []
    for kind, name in (*fields, *others):
        slot: object = vars(kind).get(name)
        if slot is not None and not isinstance(slot, MemberDescriptorType):
            raise TypeError(f"{kind.__qualname__}.{name} is no plain field")
        slots.append((kind, name, slot))
    try:
        for kind, name, slot in slots:
            setattr(kind, name, _WatchedField(name, slot, accesses))
        yield accesses
    finally:
        for kind, name, slot in slots:
            if slot is None:
                delattr(kind, name)
            else:
                setattr(kind, name, slot)
