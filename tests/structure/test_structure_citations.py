"""The rules have one home, docs/standard; who cites one cites what is there."""

import pytest

from support.checkout import REFERENCE, ROOT, docstrings, project_files
from wheelproof_lab.publish.standard import cited, groups, numbers

_BINARY = {".class", ".jar", ".png"}


def test_citations_are_understood() -> None:
    text = "(standard 1.2, 1.6,\n 1.10 - 1.12) and standard 5, or standard\n2.10.1 - 2.10.2."
    assert list(cited(text)) == ["1.2", "1.6", "1.10", "1.11", "1.12", "5", "2.10.1", "2.10.2"]


def test_pages_groups_and_rules_can_be_cited() -> None:
    assert numbers() >= {"1", "1.18", "1.18.2", "6.9.1", "7"}
    assert not numbers() & {"1.19", "1.18.3", "8"}


@pytest.mark.parametrize("group", sorted(groups()))
def test_every_group_of_rules_is_cited_by_a_docstring_of_the_reference(group: str) -> None:
    found = set(cited(docstrings(REFERENCE)))
    assert group in found or any(number.startswith(f"{group}.") for number in found)


def test_every_citation_exists() -> None:
    known = numbers()
    wrong = [
        f"{path.relative_to(ROOT)} cites standard {number}"
        for path in project_files()
        if path.suffix not in _BINARY
        for number in cited(path.read_text(encoding="utf-8", errors="replace"))
        if number not in known
    ]
    assert wrong == []
