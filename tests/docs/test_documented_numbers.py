"""Each number in a text that is written by hand has a source, and is the same there.

numbers.toml has the sources. A number of two digits or more counts, as 4,096; `_NO_QUANTITY` has
what does not. The lengths of TLC's counterexamples behind the name of a model need no row.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.checkout import ROOT, project_files

_TABLE: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("numbers.toml").read_text(encoding="utf-8")
)
_NOT_BY_HAND = _TABLE["not by hand"]
_DOCUMENTS = tuple(
    name
    for path in project_files()
    if path.suffix == ".md" and (name := path.relative_to(ROOT).as_posix()) not in _NOT_BY_HAND
)
_CODE = re.compile(r"^ *```.*?^ *```$|^Measured on .*?(?=^#|\Z)", re.MULTILINE | re.DOTALL)
"""What is left out: blocks, and measurements that say when they were made."""
_NO_QUANTITY = re.compile(
    r"""
      \]\([^)]*\) | <[^>]*> | `[^`]*`  # links, code
    | ^\#+\ \d+\.(?:\d+)? | ^\d+\.\   # headings and lists with numbers
    | \b[Ff]indings?\ \d+(?:(?:,|\ and|\ -)\ \d+(?!\.))* | \(\d+\ -\ \d+[^)]*\) | \[finding\ \d+\]
    | KAFKA-\d+ | \b\d+\.\d+(?:\.\d+)?\b | \b(?:19|20)\d\d\b  # tickets, versions and rules, years
    | \b\d+\^\d+ | \b(?:Java|seeds?|request|Lines?|lines?)\ \d+
    """,
    re.MULTILINE | re.VERBOSE,
)
_NUMBER = re.compile(r"(?<![\w.#:-])\d[\d,]*\d\b")
_LENGTH = re.compile(r"`(MC\w+)`(?:,? \(?`\w+`\)?)?,? (?:ends in a \w+ after )?(\d+)\b")


def _lengths() -> dict[str, int]:
    """Return how many states TLC's counterexample has, by model."""
    found: dict[str, int] = {}
    for path in (ROOT / "tla" / "bugs").glob("*/manifest.toml"):
        manifest: Mapping[str, Mapping[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
        for kind in ("known_bug", "finding", "mutant"):
            for model, row in manifest.get(kind, {}).items():
                found[model] = row.get("trace_length", 0)
    return found


def _unexplained(text: str, phrases: Mapping[str, str]) -> Iterator[str]:
    text = _CODE.sub("", text)
    for phrase in phrases:
        text = text.replace(phrase, "")
    text = _LENGTH.sub("", text)
    for line in _NO_QUANTITY.sub("", text).splitlines():
        for number in _NUMBER.finditer(line):
            yield line[max(0, number.start() - 30) : number.end() + 30]


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_every_number_has_a_source(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert list(_unexplained(text, _TABLE.get(document, {}))) == [], "add a row to numbers.toml"


def test_a_number_without_a_source_is_found() -> None:
    text = "4,096 bytes, by finding 12, 2.13, line 15\n`MCFoo`, `Bar`, 15 states, and 17 more\n"
    assert list(_unexplained(text, {"17 more": ""})) == ["4,096 bytes, by , , "]


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_counterexamples_have_the_length_that_is_pinned(document: str) -> None:
    lengths = _lengths()
    for model, length in _LENGTH.findall((ROOT / document).read_text(encoding="utf-8")):
        assert lengths.get(model) == int(length), model


@pytest.mark.parametrize("document", sorted(set(_TABLE) - {"not by hand"}))
def test_numbers_are_those_of_their_source(document: str) -> None:
    text, lengths = (ROOT / document).read_text(encoding="utf-8"), _lengths()
    for phrase, source in _TABLE[document].items():
        assert phrase in text, f"{phrase!r} is not in {document} any more"
        kind, _, what = source.partition(" ")
        if kind == "length":
            (number,) = _NUMBER.findall(phrase)
            assert lengths[what] == int(number), phrase
        elif kind == "in":
            path, _, literal = what.partition(": ")
            assert literal in (ROOT / path).read_text(encoding="utf-8"), f"{phrase}: {source}"
        else:
            assert kind == "because", source
            assert what
