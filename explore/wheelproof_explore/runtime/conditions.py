"""Conditions of the controlled runtime.

`wait` has three steps: enter the queue and release the lock at once; wake up; take the lock again.
A time-out or an interruption removes the thread from the queue, so its race with a notification is
a race of two writes of the queue. If time-out and interruption are both possible, the race for the
thread's interrupt status decides; a notified thread does not look at that status.
"""

from enum import Enum

from wheelproof.sync import Millis, ThreadInterruptedError
from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.locks import Acquire, ModelLock
from wheelproof_explore.runtime.model import (
    AtomicOperation,
    ModelThread,
    Rewindable,
    Scheduler,
    SharedObject,
)
from wheelproof_explore.runtime.timing import ControlledClock


class ModelCondition(SharedObject[tuple[ModelThread, ...]]):
    """A condition; its state is the first-in, first-out queue of the waiting threads."""

    __slots__ = ("clock", "lock")

    def __init__(
        self, runtime: Scheduler, clock: ControlledClock, lock: ModelLock, name: str
    ) -> None:
        super().__init__(runtime, name, ())
        self.clock = clock
        self.lock = lock

    def wait(self, timeout_ms: Millis | None = None) -> bool:
        """Release the lock, wait to be notified, take the lock again."""
        perform = self.runtime.perform
        deadline = perform(Wait(self, timeout_ms))
        spurious = deadline is None and self.runtime.caller().spurious_left > 0
        waking = perform(WakeUp(self, deadline, spurious))
        perform(Acquire(self.lock))
        if waking is Waking.INTERRUPTED:
            raise ThreadInterruptedError
        return waking is not Waking.TIMED_OUT

    def notify(self) -> None:
        """Wake the thread that has waited longest, if any; see `Settings.notify_among`."""
        runtime = self.runtime
        among = runtime.settings.notify_among
        # The choice comes first: the waiting threads are known only when the step is made.
        chosen = runtime.choose(among) if among > 1 else 0
        runtime.perform(Notify(self, chosen))

    def notify_all(self) -> None:
        """Wake all waiting threads."""
        self.runtime.perform(Notify(self, None))


class Waking(Enum):
    """The reason why a wait has ended."""

    NOTIFIED = "notified by"
    TIMED_OUT = "time-out on"
    SPURIOUS = "spurious wake-up on"
    INTERRUPTED = "interrupted on"


class Wait(AtomicOperation[int | None]):
    """Entering the queue and releasing the lock, in one step; returns the deadline.

    Raises ThreadInterruptedError instead if the thread has been interrupted.
    """

    __slots__ = ("_condition", "_timeout_ms")
    fixed = False

    def __init__(self, condition: ModelCondition, timeout_ms: int | None) -> None:
        self._condition = condition
        self._timeout_ms = timeout_ms

    def peek(self, thread: ModelThread, /) -> Accesses | None:
        """Return writes of the queue and of the lock, or of the interrupt status if that is set."""
        condition = self._condition
        accesses = condition.write + condition.lock.write
        interruption = thread.interruption
        if interruption is not None:
            if interruption.state:
                return interruption.write
            accesses += interruption.read
        return accesses if self._timeout_ms is None else accesses + condition.clock.shared

    def apply(self, thread: ModelThread, /) -> int | None:
        """Enter the queue; raises RuntimeError unless the caller holds the lock."""
        condition = self._condition
        if condition.lock.state != thread.number:
            raise RuntimeError(f"{condition.name}: waits without holding {condition.lock.name}")
        interruption = thread.interruption
        if interruption is not None and interruption.state:
            interruption.become(False)
            raise ThreadInterruptedError
        condition.become((*condition.state, thread))
        condition.lock.become(None)
        if self._timeout_ms is None:
            return None
        return condition.clock.register(thread, max(self._timeout_ms, 0))

    def targets(self, thread: ModelThread, /) -> tuple[Rewindable, ...]:
        """Return the thread's interrupt status."""
        return () if thread.interruption is None else (thread.interruption,)

    def describe(self) -> str:
        """Return the condition's name and the longest wait."""
        limit = "" if self._timeout_ms is None else f" at most {self._timeout_ms} ms"
        return f"wait {self._condition.name}{limit}"


class WakeUp(AtomicOperation[Waking]):
    """The wake-up from a wait: notified, interrupted, timed out, or spurious."""

    __slots__ = ("_deadline", "_spurious", "_waking", "condition")
    fixed = False

    def __init__(self, condition: ModelCondition, deadline: int | None, spurious: bool) -> None:
        self.condition = condition
        self._deadline = deadline
        self._spurious = spurious
        self._waking = Waking.NOTIFIED

    def peek(self, thread: ModelThread, /) -> Accesses | None:
        """Return a write of the thread's signal; unless it was notified, of the queue as well.

        Without a notification the interrupt status is written if it is set, else read.
        """
        condition = self.condition
        waking = self._cause(thread)
        if waking is None:
            return None
        accesses = thread.signal.write
        interruption = thread.interruption
        if waking is not Waking.NOTIFIED:
            accesses = condition.write + accesses
            if interruption is not None:
                accesses += interruption.write if interruption.state else interruption.read
        return accesses if self._deadline is None else accesses + condition.clock.shared

    def apply(self, thread: ModelThread, /) -> Waking:
        """Wake up, and return the reason."""
        waking = self._cause(thread)
        assert waking is not None
        self._waking = waking
        self._leave(thread, waking)
        if self._deadline is not None:
            clock = self.condition.clock
            if waking is Waking.TIMED_OUT:
                clock.pass_over(thread, self._deadline)
            else:
                clock.forget(thread)
        return waking

    def targets(self, thread: ModelThread, /) -> tuple[Rewindable, ...]:
        """Return the thread's signal, its interrupt status and the clock."""
        clock = self.condition.clock
        if thread.interruption is None:
            return (thread.signal, clock)
        return (thread.signal, thread.interruption, clock)

    def describe(self) -> str:
        """Return the reason of the wake-up, and the condition's name."""
        return f"{self._waking.value} {self.condition.name}"

    def awaited(self) -> str:
        """Return the condition's name."""
        return self.condition.name

    def is_owed(self, thread: ModelThread) -> bool:
        """Tell whether the thread has a reason to wake up."""
        return self._cause(thread) not in (None, Waking.SPURIOUS)

    def _cause(self, thread: ModelThread) -> Waking | None:
        if thread.signal.state:
            return Waking.NOTIFIED
        if thread.interruption is not None and thread.interruption.state:
            return Waking.INTERRUPTED
        if self._deadline is None:
            return Waking.SPURIOUS if self._spurious else None
        return Waking.TIMED_OUT if self.condition.clock.expired(self._deadline) else None

    def _leave(self, thread: ModelThread, waking: Waking) -> None:
        if waking is Waking.NOTIFIED:
            thread.signal.become(False)
            return
        condition = self.condition
        condition.become(tuple(waiter for waiter in condition.state if waiter is not thread))
        if waking is Waking.SPURIOUS:
            thread.spurious_left -= 1
        elif waking is Waking.INTERRUPTED and thread.interruption is not None:
            thread.interruption.become(False)


class Notify(AtomicOperation[None]):
    """Waking one thread, or all (None); if the queue is empty, it only reads."""

    __slots__ = ("_chosen", "_condition")
    fixed = False

    def __init__(self, condition: ModelCondition, chosen: int | None) -> None:
        self._condition = condition
        self._chosen = chosen

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return writes of the queue and of the signals of the woken threads."""
        condition = self._condition
        if not condition.state:
            return condition.read
        accesses = condition.write
        for waiter in self._woken():
            accesses += waiter.signal.write
        return accesses

    def apply(self, thread: ModelThread, /) -> None:
        """Wake the threads; raises RuntimeError unless the caller holds the lock."""
        condition = self._condition
        if condition.lock.state != thread.number:
            raise RuntimeError(f"{condition.name}: notifies without holding {condition.lock.name}")
        woken = self._woken()
        if woken:
            condition.become(tuple(waiter for waiter in condition.state if waiter not in woken))
        for waiter in woken:
            waiter.signal.become(True)

    def targets(self, _thread: ModelThread, /) -> tuple[Rewindable, ...]:
        """Return the queue."""
        return (self._condition,)

    def describe(self) -> str:
        """Return the condition's name."""
        return f"{'notify_all' if self._chosen is None else 'notify'} {self._condition.name}"

    def _woken(self) -> tuple[ModelThread, ...]:
        waiting = self._condition.state
        if self._chosen is None or not waiting:
            return waiting
        return (waiting[self._chosen % len(waiting)],)
