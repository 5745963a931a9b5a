"""The reference's port, with a bound on the steps of a single call."""

from collections.abc import Callable
from typing import TypeVar

from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import SystemTimer
from wheelproof_spec.base.port import BrokenDownError
from wheelproof_spec.components.timer.component import TimerCall, TimerObservation
from wheelproof_spec.components.timer.reference import ReferenceTimerPort
from wheelproof_spec.fuzz.hooks import (
    InstrumentedRuntime,
    StepLimit,
    StepLimitExceededError,
)

STEPS_OF_A_CALL = 20_000
"""More than any call needs: an advance makes a few hundred steps for each level and task."""

T = TypeVar("T")


class BoundedReferencePort:
    """A ReferenceTimerPort of `timer_class` that raises BrokenDownError if a call does not end."""

    def __init__(self, timer_class: type[SystemTimer] = SystemTimer) -> None:
        self._limit = StepLimit(STEPS_OF_A_CALL)
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), self._limit)
        self._port = self._bounded(lambda: ReferenceTimerPort(timer_class))

    def perform(self, call: TimerCall) -> TimerObservation:
        """Make `call`; see `Port.perform`."""
        return self._bounded(lambda: self._port.perform(call))

    def _bounded(self, call: Callable[[], T]) -> T:
        self._limit.restart()
        try:
            with use_runtime(self._runtime):
                return call()
        except (StepLimitExceededError, RecursionError) as error:
            raise BrokenDownError("Timer.EveryCallReturns", str(error)) from error
