"""The messages of the driver protocol, schema wheelproof.driver/1.

An implementation under test is a program that reads one JSON object a line and answers each with
one line that carries the same `id`:

    > {"id":3,"op":"add","args":{"task":"a","delay_ms":9}}
    < {"id":3,"ok":{"fired":[]}}
    < {"id":3,"error":{"kind":"IllegalArgument","message":"..."}}     instead, if it refuses

An absent field means: not observed. Parsing is strict on both sides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

from wheelproof_spec.conformance.strict_json import (
    JsonObject,
    MalformedError,
    as_object,
    boolean,
    format_object,
    integer,
    parse_object,
    require_fields,
    text,
    texts,
)
from wheelproof_spec.conformance.timer_port import TaskId, TimerConfig, TimerObservation

SCHEMA = "wheelproof.driver/1"
TIMER = "timer"
"""The name of the timer among the components."""
VIRTUAL_TIME = "virtual_time"
"""The capability to run on a clock that only `advance` moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """Ask who the driver is; the first request. Answered with an `Introduction`."""

    schema: str = SCHEMA


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """Forget everything and make a new component."""

    config: TimerConfig
    component: str = TIMER


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Add a task; the delay is in milliseconds."""

    task: TaskId
    delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Cancel a task."""

    task: TaskId


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """Set the clock to this many milliseconds and submit what is due."""

    to_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Ask for the number of waiting tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bye:
    """Ask the driver to end; the last request. The end of its input means the same."""


Request = Hello | Reset | Add | Cancel | Advance | Size | Bye


@dataclass(frozen=True, slots=True, kw_only=True)
class Introduction:
    """Who the driver is: the implementation behind it, its version, and what it can do."""

    implementation: str
    version: str
    components: tuple[str, ...]
    capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The implementation refused a request; `kind` is the error's name there."""

    kind: str
    message: str


def operation(request: Request) -> str:
    """Return the request's name on the wire."""
    return type(request).__name__.lower()


def format_request(number: int, request: Request) -> bytes:
    """Return the line that asks `request` under the id `number`."""
    head: dict[str, object] = {"id": number, "op": operation(request)}
    return format_object({**head, **_request_fields(request)})


def request_line(number: int, request: Request) -> str:
    """Return the request as text for a report, without the end of the line."""
    return format_request(number, request).decode("ascii").rstrip("\n")


def format_timer_answer(number: int, seen: TimerObservation) -> bytes:
    """Return the line that answers a request to the timer."""
    fields: dict[str, object] = {"fired": list(seen.fired)}
    if seen.cancelled is not None:
        fields["cancelled"] = seen.cancelled
    if seen.size is not None:
        fields["size"] = seen.size
    return format_object({"id": number, "ok": fields})


def format_introduction(number: int, introduction: Introduction) -> bytes:
    """Return the line that answers `hello`."""
    fields: dict[str, object] = {
        "impl": introduction.implementation,
        "version": introduction.version,
        "components": list(introduction.components),
        "capabilities": list(introduction.capabilities),
    }
    return format_object({"id": number, "ok": fields})


def format_done(number: int) -> bytes:
    """Return the line that answers `reset` and `bye`."""
    return format_object({"id": number, "ok": {}})


def format_refusal(number: int, refusal: Refusal) -> bytes:
    """Return the line that refuses a request."""
    fields: dict[str, object] = {"kind": refusal.kind, "message": refusal.message}
    return format_object({"id": number, "error": fields})


def parse_request(line: bytes) -> tuple[int, Request]:
    """Return the id and the request that a line holds; raises MalformedError."""
    message = parse_object(line)
    if "op" not in message or "id" not in message:
        raise MalformedError("lacks the field 'op' or 'id'")
    number = integer(message, "id")
    parse = _REQUEST_PARSERS.get(text(message, "op"))
    if parse is None:
        raise MalformedError(f"asks for the unknown operation {text(message, 'op')!r}")
    return number, parse({name: message[name] for name in message if name not in ("id", "op")})


def parse_answer(line: bytes, number: int) -> JsonObject | Refusal:
    """Return the fields of an answer to the request with the id `number`.

    Raises MalformedError if the line is no answer, or one to another request.
    """
    message = parse_object(line)
    if "error" in message:
        require_fields(message, ("id", "error"))
    else:
        require_fields(message, ("id", "ok"))
    found = integer(message, "id")
    if found != number:
        raise MalformedError(f"carries the id {found} where {number} is due: it is out of order")
    if "ok" in message:
        return as_object(message["ok"], "has 'ok' that is")
    error = as_object(message["error"], "has 'error' that is")
    require_fields(error, ("kind", "message"))
    return Refusal(kind=text(error, "kind"), message=text(error, "message"))


def parse_introduction(fields: JsonObject) -> Introduction:
    """Return the answer to `hello`; raises MalformedError."""
    require_fields(fields, ("impl", "version", "components", "capabilities"))
    return Introduction(
        implementation=text(fields, "impl"),
        version=text(fields, "version"),
        components=texts(fields, "components"),
        capabilities=texts(fields, "capabilities"),
    )


def parse_timer_answer(fields: JsonObject, request: Request) -> TimerObservation:
    """Return what an answer of the timer shows; raises MalformedError."""
    match request:
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


def parse_done(fields: JsonObject) -> None:
    """Accept the empty answer to `reset` and `bye`; raises MalformedError."""
    require_fields(fields, ())


def _request_fields(request: Request) -> dict[str, object]:
    match request:
        case Hello(schema=schema):
            return {"schema": schema}
        case Reset(component=component, config=config):
            return {"component": component, "config": _config_fields(config)}
        case Add(task=task, delay_ms=delay_ms):
            return {"args": {"task": task, "delay_ms": delay_ms}}
        case Cancel(task=task):
            return {"args": {"task": task}}
        case Advance(to_ms=to_ms):
            return {"args": {"to_ms": to_ms}}
        case Size() | Bye():
            return {}
        case _:
            assert_never(request)


def _config_fields(config: TimerConfig) -> dict[str, int]:
    return {
        "tick_ms": config.tick_ms,
        "wheel_size": config.wheel_size,
        "start_ms": config.start_ms,
    }


def _parse_hello(fields: JsonObject) -> Request:
    require_fields(fields, ("schema",))
    return Hello(schema=text(fields, "schema"))


def _parse_reset(fields: JsonObject) -> Request:
    require_fields(fields, ("component", "config"))
    config = as_object(fields["config"], "has 'config' that is")
    require_fields(config, ("tick_ms", "wheel_size", "start_ms"))
    return Reset(
        component=text(fields, "component"),
        config=TimerConfig(
            tick_ms=integer(config, "tick_ms"),
            wheel_size=integer(config, "wheel_size"),
            start_ms=integer(config, "start_ms"),
        ),
    )


def _parse_add(fields: JsonObject) -> Request:
    arguments = _arguments(fields, "task", "delay_ms")
    return Add(task=text(arguments, "task"), delay_ms=integer(arguments, "delay_ms"))


def _parse_cancel(fields: JsonObject) -> Request:
    return Cancel(task=text(_arguments(fields, "task"), "task"))


def _parse_advance(fields: JsonObject) -> Request:
    return Advance(to_ms=integer(_arguments(fields, "to_ms"), "to_ms"))


def _parse_size(fields: JsonObject) -> Request:
    require_fields(fields, ())
    return Size()


def _parse_bye(fields: JsonObject) -> Request:
    require_fields(fields, ())
    return Bye()


def _arguments(fields: JsonObject, *names: str) -> JsonObject:
    require_fields(fields, ("args",))
    arguments = as_object(fields["args"], "has 'args' that is")
    require_fields(arguments, names)
    return arguments


_REQUEST_PARSERS: Mapping[str, Callable[[JsonObject], Request]] = {
    "hello": _parse_hello,
    "reset": _parse_reset,
    "add": _parse_add,
    "cancel": _parse_cancel,
    "advance": _parse_advance,
    "size": _parse_size,
    "bye": _parse_bye,
}
