"""Writes a dataclass as JSON: the inverse of the parsers."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import cast

from wheelproof_spec.base.codec.shapes import names_on
from wheelproof_spec.base.codec.vocabulary import ABSENT, Wire


def format_line(event: object, wire: Wire = Wire.RECORDED) -> bytes:
    """Return an event of a trace or a history, or a vector, as one line with its end.

    A vector is on the driven wire.
    """
    text = json.dumps(plain(event, wire), separators=(",", ":"), ensure_ascii=False)
    return text.encode() + b"\n"


def plain(value: object, wire: Wire) -> object:
    """Return a value as plain JSON on this wire; a field that was not observed is left out."""
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, tuple):
        return [plain(item, wire) for item in cast(tuple[object, ...], value)]
    if isinstance(value, Mapping):
        items = cast(Mapping[object, object], value).items()
        return {str(key): plain(item, wire) for key, item in items}
    return plain_fields(value, wire)


def plain_fields(value: object, wire: Wire) -> dict[str, object]:
    """Return the fields of a dataclass as plain JSON on this wire."""
    found: dict[str, object] = {}
    for name, left_out in _written(type(value), wire):
        item = getattr(value, name)
        if item is not ABSENT and not (left_out and item is None):
            found[name] = plain(item, wire)
    return found


def _written(cls: type[object], wire: Wire) -> tuple[tuple[str, bool], ...]:
    """Return the fields on this wire, each with whether it is left out if it is `None`."""
    known = _WRITTEN.get((cls, wire))
    if known is None:
        names = frozenset(names_on(cls, wire))
        assert is_dataclass(cls)
        known = tuple(
            (field.name, field.default is None) for field in fields(cls) if field.name in names
        )
        _WRITTEN[cls, wire] = known
    return known


_WRITTEN: dict[tuple[type[object], Wire], tuple[tuple[str, bool], ...]] = {}
