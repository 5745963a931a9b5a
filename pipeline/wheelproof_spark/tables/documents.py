"""Dataclasses as the documents of plans, and back: a field of another type is an error."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import TypeVar, cast, get_args, get_origin, get_type_hints

from wheelproof_spec.base.errors import InputRejectedError, UsageError

_T = TypeVar("_T")
_PLAIN = (bool, int, str)


def parsed_document(text: str, where: str, kind: type[_T], schema: str, remedy: str) -> _T:
    """Return the instance of the dataclass `kind` that a document has; `where` it is, for errors.

    Raises InputRejectedError if the document cannot be read, UsageError if it has another schema.
    """
    try:
        document: object = json.loads(text)
        if not isinstance(document, dict):
            raise TypeError("it is no object")
        found = cast("dict[str, object]", document)
        if found.get("schema") != schema:
            raise UsageError(
                f"{where} has the schema {found.get('schema')!r}, not {schema!r}; {remedy}"
            )
        return record_of(kind, {key: found[key] for key in found if key != "schema"})
    except (ValueError, TypeError) as error:
        problem = f"has a plan that cannot be read ({error})"
        raise InputRejectedError(where, None, problem, remedy) from error


def document_of(values: Mapping[str, object], schema: str) -> str:
    """Return the document of the `dataclasses.asdict` of an instance, with its schema."""
    return json.dumps({"schema": schema, **values})


def record_of(kind: type[_T], value: object) -> _T:
    """Return an instance of the dataclass `kind`.

    Raises TypeError if `value` is not the `dataclasses.asdict` of an instance.
    """
    assert is_dataclass(kind)
    if not isinstance(value, dict):
        raise TypeError(f"{kind.__name__} is {value!r}, no object")
    given, hints = cast("dict[str, object]", value), get_type_hints(kind)
    if unknown := given.keys() - hints.keys():
        raise TypeError(f"{kind.__name__} has an unknown {min(unknown)!r}")
    names = [field.name for field in fields(kind)]
    if lost := [name for name in names if name not in given]:
        raise TypeError(f"{kind.__name__} lacks {lost[0]!r}")
    return cast("Callable[..., _T]", kind)(
        **{name: _of(hints[name], given[name], name) for name in names}
    )


def _of(kind: object, value: object, name: str) -> object:
    origin, inner = get_origin(kind), get_args(kind)
    if NoneType in inner:
        (other,) = (part for part in inner if part is not NoneType)
        return None if value is None else _of(other, value, name)
    if isinstance(value, list):
        items = cast("list[object]", value)
        kinds = inner * len(items) if origin is list else inner
        if origin not in (list, tuple) or len(kinds) != len(items):
            raise TypeError(f"{name!r} is {items!r}")
        made = [_of(part, item, name) for part, item in zip(kinds, items, strict=True)]
        return made if origin is list else tuple(made)
    if origin is dict and isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return {key: _of(inner[1], item, name) for key, item in pairs}
    if isinstance(kind, type) and is_dataclass(kind):
        return record_of(kind, value)
    if kind is float and type(value) in (int, float):
        return value
    if kind in _PLAIN and type(value) is kind:
        return value
    raise TypeError(f"{name!r} is {value!r}")
