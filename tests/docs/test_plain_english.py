"""Documents are plain English: short sentences, and none of the words that were hard to read.

plain_english.toml has the words, and for the documents that are not mended yet how many sentences
are too long: fewer are fine, more are not.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from support.checkout import ROOT, project_files

_TABLE: Mapping[str, Mapping[str, str | int]] = tomllib.loads(
    Path(__file__).with_name("plain_english.toml").read_text(encoding="utf-8")
)
_HARD, _LONG, _TWICE = _TABLE["hard"], _TABLE["long sentences"], _TABLE["read twice"]
_READ = (".md", ".py", ".toml", ".tla", ".html", ".go", ".java", ".js", ".mjs", ".rs", ".yml")
_MOST_WORDS = 32
_DOCUMENTS = tuple(
    path.relative_to(ROOT).as_posix() for path in project_files() if path.suffix == ".md"
)
_NO_PROSE = re.compile(
    r"^ *```.*?^ *```$|^ *\|.*?$|^#.*?$|^!\[.*?$|<[^>]*>", re.MULTILINE | re.DOTALL
)
_END = re.compile(r"(?<=[.?!:])[\"')\]*_]*\s+|\n\s*\n|\n *(?:[-*]|\d+\.) ")


def _prose(document: str) -> str:
    text = _NO_PROSE.sub("\n", (ROOT / document).read_text(encoding="utf-8"))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"`[^`]*`", "code", text)


def _long_sentences(text: str) -> Iterator[str]:
    for sentence in _END.split(text):
        if len(re.findall(r"[A-Za-z][\w'-]*", sentence)) > _MOST_WORDS:
            yield " ".join(sentence.split())


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_sentences_are_short(document: str) -> None:
    found = list(_long_sentences(_prose(document)))
    allowed = _LONG.get(document, 0)
    shown = "\n".join(found)
    assert len(found) <= int(allowed), f"over {_MOST_WORDS} words, {allowed} allowed:\n{shown}"


@pytest.mark.parametrize("document", sorted(_LONG))
def test_what_is_mended_stays_mended(document: str) -> None:
    assert document in _DOCUMENTS
    left = sum(1 for _ in _long_sentences(_prose(document)))
    assert left == _LONG[document], "it has fewer now: lower its number in plain_english.toml"


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_no_hard_word_is_used(document: str) -> None:
    text = _prose(document)
    found = {word: better for word, better in _HARD.items() if re.search(word, text)}
    assert found == {}, "say instead what stands behind each"


@pytest.mark.parametrize("words", sorted(_TWICE))
def test_what_was_read_twice_is_nowhere(words: str) -> None:
    found = [name for name, text in _texts().items() if _says(text, words)]
    assert found == [], f"write instead: {_TWICE[words]}"


@cache
def _texts() -> Mapping[str, str]:
    """Return what people read but for this table, with one space between two words."""
    files = [path for path in project_files() if path.suffix in _READ]
    return {
        path.relative_to(ROOT).as_posix(): " ".join(path.read_text(encoding="utf-8").split())
        for path in files
        if path.name != "plain_english.toml"
    }


def _says(text: str, words: str) -> bool:
    return words in text.replace(" // ", " ").replace(" # ", " ")


def test_what_goes_over_the_end_of_a_line_is_found() -> None:
    comment = "# That is\n# read twice"
    assert _says(" ".join(comment.split()), "is read twice")


def test_a_long_sentence_and_a_hard_word_are_found() -> None:
    assert list(_long_sentences("one two " * 17 + ". And three.")) != []
    assert any(re.search(word, "who gives one back wakes one of those that wait") for word in _HARD)
