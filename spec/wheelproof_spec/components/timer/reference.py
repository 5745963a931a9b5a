"""The reference's SystemTimer as `wheelproof conform` drives it: a `base.port.Port`."""

from dataclasses import dataclass

from wheelproof.clock import ManualClock
from wheelproof.errors import WheelproofError
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask, TimerTaskList
from wheelproof.units import Millis
from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    Cancel,
    Size,
    TaskId,
    TimerCall,
    TimerConfig,
    TimerObservation,
)
from wheelproof_spec.drive.driver.serve import ServedComponent, refused, served


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerVariant:
    """What is fuzzed: the classes of the timer and of its buckets, by default the reference's."""

    timer_class: type[SystemTimer] = SystemTimer
    bucket_class: type[TimerTaskList] = TimerTaskList


class ReferenceTimerPort:
    """Drives a SystemTimer, or a subclass of it, on a manual clock and a deferred executor."""

    def __init__(self, timer_class: type[SystemTimer] = SystemTimer) -> None:
        self._timer_class = timer_class
        self._reset(TimerConfig())

    def perform(self, call: TimerCall) -> TimerObservation:
        """Make `call`; see `Port.perform`."""
        try:
            match call:
                case Reset(config=config):
                    self._timer.close()
                    self._reset(config)
                    return TimerObservation()
                case Add(task=task, delay_ms=delay_ms):
                    self._timer.add(self._task(task, delay_ms))
                    return self._observe()
                case Cancel(task=task):
                    known = self._tasks.get(task)
                    return self._observe(cancelled=known is not None and known.cancel())
                case Advance(to_ms=to_ms):
                    self._clock.advance_to(to_ms)
                    self._timer.advance_clock(Millis(0))
                    return self._observe()
                case Size():
                    return self._observe(size=self._timer.size())
        except WheelproofError as error:
            raise refused(error) from error

    def _reset(self, config: TimerConfig) -> None:
        self._clock = ManualClock(config.start_ms)
        self._executor = DeferredExecutor()
        self._timer = self._timer_class(
            "reference",
            tick_ms=config.tick_ms,
            wheel_size=config.wheel_size,
            clock=self._clock,
            executor=self._executor,
        )
        self._tasks: dict[TaskId, _NamedTask] = {}
        self._fired: list[TaskId] = []

    def _task(self, name: TaskId, delay_ms: int) -> "_NamedTask":
        """Return the task of this name; another delay needs a new task, since it is fixed."""
        known = self._tasks.get(name)
        if known is not None and known.delay_ms == delay_ms:
            return known
        fresh = _NamedTask(name, delay_ms, self._fired)
        if known is not None:
            known.cancel()
        self._tasks[name] = fresh
        return fresh

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


def serve() -> ServedComponent:
    """Return the reference's timer, ready to be driven."""
    return served(DEFINITION, ReferenceTimerPort())
