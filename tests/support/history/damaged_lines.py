"""Good lines of every kind, and ways to damage them."""

import json
import random
from functools import cache

from wheelproof_spec.app.recorded import (
    LINES,
)
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

JsonValue = object


def good_value(shape: Shape, chance: random.Random) -> dict[str, JsonValue]:
    """Return an object of this shape, chosen by chance."""
    return {
        field.name: _value(field, chance)
        for field in shape.fields
        if field.required or chance.random() < 0.7
    }


def _value(field: Field, chance: random.Random) -> JsonValue:
    if field.nullable and chance.random() < 0.3:
        return None
    return _of_kind(field.kind, chance)


def _of_kind(kind: Kind, chance: random.Random) -> JsonValue:
    match kind:
        case StringKind(choices=(_, *_)):
            return chance.choice(kind.choices)
        case StringKind():
            return chance.choice(("x", "worker-1", "ünï", "a:b", 'q"uote', "back\\slash"))
        case IntegerKind():
            near = max(kind.least, 0)
            return chance.choice((near, near + 7, kind.least, kind.greatest))
        case BooleanKind():
            return chance.random() < 0.5
        case ListKind():
            return [_of_kind(kind.item, chance) for _ in range(chance.randrange(3))]
        case MapKind():
            names = [str(_of_kind(kind.key, chance)) for _ in range(chance.randrange(3))]
            return {name: _of_kind(kind.value, chance) for name in names}
        case RecordKind():
            return good_value(chance.choice(kind.shapes), chance)


@cache
def _shapes() -> tuple[Shape, ...]:
    return tuple(LINES.shapes.values())


def good_line(chance: random.Random) -> bytes:
    """Return a line that is right."""
    return format_line_of(good_value(chance.choice(_shapes()), chance))


def format_line_of(value: dict[str, JsonValue]) -> bytes:
    """Return a line of plain values."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


_ODD = (
    b"1e400",
    b"NaN",
    b"-0",
    b"1.0",
    b"null",
    b"[]",
    b"{}",
    b'""',
    b"9" * 30,
    b"true",
    b'"\\ud800"',
)


def damaged(line: bytes, chance: random.Random) -> bytes:
    """Return the line with something changed; it may still be right."""
    body = line.rstrip(b"\n")
    at = chance.randrange(len(body))
    match chance.randrange(9):
        case 0:
            return body[:at] + b"\n"
        case 1:
            return body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :] + b"\n"
        case 2:
            return body + body + b"\n"
        case 3:
            return body[: at // 2] + body[at:] + b"\n"
        case 4:
            return body.replace(b":", b":" + chance.choice(_ODD) + b",", 1) + b"\n"
        case 5:
            parts = body.split(b",")
            parts[chance.randrange(len(parts))] = b'"x":' + chance.choice(_ODD)
            return b",".join(parts) + b"\n"
        case 6:
            parts = body[1:-1].split(b",")
            chance.shuffle(parts)
            return b"{" + b",".join(parts) + b"}\n"
        case 7:
            return body[:-1] + b',"deep":' + b"[" * 3_000 + b"]" * 3_000 + b"}\n"
        case _:
            number = chance.choice((b"0", b"1", b"7"))
            return body.replace(number, chance.choice(_ODD), 1) + b"\n"
