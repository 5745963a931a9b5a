"""`python -m wheelproof_lab pages sources`: renews docs/sources from marks in the tests.

The statements are rows of docs/sources; ``@pytest.mark.repeats("id", ...)`` on a test says which of
them it repeats.
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_lab.publish.standard import numbers
from wheelproof_spec.base.codec.tables import read_rows

PAGE = "docs/sources/README.md"
_TABLES = "docs/sources"
_MARK = "repeats"
_OPERATOR = re.compile(r"^([A-Z]\w*)(?:\(.*\))? ==", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A published description."""

    id: str
    title: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement of a source; `rule`, `code` and `tla` are its places here, each empty if none.

    `instead` is the correct fact if the statement is wrong; `reason` says why no test repeats the
    statement.
    """

    id: str
    source: str
    says: str
    rule: str = ""
    code: str = ""
    tla: str = ""
    instead: str = ""
    reason: str = ""


Marks = Mapping[str, Sequence[str]]
"""Statement -> the tests that repeat it, each as ``file::function`` below the checkout."""


def read_sources(root: Path) -> tuple[tuple[Source, ...], tuple[Statement, ...]]:
    """Return the rows in the tables of the checkout `root`; raise MalformedError for a bad row."""
    tables = root / _TABLES
    sources = read_rows(str(tables / "-"), "sources.toml", "source", Source)
    statements = [
        statement
        for path in sorted(tables.glob("*.toml"))
        if path.name != "sources.toml"
        for statement in read_rows(str(path), path.name, "statement", Statement)
    ]
    return sources, tuple(statements)


def read_marks(root: Path) -> Marks:
    """Return the marks on the tests of the checkout `root`, in the order of the files."""
    marks: dict[str, list[str]] = {}
    for folder in ("tests", "stateful_tests"):
        for path in sorted((root / folder).rglob("test_*.py")):
            text = path.read_text(encoding="utf-8")
            if f"mark.{_MARK}(" not in text:
                continue
            for test in ast.walk(ast.parse(text)):
                if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                    place = f"{path.relative_to(root).as_posix()}::{test.name}"
                    for statement in _marked(test):
                        marks.setdefault(statement, []).append(place)
    return marks


def _marked(test: ast.FunctionDef) -> Iterator[str]:
    """Yield the statements that a test, or one of its parameters, is marked with."""
    for decorator in test.decorator_list:
        for call in ast.walk(decorator):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == _MARK
            ):
                yield from map(ast.literal_eval, call.args)


def problems(
    root: Path, sources: Sequence[Source], statements: Sequence[Statement], marks: Marks
) -> Iterator[str]:
    """Yield a sentence for each unknown or duplicate name, and each statement without a test."""
    known = {source.id for source in sources}
    rules = numbers()
    operators = _operators(root / "tla")
    seen: set[str] = set()
    for statement in statements:
        here = f"{_TABLES}: {statement.id}"
        if statement.id in seen:
            yield f"{here} stands there twice; leave one out"
        seen.add(statement.id)
        if statement.source not in known:
            yield f"{here} has the source {statement.source!r}, which sources.toml does not have"
        if statement.rule and statement.rule not in rules:
            yield f"{here} names rule {statement.rule}, which docs/standard does not have"
        if statement.code and not _is_code(statement.code):
            yield f"{here} names {statement.code}, which wheelproof does not have"
        if statement.tla and statement.tla not in operators:
            yield f"{here} names {statement.tla}, which no module in tla has"
        if not statement.reason and statement.id not in marks:
            yield f"{here} has no test: mark one, or give the reason why there is none"
        if statement.reason and statement.id in marks:
            yield f"{here} has a test, {marks[statement.id][0]}; take its reason away"
    for mark in marks.keys() - seen:
        yield f"{marks[mark][0]} repeats {mark!r}, which no table in {_TABLES} has"


def _operators(tla: Path) -> set[str]:
    """Return each module, and each of its operators as ``Module.Operator``."""
    found: set[str] = set()
    for path in tla.glob("*/*.tla"):
        found.add(path.stem)
        names = _OPERATOR.findall(path.read_text(encoding="utf-8"))
        found |= {f"{path.stem}.{name}" for name in names}
    return found


def _is_code(dotted: str) -> bool:
    """Tell whether `dotted` is a module, class, method or value of the reference."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(("wheelproof", *parts[:length])))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            fields: object = getattr(found, "__dataclass_fields__", {})
            if not hasattr(found, name) and not (isinstance(fields, dict) and name in fields):
                return False
            found = getattr(found, name, None)
        return True
    return False


def render(sources: Sequence[Source], statements: Sequence[Statement], marks: Marks) -> str:
    """Return the page as Markdown."""
    return markdown(
        "sources",
        sources=sources,
        statements=statements,
        tested=sum(statement.id in marks for statement in statements),
        marks=marks,
    )


def renew_page() -> int:
    """Write the page; with problems, print them and return 1 instead."""
    root = required_checkout()
    sources, statements = read_sources(root)
    marks = read_marks(root)
    found = list(problems(root, sources, statements, marks))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        return 1
    return renew(PAGE, partial(render, sources, statements, marks))
