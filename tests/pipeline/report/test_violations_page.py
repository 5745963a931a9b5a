"""The page shows violations first, by rule, each rule with a run; then what was not judged."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from support.browser import browser, look_at, move
from wheelproof_spark.base.listing import NO_FILE
from wheelproof_spark.check.gold import OF_RUNS
from wheelproof_spark.report.page import render
from wheelproof_spark.report.unjudged import MOST_PLACES, unjudged
from wheelproof_spark.report.violations import MOST_CASES, explained
from wheelproof_spark.tables.delta import commit
from wheelproof_spark.tables.files import FileEntry, write_files
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spark.tables.rows import Row, write_rows
from wheelproof_spark.tables.schemas import BRONZE, LINES, RESULTS

_SCOPE = StructField("scope", StringType())
_VERDICTS = StructType(
    [_SCOPE, *(RESULTS[name] for name in ("run", "verdict", "notes", "problem"))]
)


def _row(rule: str, run: int) -> Row:
    told = dict.fromkeys(("implementation", "version", "place_file", "reason", "expected"), "x")
    row = {"rule": rule, "run": f"h{run:03}", "format": "history", "scope": None, "observed": "y"}
    return {**told, **row, "place_line": 1, "place_index": 0, "also_broken": [], "good_prefix": 0}


def test_each_rule_has_a_heading_and_a_case(tmp_path: Path) -> None:
    manifest = _manifest(tmp_path)
    rows = [_row("Common", run) for run in range(MOST_CASES + 10)] + [_row("Rare", 0)]
    found = explained(tmp_path, manifest, rows)
    with_case = [violation.row["rule"] for violation in found if violation.case is not None]
    assert with_case == ["Common"] * (MOST_CASES - 1) + ["Rare"]
    page = render(manifest, {name: [] for name in OF_RUNS}, found, [])
    assert (page.count("<h3>Common</h3>"), page.count("<h3>Rare</h3>")) == (1, 1)
    assert f"{MOST_CASES + 9} more" in page
    assert page.count('<details id="case-') == MOST_CASES + 11
    assert page.index("<h3>Rare</h3>") < page.index("<h2>By implementation")


_SUBJECT = {"implementation": "timer-of-somebody", "version": "12.3.4", "component": "timer"}
_COUNTED = {**_SUBJECT, "format": "history", "count": 1_234_567}
_TABLES: Mapping[str, list[Row]] = {
    "summary": [
        {**_COUNTED, "pass": 1_234_567, "fail": 2, "inconclusive": 0, "error": 0, "runs": 1_234_569}
        | {"events": 9_876_543_210}
    ],
    "clauses": [{**_COUNTED, "rule": "Common", "profile": "kafka", "runs": 1}],
    "tested": [{**_COUNTED, "clause": "Timer.NothingDueIsLeftBehind"}],
    "coverage": [{**_COUNTED, "action": "add"}],
    "steps": [],
    "histograms": [{**_COUNTED, "what": "lateness", "ms": 2**40}],
}
_FILTERED = """
await whole(".failing");
const fields = page().querySelectorAll("input[data-filter]");
const failing = [...page().querySelectorAll(".failing")];
const shown = () => failing.filter((one) => one.checkVisibility()).length;
const ask = (words) => {
  fields[0].value = words;
  fields[0].dispatchEvent(new frame.contentWindow.Event("input"));
  return [shown(), page().querySelector("output").textContent];
};
const cut = [...page().querySelectorAll("td, i")].filter(
  (one) => one.getBoundingClientRect().right > 390 || one.scrollWidth > one.clientWidth + 1);
return [cut.length, shown(), ask("h012"), ask("RARE h000"), ask("nowhere"), ask("")];
"""


def test_failing_runs_are_filtered_and_nothing_is_cut_on_a_phone(tmp_path: Path) -> None:
    browser()
    manifest = _manifest(tmp_path)
    rows = [_row("Common", run) for run in range(20)] + [_row("Rare", 0)]
    page = render(manifest, _TABLES, explained(tmp_path, manifest, rows), [])
    for seen in look_at({"pipeline": page}, (390,), tmp_path, dark=True):
        assert seen.problems == ()
        assert seen.content <= 390
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    cut, shown, one, rare, nothing, everything = move(
        tmp_path / "page.html", _FILTERED, tmp_path / "profile", width=390
    )
    # One run of each rule is shown; the others are folded until somebody looks for them.
    assert (cut, shown) == (0, 2)
    assert one == [1, "1 of 21"]
    assert rare == [1, "1 of 21"]
    assert nothing == [0, "0 of 21"]
    assert everything == [2, ""]


def test_where_nothing_fails_there_is_a_page_too(tmp_path: Path) -> None:
    write_rows([], LINES, tmp_path / "bronze" / "000001" / "kind=good")
    manifest = _manifest(tmp_path)
    assert explained(tmp_path, manifest, []) == []
    assert "<p>None.</p>" in render(manifest, {name: [] for name in OF_RUNS}, [], [])


_PLACES = {"verdicts": "gold/verdicts", "files": "files"}


def _manifest(output: Path) -> Manifest:
    """Return the manifest of an output that has read one file."""
    entry = FileEntry(
        file_id=1, path="a&b.jsonl", state=NO_FILE, complete=False, tail="", batches=[1]
    )
    write_files([entry], output / "files")
    return Manifest(profile=None, max_states=1, tables=_PLACES)


def _commit(rows: Sequence[Row], table: Path) -> None:
    write_rows(rows, _VERDICTS, table / "000001")
    commit(table, table / "000001", 1, replaces=False)


def test_what_was_not_judged_says_why_and_where(tmp_path: Path) -> None:
    manifest = _manifest(tmp_path)
    runs: list[dict[str, object]] = [
        {"run": f"r{n}", "verdict": "error", "problem": "has no header"} for n in range(9)
    ]
    runs.append({"run": "long", "verdict": "inconclusive", "notes": ["too many orders", "a gap"]})
    runs.append({"run": "right", "verdict": "pass", "notes": ["not of interest"]})
    _commit([{"scope": "c.jsonl", **run} for run in runs], tmp_path / "gold/verdicts")
    # The line of file 2 was withdrawn with its file.
    lines = [{"file_id": number, "offset": 1234, "reason": f"is {number}"} for number in (1, 2)]
    write_rows(lines, BRONZE, tmp_path / "bronze" / "000001" / "kind=quarantined")
    found = unjudged(tmp_path, manifest)
    assert [(one.what, one.number, one.reason) for one in found] == [
        ("error runs", 9, "the run has no header"),
        ("inconclusive runs", 1, "too many orders; a gap"),
        ("quarantined lines", 1, "the line is 1"),
    ]
    assert found[0].places == [f"r{n} in c.jsonl" for n in range(MOST_PLACES)]
    assert found[2].places == ["a&b.jsonl, byte 1,234"]
    page = render(manifest, {name: [] for name in OF_RUNS}, [], found)
    parts = (
        "<h2>Violations",
        "Error runs",
        "9: the run has no header",
        "and more",
        "a&amp;b.jsonl",
    )
    assert [part for part in parts if part not in page] == []
    assert page.index("<h2>What was not judged") < page.index("<h2>By implementation")


def test_reasons_that_all_differ_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wheelproof_spark.report.unjudged.MOST_REASONS", 3)
    runs = [{"run": f"r{n}", "verdict": "error", "problem": f"is {n}"} for n in range(9)]
    _commit(runs, tmp_path / "gold/verdicts")
    manifest = _manifest(tmp_path)
    found = unjudged(tmp_path, manifest)
    assert [one.number for one in found] == [1, 1, 1, 6]
    assert found[0].places == ["r0 in several files"]
