"""docs/proofs/rules.md: no rule and no property is without its row, and no sentence outlives it."""

import dataclasses

import pytest

from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.publish import standard
from wheelproof_lab.publish.rules import INSIDE, PAGE, Property, Row, problems, properties, render
from wheelproof_lab.publish.rules import rows as rows_of
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.tlc.manifest.loader import load_manifest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> list[Property]:
    return properties(standard.rules(), load_manifest(tla_directory() / "manifest.toml"))


@pytest.fixture(scope="module")
def rows(found: list[Property]) -> list[Row]:
    return rows_of(standard.rules(), found)


def _without_rules(one: Property) -> Property:
    return dataclasses.replace(one, rules=(), reason=INSIDE.get(one.full_name, ""))


def test_rules_page_is_up_to_date() -> None:
    page = (required_checkout() / PAGE).read_text(encoding="utf-8")
    assert page == render(), "renew it: python -m wheelproof_lab pages rules"


def test_each_rule_has_a_property_or_a_sentence_and_each_property_its_row(
    rows: list[Row], found: list[Property]
) -> None:
    assert rows
    assert found
    assert list(problems(rows, found)) == []


def test_a_rule_that_names_an_action_alone_has_no_property(
    rows: list[Row], found: list[Property]
) -> None:
    row = next(row for row in rows if row.properties and not row.rule.tla)
    bare = dataclasses.replace(row, properties=())
    assert [row.rule.number in said for said in problems([bare], found)] == [True]


def test_a_sentence_that_is_no_longer_true_is_told(rows: list[Row], found: list[Property]) -> None:
    row = next(row for row in rows if row.rule.tla.startswith("none: "))
    named = dataclasses.replace(row, properties=(found[0],))
    (said,) = problems([named], found)
    assert "begins with 'in part: '" in said


def test_a_property_that_states_no_rule_is_told(found: list[Property]) -> None:
    stated = next(one for one in found if one.rules and one.full_name not in INSIDE)
    others = [one for one in found if one is not stated]
    (said,) = problems([], [*others, _without_rules(stated)])
    assert said.startswith(f"{stated.full_name} states no rule")


def test_a_property_that_states_a_rule_and_that_nothing_breaks_is_told(
    found: list[Property],
) -> None:
    stated = next(one for one in found if one.rules and one.mistakes)
    others = [one for one in found if one is not stated]
    (said,) = problems([], [*others, dataclasses.replace(stated, mistakes=(), proofs=())])
    assert said.endswith("and nothing breaks it; add a mutant")


def test_a_property_of_the_model_alone_is_checked_and_states_no_rule(
    found: list[Property],
) -> None:
    inside = next(one for one in found if one.full_name in INSIDE)
    others = [one for one in found if one is not inside]
    assert [inside.full_name in said for said in problems([], others)] == [True]
    stating = dataclasses.replace(inside, rules=("1.1.1",))
    (said,) = problems([], [*others, stating])
    assert "take it out of INSIDE" in said


def test_what_a_sentence_leaves_to_a_clause_or_a_program_is_evidence_of_the_rule(
    rows: list[Row],
) -> None:
    for row in rows:
        kinds = {one.kind for one in row.rule.evidence}
        names = {one.name for one in row.rule.evidence if one.kind == "clause"}
        said = standard.evidence_in(row.rule.tla.replace("Clause `", "clause `"))
        assert {one.name for one in said} <= names, row.rule.number
        assert "rogram" not in row.rule.tla or "program" in kinds, row.rule.number
        assert "test" not in row.rule.tla.lower() or "test" in kinds, row.rule.number
