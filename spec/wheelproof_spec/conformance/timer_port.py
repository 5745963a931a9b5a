"""The door through which every timer is judged: the reference, Kafka's, anybody's."""

from dataclasses import dataclass
from typing import Protocol

from wheelproof_spec.oracle import Violation

TaskId = str
"""The name of a task in a driven case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerConfig:
    """How a timer under test is made: tick and start in milliseconds, buckets a level."""

    tick_ms: int = 1
    wheel_size: int = 20
    start_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerObservation:
    """What one call showed: the tasks that ran since the last call, in order, and its answer.

    `cancelled` and `size` are None where the implementation does not tell.
    """

    fired: tuple[TaskId, ...] = ()
    cancelled: bool | None = None
    size: int | None = None


class RefusedError(Exception):
    """The implementation refused a call, as it must for input outside its domain.

    `kind` is the error's name in the implementation, such as IllegalArgument.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class BrokenDownError(Exception):
    """The implementation broke down in a call, as no input may make it."""

    def __init__(self, rule: str, observed: str) -> None:
        super().__init__(f"{rule}: {observed}")
        self.violation = Violation(
            rule=rule,
            expected="a call within the domain is carried out",
            observed=observed,
            reason="the implementation broke down in a call",
        )


class TimerPort(Protocol):
    """A timer under a virtual clock, driven from one thread.

    Any call may raise RefusedError or BrokenDownError.
    """

    def reset(self, config: TimerConfig) -> None:
        """Forget everything and make a new timer; its clock shows `config.start_ms`."""
        ...

    def add(self, task: TaskId, delay_ms: int) -> TimerObservation:
        """Add the task of this name, again if it was added before."""
        ...

    def cancel(self, task: TaskId) -> TimerObservation:
        """Cancel the task; no effect if there is none that waits."""
        ...

    def advance(self, to_ms: int) -> TimerObservation:
        """Set the clock to `to_ms` and submit all that is due, without waiting."""
        ...

    def size(self) -> TimerObservation:
        """Ask for the number of waiting tasks."""
        ...
