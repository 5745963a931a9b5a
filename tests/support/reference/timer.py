"""Timers on a manual clock whose tasks write their names down."""

import threading
from collections.abc import Callable, Sequence

from wheelproof.clock import ManualClock
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, Timer, TimerTask
from wheelproof.units import Millis

NO_WAIT = Millis(0)
_STUCK_AFTER_S = 120.0


def await_event(event: threading.Event) -> None:
    """Wait for an event that another thread is going to set."""
    assert event.wait(_STUCK_AFTER_S), "no thread sets the event"


class NamedTask(TimerTask):
    """Writes its name into a list when it runs."""

    __slots__ = ("fired", "name")

    def __init__(self, name: str, delay_ms: int, fired: list[str]) -> None:
        super().__init__(delay_ms)
        self.name = name
        self.fired = fired

    def run(self) -> None:
        self.fired.append(self.name)


class CallingTask(TimerTask):
    """Calls a function when it runs."""

    __slots__ = ("_call",)

    def __init__(self, delay_ms: int, call: Callable[[], object]) -> None:
        super().__init__(delay_ms)
        self._call = call

    def run(self) -> None:
        self._call()


class Bench:
    """A timer with everything around it that a test turns: clock, executor, what has run."""

    def __init__(
        self,
        timer_class: type[SystemTimer] = SystemTimer,
        *,
        tick_ms: int = 1,
        wheel_size: int = 20,
        start_ms: int = 0,
        executor: DeferredExecutor | None = None,
    ) -> None:
        self.fired: list[str] = []
        self.clock = ManualClock(start_ms)
        self.executor = DeferredExecutor() if executor is None else executor
        self.timer = timer_class(
            "bench",
            tick_ms=tick_ms,
            wheel_size=wheel_size,
            clock=self.clock,
            executor=self.executor,
        )

    def task(self, name: str, delay_ms: int) -> NamedTask:
        """Return a new task, not yet added."""
        return NamedTask(name, delay_ms, self.fired)

    def add(self, name: str, delay_ms: int) -> NamedTask:
        """Add a new task."""
        task = self.task(name, delay_ms)
        self.timer.add(task)
        return task

    def run_submitted(self) -> list[str]:
        """Run what the timer has submitted and return the names since the last call, in order."""
        self.executor.run_pending()
        names = list(self.fired)
        self.fired.clear()
        return names

    def advance(self) -> Sequence[str]:
        """Advance without waiting and return what ran."""
        self.timer.advance_clock(NO_WAIT)
        return self.run_submitted()

    def advance_to(self, time_ms: int) -> Sequence[str]:
        """Move the clock, advance without waiting, and return what ran."""
        self.clock.advance_to(time_ms)
        return self.advance()


class FailingTimer(Timer):
    """Another timer whose first advances raise."""

    def __init__(self, timer: Timer, *errors: BaseException) -> None:
        self._timer = timer
        self.errors = list(errors)

    def add(self, timer_task: TimerTask) -> None:
        """Add to the other timer."""
        self._timer.add(timer_task)

    def advance_clock(self, timeout_ms: int) -> bool:
        """Raise what is left to raise, or advance the other timer."""
        if self.errors:
            raise self.errors.pop(0)
        return self._timer.advance_clock(timeout_ms)

    def size(self) -> int:
        """Return the size of the other timer."""
        return self._timer.size()

    def close(self) -> None:
        """Close the other timer."""
        self._timer.close()
