"""The controlled runtime with a record of all objects, and of what each thread has seen.

The place of a thread in a deterministic program depends only on the results that it got and on the
guarded fields that it read. So a number for that history stands for its local state; equal
histories get the same number, and different histories never do.
"""

import inspect
from bisect import insort
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from wheelproof.sync import Thread
from wheelproof_explore.failures.places import is_checkers
from wheelproof_explore.runs.execution import World
from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.model import (
    AtomicOperation,
    Enrolled,
    ModelThread,
    UnwindError,
)
from wheelproof_explore.runtime.numbers import Access, ObjectNumber
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.thread_steps import ThreadHandle
from wheelproof_lab.graph.states.fields import FieldAccesses
from wheelproof_lab.graph.states.names import Names, has_contents

T = TypeVar("T")
Kept = TypeVar("Kept", bound=Hashable)
LocalState = tuple[int, int, bool, int, int, bool, bool]
"""A thread: its number, its history, whether it has ended, and what the runtime knows of it."""

_Field = tuple[int, str]
_FIRST_FIELD = 1 << 60
_NOTHING = object()


class Numbers:
    """Numbers that all runs of a program share: of histories, of fields, of values.

    `held` has a number for each value that a lock, cell or field has held, and `local` for each
    state of a thread, from the same counter; `locals` has the states of threads by their numbers.
    """

    def __init__(self) -> None:
        self._histories: dict[tuple[int, Hashable], int] = {}
        self._fields: dict[Hashable, int] = {}
        self._kept: dict[Hashable, Hashable] = {}
        self._values: dict[Hashable, int] = {}
        self.locals: dict[int, LocalState] = {}

    def same(self, value: Kept) -> Kept:
        """Return one object for all equal values, which saves memory."""
        kept = self._kept.setdefault(value, value)
        return kept if isinstance(kept, type(value)) else value

    def held(self, owner: int, value: Hashable) -> int:
        """Return the number of a value of the object or field with the number `owner`."""
        return self._values.setdefault((owner, value), len(self._values))

    def local(self, value: LocalState) -> int:
        """Return the number of the state of a thread."""
        number = self._values.setdefault(value, len(self._values))
        self.locals[number] = value
        return number

    def after(self, history: int, seen: Hashable) -> int:
        """Return the number of `history` continued by `seen`; 0 is the empty history."""
        return self._histories.setdefault((history, seen), len(self._histories) + 1)

    def field(self, name: Hashable) -> int:
        """Return the number of a guarded field, above those of locks and cells."""
        return self._fields.setdefault(name, _FIRST_FIELD + len(self._fields))


class ObservedRuntime(ControlledRuntime):
    """The runtime of one run of graph mode.

    `sites` has, for each thread by number, the function that calls its next operation, and
    `histories` the number of its history; with `recording` off neither is kept up to date.
    """

    def __init__(self, world: World, numbers: Numbers, fields: FieldAccesses) -> None:
        self.object_names: dict[int, str] = {}
        self.histories: dict[int, int] = {}
        self.sites: dict[int, str] = {}
        self.recording = True
        self._objects: dict[int, Enrolled] = {}
        self._in_order: list[Enrolled] = []
        self._states: list[object] = []
        self._held: list[int] = []
        self._fields: dict[_Field, tuple[object, str]] = {}
        self._written: set[_Field] = set()
        self._fluid: set[_Field] = set()
        self._field_values: dict[int, int] = {}
        self._field_order: list[int] = []
        self._touched: list[tuple[object, str, bool]] = []
        self._namer = Names(world.program.name)
        self._shared = numbers
        program = world.program
        super().__init__(program.name, program.settings, world.substrate, world.numbers)
        fields.read = self._field_was_read
        fields.write = self._field_was_written

    def perform(self, operation: AtomicOperation[T]) -> T:
        """Perform an operation, and add its result to the history of its thread."""
        thread = self.current
        if thread is None:
            return super().perform(operation)
        # The replay may end while the operation waits for its turn.
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

    def forget(self, known: tuple[object, ...]) -> None:
        """Replace the running thread's history by its place in the code and `known`."""
        thread = self.current
        if thread is not None and self.recording:
            here = self._shared.after(-1, _caller())
            self.histories[thread.number] = self._shared.after(here, self._namer.name(known))

    def shared_state(self) -> list[int]:
        """Return the numbers of the values of all locks, cells and guarded fields, in order."""
        if len(self._held) < len(self._objects):
            self._in_order = sorted(self._objects.values(), key=lambda made: made.number)
            self._states = [_NOTHING] * len(self._in_order)
            self._held = [0] * len(self._in_order)
        states, held = self._states, self._held
        for place, made in enumerate(self._in_order):
            # Most objects have the same value as in the state before.
            if made.state is not states[place]:
                states[place] = made.state
                held[place] = self._shared.held(made.number, self._namer.name(made.state))
        self._look_at_fields()
        return held + [self._field_values[number] for number in self._field_order]

    def local_state(self) -> list[int]:
        """Return the numbers of the local states of all threads."""
        local, histories = self._shared.local, self.histories
        return [
            local(
                (
                    thread.number,
                    histories.get(thread.number, 0),
                    thread.ended,
                    thread.spurious_left,
                    thread.now_ms,
                    thread.signal.state,
                    thread.interruption is not None and thread.interruption.state,
                )
            )
            for thread in self.threads.values()
        ]

    def recall(self, local: Iterable[int], sites: tuple[tuple[int, str], ...]) -> None:
        """Restore the histories of the threads, by the numbers of their local states."""
        of_threads = self._shared.locals
        self.histories = {state[0]: state[1] for state in map(of_threads.__getitem__, local)}
        self.sites = dict(sites)
        self.recording = True

    def _look_at_fields(self) -> None:
        """Update the values of the fields that may have changed."""
        for known in self._fluid | self._written:
            owner, field = self._fields[known]
            number = self._field_number(owner, field)
            value: object = getattr(owner, field, None)
            # The contents of a container may change without an access of the field.
            (self._fluid.add if has_contents(value) else self._fluid.discard)(known)
            if number not in self._field_values:
                insort(self._field_order, number)
            self._field_values[number] = self._shared.held(number, self._namer.name(value))
        self._written.clear()

    def take_field_accesses(self) -> Accesses:
        """Return which guarded fields have been read and written since the last call."""
        touched = {
            Access(self._field_number(owner, field) << 1 | written)
            for owner, field, written in self._touched
        }
        self._touched.clear()
        return tuple(touched)

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
            # Who has a container may change its contents.
            self._touched.append((owner, field, has_contents(value)))

    def _field_was_written(self, owner: object, field: str) -> None:
        written = id(owner), field
        if written not in self._fields:
            self._fields[written] = owner, field
        self._written.add(written)
        if self.current is not None and self.recording:
            self._touched.append((owner, field, True))

    def enroll(self, made: Enrolled, name: str) -> tuple[ObjectNumber, str]:
        """Register a new object, and keep it."""
        number, name = super().enroll(made, name)
        self._keep(made, number, name)
        return number, name

    def _keep(self, made: Enrolled, number: int, name: str) -> None:
        self._objects[number] = made
        self.object_names[number] = name

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new thread."""
        made = super().thread(target, name)
        if isinstance(made, ThreadHandle):
            status = made.interruption
            self._keep(status, status.number, status.name)
        return made


def _caller() -> str:
    """Return the name of the innermost function outside the runtime."""
    frame = inspect.currentframe()
    while frame is not None and _is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else frame.f_code.co_name


def _is_internal(file: str) -> bool:
    return file == __file__ or is_checkers(file)
