"""Builds an event from JSON values, field by field, and says exactly what is wrong.

This module is the authority. `compiled` is a fast path for clearly valid lines, and must agree.
"""

import re

from wheelproof_spec.base.codec.shapes import (
    BooleanKind,
    Field,
    IntegerKind,
    Kind,
    ListKind,
    MapKind,
    RecordKind,
    Shape,
    StringKind,
)
from wheelproof_spec.base.strict_json import JsonObject, MalformedError, OutOfBoundsError, as_object

_SHOWN = 40
_DECIMAL = re.compile("0|-?[1-9][0-9]{0,18}")


def build(shape: Shape, value: object, where: str = "") -> object:
    """Return the event of the JSON object `value`; raises MalformedError if it is not valid.

    `where` is the path to the object, for the error message.
    """
    item = as_object(value, f"has {where!r} that is" if where else "is")
    known = {field.name for field in shape.fields}
    for name in item:
        if name not in known:
            raise MalformedError(f"has the unknown field {shown(_path(where, name))}")
    arguments = {field.name: _value_of(field, item, where) for field in shape.fields}
    return shape.cls(**dict(shape.left_out), **arguments)


def _value_of(field: Field, item: JsonObject, where: str) -> object:
    path = _path(where, field.name)
    if field.name not in item:
        if field.required:
            raise MalformedError(f"lacks the field {path!r}")
        return field.default
    value = item[field.name]
    if value is None and field.nullable:
        return None
    return _checked(field.kind, value, path)


def _checked(kind: Kind, value: object, path: str) -> object:
    match kind:
        case StringKind():
            return _string(kind, value, path)
        case IntegerKind():
            return _integer(kind, value, path)
        case BooleanKind():
            if not isinstance(value, bool):
                raise MalformedError(f"has {path!r} that is neither true nor false")
            return value
        case ListKind():
            return _list(kind, value, path)
        case MapKind():
            return _map(kind, value, path)
        case RecordKind():
            return build(_choose(kind.shapes, value, path), value, path)


def _string(kind: StringKind, value: object, path: str) -> str:
    if not isinstance(value, str):
        raise MalformedError(f"has {path!r} that is no string")
    if kind.choices and value not in kind.choices:
        raise MalformedError(f"has {path!r} {shown(value)} that is not {_alternatives(kind)}")
    if not kind.least <= len(value) <= kind.greatest:
        raise MalformedError(
            f"has {path!r} of {len(value)} characters, not {kind.least} to {kind.greatest}"
        )
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise MalformedError(f"has {path!r} with half a surrogate pair") from error
    return value if kind.enum is None else kind.enum(value)


def _integer(kind: IntegerKind, value: object, path: str) -> int:
    if type(value) is not int:
        raise MalformedError(f"has {path!r} that is no integer")
    if not kind.least <= value <= kind.greatest:
        raise OutOfBoundsError(f"has {path!r} outside {kind.least} to {kind.greatest}")
    return value


def _list(kind: ListKind, value: object, path: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise MalformedError(f"has {path!r} that is not a list")
    items: list[object] = [*value]
    if len(items) > kind.greatest:
        raise MalformedError(f"has {path!r} of more than {kind.greatest} items")
    return tuple(_checked(kind.item, item, f"{path}[{at}]") for at, item in enumerate(items))


def _map(kind: MapKind, value: object, path: str) -> dict[object, object]:
    item = as_object(value, f"has {path!r} that is")
    if len(item) > kind.greatest:
        raise MalformedError(f"has {path!r} of more than {kind.greatest} names")
    return {
        _key(kind.key, name, path): _checked(kind.value, content, _path(path, name))
        for name, content in item.items()
    }


def _key(kind: StringKind | IntegerKind, name: str, path: str) -> object:
    if isinstance(kind, StringKind):
        return _string(kind, name, f"{path}: {name}")
    if not _DECIMAL.fullmatch(name):
        raise MalformedError(f"has {path!r} with {shown(name)}, which is no number")
    return _integer(kind, int(name), f"{path}: {name}")


def _choose(shapes: tuple[Shape, ...], value: object, path: str) -> Shape:
    if len(shapes) == 1:
        return shapes[0]
    item = as_object(value, f"has {path!r} that is")
    label = shapes[0].fields[0].name if shapes else ""
    for shape in shapes:
        kind = shape.fields[0].kind
        if isinstance(kind, StringKind) and item.get(label) in kind.choices:
            return shape
    raise MalformedError(f"has {path!r} whose {label!r} is none that is known")


def shown(value: str) -> str:
    """Return a string from a line, quoted and shortened, for an error message."""
    return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")


def _alternatives(kind: StringKind) -> str:
    return " or ".join(repr(choice) for choice in kind.choices)


def _path(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
