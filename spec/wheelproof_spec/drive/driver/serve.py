"""Serves components as a driver: the other end of `session`, in Python."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from typing import BinaryIO

from wheelproof.errors import WheelproofError
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import CallT, ComponentDefinition, SeenT
from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.base.port import Port, RefusedError
from wheelproof_spec.base.strict_json import (
    JsonObject,
    MalformedError,
    OutOfBoundsError,
    require_fields,
    text,
)
from wheelproof_spec.drive.driver.messages import (
    SCHEMA,
    Introduction,
    Refusal,
    format_answer,
    format_introduction,
    format_refusal,
    parse_hello,
    parse_request,
)

_OUT_OF_BOUNDS = "IllegalArgument"
_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedComponent:
    """A component to serve; `answer` maps a request's operation and fields to the answer's fields.

    `profile` is the contract that it declares, `capabilities` are those that it declares.
    """

    name: str
    answer: Callable[[str, JsonObject], JsonObject]
    profile: str
    capabilities: tuple[str, ...]


def refused(error: WheelproofError) -> RefusedError:
    """Return the refusal that a driver reports for an error of the reference."""
    return RefusedError(type(error).__name__.removesuffix("Error"), str(error))


def served(
    definition: ComponentDefinition[CallT, SeenT],
    port: Port[CallT, SeenT],
    profile: str | None = None,
) -> ServedComponent:
    """Return `port` as a component to serve, which declares all capabilities.

    It declares `profile`, or else the first profile of the component.
    """
    wire = DrivenWire(definition)

    def respond(operation: str, fields: JsonObject) -> JsonObject:
        try:
            call = wire.parse_call(operation, fields)
        except OutOfBoundsError as error:
            raise RefusedError(_OUT_OF_BOUNDS, f"the request {error}") from error
        return wire.answer(call, port.perform(call))

    return ServedComponent(
        name=definition.name,
        answer=respond,
        profile=profile or definition.profiles[0],
        capabilities=(*definition.capabilities, *definition.undeclared(())),
    )


def serve(
    components: Sequence[ServedComponent],
    *,
    implementation: str,
    version: str,
    requests: BufferedIOBase,
    answers: BinaryIO,
) -> None:
    """Answer the requests until `bye` or the end of the requests.

    A reset chooses the component; before the first reset it is the first one. Raises
    InputRejectedError for a line that is no request.
    """
    introduction = Introduction(
        implementation=implementation,
        version=version,
        components=tuple(component.name for component in components),
        capabilities=tuple(dict.fromkeys(name for one in components for name in one.capabilities)),
        profiles={component.name: component.profile for component in components},
    )
    server = _Server(components, introduction)
    place = 0
    for lines in _together(requests):
        try:
            for line in lines:
                place += 1
                answers.write(server.answer(line))
                if server.is_over:
                    return
        except MalformedError as error:
            raise InputRejectedError(
                "requests", place, f"the line {error}", f"follow the schema {SCHEMA}"
            ) from error
        finally:
            answers.flush()


def _together(requests: BufferedIOBase) -> Iterator[list[bytes]]:
    """Yield the lines that have arrived together, so that their answers are sent together."""
    rest = b""
    while chunk := requests.read1(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        yield lines
    if rest:
        yield [rest]


class _Server:
    def __init__(self, components: Sequence[ServedComponent], introduction: Introduction) -> None:
        self._components = {component.name: component for component in components}
        self._current = components[0]
        self._introduction = introduction
        self.is_over = False

    def answer(self, line: bytes) -> bytes:
        number, operation, fields = parse_request(line)
        try:
            match operation:
                case "hello":
                    _require_known("UnsupportedSchema", parse_hello(fields).schema, (SCHEMA,))
                    return format_introduction(number, self._introduction)
                case "bye":
                    require_fields(fields, ())
                    self.is_over = True
                    return format_answer(number, {})
                case "reset":
                    name = _component_of(fields)
                    _require_known("UnsupportedComponent", name, tuple(self._components))
                    self._current = self._components[name]
                case _:
                    pass
            return format_answer(number, self._current.answer(operation, fields))
        except RefusedError as refusal:
            return format_refusal(number, Refusal(kind=refusal.kind, message=refusal.message))


def _component_of(fields: JsonObject) -> str:
    require_fields(fields, ("component", "config"))
    return text(fields, "component")


def _require_known(kind: str, asked: str, known: tuple[str, ...]) -> None:
    if asked not in known:
        raise RefusedError(kind, f"{asked!r} is not known here; there is {', '.join(known)}")
