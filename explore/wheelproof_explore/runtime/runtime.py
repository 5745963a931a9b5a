"""The controlled runtime: every operation of the program waits for the scheduler's permission."""

import inspect
from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import NamedTuple, Protocol, TypeVar
from weakref import ReferenceType

from wheelproof.sync import (
    AtomicInteger,
    AtomicReference,
    Condition,
    Lock,
    Millis,
    Monitor,
    ReadWriteLock,
    Thread,
    Volatile,
)
from wheelproof_explore.failures.failure import Failure
from wheelproof_explore.failures.places import SourceLine, calling_line, users_line
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.runtime.cells import Cell, IntegerCell, short
from wheelproof_explore.runtime.conditions import ModelCondition
from wheelproof_explore.runtime.locks import ModelLock, ModelMonitor, Release
from wheelproof_explore.runtime.model import (
    AtomicOperation,
    Enrolled,
    ModelThread,
    UnwindError,
)
from wheelproof_explore.runtime.numbers import (
    SET_UP,
    TIME,
    Actor,
    ObjectNumber,
    field_number,
    object_number,
)
from wheelproof_explore.runtime.outlived import outlived
from wheelproof_explore.runtime.read_write_lock import ModelReadWriteLock
from wheelproof_explore.runtime.settings import Settings, TimeMode
from wheelproof_explore.runtime.signals import (
    Await,
    ClearFlag,
    Look,
    ReleaseAny,
    SetFlag,
    Sleep,
    TimedAcquire,
)
from wheelproof_explore.runtime.thread_steps import Choose, Finish, Join, Start, ThreadHandle
from wheelproof_explore.runtime.timing import ControlledClock, ReadClock, Tick
from wheelproof_explore.substrates.substrate import Substrate

T = TypeVar("T")

_WAITING = (Await, Sleep, Start, TimedAcquire)
"""Steps that wait, besides those that are blocking, or begin with code of Python."""
_RETURNING = (
    Await, ClearFlag, Join, Look, ReadClock, Release, ReleaseAny, SetFlag, Sleep, Start,
)  # fmt: skip
"""Steps that are whole calls. A step that acquires a lock is one only if `acquire` was called."""
_OF_WAIT = frozenset(("_release_save", "_acquire_restore"))
_NEAR = 8
"""At most so many calls lead from one of these to where it is looked for."""


class _Alive(ReferenceType[object]):
    """Tells of the death of an object that has a number; what a program makes itself is another."""

    __slots__ = ()


class LoggedAccess(NamedTuple):
    """An access of a plain field, made after the event of this number by a thread of the program.

    `owner` is the object, and `field` names its class as well; `line` is empty unless the run is
    logged. `sure` tells that the program's own code makes the access, and not code that may keep
    threads apart itself. Two writes that are both `joint` do not conflict.
    """

    event: int
    thread: int
    owner: ObjectNumber
    field: str
    write: bool
    line: str
    sure: bool = True
    joint: bool = False


def _is_inside_wait() -> bool:
    """Tell whether `Condition.wait` just gives its lock up, or takes it back.

    CPython can lose the lock there, which no program can mend.
    """
    frame, names = inspect.currentframe(), list[str]()
    while frame is not None and len(names) < _NEAR:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return not _OF_WAIT.isdisjoint(names)


class Failing(Protocol):
    """What may fail around a program; see `program.faults.Faults`."""

    def may_fail(self, call: str, *errors: type[BaseException]) -> None:
        """Return, or raise one of the errors."""
        ...

    def may_be_interrupted(self) -> None:
        """Return, or raise KeyboardInterrupt."""
        ...


class ControlledRuntime:
    """The runtime of one run; see `wheelproof.sync.Runtime`.

    Outside the threads, in set-up and checks, operations take effect at once and are no events.
    """

    def __init__(
        self,
        program: str,
        settings: Settings,
        substrate: Substrate,
        numbers: dict[tuple[Actor, int], Actor],
        *,
        logging: bool = False,
    ) -> None:
        """Make a runtime without threads; `numbers` is shared by all runs of one exploration.

        With `logging`, `log` gets a few words about each event, and `lines` the line of the program
        that made it. `breach` returns the failure of the first access of a field without its lock.
        """
        self.log: list[str] | None = [] if logging else None
        self.lines: list[SourceLine | None] = []
        self._names: dict[str, int] = {}
        self.program = program
        self.settings = settings
        self._substrate = substrate
        self._numbers = numbers
        self.threads: dict[int, ModelThread] = {}
        self.newborn: list[ModelThread] = []
        self.event = -1
        self.current: ModelThread | None = None
        self.closed = False
        self.keep_frames = False
        # Whether an assumption of the program does not hold.
        self.cut = False
        self.breach: Callable[[], Failure] | None = None
        # By address and field, then by thread: the last access in words. Only kept with `logging`.
        self.field_accesses: dict[tuple[int, str], dict[int, str]] = {}
        self.field_log: list[LoggedAccess] = []
        self.blind: dict[str, None] = {}
        self._strangers: dict[int, tuple[object, ObjectNumber]] = {}
        self.outlived: list[object] = []
        """What the program has dropped, and this keeps alive: lists, and what they hold."""
        self.stop: KeyboardInterrupt | ProgramRejectedError | None = None
        self.anew: ProgramRejectedError | None = None
        """Why this run counts for nothing once it has ended: more is seen from then on."""
        self.faults: list[BaseException] = []
        # The calls that might have failed.
        self.called: set[str] = set()
        # Whether code of the program has read one of Python's clocks.
        self.looks_at_clock = False
        self.environment: Failing | None = None
        # The thread that Ctrl-C may reach, if there is one.
        self.interruptible: ModelThread | None = None
        self.interrupt: KeyboardInterrupt | None = None
        self._alone = ModelThread(self, SET_UP, "set-up")
        self.clock = ControlledClock(self, settings.time)

    def perform(self, operation: AtomicOperation[T]) -> T:
        """Wait until the scheduler permits the operation, then perform it."""
        thread = self.current
        if thread is None:
            return self._perform_alone(operation)
        if thread is self.interruptible:
            return self._perform_or_interrupt(operation)
        if not thread.aborted:
            thread.pending = operation
            if self.keep_frames:
                thread.frame = inspect.currentframe()
            thread.suspend()
            if not thread.aborted:
                if self.log is None:
                    return operation.apply(thread)
                return self._perform_logged(operation, thread, self.log)
        raise UnwindError

    def _perform_or_interrupt(self, operation: AtomicOperation[T]) -> T:
        """Perform the operation; raises KeyboardInterrupt before or behind it in some runs.

        CPython looks for signals while a step waits and when a call returns. It does not look
        between the end of a `with` and the release, nor behind the acquisition of a `with`.
        """
        kind = type(operation)
        if operation.blocking or issubclass(kind, _WAITING):
            self.may_interrupt()
        result = self.uninterrupted(partial(self.perform, operation))
        if issubclass(kind, _RETURNING):
            self.may_interrupt()
        return result

    def may_interrupt(self) -> None:
        """Return; raises KeyboardInterrupt in some runs if Ctrl-C may reach the thread here."""
        thread = self.interruptible
        if thread is None or thread is not self.current or _is_inside_wait():
            return
        if self.environment is not None:
            self.uninterrupted(self.environment.may_be_interrupted)

    def uninterrupted(self, action: Callable[[], T]) -> T:
        """Let Ctrl-C not reach the running thread while it does this."""
        thread = self.interruptible
        if thread is None or thread is not self.current:
            return action()
        self.interruptible = None
        try:
            return action()
        finally:
            self.interruptible = thread

    def _perform_logged(
        self, operation: AtomicOperation[T], thread: ModelThread, log: list[str]
    ) -> T:
        self.lines.append(users_line())
        try:
            result = operation.apply(thread)
        except Exception as error:
            log.append(f"{operation.describe()} raises {type(error).__name__}")
            raise
        outcome = f" = {short(result)}" if operation.shows_result else ""
        log.append(operation.describe() + outcome)
        return result

    def undisturbed(self, action: Callable[[], None]) -> None:
        """Call `action` as part of the event under way: its operations are no events."""
        thread = self.current
        self.current = None
        try:
            action()
        finally:
            self.current = thread

    def forget(self, known: tuple[object, ...]) -> None:
        """Record that only `known` matters to the running thread; only graph mode needs this."""

    def log_access(self, instance: object, field: str, *, write: bool) -> None:
        """Log an access of a plain field, for the data race search."""
        thread = self.current
        if thread is not None and not thread.aborted:
            line = "" if self.log is None else calling_line()
            owner = self.stranger(instance)
            access = LoggedAccess(self.event, thread.number, owner, field, write, line)
            self.field_log.append(access)

    def caller(self) -> ModelThread:
        """Return the thread that is running."""
        return self._alone if self.current is None else self.current

    def enroll(self, made: Enrolled, name: str) -> tuple[ObjectNumber, str]:
        """Return the number of a new object, and a name that no other object has.

        Without a log the name is returned as given.
        """
        del made
        maker = self._alone if self.current is None else self.current
        maker.made = number = ObjectNumber(maker.made + 1)
        if self.log is None:
            return number, name
        count = self._names[name] = self._names.get(name, 0) + 1
        return number, name if count == 1 else f"{name}#{count}"

    def field_number(self, instance: object, index: int, own: ObjectNumber | None) -> ObjectNumber:
        """Return the number of a plain field of `instance`, whose own number is `own`, if known."""
        return field_number(index + 1, self.stranger(instance) if own is None else own)

    def stranger(self, instance: object) -> ObjectNumber:
        """Return the number of an object that the checker does not model; its first user gives it.

        It may die meanwhile, and run a finaliser, if a weak reference tells of that. Else it is
        kept alive, so that nothing else gets its address; see `outlived`.
        """
        known = self._strangers.get(id(instance))
        if known is not None:
            return known[1]
        maker, strangers, key = self.caller(), self._strangers, id(instance)
        maker.strangers += 1
        own = object_number(maker.number, maker.strangers)
        try:
            strangers[key] = _Alive(instance, lambda _: strangers.pop(key, None)), own
        except TypeError:
            strangers[key] = instance, own
        return own

    def _note_outlived(self, ended: ModelThread) -> None:
        """Note what only this runtime keeps alive, while other threads could see it die."""
        others = (one for one in self.threads.values() if one is not ended and one.number != TIME)
        if self._strangers and not all(one.ended for one in others):
            self.outlived += self.kept_alive()

    def kept_alive(self) -> list[object]:
        """Return what only this runtime keeps alive by now."""
        held = self._strangers.values()
        return outlived(one for one, _ in held if type(one) is not _Alive)

    def known_stranger(self, instance: object) -> ObjectNumber | None:
        """Return the number of an object that the checker does not model, if it has one by now."""
        known = self._strangers.get(id(instance))
        return None if known is None else known[1]

    def add_root(self, body: Callable[[], None], name: str) -> ModelThread:
        """Add a thread that runs from the beginning and is never joined."""
        return self._add(SET_UP, body, name)

    def add_time(self) -> None:
        """Add the actor that moves the clock, if the clock moves by itself."""
        if self.settings.time is TimeMode.ANY:
            return
        time = ModelThread(self, TIME, "time")
        tick = Tick(self.clock)
        time.pending = tick
        time.resume = partial(self._move_clock, tick, time)
        self.threads[TIME] = time

    def spawn(self, handle: ThreadHandle, parent: ModelThread) -> None:
        """Add the thread of `handle`; it comes to its first operation before any other step."""

        def body() -> None:
            handle.target()
            self.perform(Finish(handle))

        handle.thread = self._add(parent.number, body, handle.name)
        handle.thread.spawned_at = self.event
        handle.thread.daemon = handle.daemon
        handle.thread.interruption = handle.interruption

    def _add(self, parent: Actor, body: Callable[[], None], name: str) -> ModelThread:
        maker = self._alone if parent == SET_UP else self.threads[parent]
        maker.children += 1
        number = self._numbers.setdefault((parent, maker.children), Actor(len(self._numbers)))
        thread = ModelThread(self, number, name)
        fiber = self._substrate.fiber(partial(self._run, thread, body))
        thread.resume = fiber.resume
        thread.suspend = fiber.suspend
        self.threads[number] = thread
        self.newborn.append(thread)
        return thread

    def _move_clock(self, tick: Tick, time: ModelThread) -> None:
        tick.apply(time)
        if self.log is not None:
            self.log.append(tick.describe())
            self.lines.append(None)

    def _run(self, thread: ModelThread, body: Callable[[], None]) -> None:
        try:
            if not thread.aborted:
                # A thread begins with an empty context; its fiber may have had another one.
                Context().run(body)
        except UnwindError:
            pass
        except ProgramRejectedError as stop:
            self.stop = stop
        except KeyboardInterrupt as stop:
            # One that the program's environment has raised is the program's own.
            if stop in self.faults:
                thread.error = stop
            elif stop is not self.interrupt:
                self.stop = stop
        except BaseException as error:
            thread.error = error
        thread.pending = thread.frame = None
        self._note_outlived(thread)
        thread.ended = True

    def _perform_alone(self, operation: AtomicOperation[T]) -> T:
        if self.closed:
            raise ProgramRejectedError(
                self.program,
                "uses an object that was made in an earlier run",
                "make every lock, cell and thread inside the function that sets a run up",
            )
        if operation.peek(self._alone) is None:
            raise ProgramRejectedError(
                self.program,
                f"would wait for ever outside its threads: {operation.describe()}",
                "set-up and checks run alone, so nothing can wake them",
            )
        return operation.apply(self._alone)

    def monitor(self, name: str) -> Monitor:
        """Return a new monitor."""
        return ModelMonitor(self, name)

    def lock(self, name: str) -> Lock:
        """Return a new lock."""
        return ModelLock(self, name)

    def condition(self, lock: Lock, name: str) -> Condition:
        """Return a new condition; raises TypeError if `lock` is another runtime's."""
        if not isinstance(lock, ModelLock) or lock.runtime is not self:
            raise TypeError(f"condition {name!r}: its lock belongs to another runtime")
        return ModelCondition(self, self.clock, lock, name)

    def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
        """Return a new read-write lock."""
        return ModelReadWriteLock(self, name, prefer_writers=prefer_writers)

    def volatile(self, value: T, name: str) -> Volatile[T]:
        """Return a new volatile cell."""
        return Cell(self, name, value)

    def atomic_reference(self, value: T, name: str) -> AtomicReference[T]:
        """Return a new atomic cell."""
        return Cell(self, name, value)

    def atomic_integer(self, value: int, name: str) -> AtomicInteger:
        """Return a new atomic integer."""
        return IntegerCell(self, name, value)

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        """Return a new thread."""
        return ThreadHandle(self, self.clock, target, name)

    def monotonic_ms(self) -> Millis:
        """Return the virtual clock."""
        return self.perform(ReadClock(self.clock))

    def choose(self, alternatives: int) -> int:
        """Return an integer below `alternatives`; each value is returned in some run."""
        return self.perform(Choose(alternatives))
