"""The page shows violations by rule, and of each rule at least one with its run."""

from pathlib import Path

from wheelproof_spark.check.gold import OF_RUNS
from wheelproof_spark.report.page import render
from wheelproof_spark.report.violations import MOST_CASES, explained
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spark.tables.rows import Row, write_rows
from wheelproof_spark.tables.schemas import LINES


def _row(rule: str, run: int) -> Row:
    told = dict.fromkeys(("implementation", "version", "place_file", "reason", "expected"), "x")
    row = {"rule": rule, "run": f"h{run:03}", "format": "history", "scope": None, "observed": "y"}
    return {**told, **row, "place_line": 1, "place_index": 0, "also_broken": [], "good_prefix": 0}


def test_each_rule_has_a_heading_and_a_case(tmp_path: Path) -> None:
    manifest = Manifest(profile=None, max_states=1)
    rows = [_row("Common", run) for run in range(MOST_CASES + 10)] + [_row("Rare", 0)]
    found = explained(tmp_path, manifest, rows)
    with_case = [violation.row["rule"] for violation in found if violation.case is not None]
    assert with_case == ["Common"] * (MOST_CASES - 1) + ["Rare"]
    page = render(manifest, {name: [] for name in OF_RUNS}, found)
    assert (page.count("<h3>Common</h3>"), page.count("<h3>Rare</h3>")) == (1, 1)
    assert f"{MOST_CASES + 9} more" in page
    assert page.count('<details id="case-') == MOST_CASES + 11


def test_where_nothing_fails_there_is_a_page_too(tmp_path: Path) -> None:
    write_rows([], LINES, tmp_path / "bronze" / "000001" / "kind=good")
    manifest = Manifest(profile=None, max_states=1)
    assert explained(tmp_path, manifest, []) == []
    assert "<p>None.</p>" in render(manifest, {name: [] for name in OF_RUNS}, [])
