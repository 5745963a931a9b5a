"""Steps of `threading` that `wheelproof.sync` does not have: signals, timed locks, sleeping."""

from typing import TypeVar

from wheelproof.sync import Millis
from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.locks import Owned
from wheelproof_explore.runtime.model import (
    AtomicOperation,
    ModelThread,
    Reading,
    Rewindable,
    Scheduler,
    SharedObject,
    StepOn,
)
from wheelproof_explore.runtime.numbers import Actor
from wheelproof_explore.runtime.settings import TimeMode
from wheelproof_explore.runtime.timing import ControlledClock, StartTimeout

State = TypeVar("State")


def deadline_after(runtime: Scheduler, clock: ControlledClock, timeout_ms: int) -> int:
    """Return the deadline of a wait of the running thread; a step unless TimeMode.ANY is set."""
    if clock.mode is TimeMode.ANY:
        return clock.now(runtime.caller()) + timeout_ms
    return runtime.perform(StartTimeout(clock, timeout_ms))


class Pulse(SharedObject[tuple[bool, int]]):
    """A flag that threads can await; its state: whether it is set, how often it became set."""

    __slots__ = ("clock",)

    def __init__(self, runtime: Scheduler, clock: ControlledClock, name: str) -> None:
        super().__init__(runtime, name, (False, 0))
        self.clock = clock

    def wait(self, since: int, timeout_ms: int | None) -> bool:
        """Wait until the pulse has been set more than `since` times; return False on a time-out."""
        runtime, clock = self.runtime, self.clock
        deadline = None if timeout_ms is None else deadline_after(runtime, clock, timeout_ms)
        return runtime.perform(Await(self, since, deadline))


class Await(AtomicOperation[bool]):
    """Waiting for a pulse, perhaps with a deadline."""

    __slots__ = ("_deadline", "_given", "_pulse", "_since")
    fixed = False

    def __init__(self, pulse: Pulse, since: int, deadline: int | None) -> None:
        self._pulse = pulse
        self._since = since
        self._deadline = deadline
        self._given = True

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a read; None while the pulse has not come and the deadline has not passed."""
        pulse, deadline = self._pulse, self._deadline
        given = pulse.state[1] > self._since
        if deadline is None:
            return pulse.read if given else None
        return pulse.read + pulse.clock.shared if given or pulse.clock.expired(deadline) else None

    def apply(self, thread: ModelThread, /) -> bool:
        """Return whether the pulse has come."""
        clock, deadline = self._pulse.clock, self._deadline
        self._given = self._pulse.state[1] > self._since
        if deadline is not None:
            if self._given:
                clock.forget(thread)
            else:
                clock.pass_over(thread, deadline)
        return self._given

    def targets(self, _thread: ModelThread, /) -> tuple[Rewindable, ...]:
        """Return the pulse and the clock."""
        return (self._pulse, self._pulse.clock)

    def describe(self) -> str:
        """Return how the wait ended, and the name of the pulse."""
        return f"{'woken by' if self._given else 'time-out on'} {self._pulse.name}"

    def awaited(self) -> str:
        """Return the name of the pulse."""
        return self._pulse.name


class SetFlag(StepOn[Pulse, None]):
    """Setting a pulse, or the flag of an event."""

    __slots__ = ("_verb",)

    def __init__(self, pulse: Pulse, verb: str) -> None:
        super().__init__(pulse)
        self._verb = verb

    def apply(self, _thread: ModelThread, /) -> None:
        """Set the flag; waiting threads can go on."""
        given, times = self._object.state
        self._object.become((True, times if given else times + 1))

    def describe(self) -> str:
        """Return the verb and the name of the pulse."""
        return f"{self._verb} {self._object.name}"


class ClearFlag(StepOn[Pulse, None]):
    """Clearing the flag of an event."""

    __slots__ = ()
    verb = "clear"

    def apply(self, _thread: ModelThread, /) -> None:
        """Clear the flag; threads that it has woken still go on."""
        self._object.become((False, self._object.state[1]))


class Look(Reading[State]):
    """Reading a lock, a flag or the life of a thread."""

    __slots__ = ()
    verb = "look at"


class Confirm(StepOn[Owned, bool]):
    """Looking whether a lock is held, in order with all other looks: state of its own follows."""

    __slots__ = ()
    verb = "look at"

    def apply(self, _thread: ModelThread, /) -> bool:
        """Return whether a thread holds the lock."""
        return self._object.state is not None


class TimedAcquire(StepOn[Owned, bool]):
    """Taking a lock within a time, which may be over at any moment: see TimeMode.ANY."""

    __slots__ = ("_timeout_ms",)
    shows_result = True
    fixed = False

    def __init__(self, lock: Owned, timeout_ms: int) -> None:
        super().__init__(lock)
        self._timeout_ms = timeout_ms

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a write if the lock is free, else a read."""
        return self._object.write if self._object.state is None else self._object.read

    def apply(self, thread: ModelThread, /) -> bool:
        """Take the lock if it is free, else let the time-out pass."""
        if self._object.state is not None:
            thread.now_ms = Millis(thread.now_ms + self._timeout_ms)
            return False
        self._object.become(thread.number)
        return True

    def describe(self) -> str:
        """Return the lock and the longest wait."""
        return f"acquire {self._object.name} in {self._timeout_ms} ms"


class ReleaseAny(StepOn[Owned, Actor]):
    """Releasing a lock that any thread may release."""

    __slots__ = ()
    verb = "release"

    def apply(self, _thread: ModelThread, /) -> Actor:
        """Release the lock and return who held it; raises RuntimeError if no thread does."""
        holder = self._object.state
        if holder is None:
            raise RuntimeError("release unlocked lock")
        self._object.become(None)
        return holder


class Sleep(AtomicOperation[None]):
    """Sleeping until `deadline`."""

    __slots__ = ("_clock", "_deadline")
    fixed = False

    def __init__(self, clock: ControlledClock, deadline: int) -> None:
        self._clock = clock
        self._deadline = deadline

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a write of the clock with TimeMode.CLOCK, else (); None before the deadline."""
        return self._clock.shared if self._clock.expired(self._deadline) else None

    def apply(self, thread: ModelThread, /) -> None:
        """End the sleep."""
        self._clock.pass_over(thread, self._deadline)

    def targets(self, _thread: ModelThread, /) -> tuple[Rewindable, ...]:
        """Return the clock."""
        return (self._clock,)

    def describe(self) -> str:
        """Return the deadline."""
        return f"sleep until {self._deadline} ms"
