"""The controlled runtime with a memory: what exists, and what each thread has seen.

A thread of a deterministic program is where it is because of the results that it got and of the
guarded fields that it read. So a number for that history stands for its local state; histories
that are equal get the same number, and two that differ never do.
"""

import inspect
from collections.abc import Callable, Hashable
from itertools import starmap
from typing import TypeGuard, TypeVar

from wheelproof import sync
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
from wheelproof_spec.explore.accesses import Accesses
from wheelproof_spec.explore.execution import World
from wheelproof_spec.explore.model import Model, ModelThread, Operation, UnwindError
from wheelproof_spec.explore.read_write_lock import ModelReadWriteLock
from wheelproof_spec.explore.runtime import ControlledRuntime
from wheelproof_spec.graphs.fields import FieldAccesses
from wheelproof_spec.graphs.names import Names

T = TypeVar("T")
Kept = TypeVar("Kept", bound=Hashable)
LocalState = tuple[int, int, bool, int, int, bool]
"""A thread: its number, its history, whether it has ended, and what the runtime knows of it."""

_FIRST_FIELD = 1 << 60
_INTERNAL = ("wheelproof_spec.explore.", __name__)


class Numbers:
    """Numbers that all runs of a program share: of what a thread has seen, and of fields."""

    def __init__(self) -> None:
        self._histories: dict[tuple[int, Hashable], int] = {}
        self._fields: dict[Hashable, int] = {}
        self._kept: dict[Hashable, Hashable] = {}

    def same(self, value: Kept) -> Kept:
        """Return one object for all values that are equal, which saves memory."""
        kept = self._kept.setdefault(value, value)
        return kept if isinstance(kept, type(value)) else value

    def after(self, history: int, seen: Hashable) -> int:
        """Return the number of a history that goes on with `seen`; 0 is the empty history."""
        return self._histories.setdefault((history, seen), len(self._histories) + 1)

    def field(self, name: Hashable) -> int:
        """Return the number of a guarded field, above those of locks and cells."""
        return self._fields.setdefault(name, _FIRST_FIELD + len(self._fields))


class ObservedRuntime(ControlledRuntime):
    """The runtime of one run of graph mode.

    `sites` has, for each thread by number, the function that asks for its next operation, and
    `histories` what it has seen; with `recording` off neither is kept up to date.
    """

    def __init__(self, world: World, numbers: Numbers, fields: FieldAccesses) -> None:
        self.object_names: dict[int, str] = {}
        self.histories: dict[int, int] = {}
        self.sites: dict[int, str] = {}
        self.recording = True
        self._objects: dict[int, Model[object] | ModelReadWriteLock] = {}
        self._in_order: list[tuple[int, Model[object] | ModelReadWriteLock]] = []
        self._named: dict[int, tuple[object, Hashable]] = {}
        self._fields: dict[tuple[int, str], tuple[object, str]] = {}
        self._touched: list[tuple[object, str, bool]] = []
        self._namer = Names(world.program.name)
        self._shared = numbers
        program = world.program
        super().__init__(program.name, program.settings, world.substrate, world.numbers)
        self._keep(self.clock)
        fields.read = self._field_was_read
        fields.write = self._field_was_written

    def perform(self, operation: Operation[T]) -> T:
        """Perform an operation, and note what its thread learns from it."""
        thread = self.current
        if thread is None:
            return super().perform(operation)
        if self.recording:
            self.sites[thread.number] = _caller()
        try:
            result = super().perform(operation)
        except UnwindError:
            raise
        except Exception as error:
            self._see(thread, ("raised", type(error).__qualname__))
            raise
        self._see(thread, result)
        return result

    def forget(self) -> None:
        """Note that the running thread's local state is what it was when it first came here."""
        thread = self.current
        if thread is not None and self.recording:
            self.histories[thread.number] = self._shared.after(-1, _caller())

    def shared_state(self) -> Hashable:
        """Return the names of what all locks, cells and guarded fields hold."""
        if len(self._in_order) < len(self._objects):
            self._in_order = sorted(self._objects.items(), key=lambda item: item[0])
        name = self._namer.name
        fields = sorted(
            (self._field_number(owner, field), name(getattr(owner, field, None)))
            for owner, field in self._fields.values()
        )
        return tuple(starmap(self._held, self._in_order)), tuple(fields)

    def local_state(self) -> tuple[LocalState, ...]:
        """Return what stands for the local states of all threads."""
        same, histories = self._shared.same, self.histories
        return tuple(
            same(
                (
                    thread.number,
                    histories.get(thread.number, 0),
                    thread.ended,
                    thread.spurious_left,
                    thread.now_ms,
                    thread.signal.state,
                )
            )
            for thread in self.threads.values()
        )

    def take_field_accesses(self) -> Accesses:
        """Return which guarded fields have been read and written since the last call."""
        touched = {
            self._field_number(owner, field) << 1 | written
            for owner, field, written in self._touched
        }
        self._touched.clear()
        return tuple(touched)

    def _held(self, number: int, one: Model[object] | ModelReadWriteLock) -> Hashable:
        if isinstance(one, ModelReadWriteLock):
            return (one.readers, one.writer, one.waiting)
        # Most objects hold what they held in the state before.
        state = one.state
        known = self._named.get(number)
        if known is None or known[0] is not state:
            known = self._named[number] = state, self._namer.name(state)
        return known[1]

    def _see(self, thread: ModelThread, value: object) -> None:
        if self.recording:
            before = self.histories.get(thread.number, 0)
            self.histories[thread.number] = self._shared.after(before, self._namer.name(value))

    def _field_number(self, owner: object, field: str) -> int:
        return self._shared.field((self._namer.name(owner), field))

    def _field_was_read(self, owner: object, field: str, value: object) -> None:
        thread = self.current
        if thread is not None and self.recording and not self._namer.busy:
            self._see(thread, value)
            self._touched.append((owner, field, False))

    def _field_was_written(self, owner: object, field: str) -> None:
        self._fields[id(owner), field] = owner, field
        if self.current is not None and self.recording:
            self._touched.append((owner, field, True))

    def _keep(self, made: object) -> None:
        if isinstance(made, ModelReadWriteLock) or _is_model(made):
            self._objects[made.number] = made
            self.object_names[made.number] = made.name

    def monitor(self, name: str) -> Monitor:
        """Return a new monitor."""
        made = super().monitor(name)
        self._keep(made)
        return made

    def lock(self, name: str) -> Lock:
        """Return a new lock."""
        made = super().lock(name)
        self._keep(made)
        return made

    def condition(self, lock: Lock, name: str) -> Condition:
        """Return a new condition."""
        made = super().condition(lock, name)
        self._keep(made)
        return made

    def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
        """Return a new read-write lock."""
        made = super().read_write_lock(name, prefer_writers=prefer_writers)
        self._keep(made)
        return made

    def volatile(self, value: T, name: str) -> Volatile[T]:
        """Return a new volatile cell."""
        made = super().volatile(value, name)
        self._keep(made)
        return made

    def atomic_reference(self, value: T, name: str) -> AtomicReference[T]:
        """Return a new atomic cell."""
        made = super().atomic_reference(value, name)
        self._keep(made)
        return made

    def atomic_integer(self, value: int, name: str) -> AtomicInteger:
        """Return a new atomic integer."""
        made = super().atomic_integer(value, name)
        self._keep(made)
        return made

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new thread."""
        made = super().thread(target, name)
        self._keep(made)
        return made


def _is_model(made: object) -> TypeGuard[Model[object]]:
    return isinstance(made, Model)


def _caller() -> str:
    """Return the name of the innermost function that is none of the runtime's."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals["__name__"].startswith(_INTERNAL):
        frame = frame.f_back
    return "" if frame is None else frame.f_code.co_name


def forget() -> None:
    """Say, at the head of a loop, that the thread knows nothing but that it is there.

    Without this a loop makes a new state with every round, and the graph has no end.
    """
    runtime = sync.current_runtime()
    if isinstance(runtime, ObservedRuntime):
        runtime.forget()
