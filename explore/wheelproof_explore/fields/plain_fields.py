"""Plain fields that are watched: every read and write of them becomes a step.

A field that threads share under a lock needs no step of its own as long as each access holds the
lock. Whether it does shows only if the accesses are steps. A program names such fields; every order
of unsynchronised accesses is explored, and reported as a data race.
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

from wheelproof import sync
from wheelproof_explore.runtime.accesses import Accesses, reading, writing
from wheelproof_explore.runtime.cells import short
from wheelproof_explore.runtime.model import AtomicOperation, ModelThread, SharedObject
from wheelproof_explore.runtime.numbers import ObjectNumber
from wheelproof_explore.runtime.runtime import ControlledRuntime


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainField:
    """A field in the slots of a class.

    `identity` names an attribute that holds a primitive which was made together with the object;
    its number identifies the object. Without `identity` the first access identifies the object, so
    the thread that made the object has to make that access.
    """

    owner: type
    name: str
    identity: str | None = None


class _Slot(Protocol):
    def __get__(self, instance: object, owner: type | None = None) -> object: ...

    def __set__(self, instance: object, value: object) -> None: ...

    def __delete__(self, instance: object) -> None: ...


@contextmanager
def watched(fields: Sequence[PlainField]) -> Generator[None]:
    """Make every access of the fields a step, inside the block."""
    with ExitStack() as stack:
        for index, field in enumerate(fields):
            owner = defining_class(field.owner, field.name)
            slot: _Slot = owner.__dict__[field.name]
            setattr(owner, field.name, _WatchedSlot(field, index, slot))
            stack.callback(setattr, owner, field.name, slot)
        yield


def defining_class(owner: type, field: str) -> type:
    """Return the class that has a slot, or a default, of this name: `owner`, or a base of it."""
    return next((kind for kind in owner.__mro__ if field in vars(kind)), owner)


class _WatchedSlot:
    """The replacement of the slot in its class."""

    def __init__(self, field: PlainField, index: int, slot: _Slot) -> None:
        self._field = field
        self._index = index
        self._slot = slot

    def __get__(self, instance: object, owner: type | None = None) -> object:
        if instance is None:
            return self
        runtime = sync.current_runtime()
        if not isinstance(runtime, ControlledRuntime):
            return self._slot.__get__(instance, owner)
        value = runtime.perform(
            _Read(self._name(instance), self._number(instance), self._slot, instance)
        )
        runtime.log_access(instance, self._name(instance), write=False)
        return value

    def __set__(self, instance: object, value: object) -> None:
        runtime = sync.current_runtime()
        if not isinstance(runtime, ControlledRuntime):
            self._slot.__set__(instance, value)
            return
        name = f"{self._name(instance)} = {short(value)}"
        write = _Write(name, self._number(instance), self._slot, instance, value)
        runtime.perform(write)
        runtime.log_access(instance, self._name(instance), write=True)

    def __delete__(self, instance: object) -> None:
        runtime = sync.current_runtime()
        if not isinstance(runtime, ControlledRuntime):
            self._slot.__delete__(instance)
            return
        name = f"del {self._name(instance)}"
        runtime.perform(_Delete(name, self._number(instance), self._slot, instance))
        runtime.log_access(instance, self._name(instance), write=True)

    def _name(self, instance: object) -> str:
        return f"{type(instance).__name__}.{self._field.name}"

    def _number(self, instance: object) -> ObjectNumber:
        runtime = sync.current_runtime()
        assert isinstance(runtime, ControlledRuntime)
        identity = None if self._field.identity is None else getattr(instance, self._field.identity)
        own = identity.number if isinstance(identity, SharedObject) else None
        return runtime.field_number(instance, self._index, own)


class FieldAccess(AtomicOperation[object]):
    """A read, write or deletion of a plain field; it adds no happens-before edge."""

    __slots__ = ("_instance", "_name", "_number", "_slot")

    def __init__(self, name: str, number: ObjectNumber, slot: _Slot, instance: object) -> None:
        self._name = name
        self._number = number
        self._slot = slot
        self._instance = instance

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a write."""
        return writing(self._number)

    def describe(self) -> str:
        """Return the field, and the value that is written."""
        return self._name


class _Read(FieldAccess):
    __slots__ = ()
    shows_result = True

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        return reading(self._number)

    def apply(self, _thread: ModelThread, /) -> object:
        return self._slot.__get__(self._instance, type(self._instance))


class _Write(FieldAccess):
    __slots__ = ("_value",)

    def __init__(
        self, name: str, number: ObjectNumber, slot: _Slot, instance: object, value: object
    ) -> None:
        super().__init__(name, number, slot, instance)
        self._value = value

    def apply(self, _thread: ModelThread, /) -> object:
        self._slot.__set__(self._instance, self._value)
        return None


class _Delete(FieldAccess):
    __slots__ = ()

    def apply(self, _thread: ModelThread, /) -> object:
        self._slot.__delete__(self._instance)
        return None
