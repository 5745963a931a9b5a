"""The locks and condition waiters that replace Python's own.

A lock made in a run has one model. A lock made before any run, such as at the import of a module,
has a new model in each run. Outside of runs it is a lock of Python.
"""

import _thread
import inspect
import linecache
import math
import re
import threading
from itertools import count
from typing import Protocol, TypeVar

from wheelproof import sync
from wheelproof.sync import Millis
from wheelproof_explore.failures.places import is_checkers, is_library
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.runtime.accesses import reading, writing
from wheelproof_explore.runtime.locks import Acquire, ModelLock, Release, TryAcquire
from wheelproof_explore.runtime.model import AtomicOperation, SharedObject
from wheelproof_explore.runtime.numbers import (
    SET_UP,
    ObjectNumber,
    object_number,
    signal_number,
)
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.settings import TimeMode
from wheelproof_explore.runtime.signals import (
    Confirm,
    Look,
    Pulse,
    ReleaseAny,
    SetFlag,
    TimedAcquire,
)

State = TypeVar("State")

real_lock = _thread.allocate_lock
real_rlock = _thread.RLock
real_ident = _thread.get_ident
bystanders: set[int] = set()
"""Threads that have nothing to do with the program: they keep Python's primitives."""

importing: list[str] = []
"""Modules that are being imported: the objects that they make exist in all runs."""
_standing = count(1 << 19)
"""Numbers for objects that were made before any run; no run makes so many objects."""
_WAIT = threading.Condition.wait.__code__
_ASSIGNMENT = re.compile(r"\s*(?:self\.|cls\.)?([\w.]+)\s*(?::[^=]+)?=(?!=)")


def running() -> ControlledRuntime | None:
    """Return the runtime of the run under way; None for bystanders and in an import."""
    runtime = sync.current_runtime()
    if not isinstance(runtime, ControlledRuntime) or runtime.closed or importing:
        return None
    return None if bystanders and real_ident() in bystanders else runtime


def number_model(model: SharedObject[State], number: ObjectNumber) -> None:
    """Give a model that has just been made another number."""
    maker = model.runtime.caller()
    maker.made = ObjectNumber(maker.made - 1)
    model.number = number
    model.read, model.write = reading(number), writing(number)


def number_standing(model: SharedObject[State], index: int) -> None:
    """Give a number of its own to the model of an object that existed before the run.

    The number must not depend on which thread uses the object first.
    """
    number_model(model, object_number(SET_UP, index))


def standing_index() -> int:
    """Return an index for `number_standing`."""
    return next(_standing)


def made_in_earlier_run(runtime: ControlledRuntime) -> ProgramRejectedError:
    """Return the error for a program whose runs share an object."""
    return reject(
        runtime,
        "uses an object that was made in an earlier run",
        "make every lock, queue and thread inside the function that sets a run up",
    )


def reject(runtime: ControlledRuntime, problem: str, remedy: str) -> ProgramRejectedError:
    """Return the error for a program that cannot be explored, and make it end the run."""
    runtime.stop = error = ProgramRejectedError(runtime.program, problem, remedy)
    return error


def millis(seconds: float) -> Millis:
    """Return a time in milliseconds, rounded up, so that a positive time is never 0."""
    return Millis(max(1, math.ceil(seconds * 1000 - 1e-6))) if seconds > 0 else Millis(0)


def place_name(default: str) -> str:
    """Return the name to which the program assigns its new object, if the run keeps a log."""
    runtime = sync.current_runtime()
    if not isinstance(runtime, ControlledRuntime) or runtime.log is None:
        return default
    frame = inspect.currentframe()
    while frame is not None and (
        is_checkers(frame.f_code.co_filename)
        or (
            frame.f_globals.get("__name__") == "threading"
            and not isinstance(frame.f_locals.get("self"), threading.Thread)
        )
    ):
        frame = frame.f_back
    if frame is None:
        return default
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    match = _ASSIGNMENT.match(line)
    return match[1] if match else default


def _is_made_by_python() -> bool:
    """Tell whether the standard library, or the checker in its place, makes a lock just now."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if frame is None or is_checkers(frame.f_code.co_filename):
        return True
    return is_library(str(frame.f_globals.get("__name__")))


def _refuse_as_python(blocking: bool, timeout: float) -> None:
    """Raise Python's own error if the arguments of an acquire make no sense."""
    if timeout != -1 and not (blocking and 0 <= timeout <= threading.TIMEOUT_MAX):
        real_lock().acquire(blocking, timeout)


class RealLock(Protocol):
    """The common interface of Python's locks."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock, and tell whether that succeeded."""
        ...

    def release(self) -> None:
        """Release the lock."""
        ...


class _OnModel:
    """A lock with a model for the run under way, and a real lock outside of runs."""

    __slots__ = ("__weakref__", "_index", "_model", "_outside", "count")

    kind = "lock"

    def __init__(self, index: int = 0) -> None:
        runtime = running()
        self._index = 0 if runtime is not None else index or standing_index()
        self._model = None if runtime is None else ModelLock(runtime, place_name(self.kind))
        self._outside: RealLock | None = None
        self.count = 0

    def model(self, runtime: ControlledRuntime) -> ModelLock:
        """Return this run's model; raises ProgramRejectedError for a lock of an earlier run."""
        model = self._model
        if model is None or model.runtime is not runtime:
            if not self._index:
                raise made_in_earlier_run(runtime)
            model = self._model = ModelLock(runtime, self.kind)
            number_standing(model, self._index)
            self.count = 0
        return model

    def outside(self) -> RealLock:
        """Return the real lock."""
        if self._outside is None:
            self._outside = real_rlock() if isinstance(self, RLock) else real_lock()
        return self._outside

    def _take(
        self, runtime: ControlledRuntime, model: ModelLock, blocking: bool, timeout: float
    ) -> bool:
        operation: AtomicOperation[bool] = Acquire(model)
        if not blocking:
            operation = TryAcquire(model)
        elif timeout != -1:
            if runtime.settings.time is not TimeMode.ANY:
                raise reject(
                    runtime,
                    f"takes {model.name} with a time-out, which only TimeMode.ANY has",
                    "leave Settings(time=...) out",
                )
            operation = TimedAcquire(model, millis(timeout)) if timeout else TryAcquire(model)
        return runtime.perform(operation)

    def __exit__(self, *error: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock."""
        raise NotImplementedError

    def __repr__(self) -> str:
        # Without an address, which differs from run to run.
        return f"<{self._shown()}threading.{type(self).__name__}>"

    def _shown(self) -> str:
        """Return what the text of a lock says of its state, which is a look at it."""
        runtime = running()
        if runtime is None or runtime.current is None or runtime.current.is_looking:
            return ""
        return "unlocked " if runtime.perform(Look(self.model(runtime))) is None else "locked "

    def _at_fork_reinit(self) -> None:
        """Do nothing: there is no fork."""


class Lock(_OnModel):
    """`threading.Lock`: any thread may release it.

    Whether its holder still holds it is a step, since another thread may have released it. Only for
    a lock that Python's own code has made, as a queue does, no other thread can: then a program
    that tries is rejected.
    """

    __slots__ = ("_is_pythons",)

    def __init__(self, index: int = 0) -> None:
        super().__init__(index)
        self._is_pythons = _is_made_by_python()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock, and tell whether that succeeded."""
        runtime = running()
        if runtime is None:
            return self.outside().acquire(blocking, timeout)
        _refuse_as_python(blocking, timeout)
        acquired = self._take(runtime, self.model(runtime), blocking, timeout)
        runtime.may_interrupt()
        return acquired

    def __enter__(self) -> bool:
        runtime = running()
        if runtime is None:
            return self.outside().acquire()
        return runtime.perform(Acquire(self.model(runtime)))

    def release(self) -> None:
        """Release the lock; raises RuntimeError if no thread holds it."""
        runtime = running()
        if runtime is None:
            self.outside().release()
            return
        model = self.model(runtime)
        holder = runtime.perform(ReleaseAny(model))
        if self._is_pythons and holder != runtime.caller().number:
            raise reject(
                runtime,
                f"releases {model.name}, a lock of Python's own that another thread holds",
                "let the thread that holds it release it",
            )

    def locked(self) -> bool:
        """Tell whether a thread holds the lock."""
        runtime = running()
        if runtime is None:
            return "unlocked" not in repr(self.outside())
        return runtime.perform(Look(self.model(runtime))) is not None

    def _is_owned(self) -> bool:
        # A condition calls this before it uses its queue. Another thread that passes as well, since
        # a plain lock has no owner, uses the queue at the same time: each order is another one.
        runtime = running()
        if runtime is None:
            return self.locked()
        model = self.model(runtime)
        if self._is_pythons and model.state == runtime.caller().number:
            return True
        return runtime.perform(Confirm(model))


class RLock(_OnModel):
    """`threading.RLock`. A nested acquire is no step: no other thread can see it."""

    __slots__ = ()
    kind = "rlock"

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock, and tell whether that succeeded."""
        runtime = running()
        if runtime is None:
            return self.outside().acquire(blocking, timeout)
        _refuse_as_python(blocking, timeout)
        acquired = self._taken(runtime, blocking, timeout)
        runtime.may_interrupt()
        return acquired

    def __enter__(self) -> bool:
        runtime = running()
        return self.outside().acquire() if runtime is None else self._taken(runtime, True, -1)

    def _taken(self, runtime: ControlledRuntime, blocking: bool, timeout: float) -> bool:
        model = self.model(runtime)
        if model.state != runtime.caller().number:
            if not self._take(runtime, model, blocking, timeout):
                return False
            self.count = 0
        self.count += 1
        return True

    def release(self) -> None:
        """Release the lock; raises RuntimeError unless the caller holds it."""
        runtime = running()
        if runtime is None:
            self.outside().release()
            return
        model = self.model(runtime)
        if model.state != runtime.caller().number:
            raise RuntimeError("cannot release un-acquired lock")
        if self.count == 1:
            runtime.perform(Release(model))
        else:
            self.count -= 1

    def _is_owned(self) -> bool:
        runtime = running()
        if runtime is None:
            return "unlocked" not in repr(self.outside())
        return self.model(runtime).state == runtime.caller().number

    def _release_save(self) -> int:
        runtime = running()
        if runtime is None:
            self.release()
            return 1
        if not self._is_owned():
            raise RuntimeError("cannot release un-acquired lock")
        count = self.count
        runtime.perform(Release(self.model(runtime)))
        return count

    def _acquire_restore(self, count: int) -> None:
        runtime = running()
        if runtime is None:
            self.acquire()
            return
        runtime.perform(Acquire(self.model(runtime)))
        self.count = count


class Waiter:
    """The lock on which one thread waits for the notification of a condition."""

    __slots__ = ("_outside", "_pulse", "_taken")

    def __init__(self) -> None:
        runtime = running()
        self._taken = False
        self._outside: RealLock | None = None
        self._pulse: Pulse | None = None
        if runtime is not None:
            self._pulse = Pulse(runtime, runtime.clock, _condition_name(runtime))
            # A thread waits on one waiter at a time, so all its waiters have the same number.
            number_model(self._pulse, signal_number(runtime.caller().number))

    def outside(self) -> RealLock:
        """Return the real lock."""
        if self._outside is None:
            self._outside = real_lock()
        return self._outside

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock, which is no step, or wait until it is released."""
        pulse = self._pulse
        if pulse is None or running() is None:
            return self.outside().acquire(blocking, timeout)
        if not self._taken:
            self._taken = True
            return True
        if not blocking:
            return pulse.wait(0, 0)
        return pulse.wait(0, None if timeout == -1 else millis(timeout))

    def release(self) -> None:
        """Wake the thread; raises RuntimeError if it was woken before."""
        runtime, pulse = running(), self._pulse
        if runtime is None or pulse is None:
            self.outside().release()
            return
        if pulse.state[1]:
            raise RuntimeError("release unlocked lock")
        runtime.perform(SetFlag(pulse, "notify"))


def allocate_lock() -> Lock | Waiter:
    """`threading._allocate_lock`: a waiter for the wait of a condition, a lock for all others."""
    frame = inspect.currentframe()
    waits = frame is not None and frame.f_back is not None and frame.f_back.f_code is _WAIT
    return Waiter() if waits else Lock()


def _condition_name(runtime: ControlledRuntime) -> str:
    """Return the program's name for the condition that makes a waiter."""
    if runtime.log is None:
        return "condition"
    frame = inspect.currentframe()
    while frame is not None and is_checkers(frame.f_code.co_filename):
        frame = frame.f_back
    condition: object = None if frame is None else frame.f_locals.get("self")
    while frame is not None:
        known = dict(frame.f_locals)
        known |= getattr(known.get("self"), "__dict__", {})
        for name, value in known.items():
            if value is condition and name != "self":
                return name
        if frame.f_globals.get("__name__") not in ("threading", "queue"):
            break
        frame = frame.f_back
    return "condition"
