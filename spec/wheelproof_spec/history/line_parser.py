"""Parses one line of a trace, a history or a file of vectors: `LineFormat.parse(bytes)`.

The parser depends neither on files nor on other lines, so any engine can call it, a line at a time.
The definition of a component determines the fields of its lines.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import cast

from wheelproof_spec.base.codec.compiled import compile_shape
from wheelproof_spec.base.codec.driven import step_shapes
from wheelproof_spec.base.codec.explain import build, shown
from wheelproof_spec.base.codec.shapes import Shape, shape_of
from wheelproof_spec.base.codec.vocabulary import Nothing, Wire
from wheelproof_spec.base.component import AnyDefinition, Operation
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
from wheelproof_spec.base.strict_json import (
    JsonObject,
    MalformedError,
    parse_object,
    quick_decoder,
    text,
)

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

ShapeKey = tuple[str, ...]
"""The key of a kind of line.

(schema, component) for headers and vectors, ("op", name, type), ("event", action) and ("end", the
name of the field that names the run).
"""

_EventBuilder = Callable[[JsonObject], Event | None]

RunKey = tuple[str, str]
"""The key of a run in its file: its format and its name."""


@lru_cache(maxsize=64)
def _no_such(name: str, known: tuple[str, ...]) -> str:
    """Return the complaint about a name; a recording with a wrong name has it in many lines."""
    near = get_close_matches(name, known, n=1)
    return f"{name} (" + (f"did you mean {near[0]}?)" if near else f"known: {', '.join(known)})")


@dataclass(frozen=True, slots=True)
class Rejection:
    """The reason why a line is not judged; completes the sentence "the line ...".

    `run` is the run that it names, if it names one.
    """

    problem: str
    run: RunKey | None = None


class LineFormat:
    """The formats of the lines of some components."""

    def __init__(
        self,
        definitions: Sequence[AnyDefinition],
        decoded: Callable[[bytes], object] | None = None,
    ) -> None:
        """Compile the definitions; operations of the same name have to be equal.

        `decoded` takes the place of `quick_decoder`.
        """
        self.shapes: Mapping[ShapeKey, Shape] = _shapes(definitions)
        # The builders look at every value, so it does no harm to claim that each is a text.
        self._decoded = cast("Callable[[bytes], Mapping[str, str]]", decoded or quick_decoder())
        builders = {
            key: compile_shape(shape) for key, shape in self.shapes.items() if key[0] != VECTOR
        }
        self._builders = cast("Mapping[ShapeKey, _EventBuilder]", builders)

    def parse(self, line: bytes) -> Event | Rejection:
        """Return the event of `line`, with or without a line end, or why it has none."""
        try:
            event = self.shortcut(line)
            return self.explained(line) if event is None else event
        except MalformedError as error:
            return Rejection(str(error), _run_of(line))

    def shortcut(self, line: bytes) -> Event | None:
        """Return the event if the line is clearly valid; else None, without a diagnosis.

        A backslash could hide a repeated name or half a surrogate pair. If there are as many colons
        as names, no name is repeated: each name needs a colon, and the parsed object has a repeated
        name only once. A decoder may accept more than the strict reader but for that: the
        builder tests each name, and the type and the bounds of each value.
        """
        if b"\\" in line or len(line) > LINE_LIMIT:
            return None
        try:
            item = self._decoded(line)
            names = len(item)
            match item["kind"]:
                case "op":
                    builder = self._builders["op", item["f"], item["type"]]
                    names += len(item["value"])
                case "event":
                    builder = self._builders["event", item["action"]]
                    names += len(item.get("args", ())) + len(item.get("obs", ()))
                case "header":
                    builder = self._builders[item["schema"], item["component"]]
                    names += len(item["impl"]) + len(item["config"])
                case "end":
                    builder = self._builders["end", "trace" if "trace" in item else "history"]
                case _:
                    return None
            colons = line.count(b":")
            is_once_each = colons == names or colons == _names_in(item)
            return builder(item) if is_once_each else None
        except (KeyError, TypeError, AttributeError, ValueError, StopIteration, RecursionError):
            return None

    def explained(self, line: bytes) -> Event:
        """Return the event after all checks; raises MalformedError if the line is not valid."""
        if len(line) > LINE_LIMIT:
            raise MalformedError(f"has more than {LINE_LIMIT:,} bytes")
        if not line.strip():
            raise MalformedError("is empty")
        item = parse_object(line)
        shape = self.shapes[self._key_of(item)]
        return cast(Event, build(shape, item))

    def _key_of(self, item: JsonObject) -> ShapeKey:
        """Return the key of the shape that the line claims; raises MalformedError if unknown."""
        if "kind" not in item:
            return self._schema_key(item, (VECTOR,), "a line without 'kind' is a vector, which")
        kind = text(item, "kind")
        key: ShapeKey
        if kind == "header":
            return self._schema_key(item, (TRACE, HISTORY), "a header")
        if kind == "op":
            key = ("op", _needed(item, "f"), _needed(item, "type"))
            complaint = self._unknown_call(key[1], key[2])
        elif kind == "event":
            key = ("event", _needed(item, "action"))
            complaint = f"has the unknown action {self._there_is_no(key[1], 'event')}"
        elif kind == "end":
            key = ("end", "trace" if "trace" in item else "history")
            complaint = ""
        else:
            raise MalformedError(f"has 'kind' {shown(kind)}, not header, op, event or end")
        if key not in self.shapes:
            raise MalformedError(complaint)
        return key

    def _unknown_call(self, call: str, kind: str) -> str:
        kinds = sorted({key[2] for key in self.shapes if key[:2] == ("op", call)})
        if kinds:
            return f"has a call {shown(call)} of type {shown(kind)}, not {', '.join(kinds)}"
        return f"has the unknown call {self._there_is_no(call, 'op')}"

    def _there_is_no(self, name: str, kind: str) -> str:
        return _no_such(shown(name), tuple(sorted({k[1] for k in self.shapes if k[0] == kind})))

    def _schema_key(self, item: JsonObject, schemas: tuple[str, ...], what: str) -> ShapeKey:
        schema = _needed(item, "schema")
        if schema not in schemas:
            known = " or ".join(schemas)
            raise MalformedError(f"has the schema {shown(schema)}, but {what} has {known}")
        component = _needed(item, "component")
        if (schema, component) not in self.shapes:
            known = ", ".join(key[1] for key in self.shapes if key[0] == schema)
            raise MalformedError(f"has the component {shown(component)}, which is none of {known}")
        return schema, component


def _names_in(value: object) -> int:
    """Return the number of names in a JSON value, at every depth."""
    match value:
        case dict():
            content = cast(JsonObject, value)
            return len(content) + sum(map(_names_in, content.values()))
        case list():
            return sum(map(_names_in, cast("list[object]", value)))
        case _:
            return 0


def _shapes(definitions: Sequence[AnyDefinition]) -> dict[ShapeKey, Shape]:
    shapes: dict[ShapeKey, Shape] = {
        ("end", "trace"): shape_of(TraceEnd),
        ("end", "history"): shape_of(HistoryEnd),
    }
    operations: dict[str, Operation] = {}
    for definition in definitions:
        narrowed = {"component": definition.name}
        config = (shape_of(definition.config, wire=Wire.RECORDED),)
        shapes[HISTORY, definition.name] = shape_of(HistoryHeader, narrowed, config=config)
        if definition.actions:
            shapes[TRACE, definition.name] = shape_of(TraceHeader, narrowed, config=config)
        steps = step_shapes(definition)
        if steps:
            config = (shape_of(definition.config, wire=Wire.DRIVEN),)
            shapes[VECTOR, definition.name] = shape_of(Vector, narrowed, config=config, steps=steps)
        for operation in definition.operations_on(Wire.RECORDED):
            known = operations.setdefault(operation.name, operation)
            if (known.call, known.returns) != (operation.call, operation.returns):
                raise TypeError(f"two components mean different things by {operation.name!r}")
            shapes.update(_op_shapes(operation))
        shapes.update(_event_shapes(definition))
    return shapes


def _op_shapes(operation: Operation) -> dict[ShapeKey, Shape]:
    values = {
        "invoke": operation.call,
        "ok": operation.returns,
        "fail": Nothing,
        "info": Nothing,
    }
    return {
        ("op", operation.name, kind): shape_of(
            HistoryOp,
            {"type": kind, "f": operation.name},
            required=("error",) if kind == "fail" else (),
            without=() if kind == "fail" else ("error",),
            value=(shape_of(value, wire=Wire.RECORDED),),
        )
        for kind, value in values.items()
    }


def _event_shapes(definition: AnyDefinition) -> dict[ShapeKey, Shape]:
    found: dict[ShapeKey, Shape] = {}
    for action in definition.actions:
        parts = {
            "args": shape_of(action.args, wire=Wire.RECORDED),
            "obs": shape_of(action.obs, wire=Wire.RECORDED),
        }
        found["event", action.action] = shape_of(
            TraceEvent,
            {"action": action.action},
            required=[
                name for name, part in parts.items() if any(field.required for field in part.fields)
            ],
            args=(parts["args"],),
            obs=(parts["obs"],),
        )
    return found


def _run_of(line: bytes) -> RunKey | None:
    """Return the run that an invalid line names, if it names one."""
    try:
        item = parse_object(line)
    except MalformedError:
        return None
    for kind in ("trace", "history"):
        name = item.get(kind)
        if isinstance(name, str):
            return kind, name
    return None


def _needed(item: JsonObject, name: str) -> str:
    if name not in item:
        raise MalformedError(f"lacks the field {name!r}")
    return text(item, name)
