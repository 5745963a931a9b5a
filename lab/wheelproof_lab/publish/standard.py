"""docs/standard: the numbered rules, and the evidence that each of them names.

A rule is a paragraph that begins with its number. Behind it stand lines in italics:

    **6.2.1** `submit` MUST return without having run the task.

    *Kafka:* what which versions do instead. *Why:* the reason. (both as needed)

    *Evidence:* test `tests/...py::name`, program `fault/timer-add-advance`, bug `left-at-error`

    *Outside:* Kafka `ConfirmPurgatoryRuns stop-at-error`, or a sentence: why there is none.

Evidence is of kinds, which are the corners of the project: test, program, clause, TLA+, bug, and
Kafka for what a released class has shown.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.worlds.all_programs import FAULTS, PAIRS, PASSING
from wheelproof_spec.components.registry import definitions

FOLDER = "docs/standard"
MOST_WORDS = 60
"""How long a rule may be: who reads it has to be able to keep it in the head."""

_RULE = re.compile(r"\*\*(\d+\.\d+\.\d+)\*\* (.+)")
_LINE = re.compile(r"\*(Kafka|Why|Example|Evidence|Outside):\* (.+)")
_ITEM = re.compile(r"(test|program|clause|TLA\+|bug|Kafka) `([^`]+)`")
_DUTY = re.compile(r"\b(MUST NOT|MUST|SHOULD|MAY)\b")
_ADAPTERS = "tests/adapters/test_findings_on_kafka_components.py"


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


def rules() -> tuple[Rule, ...]:
    """Return the rules of all pages in the order of their numbers."""
    pages = sorted((required_checkout() / FOLDER).glob("*.md"))
    found = [rule for page in pages for rule in rules_of(page)]
    return tuple(sorted(found, key=lambda rule: [int(part) for part in rule.number.split(".")]))


def rules_of(page: Path) -> Iterator[Rule]:
    """Yield the rules of one page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    begins = [at for at, line in enumerate(lines) if _RULE.match(line)]
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
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
            evidence=tuple(Evidence(kind=kind, name=name) for kind, name in _ITEM.findall(named)),
            outside=outside,
        )


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
        if not _is_there(one):
            yield f"names {one.kind} `{one.name}`, which there is not"


def _is_there(one: Evidence) -> bool:
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
            files = (required_checkout() / "tla").rglob(f"{module}.tla")
            return any(_is_operator(file, operator) for file in files)
        case _:
            program, _, finding = one.name.partition(" ")
            known = (required_checkout() / _ADAPTERS).read_text(encoding="utf-8")
            return f'"{program}": {{' in known and f'"{finding}"' in known


def _defines(text: str, name: str) -> bool:
    return re.search(rf"^(def|class) {re.escape(name)}\b", text, re.MULTILINE) is not None


def _is_operator(file: Path, operator: str) -> bool:
    text = file.read_text(encoding="utf-8")
    return re.search(rf"^{re.escape(operator)}(\(.*\))? ==", text, re.MULTILINE) is not None


@cache
def _programs() -> frozenset[str]:
    groups = (*FAULTS.values(), *PASSING.values(), *PAIRS.values())
    return frozenset(program.name for group in groups for program in group)
