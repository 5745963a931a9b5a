"""Conditions of the controlled runtime.

`wait` is three steps: entering the queue and releasing the lock at once; waking up; taking the lock
again. A time-out takes the thread out of the queue, so its race with a notification is the race of
two writers of the queue.
"""

from typing import TYPE_CHECKING

from wheelproof.units import Millis
from wheelproof_spec.explore.accesses import Accesses
from wheelproof_spec.explore.locks import Acquire, ModelLock
from wheelproof_spec.explore.model import Model, ModelThread, Operation, Rewindable

if TYPE_CHECKING:
    from wheelproof_spec.explore.runtime import ControlledRuntime


class ModelCondition(Model[tuple[ModelThread, ...]]):
    """A condition; the state is the queue of the threads that wait, first come, first served."""

    __slots__ = ("lock",)

    def __init__(self, runtime: "ControlledRuntime", lock: ModelLock, name: str) -> None:
        super().__init__(runtime, name, ())
        self.lock = lock

    def wait(self, timeout_ms: Millis | None = None) -> bool:
        """Release the lock, wait to be notified, take the lock again."""
        perform = self.runtime.perform
        deadline = perform(Wait(self, timeout_ms))
        spurious = deadline is None and self.runtime.caller().spurious_left > 0
        notified = perform(WakeUp(self, deadline, spurious))
        perform(Acquire(self.lock))
        return notified

    def notify(self) -> None:
        """Wake the thread that has waited longest, if any; or another one, if so set."""
        runtime = self.runtime
        among = runtime.settings.notify_among
        # Chosen beforehand: who waits is known only when the step is made.
        chosen = runtime.choose(among) if among > 1 else 0
        runtime.perform(Notify(self, chosen))

    def notify_all(self) -> None:
        """Wake all waiting threads."""
        self.runtime.perform(Notify(self, None))


class Wait(Operation[int | None]):
    """Entering the queue and releasing the lock, in one step; returns the deadline."""

    __slots__ = ("_condition", "_timeout_ms")

    def __init__(self, condition: ModelCondition, timeout_ms: int | None) -> None:
        self._condition = condition
        self._timeout_ms = timeout_ms

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return writes of the queue and of the lock."""
        condition = self._condition
        accesses = condition.write + condition.lock.write
        return accesses if self._timeout_ms is None else accesses + condition.runtime.clock.shared

    def apply(self, thread: ModelThread, /) -> int | None:
        """Enter the queue; raises RuntimeError unless the caller holds the lock."""
        condition = self._condition
        if condition.lock.state != thread.number:
            raise RuntimeError(f"{condition.name}: waits without holding {condition.lock.name}")
        condition.become((*condition.state, thread))
        condition.lock.become(None)
        if self._timeout_ms is None:
            return None
        return condition.runtime.clock.register(thread, max(self._timeout_ms, 0))

    def describe(self) -> str:
        """Return the condition's name and the longest wait."""
        limit = "" if self._timeout_ms is None else f" at most {self._timeout_ms} ms"
        return f"wait {self._condition.name}{limit}"


class WakeUp(Operation[bool]):
    """Leaving the queue: notified, or because the time is over, or for no reason at all."""

    __slots__ = ("_deadline", "_notified", "_spurious", "condition")
    fixed = False

    def __init__(self, condition: ModelCondition, deadline: int | None, spurious: bool) -> None:
        self.condition = condition
        self._deadline = deadline
        self._spurious = spurious
        self._notified = False

    def peek(self, thread: ModelThread, /) -> Accesses | None:
        """Return a write of the thread's signal, and of the queue unless it was notified."""
        condition = self.condition
        if self._deadline is None:
            if thread.signal.state:
                return thread.signal.write
            return condition.write + thread.signal.write if self._spurious else None
        shared = condition.runtime.clock.shared
        if thread.signal.state:
            return thread.signal.write + shared
        if condition.runtime.clock.expired(self._deadline):
            return condition.write + thread.signal.write + shared
        return None

    def apply(self, thread: ModelThread, /) -> bool:
        """Go on; False if the time is over."""
        condition = self.condition
        self._notified = thread.signal.state
        if self._notified:
            thread.signal.become(False)
            if self._deadline is not None:
                condition.runtime.clock.forget(thread)
            return True
        condition.become(tuple(one for one in condition.state if one is not thread))
        if self._deadline is None:
            thread.spurious_left -= 1
            return True
        condition.runtime.clock.pass_over(thread, self._deadline)
        return False

    def targets(self, thread: ModelThread, /) -> tuple[Rewindable, ...]:
        """Return the thread's signal and the clock."""
        return (thread.signal, self.condition.runtime.clock)

    def describe(self) -> str:
        """Return how it came about."""
        if self._notified:
            return f"notified by {self.condition.name}"
        reason = "spurious wake-up" if self._deadline is None else "time-out"
        return f"{reason} on {self.condition.name}"


class Notify(Operation[None]):
    """Waking one thread, or all (None); without anybody in the queue it only reads."""

    __slots__ = ("_chosen", "_condition")
    fixed = False

    def __init__(self, condition: ModelCondition, chosen: int | None) -> None:
        self._condition = condition
        self._chosen = chosen

    def peek(self, _thread: ModelThread, /) -> Accesses | None:
        """Return writes of the queue and of the signals of those who are woken."""
        condition = self._condition
        if not condition.state:
            return condition.read
        accesses = condition.write
        for waiter in self._woken():
            accesses += waiter.signal.write
        return accesses

    def apply(self, thread: ModelThread, /) -> None:
        """Wake them; raises RuntimeError unless the caller holds the lock."""
        condition = self._condition
        if condition.lock.state != thread.number:
            raise RuntimeError(f"{condition.name}: notifies without holding {condition.lock.name}")
        woken = self._woken()
        if woken:
            condition.become(tuple(one for one in condition.state if one not in woken))
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
