"""Reads the cfg of a model as far as the runner needs, and derives others from it.

A keyword that only newer versions of TLC have is accepted here; the runner checks before the run
whether the jar knows it.
"""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.base.errors import InputRejectedError

_INVARIANTS = frozenset({"INVARIANT", "INVARIANTS"})
_PROPERTIES = frozenset({"PROPERTY", "PROPERTIES"})
_CONSTANTS = frozenset({"CONSTANT", "CONSTANTS"})
_BEHAVIOUR = frozenset({"INIT", "NEXT", "SPECIFICATION"})
_DEADLOCK = "CHECK_DEADLOCK"
_POSTCONDITION = "POSTCONDITION"
NEWER_KEYWORDS = frozenset({"ALIAS", _POSTCONDITION, _DEADLOCK})
"""The keywords that TLC 2.15 does not have."""
_KEYWORDS = (
    NEWER_KEYWORDS
    | _INVARIANTS
    | _PROPERTIES
    | _CONSTANTS
    | _BEHAVIOUR
    | frozenset(
        {
            "CONSTRAINT",
            "CONSTRAINTS",
            "ACTION_CONSTRAINT",
            "ACTION_CONSTRAINTS",
            "SYMMETRY",
            "VIEW",
        }
    )
)
_CHECKED = {
    "INVARIANT": _INVARIANTS,
    "PROPERTY": _PROPERTIES,
    _POSTCONDITION: frozenset({_POSTCONDITION}),
}
_TOKEN = re.compile(
    r"(?P<comment>\\\*[^\n]*|\(\*.*?\*\))|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<word>\w+)"
    r"|(?P<other>\s+|.)",
    re.DOTALL,
)


_ASSIGNMENT_OR_STRING = re.compile(r"(\w+)\s*(=|<-)\s*|\"(?:[^\"\\]|\\.)*\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A keyword of a cfg with the text up to the next one, without comments."""

    keyword: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """How a cfg differs from its base.

    `constants` get another value, operators in `replaced` another definition. `specification`
    replaces the base's formula. `checked` has all that is checked, each a keyword and a name; if it
    is empty, only deadlocks are looked for.
    """

    constants: Mapping[str, str]
    replaced: Mapping[str, str]
    specification: str | None
    checked: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cfg:
    """A configuration as TLC reads it: `name` for messages, the whole text, its sections."""

    name: str
    text: str
    sections: tuple[Section, ...]

    @property
    def behaviours(self) -> tuple[str, ...]:
        """The names under SPECIFICATION, or under INIT and NEXT."""
        return self._names(_BEHAVIOUR)

    @property
    def invariants(self) -> tuple[str, ...]:
        """The names under INVARIANT."""
        return self._names(_INVARIANTS)

    @property
    def properties(self) -> tuple[str, ...]:
        """The names under PROPERTY."""
        return self._names(_PROPERTIES)

    @property
    def checked(self) -> tuple[tuple[str, str], ...]:
        """All that is checked, as a variation names it."""
        return tuple(
            (keyword, name)
            for keyword, keywords in _CHECKED.items()
            for name in self._names(keywords)
        )

    @property
    def constants(self) -> Mapping[str, str]:
        """The constants that get a value."""
        return {name: value for name, sign, value in self._assignments() if sign == "="}

    @property
    def replaced(self) -> Mapping[str, str]:
        """The constants and operators that another definition replaces."""
        return {name: value for name, sign, value in self._assignments() if sign == "<-"}

    @property
    def check_deadlock(self) -> bool:
        """Whether a deadlock is an error: it is, unless CHECK_DEADLOCK says FALSE."""
        sections = (section for section in self.sections if section.keyword == _DEADLOCK)
        return all(section.text.strip() != "FALSE" for section in sections)

    def require(self, known: Container[str], jar: str) -> None:
        """Raise InputRejectedError for a keyword that the TLC in `jar` does not have."""
        for section in self.sections:
            if section.keyword in NEWER_KEYWORDS - {_DEADLOCK} and section.keyword not in known:
                raise InputRejectedError(
                    self.name,
                    section.line,
                    f"{section.keyword} is not known to the TLC in {jar}",
                    "remove it, or name a newer tla2tools.jar with --jar",
                )

    def text_for(self, known: Container[str]) -> str:
        """Return the text for a TLC that knows these newer keywords.

        CHECK_DEADLOCK is left out if it is not known: an option of the command has the same effect.
        """
        if _DEADLOCK in known or all(section.keyword != _DEADLOCK for section in self.sections):
            return self.text
        kept = (section for section in self.sections if section.keyword != _DEADLOCK)
        return "".join(f"{section.keyword} {section.text.strip()}\n" for section in kept)

    def varied(self, name: str, comment: str, variation: Variation) -> "Cfg":
        """Return the cfg `name` that differs from this one by `variation`; `comment` heads it."""
        settings = {key: (sign, value) for key, sign, value in self._assignments()}
        settings.update((key, ("=", value)) for key, value in variation.constants.items())
        settings.update((key, ("<-", value)) for key, value in variation.replaced.items())
        lines = [f"\\* {comment}", *self._formulas(variation.specification), "CONSTANTS"]
        # In the order of the base: TLC sorts strings by when it first meets them, and the
        # counterexamples of liveness depend on that.
        lines += (f"    {key} {sign} {value}" for key, (sign, value) in settings.items())
        lines += (f"{keyword} {name}" for keyword, name in variation.checked)
        return parse_cfg(name, "\n".join(lines) + "\n")

    def _formulas(self, specification: str | None) -> Iterator[str]:
        """Yield the sections that are neither constants nor checked."""
        dropped = _INVARIANTS | _PROPERTIES | _CONSTANTS | {_POSTCONDITION}
        if specification is not None:
            dropped |= _BEHAVIOUR
            yield f"SPECIFICATION {specification}"
        for section in self.sections:
            if section.keyword not in dropped:
                yield f"{section.keyword} {' '.join(section.text.split())}"

    def _names(self, keywords: frozenset[str]) -> tuple[str, ...]:
        return tuple(
            name
            for section in self.sections
            if section.keyword in keywords
            for name in section.text.split()
        )

    def _assignments(self) -> Iterator[tuple[str, str, str]]:
        """Yield each constant or operator that is set, with ``=`` or ``<-``, and its value."""
        for section in self.sections:
            if section.keyword in _CONSTANTS:
                tokens = _ASSIGNMENT_OR_STRING.finditer(section.text)
                found = [match for match in tokens if match[1]]
                ends = [*(match.start() for match in found[1:]), len(section.text)]
                for match, end in zip(found, ends, strict=True):
                    yield match[1], match[2], " ".join(section.text[match.end() : end].split())


def load_cfg(path: Path) -> Cfg:
    """Read a cfg file; raises InputRejectedError if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRejectedError(str(path), None, f"unreadable ({error})", "repair it") from error
    return parse_cfg(str(path), text)


def parse_cfg(name: str, text: str) -> Cfg:
    """Read the text of a cfg; raises InputRejectedError as `load_cfg` does."""
    return Cfg(name=name, text=text, sections=tuple(_sections(name, text)))


def _sections(name: str, text: str) -> Iterator[Section]:
    keyword, start, body = None, 1, ""
    line = 1
    for match in _TOKEN.finditer(text):
        token, kind = match[0], match.lastgroup
        if kind == "word" and token in _KEYWORDS:
            if keyword is not None:
                yield Section(keyword=keyword, line=start, text=body)
            keyword, start, body = token, line, ""
        elif keyword is None:
            if kind != "comment" and token.strip():
                raise InputRejectedError(
                    name, line, f"a keyword expected, not {token}", "begin with SPECIFICATION"
                )
        else:
            body += " " if kind == "comment" else token
        line += token.count("\n")
    if keyword is not None:
        yield Section(keyword=keyword, line=start, text=body)
