"""The reference's SystemTimer behind the door of `timer_port`."""

from wheelproof.clock import ManualClock
from wheelproof.errors import WheelproofError
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_spec.conformance.timer_port import (
    RefusedError,
    TaskId,
    TimerConfig,
    TimerObservation,
)


class ReferenceTimerPort:
    """Drives a SystemTimer, or a subclass of it, on a manual clock and a deferred executor."""

    def __init__(self, timer_class: type[SystemTimer] = SystemTimer) -> None:
        self._timer_class = timer_class
        self.reset(TimerConfig())

    def reset(self, config: TimerConfig) -> None:
        """Make a new timer; see `TimerPort.reset`."""
        try:
            self._clock = ManualClock(config.start_ms)
            self._executor = DeferredExecutor()
            self._timer = self._timer_class(
                "reference",
                tick_ms=config.tick_ms,
                wheel_size=config.wheel_size,
                clock=self._clock,
                executor=self._executor,
            )
        except WheelproofError as error:
            raise _refused(error) from error
        self._tasks: dict[TaskId, _NamedTask] = {}
        self._fired: list[TaskId] = []

    def add(self, task: TaskId, delay_ms: int) -> TimerObservation:
        """Add a task; see `TimerPort.add`."""
        try:
            known = self._tasks.get(task)
            if known is None or known.delay_ms != delay_ms:
                fresh = _NamedTask(task, delay_ms, self._fired)
                # A task's delay is fixed: a different delay is a different task object.
                if known is not None:
                    known.cancel()
                self._tasks[task] = known = fresh
            self._timer.add(known)
        except WheelproofError as error:
            raise _refused(error) from error
        return self._observe()

    def cancel(self, task: TaskId) -> TimerObservation:
        """Cancel a task; see `TimerPort.cancel`."""
        known = self._tasks.get(task)
        return self._observe(cancelled=known is not None and known.cancel())

    def advance(self, to_ms: int) -> TimerObservation:
        """Advance; see `TimerPort.advance`."""
        try:
            self._clock.advance_to(to_ms)
            self._timer.advance_clock(Millis(0))
        except WheelproofError as error:
            raise _refused(error) from error
        return self._observe()

    def size(self) -> TimerObservation:
        """Ask for the size; see `TimerPort.size`."""
        return self._observe(size=self._timer.size())

    def _observe(
        self, *, cancelled: bool | None = None, size: int | None = None
    ) -> TimerObservation:
        self._executor.run_pending()
        fired = tuple(self._fired)
        self._fired.clear()
        return TimerObservation(fired=fired, cancelled=cancelled, size=size)


class _NamedTask(TimerTask):
    __slots__ = ("_fired", "_name")

    def __init__(self, name: TaskId, delay_ms: int, fired: list[TaskId]) -> None:
        super().__init__(delay_ms)
        self._name = name
        self._fired = fired

    def run(self) -> None:
        self._fired.append(self._name)


def _refused(error: WheelproofError) -> RefusedError:
    return RefusedError(type(error).__name__.removesuffix("Error"), str(error))
