"""One table of a manifest, read key by key; an unknown key is refused, never skipped."""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NoReturn, TypeGuard, TypeVar

from wheelproof_spec.base.errors import InputRejectedError

_IDENTIFIER = re.compile(r"[A-Za-z0-9_]*[A-Za-z][A-Za-z0-9_]*")

_Choice = TypeVar("_Choice", bound=StrEnum)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Tell whether a value of a TOML document is a list."""
    return isinstance(value, list)


def is_table(value: object) -> TypeGuard[dict[str, object]]:
    """Tell whether a value of a TOML document is a table."""
    return isinstance(value, dict)


def is_name(text: str) -> bool:
    """Tell whether a text is a name of TLA+."""
    return _IDENTIFIER.fullmatch(text) is not None


class Entry:
    """The table ``[section.name]`` of the file at `path`.

    `lines` has the line number of the table, under "", and of each of its keys.
    """

    def __init__(
        self, path: Path, section: str, name: str, lines: Mapping[str, int], table: object
    ) -> None:
        self.path = path
        self.section = section
        self.name = name
        self._lines = lines
        if not is_table(table):
            self.reject("is no table", f"write [{section}.{name}]")
        self._table = table
        if not is_name(name):
            self.reject("the name is no TLA+ name", "use letters, digits and _")

    @property
    def line(self) -> int:
        """The line at which the table begins."""
        return self._lines[""]

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def reject(self, problem: str, remedy: str, key: str = "") -> NoReturn:
        """Refuse the table, at the line of `key`; raises InputRejectedError."""
        line = self._lines.get(key, self.line)
        label = f"{self.section} {self.name}"
        raise InputRejectedError(str(self.path), line, f"{label}: {problem}", remedy)

    def allow(self, keys: frozenset[str]) -> None:
        """Refuse every key that is not one of `keys`."""
        unknown = sorted(self._table.keys() - keys)
        if unknown:
            allowed = f"allowed are {', '.join(sorted(keys))}"
            self.reject(f"unknown key {unknown[0]!r}", allowed, unknown[0])

    def text(self, key: str) -> str:
        """Return a text that is not empty."""
        if key not in self._table:
            self.reject(f"the key {key!r} is missing", f"add {key}")
        value = self._table[key]
        if not isinstance(value, str) or not value.strip():
            self.reject(f"{key!r} is no text", f"write {key} as a string that is not empty", key)
        return value

    def identifier(self, key: str) -> str:
        """Return a name of TLA+."""
        value = self.text(key)
        if not is_name(value):
            self.reject(f"{key!r} is {value!r}, no TLA+ name", "use letters, digits and _", key)
        return value

    def choice(self, key: str, choices: type[_Choice]) -> _Choice:
        """Return one of the words of `choices`."""
        value = self.text(key)
        if value not in {choice.value for choice in choices}:
            self.reject(f"{key!r} is {value!r}", f"use one of {', '.join(choices)}", key)
        return choices(value)

    def boolean(self, key: str, *, default: bool) -> bool:
        """Return a truth value."""
        value = self._table.get(key, default)
        if not isinstance(value, bool):
            self.reject(f"{key!r} is no truth value", "write true or false", key)
        return value

    def count(self, key: str, *, required: bool) -> int | None:
        """Return a number of states; None if it is missing and not required."""
        if key not in self._table:
            if required:
                remedy = f"measure it with: wheelproof tlc {self.name} --pin"
                self.reject(f"the key {key!r} is missing", remedy)
            return None
        value = self._table[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.reject(f"{key!r} is no number of states", "write a whole number", key)
        return value

    def names(self, key: str) -> tuple[str, ...]:
        """Return a list of different names of TLA+, empty if the key is missing."""
        value = self._table.get(key, [])
        if not is_list(value):
            self.reject(f"{key!r} is no list", "write a list of names", key)
        names = tuple(item for item in value if isinstance(item, str) and is_name(item))
        if len(names) != len(value) or len(set(names)) != len(names):
            self.reject(f"{key!r} is no list of different names", "write each name once", key)
        return names

    def assignments(self, key: str) -> Mapping[str, str]:
        """Return a table of names and their values, empty if the key is missing.

        A whole number may be written as such; every other value is a string, as TLC reads it.
        """
        value = self._table.get(key, {})
        if not is_table(value):
            self.reject(f"{key!r} is no table", "write { Name = 'value' }", key)
        for name, item in value.items():
            if isinstance(item, bool) or not isinstance(item, str | int) or item == "":
                remedy = "write a string, as it would stand in a cfg"
                self.reject(f"{name!r} of {key!r} has no value of TLA+", remedy, key)
        return {name: str(item) for name, item in value.items()}
