"""Histories that a second author wrote from the standard alone: each verdict is the standard's.

The author had seen neither the judges nor what generates histories for their tests. What the
judges do not see of these histories stands in `vectors/histories` as well, with the reason.
"""

import json
from collections import Counter
from typing import cast

import pytest

from support.checkout import ROOT
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.registry import COMPONENTS, definition_of
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.reader import read_lines

_FOLDER = ROOT / "vectors" / "histories"
_OF_EACH = 5
"""At least so many invalid histories break each clause."""
_ALL = 1_000

Row = dict[str, object]


def _rows(component: str) -> list[Row]:
    document = json.loads((_FOLDER / f"{component}.expected.json").read_text(encoding="utf-8"))
    assert document["component"] == component
    return cast(list[Row], document["histories"])


def _judged(component: str) -> dict[str, RunVerdict]:
    path = _FOLDER / f"{component}.jsonl"
    result = judge_lines(str(path), read_lines(path), CheckOptions())
    assert result.rejections == []
    return {verdict.run: verdict for verdict in result.verdicts}


def _disagreement(row: Row, judged: RunVerdict) -> str:
    """Return how the judge's verdict differs from the standard's; empty if it does not."""
    said = judged.verdict
    known = cast("dict[str, str] | None", row.get("wheelproof"))
    if known is not None:
        assert known["why"]
        expected = known["verdict"]
        if row["verdict"] == "valid":
            assert expected != Verdict.FAIL
        return "" if said == expected else f"is {said}, is known as {expected}"
    match row["verdict"]:
        case "valid":
            return "" if said is Verdict.PASS else f"is valid, and the judge says {said}"
        case "invalid":
            return "" if said is Verdict.FAIL else f"is invalid, and the judge says {said}"
        case "unspecified":
            return ""
        case other:
            return f"has the verdict {other!r}"


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_judge_says_what_the_standard_says(component: str) -> None:
    judged, rows = _judged(component), _rows(component)
    assert {row["history"] for row in rows} == judged.keys()
    problems = {
        row["history"]: problem
        for row in rows
        if (problem := _disagreement(row, judged[cast(str, row["history"])]))
    }
    assert problems == {}


@pytest.mark.parametrize("component", COMPONENTS)
def test_each_clause_has_histories_that_keep_it_and_that_break_it(component: str) -> None:
    clauses = definition_of(component).clauses
    broken: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    judged = _judged(component)
    for row in _rows(component):
        clause = row.get("clause")
        if isinstance(clause, str) and not clause.startswith("History."):
            assert clause in tuple(clauses)
        if row["verdict"] == "invalid":
            broken[cast(str, clause)] += 1
        elif row["verdict"] == "valid":
            kept.update(judged[cast(str, row["history"])].checked)
    recorded: list[Clause] = [clause for clause in clauses if clause.judges & Wire.RECORDED]
    assert {str(one): broken[one] for one in recorded if broken[one] < _OF_EACH} == {}
    assert [str(one) for one in recorded if not kept[one]] == []


def test_there_are_as_many_as_the_page_says() -> None:
    verdicts = Counter(row["verdict"] for component in COMPONENTS for row in _rows(component))
    assert verdicts.total() >= _ALL
    assert min(verdicts["valid"], verdicts["invalid"]) > 0.4 * verdicts.total()
