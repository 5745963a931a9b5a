"""Finds which lines of the reference implement which actions of TLA+, from their docstrings.

A docstring ends a sentence with, for example, ``TLA+: Poll and AdvanceClock of SystemTimer``;
``the steps Remove* of EntryMigration`` are all actions whose name begins with Remove. A variable,
or an operator that is no step by itself, is cited in backquotes. A module alone is no citation.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SENTENCE = re.compile(r"TLA\+:\s(.*?)\.(?=\s|$)")
_GROUP = re.compile(r"(.*?)\bof ([A-Z]\w*)((?:,? and of [A-Z]\w*)*)")
_FURTHER = re.compile(r"[A-Z]\w*")
_ACTION = re.compile(r"(?<![`\w])[A-Z]\w*\*?")
_PART = re.compile(r"(?:variable|operator) `(\w+)`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """What a docstring names: an action, all actions with a prefix (``Remove*``), or another part.

    A `part` is a variable, or an operator that is no action.

    `definition` is the function or class, with its class before it, `line` where it begins.
    """

    module: str
    action: str | None
    part: str | None
    path: Path
    definition: str
    line: int


def citations(folder: Path) -> Iterator[Citation]:
    """Yield the citations in the docstrings of the Python files below `folder`, file by file."""
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), path.name)
        yield from _citations_in(path, tree, ())


def _citations_in(path: Path, node: ast.AST, outer: tuple[str, ...]) -> Iterator[Citation]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names = (*outer, child.name)
            text = " ".join((ast.get_docstring(child) or "").split())
            for module, action, part in _named(text):
                yield Citation(
                    module=module,
                    action=action,
                    part=part,
                    path=path,
                    definition=".".join(names),
                    line=child.lineno,
                )
            yield from _citations_in(path, child, names)


def _named(text: str) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield each module that the sentences cite, with the cited action or part."""
    for sentence in _SENTENCE.findall(text):
        for names, first, others in _GROUP.findall(sentence):
            for module in (first, *_FURTHER.findall(others)):
                yield from ((module, action, None) for action in _ACTION.findall(names))
                yield from ((module, None, part) for part in _PART.findall(names))
