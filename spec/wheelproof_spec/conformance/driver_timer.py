"""A driver's timer behind the door of `timer_port`."""

from wheelproof_spec.conformance.driver_messages import (
    Add,
    Advance,
    Cancel,
    Request,
    Reset,
    Size,
    parse_done,
    parse_timer_answer,
)
from wheelproof_spec.conformance.driver_session import DriverSession
from wheelproof_spec.conformance.timer_port import TaskId, TimerConfig, TimerObservation


class DriverTimerPort:
    """Drives the timer of another program; a call may also raise DriverFailedError."""

    def __init__(self, session: DriverSession) -> None:
        self._session = session

    def reset(self, config: TimerConfig) -> None:
        """Make a new timer; see `TimerPort.reset`."""
        self._session.ask(Reset(config=config), parse_done)

    def add(self, task: TaskId, delay_ms: int) -> TimerObservation:
        """Add a task; see `TimerPort.add`."""
        return self._ask(Add(task=task, delay_ms=delay_ms))

    def cancel(self, task: TaskId) -> TimerObservation:
        """Cancel a task; see `TimerPort.cancel`."""
        return self._ask(Cancel(task=task))

    def advance(self, to_ms: int) -> TimerObservation:
        """Advance; see `TimerPort.advance`."""
        return self._ask(Advance(to_ms=to_ms))

    def size(self) -> TimerObservation:
        """Ask for the size; see `TimerPort.size`."""
        return self._ask(Size())

    def _ask(self, request: Request) -> TimerObservation:
        return self._session.ask(request, lambda fields: parse_timer_answer(fields, request))
