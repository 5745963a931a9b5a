"""From an event to its line: the inverse of `parse_line`."""

import json
from dataclasses import fields, is_dataclass
from typing import cast

from wheelproof_spec.base.codec.vocabulary import ABSENT


def format_line(event: object) -> bytes:
    """Return the event, a dataclass of this package, as one line with its end."""
    return json.dumps(plain(event), separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def plain(value: object) -> object:
    """Return a value as what JSON has; a field that was not observed is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {one.name: getattr(value, one.name) for one in fields(value)}
        return {name: plain(item) for name, item in found.items() if item is not ABSENT}
    if isinstance(value, tuple):
        items = cast(tuple[object, ...], value)
        return [plain(item) for item in items]
    return value
