"""Dataclasses as JSON files, and back: a field of another type is an error."""

import json
from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import TypeVar, cast, get_args, get_origin, get_type_hints

from wheelproof_spec.base.errors import InputRejectedError, UsageError

_T = TypeVar("_T")
_PLAIN = (bool, int, str)


def load_document(
    path: Path, kind: type[_T], schema: str, remedy: str, derived: Collection[str] = ()
) -> _T | None:
    """Return the instance of the dataclass `kind` in a file; None if there is no such file.

    `derived` fields are written for readers of the file, and ignored here. Raises
    InputRejectedError if the file cannot be read, UsageError if it has another schema.
    """
    try:
        document: object = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(document, dict):
            raise TypeError("it is no object")
        found = cast("dict[str, object]", document)
        if found.get("schema") != schema:
            raise UsageError(
                f"{path} has the schema {found.get('schema')!r}, not {schema!r}; {remedy}"
            )
        left_out = {"schema", *derived}
        return record_of(kind, {key: found[key] for key in found if key not in left_out})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise InputRejectedError(str(path), None, f"cannot be read ({error})", remedy) from error


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
