"""The rules have one home, docs/semantics.md; who cites one cites what is there."""

import re
from collections.abc import Iterator

import pytest

from support.checkout import REFERENCE, ROOT, docstrings, project_files

_RULES = ROOT / "docs" / "semantics.md"
_SECTION = re.compile(r"^## (\d+)\. ")
_RULE = re.compile(r"^(\d+)\. ")
_NUMBER = r"\d+(?:\.\d+)?(?:\s[a-d](?:\s-\s[a-d])?)?"
_CITATION = re.compile(rf"semantics\.md\s+({_NUMBER}(?:(?:,\s+|\s-\s|\sand\s){_NUMBER})*)")
_RANGE_OR_ONE = re.compile(r"(\d+)\.(\d+)(?:\s-\s(\d+)\.(\d+))?")
_WHOLE_SECTION = re.compile(r"(?<![\d.])(\d+)(?![\d.])")
_BINARY = {".class", ".jar", ".png"}
_TIMER_RULES = [f"1.{number}" for number in range(1, 19)]


def _rules() -> set[str]:
    """Return the number of every section and of every rule that there is."""
    found: set[str] = set()
    section = ""
    for line in _RULES.read_text(encoding="utf-8").splitlines():
        if (heading := _SECTION.match(line)) is not None:
            section = heading.group(1)
            found.add(section)
        elif (rule := _RULE.match(line)) is not None and section:
            found.add(f"{section}.{rule.group(1)}")
    return found


def _cited(text: str) -> Iterator[str]:
    """Yield the number of every section and rule that the text cites, ranges written out."""
    for citation in _CITATION.finditer(text):
        numbers = citation.group(1)
        for section, first, last_section, last in _RANGE_OR_ONE.findall(numbers):
            assert last_section in ("", section), f"a range over two sections: {numbers}"
            for number in range(int(first), int(last or first) + 1):
                yield f"{section}.{number}"
        yield from _WHOLE_SECTION.findall(_RANGE_OR_ONE.sub("", numbers))


def test_citations_are_understood() -> None:
    text = "(semantics.md 1.2 b - d, 1.6,\n 1.10 - 1.12) and semantics.md 5, or semantics.md\n2.10."
    assert list(_cited(text)) == ["1.2", "1.6", "1.10", "1.11", "1.12", "5", "2.10"]


def test_the_rules_of_the_timer_are_there() -> None:
    assert _rules() >= {*_TIMER_RULES, "2.10", "5"}
    assert "1.19" not in _rules()


@pytest.mark.parametrize("rule", _TIMER_RULES)
def test_every_rule_of_the_timer_is_cited_by_a_docstring_of_the_reference(rule: str) -> None:
    assert rule in set(_cited(docstrings(REFERENCE)))


def test_every_citation_exists() -> None:
    rules = _rules()
    wrong = [
        f"{path.relative_to(ROOT)} cites semantics.md {number}"
        for path in project_files()
        if path.suffix not in _BINARY
        for number in _cited(path.read_text(encoding="utf-8", errors="replace"))
        if number not in rules
    ]
    assert wrong == []
