"""What TLC's parser says of a module it cannot read, as `file:line:column: what is wrong`.

The parser prints its errors outside TLC's messages, in two forms:

    Encountered "Beginning of definition" at line 5, column 14 and token "="

with the file some lines below, and after a heading for each error of meaning

    line 5, col 14 to line 5, col 14 of module Foo
    Unknown operator: `y'.
"""

import re
from collections.abc import Iterator, Sequence

_ENCOUNTERED = re.compile(
    r"(?P<what>.*(?:Encountered|[Ll]exical error).*?) at line (?P<line>\d+), column (?P<column>\d+)"
    r"(?P<rest>.*)"
)
_IN_FILE = re.compile(r"Fatal errors while parsing TLA\+ spec in file (?:.*/)?(?P<module>\w+)")
_OF_MODULE = re.compile(
    r"line (?P<line>\d+), col (?P<column>\d+) to line \d+, col \d+ of module (?P<module>\w+)"
)
_ERRORS = re.compile(r"\*\*\* Errors: \d+")


def parse_errors(lines: Sequence[str]) -> list[str]:
    """Return the errors among the lines of the parser, each with its file, line and column."""
    return [*_of_syntax(lines), *_of_meaning(lines)]


def _of_syntax(lines: Sequence[str]) -> Iterator[str]:
    found: re.Match[str] | None = None
    expected = ""
    for line in lines:
        if line.startswith("Was expecting"):
            expected = f"{_one_line(line)}; "
        found = found or _ENCOUNTERED.match(line)
        file = _IN_FILE.match(line)
        if found is not None and file is not None:
            place = f"{file['module']}.tla:{found['line']}:{found['column']}"
            yield f"{place}: {expected}{_one_line(found['what'] + found['rest'])}"
            found, expected = None, ""


def _of_meaning(lines: Sequence[str]) -> Iterator[str]:
    """Yield the errors behind their heading: warnings, which look alike, stand before it."""
    place, words = "", list[str]()
    begun = False
    for line in (*lines, ""):
        begun = begun or _ERRORS.match(line) is not None
        found = _OF_MODULE.match(line)
        if begun and place and (found is not None or not line.strip()) and words:
            yield f"{place}: {_one_line(' '.join(words))}"
            place, words = "", []
        if begun and found is not None:
            place = f"{found['module']}.tla:{found['line']}:{found['column']}"
        elif place and line.strip():
            words.append(line)


def _one_line(text: str) -> str:
    return " ".join(text.split())
