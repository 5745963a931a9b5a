"""The controlled runtime with a list of what it has made."""

from collections.abc import Callable
from typing import TypeGuard, TypeVar

from wheelproof.sync import (
    AtomicInteger,
    AtomicReference,
    Condition,
    Lock,
    Monitor,
    ReadWriteLock,
    Thread,
    Volatile,
)
from wheelproof_spec.engines.explore.execution import World
from wheelproof_spec.engines.explore.model import Model
from wheelproof_spec.engines.explore.read_write_lock import ModelReadWriteLock
from wheelproof_spec.engines.explore.runtime import ControlledRuntime

T = TypeVar("T")
Kept = Model[object] | ModelReadWriteLock


class KeepingRuntime(ControlledRuntime):
    """The runtime of a run whose objects are looked at: `objects` has them as they were made."""

    def __init__(self, world: World) -> None:
        self.objects: list[Kept] = []
        program = world.program
        super().__init__(
            program.name, program.settings, world.substrate, world.numbers, logging=True
        )

    def _keep(self, made: T) -> T:
        kept: object = made
        if isinstance(kept, ModelReadWriteLock) or _is_model(kept):
            self.objects.append(kept)
        return made

    def monitor(self, name: str) -> Monitor:
        """Return a new monitor."""
        return self._keep(super().monitor(name))

    def lock(self, name: str) -> Lock:
        """Return a new lock."""
        return self._keep(super().lock(name))

    def condition(self, lock: Lock, name: str) -> Condition:
        """Return a new condition."""
        return self._keep(super().condition(lock, name))

    def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
        """Return a new read-write lock."""
        return self._keep(super().read_write_lock(name, prefer_writers=prefer_writers))

    def volatile(self, value: T, name: str) -> Volatile[T]:
        """Return a new volatile cell."""
        return self._keep(super().volatile(value, name))

    def atomic_reference(self, value: T, name: str) -> AtomicReference[T]:
        """Return a new atomic cell."""
        return self._keep(super().atomic_reference(value, name))

    def atomic_integer(self, value: int, name: str) -> AtomicInteger:
        """Return a new atomic integer."""
        return self._keep(super().atomic_integer(value, name))

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new thread."""
        return self._keep(super().thread(target, name))


def _is_model(made: object) -> TypeGuard[Model[object]]:
    return isinstance(made, Model)
