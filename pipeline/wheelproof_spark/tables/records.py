"""Dataclasses from the JSON that was written from them: each field of its type, or an error."""

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType
from typing import TypeVar, cast, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_PLAIN = (bool, int, str)


def record_of(kind: type[_T], value: object) -> _T:
    """Return an instance of the dataclass `kind`; fields with a default may be absent.

    Raises TypeError if `value` is not what `dataclasses.asdict` makes of one.
    """
    assert is_dataclass(kind)
    if not isinstance(value, dict):
        raise TypeError(f"{kind.__name__} is {value!r}, no object")
    given, hints = cast("dict[str, object]", value), get_type_hints(kind)
    if unknown := given.keys() - hints.keys():
        raise TypeError(f"{kind.__name__} has an unknown {min(unknown)!r}")
    found: dict[str, object] = {}
    for one in fields(kind):
        if one.name in given:
            found[one.name] = _of(hints[one.name], given[one.name], one.name)
        elif one.default is MISSING and one.default_factory is MISSING:
            raise TypeError(f"{kind.__name__} lacks {one.name!r}")
    return cast("Callable[..., _T]", kind)(**found)


def _of(kind: object, value: object, name: str) -> object:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list and isinstance(value, list):
        return [_of(inner[0], one, name) for one in cast("list[object]", value)]
    if origin is tuple and isinstance(value, list):
        parts = zip(inner, cast("list[object]", value), strict=True)
        return tuple(_of(part, one, name) for part, one in parts)
    if origin is dict and isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return {key: _of(inner[1], one, name) for key, one in pairs}
    if NoneType in inner:
        (other,) = (one for one in inner if one is not NoneType)
        return None if value is None else _of(other, value, name)
    if isinstance(kind, type) and is_dataclass(kind):
        return record_of(kind, value)
    if kind is float and type(value) in (int, float):
        return value
    if kind in _PLAIN and type(value) is kind:
        return value
    raise TypeError(f"{name!r} is {value!r}")
