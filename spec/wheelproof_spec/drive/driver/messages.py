"""The messages of the driver protocol that every component shares, schema wheelproof.driver/1.

An implementation under test is a program that reads one JSON object a line and answers each with
one line that carries the same `id`:

    > {"id":3,"op":"add","args":{"task":"a","delay_ms":9}}
    < {"id":3,"ok":{"fired":[]}}
    < {"id":3,"error":{"kind":"IllegalArgument","message":"..."}}     instead, if it refuses

An absent field means: not observed. Parsing is strict on both sides.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from wheelproof_spec.base.codec.bounds import Bounds, parse_bounds
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.strict_json import (
    JsonObject,
    MalformedError,
    as_object,
    format_object,
    integer,
    parse_object,
    require_fields,
    text,
    texts,
)

SCHEMA = "wheelproof.driver/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The first request: the driver introduces itself with an `Introduction`."""

    schema: str = SCHEMA

    def name_on_the_wire(self) -> str:
        """Return the name on the wire."""
        return "hello"

    def fields(self) -> Mapping[str, object]:
        """Return the schema that the rest of the conversation follows."""
        return {"schema": self.schema}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bye:
    """The last request: the driver ends. The end of its input means the same."""

    def name_on_the_wire(self) -> str:
        """Return the name on the wire."""
        return "bye"

    def fields(self) -> Mapping[str, object]:
        """Return no fields."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Introduction:
    """The answer to `hello`: the implementation behind the driver, its version, what it can do.

    `profiles` maps a component to the contract that the driver declares for it, `bounds` maps a
    component to the part of the domain that the driver supports.
    """

    implementation: str
    version: str
    components: tuple[str, ...]
    capabilities: tuple[str, ...]
    profiles: Mapping[str, str] = field(default_factory=dict[str, str])
    bounds: Mapping[str, Bounds] = field(default_factory=dict[str, Bounds])


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal of a request by the implementation; `kind` is the name of its error."""

    kind: str
    message: str


def format_request(number: int, request: Request) -> bytes:
    """Return the line that asks `request` under the id `number`."""
    return format_object({"id": number, "op": request.name_on_the_wire(), **request.fields()})


def request_line(number: int, request: Request) -> str:
    """Return the request as text for a report, without the end of the line."""
    return format_request(number, request).decode("ascii").rstrip("\n")


def format_answer(number: int, fields: JsonObject) -> bytes:
    """Return the line that answers a request with `fields`."""
    return format_object({"id": number, "ok": fields})


def format_introduction(number: int, introduction: Introduction) -> bytes:
    """Return the line that answers `hello`."""
    fields: dict[str, object] = {
        "impl": introduction.implementation,
        "version": introduction.version,
        "components": list(introduction.components),
        "capabilities": list(introduction.capabilities),
    }
    if introduction.profiles:
        fields["profiles"] = dict(introduction.profiles)
    return format_answer(number, fields)


def format_refusal(number: int, refusal: Refusal) -> bytes:
    """Return the line that refuses a request."""
    fields: dict[str, object] = {"kind": refusal.kind, "message": refusal.message}
    return format_object({"id": number, "error": fields})


def parse_request(line: bytes) -> tuple[int, str, JsonObject]:
    """Return the id, the operation and the other fields of a request; raises MalformedError."""
    message = parse_object(line)
    if "op" not in message or "id" not in message:
        raise MalformedError("lacks the field 'op' or 'id'")
    rest = {name: message[name] for name in message if name not in ("id", "op")}
    return integer(message, "id"), text(message, "op"), rest


def parse_answer(line: bytes, number: int) -> JsonObject | Refusal:
    """Return the fields of an answer to the request with the id `number`.

    Raises MalformedError if the line is no answer, or the answer to another request.
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
    needed = ("impl", "version", "components", "capabilities")
    optional = (name for name in ("profiles", "bounds") if name in fields)
    require_fields(fields, (*needed, *optional))
    profiles = as_object(fields.get("profiles", {}), "has 'profiles' that is")
    bounds = as_object(fields.get("bounds", {}), "has 'bounds' that is")
    return Introduction(
        implementation=text(fields, "impl"),
        version=text(fields, "version"),
        components=texts(fields, "components"),
        capabilities=texts(fields, "capabilities"),
        profiles={component: text(profiles, component) for component in profiles},
        bounds={
            name: parse_bounds(as_object(bounds[name], f"has bounds of {name!r} that is"))
            for name in bounds
        },
    )


def parse_done(fields: JsonObject) -> None:
    """Accept the empty answer to `bye`; raises MalformedError."""
    require_fields(fields, ())


def parse_hello(fields: JsonObject) -> Hello:
    """Return the greeting; raises MalformedError."""
    require_fields(fields, ("schema",))
    return Hello(schema=text(fields, "schema"))
