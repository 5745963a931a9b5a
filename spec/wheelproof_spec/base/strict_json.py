"""One JSON object from one line, fail-closed: a line that is not clearly valid is refused."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeGuard

JsonObject = Mapping[str, object]
"""A JSON object whose values are not yet known to be of the right type."""


class MalformedError(ValueError):
    """A line does not follow its format; the message completes the sentence "the line ..."."""


class OutOfBoundsError(MalformedError):
    """A value is an integer, but outside the bounds of its field."""


def parse_object(line: bytes) -> JsonObject:
    """Return the JSON object that `line` holds; raises MalformedError if it holds anything else."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedError(f"is not UTF-8: byte {error.start} is wrong") from error
    if text.startswith("\ufeff"):
        raise MalformedError("begins with a byte-order mark: save the file as UTF-8 without one")
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise MalformedError(f"is not JSON: {error.msg} at column {error.colno}") from error
    except MalformedError:
        raise
    except (ValueError, RecursionError) as error:
        raise MalformedError("is not JSON: a number or a nesting is far too long") from error
    return as_object(value, "is")


def quick_decoder() -> Callable[[bytes], object]:
    """Return what decodes a line fast: msgspec, if it is installed, else the standard library.

    Where it raises ValueError, StopIteration or RecursionError, `parse_object` says what is wrong.
    It lets pass what only `parse_object` refuses: a name that is there twice; half a surrogate
    pair, which needs a backslash; NaN and Infinity, which are floats.
    """
    try:
        from msgspec.json import Decoder
    except ModuleNotFoundError:
        return _decoded
    return Decoder().decode


def _decoded(line: bytes) -> object:
    decoded = line.decode()
    item, end = _scan(decoded)
    if decoded[end:] not in ("\n", ""):
        raise ValueError("there is more behind it")
    return item


def as_object(value: object, what: str) -> JsonObject:
    """Return `value` as a JSON object; `what` begins the error message otherwise."""
    if not _is_object(value):
        raise MalformedError(f"{what} no JSON object")
    return value


def require_fields(value: JsonObject, required: Sequence[str]) -> None:
    """Raise MalformedError unless `value` has all the required fields and no unknown one."""
    for name in value:
        if name not in required:
            raise MalformedError(f"has the unknown field {name!r}")
    for name in required:
        if name not in value:
            raise MalformedError(f"lacks the field {name!r}")


def integer(value: JsonObject, name: str) -> int:
    """Return the field `name`, which has to be an integer."""
    field = value[name]
    if type(field) is not int:
        raise MalformedError(f"has {name!r} that is no integer")
    return field


def text(value: JsonObject, name: str) -> str:
    """Return the field `name`, which has to be a string that UTF-8 can hold."""
    return _as_text(value[name], name)


def texts(value: JsonObject, name: str) -> tuple[str, ...]:
    """Return the field `name`, which has to be a list of strings."""
    return tuple(_as_text(item, name) for item in _as_list(value, name))


def format_object(value: JsonObject) -> bytes:
    """Return `value` as one line, with its end."""
    return _ENCODER.encode(value).encode("ascii") + b"\n"


def _is_object(value: object) -> TypeGuard[JsonObject]:
    # What json.loads makes has strings for keys.
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _as_list(value: JsonObject, name: str) -> list[object]:
    field = value[name]
    if not _is_list(field):
        raise MalformedError(f"has {name!r} that is not a list")
    return field


def _as_text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise MalformedError(f"has {name!r} with a value that is no string")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise MalformedError(f"has {name!r} with half a surrogate pair") from error
    return value


def _without_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise MalformedError("names a field twice")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise MalformedError(f"is not JSON: {name} is no number")


# Made once: json.loads and json.dumps make a new one at each call with options.
_DECODER = json.JSONDecoder(object_pairs_hook=_without_repetition, parse_constant=_refuse_constant)
_scan = json.JSONDecoder().raw_decode
_ENCODER = json.JSONEncoder(separators=(",", ":"))
