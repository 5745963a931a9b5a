"""The standard: each rule is one sentence of duty, and what it names as its evidence is there."""

from pathlib import Path

import pytest

from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.publish import standard
from wheelproof_lab.publish.standard import (
    cited,
    evidence_in,
    is_there,
    numbers,
    problems,
    rules,
    rules_of,
)
from wheelproof_spec.components.registry import definitions

_GOOD = """## 9.1 Something

**9.1.1** A timer MUST run a task.

*Evidence:* clause `Timer.RunsAtMostOncePerAdd`, TLA+ `Timer.Fire`

*Outside:* Kafka `ConfirmPurgatoryRuns stop-at-error`
"""


def test_every_rule_has_its_evidence() -> None:
    found = rules()
    assert found
    assert problems(found) == []


def test_the_index_is_what_the_generator_makes() -> None:
    page = (required_checkout() / standard.PAGE).read_text(encoding="utf-8")
    assert page == standard.render(), "renew it: python -m wheelproof_lab pages standard"


def test_every_clause_and_every_known_bug_has_its_rule() -> None:
    named = {(each.kind, each.name) for rule in rules() for each in rule.evidence}
    clauses = {("clause", each.value) for part in definitions() for each in part.clauses}
    assert (clauses | {("bug", bug.id) for bug in bugs()}) - named == set()


def test_a_rule_names_what_there_is(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(_GOOD, encoding="utf-8")
    assert problems(tuple(rules_of(page))) == []


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("MUST run", "runs", "says neither MUST nor SHOULD nor MAY"),
        ("a task.", "a task" + " and another" * 30, "60 at most"),
        (", TLA+ `Timer.Fire`", "", "has evidence of 1 kinds"),
        ("Timer.Fire", "Timer.Nothing", "TLA+ `Timer.Nothing`, which there is not"),
        ("RunsAtMostOncePerAdd", "Runs", "clause `Timer.Runs`, which there is not"),
        ("stop-at-error", "nothing", "which there is not"),
        ("*Outside:*", "Outside:", "does not say what shows it outside"),
        ("clause", "test `tests/docs/test_standard.py::nothing`, clause", "which there is not"),
        ("clause", "bug `nothing`, clause", "which there is not"),
        ("clause", "program `nothing`, clause", "which there is not"),
        ("**9.1.1**", "**9.1.1** Twice MUST it be.\n\n**9.1.1**", "is there twice"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(
    before: str, after: str, said: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(_GOOD.replace(before, after), encoding="utf-8")
    assert any(said in problem for problem in problems(tuple(rules_of(page))))


def test_each_defect_of_the_reference_has_its_rule_and_what_finds_it() -> None:
    page = (required_checkout() / "docs/findings/reference.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 21
    for row in rows:
        _, wrong, rule, found_by, kafka, _ = row.split("|")
        assert set(cited(rule)) & numbers(), wrong
        assert evidence_in(found_by), wrong
        named = evidence_in(f"{found_by} {kafka}")
        assert [one for one in named if not is_there(one)] == [], wrong
