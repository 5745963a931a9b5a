"""The quick reader and the strict one accept the same lines, with msgspec and without it."""

import json
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import cast

import pytest

from support import seeds
from support.checkout import ROOT
from wheelproof_spec.base.strict_json import MalformedError, quick_decoder
from wheelproof_spec.components import registry
from wheelproof_spec.history.line_parser import Event, LineFormat

_FIRST = seeds.seed(0)
_EACH = 40
_SPOILED = 30

_HOSTILE = (
    b"", b"\x00", b"\xef\xbb\xbf", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\\ud800", b"\\u0041",
    b"NaN", b"-Infinity", b"1.0", b"1e2", b"-0", b"01", b"9223372036854775808",
    b"-9223372036854775809", b"9" * 400, b"true", b"null", b'""', b"[]", b"{}", b"[" * 3_000,
    b'{"a":' * 3_000, b" ", b"\t", b"\x0b", b"\r", b"\n", b",", b":", b'"', b"}", b"]",
    b'"kind":"op",', b'"index":0,', b'"value":{},', "\u2028é☃𝄞".encode(), b"x" * 300,
)  # fmt: skip
"""What is put into a line, or in the place of a part of it."""


def _without_msgspec() -> Callable[[bytes], object]:
    """Return the decoder of an installation that has the standard library alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "msgspec.json", None)
        return quick_decoder()


_DECODERS = (_without_msgspec(), quick_decoder())


@cache
def _lines() -> tuple[bytes, ...]:
    """Return lines of every kind: some of each file, first of all its headers."""
    found: list[bytes] = []
    for path in sorted((ROOT / "vectors" / "histories").glob("*.jsonl")):
        lines = sorted(set(path.read_bytes().splitlines(keepends=True)))
        found += random.Random(_FIRST).sample(lines, 400)
    return tuple(found)


_VALUES: tuple[object, ...] = (None, [], {}, "", "x", 0, -1, 2**63, True, 1.5, [None], {"a": None})


def _with_another_value(line: bytes, draws: random.Random) -> bytes:
    """Return the line with another value in the place of one, at any depth."""
    content: object = json.loads(line)
    places: list[tuple[dict[str, object] | list[object], str | int]] = []
    _find(content, places)
    holder, key = draws.choice(places)
    value = draws.choice(_VALUES)
    if isinstance(holder, dict):
        holder[str(key)] = value
    else:
        holder[int(key)] = value
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def _find(
    content: object, places: list[tuple[dict[str, object] | list[object], str | int]]
) -> None:
    if isinstance(content, dict):
        named = cast("dict[str, object]", content)
        for name, value in named.items():
            places.append((named, name))
            _find(value, places)
    elif isinstance(content, list):
        listed = cast("list[object]", content)
        for at, value in enumerate(listed):
            places.append((listed, at))
            _find(value, places)


def _spoiled(line: bytes, draws: random.Random) -> bytes:
    """Return the line with something strange in it."""
    if draws.randrange(3) == 0:
        return _with_another_value(line, draws)
    at = draws.randrange(len(line) + 1)
    until = draws.choice((at, at, at + 1, draws.randrange(at, len(line) + 1)))
    match draws.randrange(4):
        case 0:
            # A part of it comes twice, as a name may.
            return line[:until] + line[at:]
        case 1:
            parts = line.split(b",")
            parts.insert(draws.randrange(len(parts)), draws.choice(parts))
            return b",".join(parts)
        case _:
            return line[:at] + draws.choice(_HOSTILE) + line[until:]


def _disagreements(decoded: Callable[[bytes], object]) -> Iterator[bytes]:
    """Yield the lines that the quick reader accepts, and the strict one does not, or otherwise."""
    lines = LineFormat(registry.definitions(), decoded)
    draws = random.Random(_FIRST)
    for line in _lines():
        for one in (line, *(_spoiled(line, draws) for _ in range(_SPOILED))):
            quick = lines.shortcut(one)
            if quick is not None and quick != _strict(lines, one):
                yield one


def _strict(lines: LineFormat, line: bytes) -> Event | None:
    try:
        return lines.explained(line)
    except MalformedError:
        return None


@pytest.mark.campaign
@pytest.mark.parametrize("decoded", _DECODERS)
def test_what_the_quick_reader_accepts_the_strict_one_reads_as_well(
    decoded: Callable[[bytes], object],
) -> None:
    assert list(islice(_disagreements(decoded), 3)) == []


@pytest.mark.parametrize("decoded", _DECODERS)
def test_the_quick_reader_reads_nearly_every_line(decoded: Callable[[bytes], object]) -> None:
    lines = LineFormat(registry.definitions(), decoded)
    slow = [line for line in _lines() if lines.shortcut(line) is None]
    assert len(slow) < len(_lines()) / 50, slow[:3]


@pytest.mark.campaign
def test_a_decoder_that_reads_what_is_not_there_is_noticed() -> None:
    """This one does not mind what comes after the object."""
    decoder = json.JSONDecoder()

    def careless(line: bytes) -> object:
        found: object = decoder.raw_decode(line.decode())[0]
        return found

    assert next(_disagreements(careless), None) is not None
