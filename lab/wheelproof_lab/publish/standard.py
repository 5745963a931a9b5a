"""docs/standard: the numbered rules, the evidence that each names, and the index of both.

`python -m wheelproof_lab pages standard` renews the index.

A rule is a paragraph that begins with its number. Behind it stand lines in italics:

    **6.2.1** `submit` MUST return without having run the task.

    *Kafka:* what which versions do instead. *Why:* the reason. (both as needed)

    *Evidence:* test `tests/...py::name`, program `fault/timer-add-advance`, bug `left-at-error`

    *TLA+:* none: why no property of a module states the rule; or in part: what they leave out.

    *Outside:* Kafka `ConfirmPurgatoryRuns stop-at-error`, or a sentence: why there is none.

Evidence is of kinds, which are the corners of the project: test, program, clause, TLA+, bug, and
Kafka for what a released class has shown. Whoever cites writes "standard 6.2.1" for a rule,
"standard 6.2" for a group of rules and "standard 6" for a page.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.prove.all_proofs import listed
from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_lab.worlds.all_programs import FAULTS, PAIRS, PASSING, SIGNALS
from wheelproof_spec.components.registry import definitions

FOLDER = "docs/standard"
PAGE = f"{FOLDER}/README.md"
MOST_WORDS = 60
"""How long a rule may be: who reads it has to be able to keep it in the head."""

_RULE = re.compile(r"\*\*(\d+\.\d+\.\d+)\*\* (.+)")
_LINE = re.compile(r"\*(Kafka|Why|Example|Evidence|TLA\+|Outside):\* (.+)")
_ITEM = re.compile(r"(test|program|clause|TLA\+|bug|Kafka) `([^`]+)`")
_GROUP = re.compile(r"## (\d+\.\d+) (.+)")
_NUMBER = r"\d+(?:\.\d+){0,2}"
_CITATION = re.compile(rf"\bstandard\s+({_NUMBER}(?:(?:,\s+|\s-\s|\sand\s){_NUMBER})*)")
_RANGE_OR_ONE = re.compile(rf"({_NUMBER})(?:\s-\s({_NUMBER}))?")
KAFKAS_SCENARIOS = "7"
"""The section of the index that has what Kafka's own tests ask; it has no rules."""
_EXTENDS = re.compile(r"^EXTENDS (.+)$", re.MULTILINE)
_DUTY = re.compile(r"\b(MUST NOT|MUST|SHOULD|MAY)\b")
_ADAPTERS = "tests/adapters/test_findings_on_kafka_components.py"
_TIMER_FINDINGS = "docs/findings.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Something that shows that a rule is kept, or that it is missed where it is not."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A numbered rule; `line` is where it stands in its page, `outside` what shows it elsewhere."""

    page: str
    line: int
    number: str
    text: str
    evidence: tuple[Evidence, ...]
    outside: str
    tla: str
    """Why no property states the rule, or what those that do leave out; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A rule in the index: what shows it, and the places of the reference that keep it."""

    rule: Rule
    anchor: str
    proofs: tuple[str, ...]
    kept_by: tuple[str, ...]

    def named(self, kind: str) -> tuple[str, ...]:
        """Return what the rule names of one kind of evidence."""
        return tuple(each.name for each in self.rule.evidence if each.kind == kind)


def rules() -> tuple[Rule, ...]:
    """Return the rules of all pages in the order of their numbers."""
    found = [rule for page in _pages() for rule in rules_of(page)]
    return tuple(sorted(found, key=lambda rule: _parts(rule.number)))


def groups() -> dict[str, str]:
    """Return the title of each group of rules, by its number."""
    heads = (
        match
        for page in _pages()
        for line in page.read_text(encoding="utf-8").splitlines()
        if (match := _GROUP.fullmatch(line)) is not None
    )
    return {match[1]: match[2] for match in heads}


def numbers() -> frozenset[str]:
    """Return all that may be cited: rules, groups of rules, pages, and Kafka's scenarios."""
    found = {rule.number for rule in rules()} | set(groups())
    return frozenset(found | {number.partition(".")[0] for number in found} | {KAFKAS_SCENARIOS})


def cited(text: str) -> Iterator[str]:
    """Yield each number of the standard that `text` cites, ranges written out."""
    for citation in _CITATION.finditer(text):
        for first, last in _RANGE_OR_ONE.findall(citation[1]):
            *front, begin = _parts(first)
            *same, end = _parts(last or first)
            assert front == same, f"a range over two groups: {citation[1]}"
            for number in range(begin, end + 1):
                yield ".".join(str(part) for part in (*front, number))


def render() -> str:
    """Return the index as Markdown."""
    titles = groups()
    proved: dict[str, list[str]] = {}
    for proof in listed():
        proved.setdefault(module_of(proof.clauses_in), []).append(proof.name)
    keepers = _keepers()
    pages: dict[str, list[Entry]] = {}
    for rule in rules():
        group = rule.number.rpartition(".")[0]
        modules = {each.name.partition(".")[0] for each in rule.evidence if each.kind == "TLA+"}
        entry = Entry(
            rule=rule,
            anchor=anchor_of(rule, titles),
            proofs=tuple(sorted(name for module in modules for name in proved.get(module, ()))),
            kept_by=(*keepers.get(rule.number, ()), *keepers.get(group, ())),
        )
        pages.setdefault(rule.page, []).append(entry)
    return markdown("standard", pages=pages)


def renew_page() -> int:
    """Write the index, and return the exit code."""
    return renew(PAGE, render)


def _pages() -> Sequence[Path]:
    folder = required_checkout() / FOLDER
    return sorted(page for page in folder.glob("*.md") if page.name != Path(PAGE).name)


def _parts(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def module_of(clauses_in: str) -> str:
    """Return the TLA+ module of a proof whose clauses are in the module `clauses_in`."""
    return clauses_in.rpartition("/")[2].removesuffix("Proof")


def anchor_of(rule: Rule, titles: Mapping[str, str]) -> str:
    """Return the anchor of the group of a rule in its page."""
    group = rule.number.rpartition(".")[0]
    title = f"{group} {titles[group]}"
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _keepers() -> Mapping[str, Sequence[str]]:
    """Return the modules, classes and functions of the reference that cite each number."""
    reference = required_checkout() / "reference"
    found: dict[str, list[str]] = {}
    for path in sorted(reference.rglob("*.py")):
        parts = path.relative_to(reference / "wheelproof").with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__") or "wheelproof"
        for name, text in _said(ast.parse(path.read_text(encoding="utf-8")), module):
            for number in cited(text):
                places = found.setdefault(number, [])
                if name not in places:
                    places.append(name)
    return found


def _said(
    node: ast.Module | ast.ClassDef | ast.FunctionDef, name: str
) -> Iterator[tuple[str, str]]:
    """Yield each docstring below `node`, under the dotted name of what has it."""
    for each in node.body:
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
            yield name, str(each.value.value)
        elif isinstance(each, (ast.ClassDef, ast.FunctionDef)):
            yield from _said(each, f"{name}.{each.name}")


def rules_of(page: Path) -> Iterator[Rule]:
    """Yield the rules of one page; there are pages that have none."""
    lines = page.read_text(encoding="utf-8").splitlines()
    begins = [at for at, line in enumerate(lines) if _RULE.match(line)]
    for begin, end in pairwise([*begins, len(lines)]):
        head = _RULE.fullmatch(lines[begin])
        assert head is not None, "it begins with a number"
        said: dict[str, str] = {}
        for line in lines[begin + 1 : end]:
            if match := _LINE.fullmatch(line):
                said[match[1]] = match[2]
        outside = said.get("Outside", "")
        named = f"{said.get('Evidence', '')} {outside}"
        yield Rule(
            page=page.name,
            line=begin + 1,
            number=head[1],
            text=head[2],
            evidence=evidence_in(named),
            outside=outside,
            tla=said.get("TLA+", ""),
        )


def evidence_in(text: str) -> tuple[Evidence, ...]:
    """Return what `text` names as evidence, in the notation of the rules."""
    return tuple(Evidence(kind=kind, name=name) for kind, name in _ITEM.findall(text))


def problems(found: tuple[Rule, ...]) -> list[str]:
    """Return a sentence for each rule that is unclear, too long, or has too little evidence."""
    said: list[str] = []
    numbers = [rule.number for rule in found]
    for rule in found:
        said += [f"{rule.page}, line {rule.line}: {rule.number} {what}" for what in _wrong(rule)]
        if numbers.count(rule.number) > 1:
            said.append(f"{rule.page}, line {rule.line}: {rule.number} is there twice")
    return said


def _wrong(rule: Rule) -> Iterator[str]:
    if not _DUTY.search(rule.text):
        yield "says neither MUST nor SHOULD nor MAY"
    if len(rule.text.split()) > MOST_WORDS:
        yield f"has {len(rule.text.split())} words, {MOST_WORDS} at most"
    corners = {one.kind for one in rule.evidence} - {"Kafka"}
    if len(corners) < 2:
        yield f"has evidence of {len(corners)} kinds; name two"
    if not rule.outside:
        yield "does not say what shows it outside of this project"
    for one in rule.evidence:
        if not is_there(one):
            yield f"names {one.kind} `{one.name}`, which there is not"


def is_there(one: Evidence) -> bool:
    """Tell whether the test, program, clause, operator or known bug that is named exists."""
    match one.kind:
        case "test":
            path, _, name = one.name.partition("::")
            file = required_checkout() / path
            return file.is_file() and _defines(file.read_text(encoding="utf-8"), name)
        case "program":
            return one.name in _programs()
        case "clause":
            clauses = (clause.value for each in definitions() for clause in each.clauses)
            return one.name in clauses
        case "bug":
            return any(bug.id == one.name for bug in bugs())
        case "TLA+":
            module, _, operator = one.name.partition(".")
            texts = _module_texts()
            return any(
                _is_operator(texts[name], operator)
                for start in (module, f"MC{module}")
                for name in _extended(texts, start)
            )
        case _:
            program, _, finding = one.name.partition(" ")
            if program == "ConfirmFindings":
                known = (required_checkout() / _TIMER_FINDINGS).read_text(encoding="utf-8")
                return f"`ConfirmFindings`: `{finding}`" in known
            known = (required_checkout() / _ADAPTERS).read_text(encoding="utf-8")
            return f'"{program}": {{' in known and f'"{finding}"' in known


def _defines(text: str, name: str) -> bool:
    return re.search(rf"^(def|class) {re.escape(name)}\b", text, re.MULTILINE) is not None


@cache
def _module_texts() -> Mapping[str, str]:
    """Return the text of each TLA+ module by its name."""
    files = (required_checkout() / "tla").rglob("*.tla")
    return {file.stem: file.read_text(encoding="utf-8") for file in files}


def _extended(texts: Mapping[str, str], module: str) -> Iterator[str]:
    """Yield a module and those that it extends, as far as they are ours."""
    if module in texts:
        yield module
        if match := _EXTENDS.search(texts[module]):
            for name in match[1].split(","):
                yield from _extended(texts, name.strip())


def _is_operator(text: str, operator: str) -> bool:
    return re.search(rf"^{re.escape(operator)}(\(.*\))? ==", text, re.MULTILINE) is not None


@cache
def _programs() -> frozenset[str]:
    groups = (*FAULTS.values(), *SIGNALS.values(), *PASSING.values(), *PAIRS.values())
    return frozenset(program.name for group in groups for program in group)
