"""The answers of an implementation to a failing case, driven once more for reports."""

from collections.abc import Iterator, Sequence

from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.strict_json import JsonObject, format_object
from wheelproof_spec.drive.driver.messages import parse_request
from wheelproof_spec.drive.driver.process import DriverFailedError
from wheelproof_spec.drive.driver.session import DriverSession
from wheelproof_spec.drive.vector_run import StepRequest


def answers_to(session: DriverSession, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the answer to each request among `lines`, as JSON without its id.

    A line that is no request has an empty answer. The answers end early if the driver fails.
    """
    return tuple(_answers(session, lines))


def refusal_fields(refusal: RefusedError) -> JsonObject:
    """Return the fields that a report shows for a refusal in place of an answer."""
    return {"error": {"kind": refusal.kind, "message": refusal.message}}


def is_refusal(answer: str) -> bool:
    """Tell whether a line of `answers_to` is a refusal."""
    return answer.startswith('{"error":')


def as_line(fields: JsonObject) -> str:
    """Return the fields of an answer as JSON on one line."""
    return format_object(fields).decode("ascii").rstrip("\n")


def _answers(session: DriverSession, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("{"):
            yield ""
            continue
        _, operation, content = parse_request(line.encode())
        try:
            yield as_line(session.ask(StepRequest(name=operation, content=content), _as_it_is))
        except RefusedError as refusal:
            yield as_line(refusal_fields(refusal))
        except DriverFailedError:
            return


def _as_it_is(fields: JsonObject) -> JsonObject:
    return fields
