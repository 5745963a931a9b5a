"""One line of a trace, a history or a file of vectors: `parse_line(bytes) -> Event | Rejection`.

Knows nothing of files or of other lines, so that any engine can call it, a line at a time.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from wheelproof_spec.base.codec.compiled import compile_shape
from wheelproof_spec.base.codec.explain import build, shown
from wheelproof_spec.base.codec.shapes import Shape, shape_of
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.history.lines import (
    HISTORY,
    TRACE,
    VECTOR,
    HistoryEnd,
    HistoryHeader,
    HistoryOp,
    TraceEnd,
    TraceEvent,
    TraceHeader,
    Vector,
)
from wheelproof_spec.base.strict_json import JsonObject, MalformedError, parse_object, text
from wheelproof_spec.components.definitions import COMPONENTS, actions, calls

LINE_LIMIT = 1 << 20
"""The most bytes of a line, its end not counted."""

Event = (
    TraceHeader[object]
    | TraceEvent[object, object]
    | TraceEnd
    | HistoryHeader[object]
    | HistoryOp[object]
    | HistoryEnd
    | Vector[object, object]
)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a line is not judged; completes the sentence "the line ..."."""

    problem: str


@cache
def line_shapes() -> Mapping[tuple[str, ...], Shape]:
    """Return every kind of line by what tells it from the others.

    The key is (schema, component) for headers and vectors, ("op", f, type), ("event", action) and
    ("end", the name of the field that names the run).
    """
    shapes: dict[tuple[str, ...], Shape] = {
        ("end", "trace"): shape_of(TraceEnd),
        ("end", "history"): shape_of(HistoryEnd),
    }
    for name, one in COMPONENTS.items():
        narrowed = {"component": name}
        shapes[TRACE, name] = shape_of(TraceHeader, narrowed, config=(one.config,))
        shapes[HISTORY, name] = shape_of(HistoryHeader, narrowed, config=(one.config,))
        if one.steps:
            shapes[VECTOR, name] = shape_of(Vector, narrowed, config=(one.config,), steps=one.steps)
    for call in calls().values():
        values = {"invoke": call.asked, "ok": call.answered, "fail": Nothing, "info": Nothing}
        for kind, value in values.items():
            shapes["op", call.f, kind] = shape_of(
                HistoryOp,
                {"type": kind, "f": call.f},
                required=("error",) if kind == "fail" else (),
                without=() if kind == "fail" else ("error",),
                value=(value,),
            )
    for action in actions().values():
        parts = {"args": action.args, "obs": action.obs}
        shapes["event", action.action] = shape_of(
            TraceEvent,
            {"action": action.action},
            required=[name for name, cls in parts.items() if _has_required(cls)],
            args=(action.args,),
            obs=(action.obs,),
        )
    return shapes


def parse_line(line: bytes) -> Event | Rejection:
    """Return the event that `line` holds, with or without its end; or why it holds none."""
    try:
        event = shortcut(line)
        return explained(line) if event is None else event
    except MalformedError as error:
        return Rejection(str(error))


def shortcut(line: bytes) -> Event | None:
    """Return the event if the line is clearly right, without a look at what else it could be.

    A backslash could hide a name that is repeated or half a surrogate pair. With as many colons as
    there are names, no name is repeated: each name needs a colon, and a repeated one is not there
    any more.
    """
    if b"\\" in line or len(line) > LINE_LIMIT:
        return None
    try:
        decoded = line.decode()
        item, end = _scan(decoded)
        if decoded[end:] not in ("\n", ""):
            return None
        names = len(item)
        if item["kind"] == "op":
            build_one: _Builder = _OPS[item["f"], item["type"]]
            names += len(item["value"])
        elif item["kind"] == "event":
            build_one = _EVENTS[item["action"]]
            names += len(item.get("args", ())) + len(item.get("obs", ()))
        else:
            return None
        return build_one(item) if line.count(b":") == names else None
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration, RecursionError):
        return None


def explained(line: bytes) -> Event:
    """Return the event after a look at everything; raises MalformedError if there is none."""
    if len(line) > LINE_LIMIT:
        raise MalformedError(f"has more than {LINE_LIMIT:,} bytes")
    if not line.strip():
        raise MalformedError("is empty")
    item = parse_object(line)
    shape = line_shapes()[_key_of(item)]
    return cast(Event, build(shape, item))


def _key_of(item: JsonObject) -> tuple[str, ...]:
    """Return which shape the line claims to have; raises MalformedError if none is like that."""
    if "kind" not in item:
        return _schema_key(item, (VECTOR,), "a line without 'kind' is a vector, which")
    kind = text(item, "kind")
    key: tuple[str, ...]
    if kind == "header":
        return _schema_key(item, (TRACE, HISTORY), "a header")
    if kind == "op":
        key = ("op", _needed(item, "f"), _needed(item, "type"))
        complaint = f"has a call {shown(key[1])} of type {shown(key[2])}, which is unknown"
    elif kind == "event":
        key = ("event", _needed(item, "action"))
        complaint = f"has the action {shown(key[1])}, which is unknown"
    elif kind == "end":
        key = ("end", "trace" if "trace" in item else "history")
        complaint = ""
    else:
        raise MalformedError(f"has 'kind' {shown(kind)}, not header, op, event or end")
    if key not in line_shapes():
        raise MalformedError(complaint)
    return key


def _schema_key(item: JsonObject, schemas: tuple[str, ...], what: str) -> tuple[str, str]:
    schema = _needed(item, "schema")
    if schema not in schemas:
        known = " or ".join(schemas)
        raise MalformedError(f"has the schema {shown(schema)}, but {what} has {known}")
    component = _needed(item, "component")
    if (schema, component) not in line_shapes():
        known = ", ".join(key[1] for key in line_shapes() if key[0] == schema)
        raise MalformedError(f"has the component {shown(component)}, which is none of {known}")
    return schema, component


def _needed(item: JsonObject, name: str) -> str:
    if name not in item:
        raise MalformedError(f"lacks the field {name!r}")
    return text(item, name)


def _has_required(cls: type[object]) -> bool:
    return any(field.required for field in shape_of(cls).fields)


_Builder = Callable[[JsonObject], Event | None]

_scan = json.JSONDecoder().raw_decode
_OPS = {
    (key[1], key[2]): cast(_Builder, compile_shape(shape))
    for key, shape in line_shapes().items()
    if key[0] == "op"
}
_EVENTS = {
    key[1]: cast(_Builder, compile_shape(shape))
    for key, shape in line_shapes().items()
    if key[0] == "event"
}
