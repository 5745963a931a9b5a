"""`python -m wheelproof_spec.app.pages.sources`: renews docs/sources from marks in the tests.

The statements are rows of docs/sources; ``@pytest.mark.repeats("id", ...)`` on a test says which of
them it repeats.
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.base.codec.tables import read_rows
from wheelproof_spec.base.resources import required_checkout
from wheelproof_spec.base.results.reports import write_text

PAGE = "docs/sources/README.md"
_TABLES = "docs/sources"
_MARK = "repeats"
_SECTION = re.compile(r"^## (\d+)\. ", re.MULTILINE)
_RULE = re.compile(r"^(\d+)\. ", re.MULTILINE)
_OPERATOR = re.compile(r"^([A-Z]\w*)(?:\(.*\))? ==", re.MULTILINE)

_HEAD = """# What the literature says, and where it is here

Made from the tables in `docs/sources` and the marks in the tests by
`python -m wheelproof_spec.app.pages.sources`.

Each row is a statement or a number of a published description of the system, in our own words:
the rule of [semantics.md](../semantics.md), the code in `wheelproof`, the operator of the TLA+
modules in `tla`, and the test that repeats it. Where the system does otherwise, the row says
so. Where no test can repeat a statement, it says why. A test carries `@pytest.mark.repeats("id")`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A published description."""

    id: str
    title: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a source says: `rule`, `code` and `tla` are where it is here, each empty if nowhere.

    `instead` is how it is in fact, of a statement that is wrong; `reason` says why no test repeats
    the statement.
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
    """Return what the tables of the checkout `root` have; raises MalformedError for a bad row."""
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
    """Yield the statements that a test is marked with, or one of its parameters."""
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
    """Yield a sentence for each name that leads nowhere, and for each statement without a test."""
    known = {source.id for source in sources}
    rules = _rules((root / "docs" / "semantics.md").read_text(encoding="utf-8"))
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
            yield f"{here} names rule {statement.rule}, which docs/semantics.md does not have"
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


def _rules(text: str) -> set[str]:
    """Return the number of each section and of each rule."""
    parts = _SECTION.split(text)[1:]
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    return set(sections) | {
        f"{section}.{rule}" for section, rules in sections.items() for rule in _RULE.findall(rules)
    }


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
    tested = sum(statement.id in marks for statement in statements)
    wrong = sum(bool(statement.instead) for statement in statements)
    count = (
        f"\n{len(statements)} statements of {len(sources)} sources: {tested} have a test, "
        f"{len(statements) - tested} a reason why there is none. {wrong} are not so.\n"
    )
    return _HEAD + count + "".join(_part(source, statements, marks) for source in sources)


def _part(source: Source, statements: Sequence[Statement], marks: Marks) -> str:
    rows = "".join(_row(found, marks) for found in statements if found.source == source.id)
    head = "| id | what it says | rule | code | TLA+ | test |\n|---|---|---|---|---|---|\n"
    return f"\n## {source.title}\n\n<{source.address}>\n\n{head}{rows}"


def _row(statement: Statement, marks: Marks) -> str:
    says = statement.says
    if statement.instead:
        says = f"Says: {says} **Not so:** {statement.instead}"
    code = statement.code and f"`{statement.code}`"
    tla = statement.tla and f"`{statement.tla}`"
    tests = "; ".join(map(_link, marks.get(statement.id, ()))) or f"none: {statement.reason}"
    cells = (f"`{statement.id}`", says, statement.rule, code, tla, tests)
    return f"| {' | '.join(cells)} |\n"


def _link(place: str) -> str:
    path, _, test = place.partition("::")
    return f"[{test}](../../{path})"


def main() -> int:
    """Write the page, unless a name leads nowhere."""
    root = required_checkout()
    sources, statements = read_sources(root)
    marks = read_marks(root)
    found = list(problems(root, sources, statements, marks))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        return 1
    write_text(root / PAGE, render(sources, statements, marks))
    return 0


if __name__ == "__main__":
    sys.exit(main())
