"""The calls of the buffer pool in a driven case, what they show, and how both are written.

An allocation that blocks is left to wait on a thread of its own: the answer to a call tells which
allocations have ended since the last answer, once every thread waits or has ended.
"""

from collections.abc import Mapping
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
    as_object,
    choice,
    integer,
    require_fields,
    text,
)
from wheelproof_spec.components.buffer_pool.oracle import PoolFault, PoolOutcome

BUFFER_POOL = "buffer_pool"
"""The name of the pool among the components."""

CallId = str
"""The name of an allocation in a driven case, and of the buffer that it got."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """How a pool under test is made: sizes in bytes, and the time that its clock shows."""

    total_memory: int
    poolable_size: int
    start_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(ComponentReset):
    """Forget everything and make a new pool."""

    component: ClassVar[str] = BUFFER_POOL

    config: PoolConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocate(ComponentCall):
    """Allocate `size` bytes on a thread of its own, waiting at most `timeout_ms` milliseconds.

    With a `fault` the allocator or the metric fails in this call, or its thread is interrupted
    before it begins.
    """

    call: CallId
    size: int
    timeout_ms: int
    fault: PoolFault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deallocate(ComponentCall):
    """Give back the buffer that an allocation got, or once more."""

    call: CallId


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt(ComponentCall):
    """Interrupt the thread of an allocation; no effect if that has ended."""

    call: CallId


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance(ComponentCall):
    """Set the clock to this many milliseconds."""

    to_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Close(ComponentCall):
    """Close the pool."""


PoolCall = Reset | Allocate | Deallocate | Interrupt | Advance | Close
"""A call that a driven case makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolObservation:
    """What is seen after a call: allocations that ended, and what the pool says of itself.

    `available`, `unallocated` (bytes) and `queued` (threads) are None where it does not tell.
    """

    ended: Mapping[CallId, PoolOutcome]
    available: int | None = None
    unallocated: int | None = None
    queued: int | None = None


PoolPort = Port[PoolCall, PoolObservation]
"""A pool under a virtual clock."""

_GAUGES = ("available", "unallocated", "queued")


def parse_pool_call(operation: str, message: JsonObject) -> PoolCall:
    """Return the call that a request makes; raises MalformedError."""
    match operation:
        case "reset":
            config = config_of(message, "total_memory", "poolable_size", "start_ms")
            return Reset(
                config=PoolConfig(
                    total_memory=integer(config, "total_memory"),
                    poolable_size=integer(config, "poolable_size"),
                    start_ms=integer(config, "start_ms"),
                )
            )
        case "allocate":
            arguments = arguments_of(message, "call", "size", "timeout_ms", optional=("fault",))
            return Allocate(
                call=text(arguments, "call"),
                size=integer(arguments, "size"),
                timeout_ms=integer(arguments, "timeout_ms"),
                fault=choice(arguments, "fault", PoolFault) if "fault" in arguments else None,
            )
        case "deallocate":
            return Deallocate(call=text(arguments_of(message, "call"), "call"))
        case "interrupt":
            return Interrupt(call=text(arguments_of(message, "call"), "call"))
        case "advance":
            return Advance(to_ms=integer(arguments_of(message, "to_ms"), "to_ms"))
        case "close":
            no_arguments(message)
            return Close()
        case _:
            raise unknown_operation(operation)


def pool_answer(call: PoolCall, seen: PoolObservation) -> JsonObject:
    """Return the fields that answer `call`."""
    if isinstance(call, Reset):
        return {}
    gauges = zip(_GAUGES, (seen.available, seen.unallocated, seen.queued), strict=True)
    return {
        "ended": {name: outcome.value for name, outcome in seen.ended.items()},
        **{name: value for name, value in gauges if value is not None},
    }


def parse_pool_answer(fields: JsonObject, call: PoolCall) -> PoolObservation:
    """Return what an answer of the pool shows; raises MalformedError."""
    if isinstance(call, Reset):
        require_fields(fields, ())
        return PoolObservation(ended={})
    require_fields(fields, ("ended",), _GAUGES)
    ended = as_object(fields["ended"], "has 'ended' that is")
    return PoolObservation(
        ended={name: choice(ended, name, PoolOutcome) for name in ended},
        available=integer(fields, "available") if "available" in fields else None,
        unallocated=integer(fields, "unallocated") if "unallocated" in fields else None,
        queued=integer(fields, "queued") if "queued" in fields else None,
    )
