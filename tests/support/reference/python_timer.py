"""The reference's timer, as the machine of `wheelproof_spec.testing` calls it."""

from collections.abc import Callable

from wheelproof.clock import ManualClock
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_spec.components.timer.port import InlineExecutor


class ReferenceTimer:
    """A SystemTimer whose clock only `advance` moves, and whose tasks run within the call."""

    timer_class: type[SystemTimer] = SystemTimer

    def __init__(
        self, tick_ms: int, wheel_size: int, start_ms: int, run: Callable[[str], None]
    ) -> None:
        self._run = run
        self._clock = ManualClock(start_ms)
        self._timer = self.timer_class(
            "under test",
            tick_ms=tick_ms,
            wheel_size=wheel_size,
            clock=self._clock,
            executor=InlineExecutor(),
        )
        self._tasks: dict[str, TimerTask] = {}

    def add(self, task: str, delay_ms: int) -> None:
        """Add a new task of this name in the place of an earlier one: a delay is fixed."""
        self.cancel(task)
        self._tasks[task] = _NamedTask(task, delay_ms, self._run)
        self._timer.add(self._tasks[task])

    def cancel(self, task: str) -> bool:
        """Cancel the task that has this name now."""
        return task in self._tasks and self._tasks[task].cancel()

    def advance(self, to_ms: int) -> None:
        """Move the clock, then the timer."""
        self._clock.advance_to(to_ms)
        self._timer.advance_clock(Millis(0))

    def size(self) -> int:
        """Return the number of tasks that wait."""
        return self._timer.size()

    def close(self) -> None:
        """Close the timer."""
        self._timer.close()


class _NamedTask(TimerTask):
    __slots__ = ("_name", "_run")

    def __init__(self, name: str, delay_ms: int, run: Callable[[str], None]) -> None:
        super().__init__(delay_ms)
        self._name = name
        self._run = run

    def run(self) -> None:
        self._run(self._name)
