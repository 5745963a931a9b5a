"""The reference's SystemTimer as `wheelproof conform` drives it: a `base.port.Port`."""

from dataclasses import dataclass

from wheelproof.clock import ManualClock
from wheelproof.errors import WheelproofError
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTaskList
from wheelproof_spec.base.calls import Advance, AdvanceClock, Close, Reset, Tick
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    Cancel,
    Cancelled,
    Size,
    TaskId,
    TimerCall,
    TimerConfig,
    TimerObservation,
    WaitingTasks,
)
from wheelproof_spec.components.timer.port import TimerPort, TimerRequest
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
                    self._port.perform(Close())
                    self._reset(config)
                    return TimerObservation()
                case Add() | Cancel() | Size():
                    return self._observe(call)
                case Advance(to_ms=to_ms):
                    self._port.perform(Tick(to_ms=to_ms))
                    return self._observe(AdvanceClock(timeout_ms=0))
        except WheelproofError as error:
            raise refused(error) from error

    def _reset(self, config: TimerConfig) -> None:
        self._executor = DeferredExecutor()
        self._fired: list[TaskId] = []
        self._port = TimerPort(
            config,
            self._fired.append,
            self._timer_class,
            clock=ManualClock(config.start_ms),
            executor=self._executor,
        )

    def _observe(self, call: TimerRequest) -> TimerObservation:
        answer = self._port.perform(call)
        self._executor.run_pending()
        fired = tuple(self._fired)
        self._fired.clear()
        return TimerObservation(
            fired=fired,
            cancelled=answer.cancelled is True if isinstance(answer, Cancelled) else None,
            size=answer.size if isinstance(answer, WaitingTasks) else None,
        )


def serve() -> ServedComponent:
    """Return the reference's timer, ready to be driven."""
    return served(DEFINITION, ReferenceTimerPort())
