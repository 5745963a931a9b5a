"""Shortcut for lines that are clearly right: a function for each shape, generated from it.

Like `dataclasses`, it writes the function as text: one test a field and no loop. A function returns
None whenever anything is unusual, and `explain` decides. Frozen instances are filled through the
descriptors of their slots, which costs a third of what their `__init__` does.
"""

from collections.abc import Callable
from typing import cast

from wheelproof_spec.base.codec.shapes import (
    BooleanKind,
    IntegerKind,
    Kind,
    ListKind,
    RecordKind,
    Shape,
    StringKind,
)
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.strict_json import JsonObject

Builder = Callable[[JsonObject], object]
"""Returns the event, or None if the object is not clearly one; may raise KeyError for that too."""


def compile_shape(shape: Shape) -> Builder:
    """Return the builder of `shape`."""
    if not shape.fields:
        only = shape.cls()
        return lambda value: None if value else only
    names: dict[str, object] = {"cls": shape.cls, "new": object.__new__, "ABSENT": ABSENT}
    lines = ["def build(v):", " n = len(v)"]
    for at, field in enumerate(shape.fields):
        names[f"set{at}"] = getattr(shape.cls, field.name).__set__
        test = _test(field.kind, f"x{at}", at, names)
        if field.nullable:
            test = f"x{at} is not None and ({test})"
        if field.required:
            lines += [f" x{at} = v[{field.name!r}]", f" if {test}: return None"]
        else:
            lines += [
                f" x{at} = v.get({field.name!r}, ABSENT)",
                f" if x{at} is ABSENT: n += 1",
                f" elif {test}: return None",
            ]
        lines += _conversion(field.kind, f"x{at}", at)
    lines += [f" if n != {len(shape.fields)}: return None", " e = new(cls)"]
    lines += [f" set{at}(e, x{at})" for at in range(len(shape.fields))]
    for at, name in enumerate(_left_out(shape)):
        names[f"leave{at}"] = getattr(shape.cls, name).__set__
        lines.append(f" leave{at}(e, ABSENT)")
    exec("\n".join([*lines, " return e"]), names)
    return cast(Builder, names["build"])


def _test(kind: Kind, value: str, at: int, names: dict[str, object]) -> str:
    """Return an expression that is true if the value is not clearly right."""
    match kind:
        case StringKind():
            if len(kind.choices) == 1:
                return f"{value} != {kind.choices[0]!r}"
            if kind.choices:
                names[f"choices{at}"] = frozenset(kind.choices)
                return f"{value}.__class__ is not str or {value} not in choices{at}"
            bounds = f"{kind.least} <= len({value}) <= {kind.greatest}"
            return f"{value}.__class__ is not str or not {bounds}"
        case IntegerKind():
            bounds = f"{kind.least} <= {value} <= {kind.greatest}"
            return f"{value}.__class__ is not int or not {bounds}"
        case BooleanKind():
            return f"{value} is not True and {value} is not False"
        case RecordKind(shapes=(shape,)):
            names[f"build{at}"] = compile_shape(shape)
            return f"{value}.__class__ is not dict"
        case RecordKind() | ListKind():
            # Rare, and never on the lines of which there are millions.
            return "True"


def _conversion(kind: Kind, value: str, at: int) -> list[str]:
    if isinstance(kind, RecordKind) and len(kind.shapes) == 1:
        return [
            f" if {value} is not ABSENT and {value} is not None:",
            f"  {value} = build{at}({value})",
            f"  if {value} is None: return None",
        ]
    return []


def _left_out(shape: Shape) -> list[str]:
    """Return the fields of the class that this shape of it never has."""
    kept = {field.name for field in shape.fields}
    return [name for name in getattr(shape.cls, "__slots__", ()) if name not in kept]
