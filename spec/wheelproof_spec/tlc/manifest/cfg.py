"""Reads the cfg of a model as far as the runner needs, and derives the cfg of a witness."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.errors import InputRejectedError

_INVARIANTS = frozenset({"INVARIANT", "INVARIANTS"})
_PROPERTIES = frozenset({"PROPERTY", "PROPERTIES"})
_KEYWORDS = (
    _INVARIANTS
    | _PROPERTIES
    | frozenset(
        {
            "CONSTANT",
            "CONSTANTS",
            "CONSTRAINT",
            "CONSTRAINTS",
            "ACTION_CONSTRAINT",
            "ACTION_CONSTRAINTS",
            "INIT",
            "NEXT",
            "SPECIFICATION",
            "SYMMETRY",
            "VIEW",
        }
    )
)
_TOO_NEW = {
    "ALIAS": "remove it",
    "POSTCONDITION": "remove it",
    "CHECK_DEADLOCK": "set check_deadlock in the manifest instead",
}
_TOKEN = re.compile(
    r"(?P<comment>\\\*[^\n]*|\(\*.*?\*\))|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<word>\w+)"
    r"|(?P<other>\s+|.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A keyword of a cfg with the text up to the next one, without comments."""

    keyword: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cfg:
    """A cfg file, its sections in order."""

    path: Path
    sections: tuple[Section, ...]

    @property
    def invariants(self) -> tuple[str, ...]:
        """The names under INVARIANT."""
        return self._names(_INVARIANTS)

    @property
    def properties(self) -> tuple[str, ...]:
        """The names under PROPERTY."""
        return self._names(_PROPERTIES)

    def _names(self, keywords: frozenset[str]) -> tuple[str, ...]:
        return tuple(
            name
            for section in self.sections
            if section.keyword in keywords
            for name in section.text.split()
        )

    def witness_text(self, witness: str) -> str:
        """Return this cfg with `witness` as the only thing that is checked."""
        kept = (
            f"{section.keyword} {section.text.strip()}\n"
            for section in self.sections
            if section.keyword not in _INVARIANTS | _PROPERTIES
        )
        return "".join(kept) + f"INVARIANT {witness}\n"


def load_cfg(path: Path) -> Cfg:
    """Read a cfg; raises InputRejectedError for what TLC 2.15 would not understand."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRejectedError(str(path), None, f"unreadable ({error})", "repair it") from error
    return Cfg(path=path, sections=tuple(_sections(path, text)))


def _sections(path: Path, text: str) -> Iterator[Section]:
    keyword, start, body = None, 1, ""
    line = 1
    for match in _TOKEN.finditer(text):
        token, kind = match[0], match.lastgroup
        if kind == "word" and token in _TOO_NEW:
            raise InputRejectedError(
                str(path), line, f"TLC 2.15 does not know {token}", _TOO_NEW[token]
            )
        if kind == "word" and token in _KEYWORDS:
            if keyword is not None:
                yield Section(keyword=keyword, line=start, text=body)
            keyword, start, body = token, line, ""
        elif keyword is None:
            if kind != "comment" and token.strip():
                raise InputRejectedError(
                    str(path), line, f"a keyword expected, not {token}", "begin with SPECIFICATION"
                )
        else:
            body += " " if kind == "comment" else token
        line += token.count("\n")
    if keyword is not None:
        yield Section(keyword=keyword, line=start, text=body)
