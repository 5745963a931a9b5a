"""Declared guards, verified: every access of such a field checks that the thread holds the lock.

The check is no step: whether a thread holds a lock depends on that thread alone, and every possible
access is made in some run. If the declaration names the lock in words, because no attribute leads
to it or because it guards the field only for a time, the accesses are logged for the data race
search instead. Outside explorations the classes are unchanged.
"""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from types import MemberDescriptorType
from typing import Protocol, TypeGuard

from wheelproof import sync
from wheelproof_explore.failures.failure import Failure, FailureKind
from wheelproof_explore.failures.places import calling_line, is_constructing
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.fields.guard_declarations import Declaration, declarations
from wheelproof_explore.fields.plain_fields import defining_class
from wheelproof_explore.runtime.cells import Cell
from wheelproof_explore.runtime.locks import ModelLock, ModelMonitor
from wheelproof_explore.runtime.model import ModelThread
from wheelproof_explore.runtime.read_write_lock import ModelReadWriteLock
from wheelproof_explore.runtime.runtime import ControlledRuntime

_MISSING = object()


@contextmanager
def verified_guards(program: str) -> Generator[None]:
    """Verify, inside the block, every access of a declared field in a thread of a run.

    A violation becomes the run's `breach`. The constructor of an object is exempt. Raises
    ProgramRejectedError for a declaration that cannot be verified.
    """
    with ExitStack() as stack:
        for declaration in declarations():
            stack.enter_context(_verified(program, declaration))
        yield


@contextmanager
def _verified(program: str, declaration: Declaration) -> Generator[None]:
    field = declaration.field
    owner = defining_class(declaration.owner, field)
    before: object = vars(owner).get(field, _MISSING)
    verify: _Verifier = _OrderVerifier(declaration)
    if declaration.path:
        verify = _LockVerifier(program, declaration)
    if isinstance(before, MemberDescriptorType):
        setattr(owner, field, _GuardedSlot(verify, before))
    elif hasattr(before, "__set__"):
        raise ProgramRejectedError(
            program,
            f"declares {declaration} as guarded, which is no plain field",
            "declare the field that it stands for",
        )
    else:
        setattr(owner, field, _GuardedAttribute(verify, field, before))
    try:
        yield
    finally:
        if before is _MISSING:
            delattr(owner, field)
        else:
            setattr(owner, field, before)


class _Verifier(Protocol):
    def __call__(self, instance: object, *, write: bool) -> None: ...


class _OrderVerifier:
    """A logger of the accesses of a field whose guard is named in words."""

    def __init__(self, declaration: Declaration) -> None:
        self._name = str(declaration)

    def __call__(self, instance: object, *, write: bool) -> None:
        runtime = sync.current_runtime()
        if isinstance(runtime, ControlledRuntime) and runtime.current is not None:
            runtime.log_access(instance, self._name, write=write)


class _LockVerifier:
    """A check that the thread that accesses a field holds its lock."""

    def __init__(self, program: str, declaration: Declaration) -> None:
        self._program = program
        self._declaration = declaration
        self._field = declaration.field
        self._first, *self._rest = declaration.path

    def __call__(self, instance: object, *, write: bool) -> None:
        runtime = sync.current_runtime()
        if not isinstance(runtime, ControlledRuntime):
            return
        thread = runtime.current
        if thread is None or thread.aborted:
            return
        lock: object = getattr(instance, self._first, None)
        for name in self._rest:
            lock = getattr(_held_by(lock), name, None)
        if isinstance(lock, ModelLock | ModelMonitor):
            held = lock.state == thread.number
        elif isinstance(lock, ModelReadWriteLock):
            state = lock.state
            held = state.writer == thread.number
            held = held or (not write and thread.number in state.readers)
        else:
            self._reject(instance)
            return
        if runtime.log is not None:
            _note(runtime, instance, self._field, thread, write)
        if not held and runtime.breach is None and not is_constructing(instance):
            runtime.breach = _Breach(self._declaration, runtime, instance, thread, write).failure

    def _reject(self, instance: object) -> None:
        """Reject the program, unless an attribute on the way to the lock is None or not set yet."""
        here: object = instance
        for name in self._declaration.path:
            here = _held_by(here)
            if here is None:
                return
            if not hasattr(here, name):
                if is_constructing(instance):
                    return
                raise ProgramRejectedError(
                    self._program,
                    f"declares {self._declaration} as guarded by "
                    f"{'.'.join(self._declaration.path)}, "
                    f"but {type(here).__name__} has no {name}",
                    "name attributes that lead from the object to its lock",
                )
            here = getattr(here, name)


class _GuardedSlot:
    """The replacement of a slot in its class."""

    def __init__(self, verify: _Verifier, slot: MemberDescriptorType) -> None:
        self._verify = verify
        self._slot = slot

    def __get__(self, instance: object, owner: type | None = None) -> object:
        if instance is None:
            return self
        self._verify(instance, write=False)
        value: object = self._slot.__get__(instance, owner)
        return value

    def __set__(self, instance: object, value: object) -> None:
        self._verify(instance, write=True)
        self._slot.__set__(instance, value)

    def __delete__(self, instance: object) -> None:
        self._verify(instance, write=True)
        self._slot.__delete__(instance)


class _GuardedAttribute:
    """The replacement of a field in instance dictionaries, and of the class's default value."""

    def __init__(self, verify: _Verifier, field: str, default: object) -> None:
        self._verify = verify
        self._field = field
        self._default = default

    def __get__(self, instance: object, owner: type | None = None) -> object:
        if instance is None:
            return self
        self._verify(instance, write=False)
        value: object = vars(instance).get(self._field, self._default)
        if value is _MISSING:
            raise AttributeError(
                f"{type(instance).__name__!r} object has no attribute {self._field!r}",
                name=self._field,
                obj=instance,
            )
        return value

    def __set__(self, instance: object, value: object) -> None:
        self._verify(instance, write=True)
        vars(instance)[self._field] = value

    def __delete__(self, instance: object) -> None:
        self._verify(instance, write=True)
        del vars(instance)[self._field]


def _held_by(holder: object) -> object:
    """Return what a cell holds, without a step; return any other object itself."""
    return holder.state if _is_cell(holder) else holder


def _is_cell(value: object) -> TypeGuard[Cell[object]]:
    return isinstance(value, Cell)


def _note(
    runtime: ControlledRuntime, instance: object, field: str, thread: ModelThread, write: bool
) -> None:
    """Keep the last access of each thread to a field of an object, for the report of a breach."""
    said = f"{thread.name} {'writes' if write else 'reads'} it ({calling_line()})"
    runtime.field_accesses.setdefault((id(instance), field), {})[thread.number] = said


class _Breach:
    """An access of a declared field by a thread that does not hold the lock."""

    def __init__(
        self,
        declaration: Declaration,
        runtime: ControlledRuntime,
        instance: object,
        thread: ModelThread,
        write: bool,
    ) -> None:
        self._declaration = declaration
        self._runtime = runtime
        # Kept alive, so that nothing else gets its address.
        self._instance = instance
        self._thread = thread
        self._what = f"{'written' if write else 'read'} by {thread.name} ({calling_line()})"

    def failure(self) -> Failure:
        """Return the failure, with another thread's access of the field in the same run."""
        declaration = self._declaration
        accesses = self._runtime.field_accesses.get((id(self._instance), declaration.field), {})
        others = [said for number, said in accesses.items() if number != self._thread.number]
        other = f"; {others[0]}" if others else ""
        return Failure(
            kind=FailureKind.BROKEN_GUARD,
            thread=self._thread.name,
            message=f"{declaration} is {self._what} "
            f"without {'.'.join(declaration.path)}, which guards it{other}",
            cause=str(declaration),
        )
