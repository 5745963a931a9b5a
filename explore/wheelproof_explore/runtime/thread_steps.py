"""Threads that a program under test makes, and the steps that belong to no primitive."""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Protocol

from wheelproof.sync import Millis
from wheelproof_explore.runtime.accesses import (
    INVOKE,
    RETURN,
    Accesses,
    writing,
)
from wheelproof_explore.runtime.model import (
    AtomicOperation,
    ModelThread,
    Rewindable,
    Scheduler,
    SharedObject,
    StepOn,
)
from wheelproof_explore.runtime.numbers import (
    INTERRUPTION,
    Actor,
    choice_number,
    field_number,
)
from wheelproof_explore.runtime.settings import TimeMode
from wheelproof_explore.runtime.timing import ControlledClock, StartTimeout

NO_INTERRUPT = "no interrupt"
"""What a step says at which the main thread could have been interrupted, and was not."""
FAULT_COUNTED = "the fault is counted"
QUIET = frozenset((NO_INTERRUPT, FAULT_COUNTED))
"""What steps say that a table need not show."""


class Life(Enum):
    """The stages of a thread's life."""

    NEW = auto()
    STARTED = auto()
    ENDED = auto()


class Interruption(SharedObject[bool]):
    """The interrupt status of the thread of a handle."""

    __slots__ = ()

    def __init__(self, handle: "ThreadHandle") -> None:
        # Numbered as a field of the handle, so that it changes no other object's number.
        number = field_number(INTERRUPTION, handle.number)
        self.begin(handle.runtime, number, f"{handle.name}.interrupted", False)


class ThreadMaker(Scheduler, Protocol):
    """A runtime that can add a thread to a run."""

    def spawn(self, handle: "ThreadHandle", parent: ModelThread) -> None:
        """Add the thread of `handle`; it comes to its first operation before any other step."""
        ...


class ThreadHandle(SharedObject[Life]):
    """The result of `sync.thread`: the life of a thread, which other threads start and join."""

    __slots__ = ("clock", "daemon", "interruption", "maker", "target", "thread")

    def __init__(
        self, runtime: "ThreadMaker", clock: ControlledClock, target: Callable[[], None], name: str
    ) -> None:
        super().__init__(runtime, name, Life.NEW)
        self.maker = runtime
        self.clock = clock
        self.target = target
        self.thread: ModelThread | None = None
        self.interruption = Interruption(self)
        self.daemon = False

    def start(self) -> None:
        """Start the thread; only once."""
        self.runtime.perform(Start(self))

    def join(self, timeout_ms: Millis | None = None) -> bool:
        """Wait for the end of the thread, and tell whether it has ended."""
        runtime, clock = self.runtime, self.clock
        deadline: int | None = None
        if timeout_ms is not None:
            deadline = 0
            if clock.mode is not TimeMode.ANY:
                deadline = runtime.perform(StartTimeout(clock, timeout_ms))
        return runtime.perform(Join(self, deadline))

    def interrupt(self) -> None:
        """Set the thread's interrupt status."""
        self.runtime.perform(SetInterrupted(self.interruption))

    def is_current(self) -> bool:
        """Tell whether the caller runs on this thread."""
        return self.thread is not None and self.runtime.caller() is self.thread


class Start(StepOn[ThreadHandle, None]):
    """Starting a thread."""

    __slots__ = ()
    verb = "start"

    def apply(self, thread: ModelThread, /) -> None:
        """Start the thread; raises RuntimeError the second time."""
        handle = self._object
        if handle.state is not Life.NEW:
            raise RuntimeError(f"{handle.name}: threads can only be started once")
        handle.become(Life.STARTED)
        handle.maker.spawn(handle, thread)


class Finish(StepOn[ThreadHandle, None]):
    """The end of a thread that others may join."""

    __slots__ = ()

    def apply(self, _thread: ModelThread, /) -> None:
        """End the thread."""
        self._object.become(Life.ENDED)

    def describe(self) -> str:
        """Return the word for the end."""
        return "end"


class Join(AtomicOperation[bool]):
    """Waiting for the end of a thread, perhaps with a deadline."""

    __slots__ = ("_deadline", "_handle")
    shows_result = True
    fixed = False
    blocking = True

    def __init__(self, handle: ThreadHandle, deadline: int | None) -> None:
        self._handle = handle
        self._deadline = deadline

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a read of the thread's life; None while it runs and the deadline is ahead."""
        handle, clock = self._handle, self._handle.clock
        if self._deadline is None:
            return None if handle.state is Life.STARTED else handle.read
        if handle.state is Life.STARTED and not clock.expired(self._deadline):
            return None
        return handle.read + clock.shared

    def wanted(self) -> Accesses:
        """Return a read of the thread's life, and with a deadline what that needs."""
        life, clock = self._handle.read, self._handle.clock
        return life if self._deadline is None else life + clock.shared

    def apply(self, thread: ModelThread, /) -> bool:
        """Return whether the thread has ended; raises RuntimeError if it was never started."""
        handle = self._handle
        if self._deadline is not None:
            handle.clock.forget(thread)
        if handle.state is Life.NEW:
            raise RuntimeError(f"{handle.name}: cannot join a thread before it is started")
        return handle.state is Life.ENDED

    def targets(self, _thread: ModelThread, /) -> tuple[Rewindable, ...]:
        """Return the thread's life and the clock."""
        return (self._handle, self._handle.clock)

    def describe(self) -> str:
        """Return the thread's name."""
        return f"join {self._handle.name}"

    def blocked(self) -> str:
        """Return for whose end a thread waits."""
        return f"waits for {self._handle.name} to end"

    def holders(self) -> tuple[Actor, ...]:
        """Return the thread itself."""
        return () if self._handle.thread is None else (self._handle.thread.number,)


class SetInterrupted(StepOn[Interruption, None]):
    """Setting the interrupt status of a thread."""

    __slots__ = ()
    verb = "set"

    def apply(self, _thread: ModelThread, /) -> None:
        """Set the status."""
        self._object.become(True)


class Choose(AtomicOperation[int]):
    """A free choice of an integer below a bound: the explorer tries every one."""

    __slots__ = ("alternatives",)
    shows_result = True

    def __init__(self, alternatives: int) -> None:
        self.alternatives = alternatives

    def peek(self, thread: ModelThread, /) -> Accesses | None:
        """Return a write that conflicts with the thread's other choices alone."""
        return writing(choice_number(thread.number))

    def apply(self, thread: ModelThread, /) -> int:
        """Return the value that the scheduler has chosen, 0 by default."""
        choice, thread.choice = thread.choice, 0
        return choice

    def describe(self) -> str:
        """Return the bound."""
        return f"choose below {self.alternatives}"


class MayFail(Choose):
    """A choice between what may happen, in words: a call returns, 0, or raises, from 1."""

    __slots__ = ("_said", "_words")
    shows_result = False

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(len(words))
        self._words = words
        self._said = " or ".join(words)

    def apply(self, thread: ModelThread, /) -> int:
        """Return the value that the scheduler has chosen, 0 by default."""
        chosen = super().apply(thread)
        self._said = self._words[chosen]
        return chosen

    def describe(self) -> str:
        """Return what has happened, or what may."""
        return self._said


class Mark(AtomicOperation[None]):
    """The invocation or the return of a public operation."""

    __slots__ = ("_accesses", "_text")

    def __init__(self, accesses: Accesses, text: str) -> None:
        self._accesses = accesses
        self._text = text

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return an access of the history."""
        return self._accesses

    def apply(self, thread: ModelThread, /) -> None:
        """Do nothing: the step itself is the event."""

    def describe(self) -> str:
        """Return what was invoked or returned."""
        return self._text


class Observe(AtomicOperation[None]):
    """Reading several objects at one moment."""

    __slots__ = ("_accesses", "_look", "_name", "_runtime")

    def __init__(
        self,
        runtime: Scheduler,
        name: str,
        objects: Sequence[Accesses],
        look: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._name = name
        self._accesses: Accesses = tuple(access for accesses in objects for access in accesses)
        self._look = look

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a read of each object."""
        return self._accesses

    def apply(self, _thread: ModelThread, /) -> None:
        """Look at the objects; an exception is the thread's failure."""
        self._runtime.undisturbed(self._look)

    def describe(self) -> str:
        """Return what is looked at."""
        return f"observe {self._name}"


def invocation(text: str) -> Mark:
    """Return the invocation of a public operation."""
    return Mark(INVOKE, f"call {text}")


def completion(text: str) -> Mark:
    """Return the return of a public operation."""
    return Mark(RETURN, f"return {text}")
