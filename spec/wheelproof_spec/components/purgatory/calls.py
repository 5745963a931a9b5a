"""The calls of the purgatory in a driven case, what they show, and how both are written.

An operation can end as soon as one of its conditions, which are names, has been set; that is its
predicate. Nobody looks at it before a trigger.
"""

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
from wheelproof_spec.components.purgatory.contract import (
    NO_CALLBACKS,
    NO_GAUGES,
    Callbacks,
    Condition,
    Gauges,
    Key,
    OperationId,
)

PURGATORY = "purgatory"
"""The name of the purgatory among the components."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryConfig:
    """How a purgatory under test is made: its timer, times in milliseconds, and when it purges."""

    tick_ms: int = 1
    wheel_size: int = 20
    start_ms: int = 0
    purge_interval: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(ComponentReset):
    """Forget everything and make a new purgatory; no condition is set."""

    component: ClassVar[str] = PURGATORY

    config: PurgatoryConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch(ComponentCall):
    """Hand a new operation in: try_complete_else_watch."""

    operation_id: OperationId
    delay_ms: int
    keys: tuple[Key, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCondition(ComponentCall):
    """Make a condition true, and trigger nothing."""

    condition: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(ComponentCall):
    """Trigger the operations of a key: check_and_complete."""

    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Force(ComponentCall):
    """Complete an operation that was handed in: force_complete."""

    operation_id: OperationId


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(ComponentCall):
    """Cancel the operations of a key: cancel_for_key."""

    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance(ComponentCall):
    """Set the clock to this many milliseconds, expire what is due, and purge if that is due."""

    to_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskGauges(ComponentCall):
    """Ask for the numbers of watches, of delayed operations and of keys."""


PurgatoryCall = Reset | Watch | SetCondition | Check | Force | Cancel | Advance | AskGauges
"""A call that a driven case makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryObservation:
    """What one call showed: the callbacks that ran, and its answer.

    `done` is what a watch or force answers, `count` what a check does, `cancelled` what a cancel
    does; None where the implementation does not tell.
    """

    callbacks: Callbacks = NO_CALLBACKS
    done: bool | None = None
    count: int | None = None
    cancelled: tuple[OperationId, ...] | None = None
    gauges: Gauges = NO_GAUGES


PurgatoryPort = Port[PurgatoryCall, PurgatoryObservation]
"""A purgatory under a virtual clock."""

_CALLBACKS = ("completed", "expired")
_GAUGES = ("watched", "delayed", "keys")


def parse_purgatory_call(operation: str, message: JsonObject) -> PurgatoryCall:
    """Return the call that a request makes; raises MalformedError."""
    match operation:
        case "reset":
            return Reset(config=_config(message))
        case "watch":
            arguments = arguments_of(message, "operation_id", "delay_ms", "keys", "conditions")
            return Watch(
                operation_id=text(arguments, "operation_id"),
                delay_ms=integer(arguments, "delay_ms"),
                keys=texts(arguments, "keys"),
                conditions=texts(arguments, "conditions"),
            )
        case "set_condition":
            return SetCondition(condition=text(arguments_of(message, "condition"), "condition"))
        case "check":
            return Check(key=text(arguments_of(message, "key"), "key"))
        case "force":
            return Force(operation_id=text(arguments_of(message, "operation_id"), "operation_id"))
        case "cancel":
            return Cancel(key=text(arguments_of(message, "key"), "key"))
        case "advance":
            return Advance(to_ms=integer(arguments_of(message, "to_ms"), "to_ms"))
        case "ask_gauges":
            no_arguments(message)
            return AskGauges()
        case _:
            raise unknown_operation(operation)


def purgatory_answer(call: PurgatoryCall, seen: PurgatoryObservation) -> JsonObject:
    """Return the fields that answer `call`."""
    if isinstance(call, Reset):
        return {}
    answers: dict[str, object] = {
        "completed": list(seen.callbacks.completed),
        "expired": list(seen.callbacks.expired),
        "done": seen.done,
        "count": seen.count,
        "cancelled": None if seen.cancelled is None else list(seen.cancelled),
        "watched": seen.gauges.watched,
        "delayed": seen.gauges.delayed,
        "keys": seen.gauges.keys,
    }
    return {name: value for name, value in answers.items() if value is not None}


def parse_purgatory_answer(fields: JsonObject, call: PurgatoryCall) -> PurgatoryObservation:
    """Return what an answer of the purgatory shows; raises MalformedError."""
    match call:
        case Reset():
            require_fields(fields, ())
        case Watch() | Force():
            require_fields(fields, ("done",), _CALLBACKS)
        case Check():
            require_fields(fields, ("count",), _CALLBACKS)
        case Cancel():
            require_fields(fields, ("cancelled",), _CALLBACKS)
        case AskGauges():
            require_fields(fields, (), (*_CALLBACKS, *_GAUGES))
        case SetCondition() | Advance():
            require_fields(fields, (), _CALLBACKS)
    return PurgatoryObservation(
        callbacks=Callbacks(
            completed=texts(fields, "completed") if "completed" in fields else (),
            expired=texts(fields, "expired") if "expired" in fields else (),
        ),
        done=boolean(fields, "done") if "done" in fields else None,
        count=_optional_integer(fields, "count"),
        cancelled=texts(fields, "cancelled") if "cancelled" in fields else None,
        gauges=Gauges(
            watched=_optional_integer(fields, "watched"),
            delayed=_optional_integer(fields, "delayed"),
            keys=_optional_integer(fields, "keys"),
        ),
    )


def _config(message: JsonObject) -> PurgatoryConfig:
    config = config_of(message, "tick_ms", "wheel_size", "start_ms", "purge_interval")
    return PurgatoryConfig(
        tick_ms=integer(config, "tick_ms"),
        wheel_size=integer(config, "wheel_size"),
        start_ms=integer(config, "start_ms"),
        purge_interval=integer(config, "purge_interval"),
    )


def _optional_integer(fields: JsonObject, name: str) -> int | None:
    return integer(fields, name) if name in fields else None
