"""Reads which operators a TLA+ module defines, and which of them are actions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_DEFINITION = re.compile(r"^(\w+)(?:\([^()]*\))?[ \n]*==", re.MULTILINE)
_VARIABLES = re.compile(r"^VARIABLES?\b(.*?)(?=^\S)", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"\w'|\bUNCHANGED\b")
_CHOICE = re.compile(r"\\/|\\E\b")
_WORD = re.compile(r'"[^"]*"|\w+')


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module of TLA+: the bodies of its operators by name, in order, and its variables."""

    name: str
    operators: Mapping[str, str]
    variables: frozenset[str]

    def actions(self) -> Sequence[str]:
        """Return the actions, in the order of the module.

        An action is the first operator on a way down from `Next` that itself constrains the next
        state; an operator that only chooses between others is no action.
        """
        found = set(self._actions_of("Next", set()))
        return [name for name in self.operators if name in found]

    def steps(self) -> frozenset[str]:
        """Return the operators that constrain the next state, directly or through others."""
        return frozenset(name for name in self.operators if self._is_step(name, set()))

    def needed_by(self, names: Iterable[str]) -> frozenset[str]:
        """Return the operators with these names, and all operators that they use."""
        found, left = set[str](), [*names]
        while left:
            if (name := left.pop()) in self.operators and name not in found:
                found.add(name)
                left += _WORD.findall(self.operators[name])
        return frozenset(found)

    def _actions_of(self, name: str, seen: set[str]) -> Iterator[str]:
        if name in seen:
            return
        seen.add(name)
        body = self.operators.get(name, "")
        if "/\\" in body or _STEP.search(body) or not _CHOICE.search(body):
            yield name
            return
        for word in _WORD.findall(body):
            if word in self.operators and self._is_step(word, set()):
                yield from self._actions_of(word, seen)

    def _is_step(self, name: str, seen: set[str]) -> bool:
        """Tell whether an operator constrains the next state, directly or through others."""
        if name in seen:
            return False
        seen.add(name)
        body = self.operators.get(name, "")
        words = (word for word in _WORD.findall(body) if word in self.operators)
        return _STEP.search(body) is not None or any(self._is_step(word, seen) for word in words)


def read_module(path: Path) -> Module:
    """Return what the module in `path` defines."""
    text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    found = list(_DEFINITION.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    variables = (word for block in _VARIABLES.findall(text) for word in _WORD.findall(block))
    return Module(
        name=path.stem,
        operators={
            match[1]: text[match.end() : end] for match, end in zip(found, ends, strict=True)
        },
        variables=frozenset(variables),
    )
