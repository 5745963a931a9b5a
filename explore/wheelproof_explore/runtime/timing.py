"""Virtual time: a clock, and when a wait with a time-out may end."""

from wheelproof.sync import Millis
from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.model import (
    ModelThread,
    Scheduler,
    SharedObject,
    StepOn,
)
from wheelproof_explore.runtime.settings import TimeMode

Deadlines = tuple[tuple[int, int], ...]
"""The threads that wait for a time, by number, each with its deadline."""


class ControlledClock(SharedObject[tuple[int, Deadlines]]):
    """The clock of one run, in milliseconds from 0; the state is the time and the deadlines."""

    __slots__ = ("mode", "shared")

    def __init__(self, runtime: Scheduler, mode: TimeMode) -> None:
        super().__init__(runtime, "clock", (0, ()))
        self.mode = mode
        # In the other modes no thread can see the order in which deadlines were registered.
        self.shared: Accesses = self.write if mode is TimeMode.CLOCK else ()

    def now(self, thread: ModelThread) -> Millis:
        """Return the time that `thread` reads."""
        return thread.now_ms if self.mode is TimeMode.ANY else Millis(self.state[0])

    def register(self, thread: ModelThread, timeout_ms: int) -> int:
        """Register a wait of `thread` with this time-out; returns the deadline."""
        deadline = self.now(thread) + timeout_ms
        if self.mode is not TimeMode.ANY:
            now, deadlines = self.state
            self.become((now, (*deadlines, (thread.number, deadline))))
        return deadline

    def forget(self, thread: ModelThread) -> None:
        """Remove the deadline of `thread`."""
        if self.mode is not TimeMode.ANY:
            now, deadlines = self.state
            self.become(
                (
                    now,
                    tuple(registered for registered in deadlines if registered[0] != thread.number),
                )
            )

    def expired(self, deadline: int) -> bool:
        """Tell whether a wait until `deadline` may end now."""
        return self.mode is TimeMode.ANY or self.state[0] >= deadline

    def pass_over(self, thread: ModelThread, deadline: int) -> None:
        """Record that a time-out of `thread` has fired."""
        self.forget(thread)
        thread.now_ms = Millis(max(thread.now_ms, deadline))

    def next_deadline(self) -> int | None:
        """Return the next time at which a wait ends, None if no thread waits for a time."""
        now, deadlines = self.state
        return min((deadline for _, deadline in deadlines if deadline > now), default=None)

    def move_on(self) -> None:
        """Advance to the next deadline."""
        deadline = self.next_deadline()
        if deadline is not None:
            self.become((deadline, self.state[1]))


class ReadClock(StepOn[ControlledClock, Millis]):
    """Reading the clock, as `monotonic_ms` does."""

    __slots__ = ()
    shows_result = True

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a read of the clock."""
        return self._object.read

    def apply(self, thread: ModelThread, /) -> Millis:
        """Return the time."""
        return self._object.now(thread)

    def describe(self) -> str:
        """Return the name of the clock."""
        return "clock"


class StartTimeout(StepOn[ControlledClock, int]):
    """The registration of a deadline, a step of its own unless TimeMode.ANY is set."""

    __slots__ = ("_timeout_ms",)

    def __init__(self, clock: ControlledClock, timeout_ms: int) -> None:
        super().__init__(clock)
        self._timeout_ms = timeout_ms

    def apply(self, thread: ModelThread, /) -> int:
        """Return the deadline."""
        return self._object.register(thread, self._timeout_ms)

    def describe(self) -> str:
        """Return the longest wait."""
        return f"wait at most {self._timeout_ms} ms from now"


class Tick(StepOn[ControlledClock, None]):
    """The step of time itself: the clock advances to the next deadline."""

    __slots__ = ()
    blocking = True

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return a write of the clock, None if no thread waits for a time."""
        return None if self._object.next_deadline() is None else self._object.write

    def apply(self, _thread: ModelThread, /) -> None:
        """Advance the clock."""
        self._object.move_on()

    def describe(self) -> str:
        """Return the step with the present time."""
        return f"tick to {self._object.state[0]} ms"
