"""Fast path for lines that are clearly valid: a function for each shape, generated from it.

Like `dataclasses`, it writes the function as text: one test a field and no loop. A function returns
None whenever anything is unusual, and `explain` decides. Frozen instances are filled through the
descriptors of their slots, at a third of the cost of their `__init__`.
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from wheelproof_spec.base.codec.shapes import (
    BooleanKind,
    IntegerKind,
    Kind,
    ListKind,
    MapKind,
    RecordKind,
    Shape,
    StringKind,
)
from wheelproof_spec.base.strict_json import JsonObject

_GONE = object()
_UNUSUAL = "is not clearly valid"

Builder = Callable[[JsonObject], object]
"""Returns the event, or None if the object is not clearly valid.

It may then also raise KeyError, TypeError or ValueError.
"""

_Item = Callable[[object], object]
"""Returns an item of a list or of a map as the event has it; raises as a builder does."""


def compile_shape(shape: Shape, *, ascii_alone: bool = False) -> Builder:
    """Return the builder of `shape`.

    With `ascii_alone` other strings count as unusual: without the line's bytes it is unknown
    whether they contain half a surrogate pair.
    """
    if not shape.fields:
        only = shape.cls(**dict(shape.left_out))
        return lambda value: None if value else only
    names: dict[str, object] = {"cls": shape.cls, "new": object.__new__, "GONE": _GONE}
    lines = ["def build(v):", " n = len(v)"]
    for at, field in enumerate(shape.fields):
        names[f"set{at}"] = getattr(shape.cls, field.name).__set__
        test = _test(field.kind, f"x{at}", at, names, ascii_alone=ascii_alone)
        if field.nullable:
            test = f"x{at} is not None and ({test})"
        if field.required:
            lines += [f" x{at} = v[{field.name!r}]", f" if {test}: return None"]
        else:
            names[f"default{at}"] = field.default
            lines += [
                f" x{at} = v.get({field.name!r}, GONE)",
                f" if x{at} is GONE:",
                "  n += 1",
                f"  x{at} = default{at}",
                f" elif {test}: return None",
            ]
        converted = _conversion(field.kind, f"x{at}", at)
        if converted:
            # A default and a null are not converted.
            kept = f"x{at} is None" if field.required else f"x{at} is default{at} or x{at} is None"
            lines += [f" if not ({kept}):", *converted]
    lines += [f" if n != {len(shape.fields)}: return None", " e = new(cls)"]
    lines += [f" set{at}(e, x{at})" for at in range(len(shape.fields))]
    for at, (name, default) in enumerate(shape.left_out):
        names[f"leave{at}"], names[f"left{at}"] = getattr(shape.cls, name).__set__, default
        lines.append(f" leave{at}(e, left{at})")
    exec("\n".join([*lines, " return e"]), names)
    return cast(Builder, names["build"])


def _test(kind: Kind, value: str, at: int, names: dict[str, object], *, ascii_alone: bool) -> str:
    """Return an expression that is true if the value is not clearly valid."""
    match kind:
        case StringKind():
            names[f"enum{at}"] = kind.enum
            if len(kind.choices) == 1:
                return f"{value} != {kind.choices[0]!r}"
            if kind.choices:
                names[f"choices{at}"] = frozenset(kind.choices)
                return f"{value}.__class__ is not str or {value} not in choices{at}"
            return f"not ({_is_text(value, kind, ascii_alone=ascii_alone)})"
        case IntegerKind():
            return f"{value}.__class__ is not int or not {_bounds(value, kind)}"
        case BooleanKind():
            return f"{value} is not True and {value} is not False"
        case RecordKind(shapes=(shape,)):
            names[f"build{at}"] = compile_shape(shape, ascii_alone=ascii_alone)
            return f"{value}.__class__ is not dict"
        case ListKind() | MapKind():
            item = _item(kind, ascii_alone=ascii_alone)
            names[f"item{at}"] = item
            plain = "list" if isinstance(kind, ListKind) else "dict"
            return "True" if item is None else f"{value}.__class__ is not {plain}"
        case RecordKind():
            # Rare, and never on the frequent kinds of lines.
            return "True"


def _is_text(value: str, kind: StringKind, *, ascii_alone: bool) -> str:
    test = f"{value}.__class__ is str and {_bounds(f'len({value})', kind)}"
    return f"{test} and {value}.isascii()" if ascii_alone else test


def _bounds(value: str, kind: StringKind | IntegerKind) -> str:
    return f"{kind.least} <= {value} <= {kind.greatest}"


def _conversion(kind: Kind, value: str, at: int) -> list[str]:
    """Return the lines of code that convert a value to the field of the instance."""
    match kind:
        case RecordKind(shapes=(_,)):
            return [f"  {value} = build{at}({value})", f"  if {value} is None: return None"]
        case ListKind() | MapKind():
            return [f"  {value} = item{at}({value})"]
        case StringKind(enum=enum) if enum is not None:
            return [f"  {value} = enum{at}({value})"]
        case _:
            return []


def _item(kind: Kind, *, ascii_alone: bool) -> _Item | None:
    """Return what tests and converts an item; None for what is rare."""
    match kind:
        case StringKind(choices=()):
            return partial(_text, kind, ascii_alone)
        case StringKind():
            known = {choice: kind.enum(choice) if kind.enum else choice for choice in kind.choices}
            return cast(_Item, known.__getitem__)
        case IntegerKind():
            return partial(_integer, kind)
        case BooleanKind():
            return _boolean
        case RecordKind(shapes=(shape,)):
            return partial(_record, compile_shape(shape, ascii_alone=ascii_alone))
        case ListKind():
            each = _item(kind.item, ascii_alone=ascii_alone)
            return None if each is None else partial(_list, kind, each)
        case MapKind(key=StringKind(choices=())):
            key, each = (_item(part, ascii_alone=ascii_alone) for part in (kind.key, kind.value))
            return None if key is None or each is None else partial(_map, kind, key, each)
        case RecordKind() | MapKind():
            return None


def _text(kind: StringKind, ascii_alone: bool, value: object) -> str:
    if not isinstance(value, str) or not kind.least <= len(value) <= kind.greatest:
        raise ValueError(_UNUSUAL)
    if ascii_alone and not value.isascii():
        raise ValueError(_UNUSUAL)
    return value


def _integer(kind: IntegerKind, value: object) -> int:
    if type(value) is int and kind.least <= value <= kind.greatest:
        return value
    raise ValueError(_UNUSUAL)


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(_UNUSUAL)


def _record(builder: Builder, value: object) -> object:
    found = builder(cast(JsonObject, value)) if isinstance(value, dict) else None
    if found is None:
        raise ValueError(_UNUSUAL)
    return found


def _list(kind: ListKind, each: _Item, value: object) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise ValueError(_UNUSUAL)
    items = cast("list[object]", value)
    if len(items) > kind.greatest:
        raise ValueError(_UNUSUAL)
    return tuple([each(item) for item in items])


def _map(kind: MapKind, key: _Item, each: _Item, value: object) -> dict[object, object]:
    if not isinstance(value, dict):
        raise ValueError(_UNUSUAL)
    items = cast(JsonObject, value)
    if len(items) > kind.greatest:
        raise ValueError(_UNUSUAL)
    return {key(name): each(content) for name, content in items.items()}
