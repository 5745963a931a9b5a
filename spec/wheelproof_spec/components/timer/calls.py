"""The calls of the timer in a driven case, what they show, and how both are written."""

from dataclasses import dataclass
from typing import ClassVar

from wheelproof_spec.base.calls import (
    ComponentCall,
    ComponentReset,
    arguments_of,
    config_of,
    no_arguments,
    unknown_operation,
)
from wheelproof_spec.base.port import Port
from wheelproof_spec.base.strict_json import (
    JsonObject,
    boolean,
    integer,
    require_fields,
    text,
    texts,
)

TIMER = "timer"
"""The name of the timer among the components."""

TaskId = str
"""The name of a task in a driven case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerConfig:
    """How a timer under test is made: tick and start in milliseconds, buckets a level."""

    tick_ms: int = 1
    wheel_size: int = 20
    start_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(ComponentReset):
    """Forget everything and make a new timer; its clock shows `config.start_ms`."""

    component: ClassVar[str] = TIMER

    config: TimerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(ComponentCall):
    """Add the task of this name, again if it was added before; the delay is in milliseconds."""

    task: TaskId
    delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(ComponentCall):
    """Cancel the task; no effect if there is none that waits."""

    task: TaskId


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance(ComponentCall):
    """Set the clock to this many milliseconds and submit what is due, without waiting."""

    to_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Size(ComponentCall):
    """Ask for the number of waiting tasks."""


TimerCall = Reset | Add | Cancel | Advance | Size
"""A call that a driven case makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerObservation:
    """What one call showed: the tasks that ran since the last call, in order, and its answer.

    `cancelled` and `size` are None where the implementation does not tell.
    """

    fired: tuple[TaskId, ...] = ()
    cancelled: bool | None = None
    size: int | None = None


TimerPort = Port[TimerCall, TimerObservation]
"""A timer under a virtual clock."""


def parse_timer_call(operation: str, message: JsonObject) -> TimerCall:
    """Return the call that a request makes; raises MalformedError."""
    match operation:
        case "reset":
            config = config_of(message, "tick_ms", "wheel_size", "start_ms")
            return Reset(
                config=TimerConfig(
                    tick_ms=integer(config, "tick_ms"),
                    wheel_size=integer(config, "wheel_size"),
                    start_ms=integer(config, "start_ms"),
                )
            )
        case "add":
            arguments = arguments_of(message, "task", "delay_ms")
            return Add(task=text(arguments, "task"), delay_ms=integer(arguments, "delay_ms"))
        case "cancel":
            return Cancel(task=text(arguments_of(message, "task"), "task"))
        case "advance":
            return Advance(to_ms=integer(arguments_of(message, "to_ms"), "to_ms"))
        case "size":
            no_arguments(message)
            return Size()
        case _:
            raise unknown_operation(operation)


def timer_answer(call: TimerCall, seen: TimerObservation) -> JsonObject:
    """Return the fields that answer `call`."""
    if isinstance(call, Reset):
        return {}
    fields: dict[str, object] = {"fired": list(seen.fired)}
    if seen.cancelled is not None:
        fields["cancelled"] = seen.cancelled
    if seen.size is not None:
        fields["size"] = seen.size
    return fields


def parse_timer_answer(fields: JsonObject, call: TimerCall) -> TimerObservation:
    """Return what an answer of the timer shows; raises MalformedError."""
    match call:
        case Reset():
            require_fields(fields, ())
        case Size():
            require_fields(fields, ("size",), ("fired",))
        case Cancel():
            require_fields(fields, (), ("fired", "cancelled"))
        case _:
            require_fields(fields, (), ("fired",))
    return TimerObservation(
        fired=texts(fields, "fired") if "fired" in fields else (),
        cancelled=boolean(fields, "cancelled") if "cancelled" in fields else None,
        size=integer(fields, "size") if "size" in fields else None,
    )
