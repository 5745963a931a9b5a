"""The parts of every primitive of the controlled runtime: models, operations, threads.

A model is a shared object with one immutable state. An operation tells, before it is performed,
what it would access in the present state (`peek`), and performs itself as one atomic step
(`apply`). Only operations may change a model.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import FrameType
from typing import ClassVar, Generic, Protocol, TypeVar

from wheelproof.sync import Millis
from wheelproof_explore.runtime.accesses import Accesses, reading, writing
from wheelproof_explore.runtime.numbers import (
    Actor,
    ObjectNumber,
    object_number,
    signal_number,
)
from wheelproof_explore.runtime.settings import Settings

State = TypeVar("State")
Result = TypeVar("Result", covariant=True)
Performed = TypeVar("Performed")


class UnwindError(BaseException):
    """The exception that ends a thread of a finished run, at the thread's next operation."""


class Rewindable(Protocol):
    """A model that can go back to an earlier state, so that an operation can be resolved there."""

    def rewind(self, events: int) -> None:
        """Go to the state after the events of a bit mask, closed under happens-before."""
        ...

    def restore(self) -> None:
        """Go back to the state before `rewind`."""
        ...


class Enrolled(Protocol):
    """A shared object that is registered with a runtime."""

    @property
    def name(self) -> str:
        """The name that people read."""
        ...

    @property
    def number(self) -> ObjectNumber:
        """The number of the object, the same in every run."""
        ...

    @property
    def state(self) -> object:
        """The present state of the object."""
        ...


class Scheduler(Protocol):
    """The part of a runtime that its models and threads need.

    `event` is the number of the event under way, -1 before the first one.
    """

    event: int
    settings: Settings

    def enroll(self, made: Enrolled, name: str) -> tuple[ObjectNumber, str]:
        """Register a new object; returns its number, and a name that no other object has.

        The objects that other threads make do not change its number.
        """
        ...

    def perform(self, operation: "AtomicOperation[Performed]") -> "Performed":
        """Wait until the operation is permitted, then perform it."""
        ...

    def caller(self) -> "ModelThread":
        """Return the thread that is running."""
        ...

    def choose(self, alternatives: int) -> int:
        """Return an integer below `alternatives`; each value is returned in some run."""
        ...

    def undisturbed(self, action: Callable[[], None]) -> None:
        """Call `action` as part of the event under way: its operations are no events."""
        ...


class SharedObject(Generic[State]):
    """A shared object of the program under test."""

    __slots__ = ("_present", "history", "name", "number", "read", "runtime", "state", "write")

    def __init__(self, runtime: "Scheduler", name: str, state: State) -> None:
        number, known_as = runtime.enroll(self, name)
        self.begin(runtime, number, known_as, state)

    def begin(self, runtime: "Scheduler", number: ObjectNumber, name: str, state: State) -> None:
        """Initialise the object; its number is given, or derived from that of another object."""
        self.runtime = runtime
        self.name = name
        self.number = number
        self.read: Accesses = reading(number)
        self.write: Accesses = writing(number)
        self.state = state
        # Each state with the event that made it, so that `rewind` finds an earlier state.
        self.history: list[tuple[int, State]] = [(-1, state)]

    def become(self, state: State) -> None:
        """Change the state, as part of the event under way."""
        self.state = state
        self.history.append((self.runtime.event, state))

    def rewind(self, events: int) -> None:
        """Go to the state after the events of a bit mask, closed under happens-before."""
        self._present = self.state
        for event, state in reversed(self.history):
            if event < 0 or events >> event & 1:
                self.state = state
                return

    def restore(self) -> None:
        """Go back to the state before `rewind`."""
        self.state = self._present


class AtomicOperation(ABC, Generic[Result]):
    """One atomic step of a thread."""

    __slots__ = ()

    fixed: ClassVar[bool] = True
    """Whether the accesses are the same in every state in which the operation is not blocked."""
    blocking: ClassVar[bool] = False
    """Whether other threads can make it impossible again after it was possible, as they can take a
    lock. An operation that stays possible once it is, such as a wake-up, is not `blocking`."""
    observes: ClassVar[bool] = True
    """Whether the pasts published at its objects happen before its thread's next steps."""
    shares: ClassVar[bool] = False
    """Whether it publishes its thread's past even if it only reads."""
    whole: ClassVar[bool] = False
    """Whether what its thread does up to its next step is a part of it, as in a turn of a loop."""
    shows_result: ClassVar[bool] = False
    """Whether a table shows its result."""
    alternatives = 1
    """How many results a free choice has."""

    @abstractmethod
    def peek(self, thread: "ModelThread", /) -> Accesses | None:
        """Return the accesses of the operation now, or None if it is blocked."""

    def wanted(self) -> Accesses:
        """Return the accesses of a blocking operation once it can be performed."""
        raise TypeError(f"this never blocks: {self.describe()}")

    @abstractmethod
    def apply(self, thread: "ModelThread", /) -> Result:
        """Perform the operation."""

    def targets(self, _thread: "ModelThread", /) -> tuple[Rewindable, ...]:
        """Return the models whose states decide the accesses, unless these are fixed."""
        return ()

    @abstractmethod
    def describe(self) -> str:
        """Return the operation in a few words, for a table."""

    def blocked(self) -> str:
        """Return what a thread does that cannot make the operation yet."""
        return f"waits to {self.describe()}"

    def holders(self) -> tuple[Actor, ...]:
        """Return the numbers of the threads that a blocked operation waits for, if known."""
        return ()

    def awaited(self) -> str:
        """Return the name of what has to notify a blocked operation; empty if there is nothing."""
        return ""


class Target(Rewindable, Protocol):
    """A shared object as a step sees it."""

    @property
    def name(self) -> str:
        """The name that people read."""
        ...

    @property
    def write(self) -> Accesses:
        """The accesses of a step that may change the object."""
        ...


TargetT = TypeVar("TargetT", bound=Target)


class StepOn(AtomicOperation[Result], Generic[TargetT, Result]):
    """A step on one shared object; by default it may change the object."""

    __slots__ = ("_object",)

    verb: ClassVar[str]
    """The verb that a table shows; the object's name follows."""

    def __init__(self, target: TargetT) -> None:
        self._object = target

    def peek(self, _thread: "ModelThread", /) -> Accesses | None:
        """Return a write."""
        return self._object.write

    def wanted(self) -> Accesses:
        """Return a write."""
        return self._object.write

    def targets(self, _thread: "ModelThread", /) -> tuple[Rewindable, ...]:
        """Return the object."""
        return (self._object,)

    def describe(self) -> str:
        """Return the verb and the object's name."""
        return f"{self.verb} {self._object.name}"


class Reading(StepOn[SharedObject[State], State], Generic[State]):
    """A step that reads one shared object and returns its state."""

    __slots__ = ()

    def peek(self, _thread: "ModelThread", /) -> Accesses | None:
        """Return a read."""
        return self._object.read

    def wanted(self) -> Accesses:
        """Return a read."""
        return self._object.read

    def apply(self, _thread: "ModelThread", /) -> State:
        """Return the state."""
        return self._object.state


class ModelThread:
    """A thread of the program under test; `number` is the same in every run."""

    __slots__ = (
        "_signal",
        "aborted",
        "children",
        "choice",
        "daemon",
        "ended",
        "error",
        "frame",
        "interruption",
        "is_looking",
        "made",
        "name",
        "now_ms",
        "number",
        "pending",
        "resume",
        "runtime",
        "spawned_at",
        "spurious_left",
        "strangers",
        "suspend",
        "uses_files",
        "within",
    )

    def __init__(self, runtime: "Scheduler", number: Actor, name: str) -> None:
        self.runtime = runtime
        self.number = number
        self.name = name
        self.pending: AtomicOperation[object] | None = None
        self.resume: Callable[[], object] = _never
        self.suspend: Callable[[], object] = _never
        self.aborted = False
        self.ended = False
        # Whether it may still wait when all other threads have ended.
        self.daemon = False
        self.error: BaseException | None = None
        # The frame in which it waits for its next step, while the runtime keeps frames.
        self.frame: FrameType | None = None
        # The number of the object that it made last.
        self.made = object_number(number, 0)
        self.children = 0
        self.strangers = 0
        self.choice = 0
        # What code that nobody sees, and that has called the code under way, may still access.
        self.within: Accesses = ()
        # Whether the checker's own code is under way, which audit hooks may be called by.
        self.is_looking = False
        # How many calls are under way that say that they use files.
        self.uses_files = 0
        self._signal: _Signal | None = None
        # Whether it was interrupted; None without a handle, by which it could be interrupted.
        self.interruption: SharedObject[bool] | None = None
        self.spawned_at = -1
        self.spurious_left = runtime.settings.spurious_wakeups
        self.now_ms = Millis(0)

    @property
    def signal(self) -> SharedObject[bool]:
        """Whether the thread, while it waits on a condition, has been notified."""
        if self._signal is None:
            self._signal = _Signal(self.runtime, self.number)
        return self._signal


class _Signal(SharedObject[bool]):
    """The signal of a thread; see `ModelThread.signal`."""

    __slots__ = ()

    def __init__(self, runtime: "Scheduler", thread: Actor) -> None:
        self.begin(runtime, signal_number(thread), "signal", False)


def _never() -> None:
    raise AssertionError("the thread has not been given anything to run on")
