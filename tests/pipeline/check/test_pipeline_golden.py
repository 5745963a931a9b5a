"""Every case of bad input in one fleet: golden tables, named reasons, and counts that add up."""

import base64
import json
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.browser import browser, look_at
from support.pipeline.golden_fleet import GOLDEN, tables_of, write_fleet
from support.pipeline.pipeline_tables import Judged, run
from support.pipeline.recorded_fleet import check
from wheelproof_spark.report.page import write_page

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def fleet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    del spark
    folder = tmp_path_factory.mktemp("golden")
    return run(write_fleet(folder / "in"), folder / "out")


def test_the_gold_tables_are_golden(fleet: Judged) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for name, rows in tables_of(fleet).items():
        assert rows == golden[name], f"{name}: see golden_fleet.py {fleet.output}"


def test_nothing_is_lost_and_nothing_is_judged_twice(fleet: Judged) -> None:
    fleet.adds_up()


_QUARANTINED = {
    "utf8.jsonl": "UTF-8",
    "long.jsonl": "has more than 1,048,576 bytes",
    "versions.jsonl": "history/0",
    "vector.jsonl": "vector",
    "cut.jsonl": "cut off",
    "cut.gz": "cannot be unpacked",
    "bomb.gz": "bytes came out of it",
    "archive.zip": "zip archive",
    "cut.parquet": "cannot be read as Parquet",
    "endless-line.jsonl": "has more than 1,048,576 bytes",
    "pipe.jsonl": "it is no regular file",
    "dangling.jsonl": "No such file",
    "itself.jsonl": "Too many levels of symbolic links",
}


@pytest.mark.parametrize(("path", "reason"), _QUARANTINED.items(), ids=_QUARANTINED)
def test_a_line_that_is_not_judged_says_why(fleet: Judged, path: str, reason: str) -> None:
    reasons = fleet.quarantined()[path]
    assert reason in reasons[0]
    assert len(reasons) == (2 if path == "versions.jsonl" else 1)


def test_nothing_else_is_quarantined(fleet: Judged) -> None:
    assert fleet.quarantined().keys() == _QUARANTINED.keys()
    files = {file["path"]: file for file in fleet.table("files")}
    assert (files["empty.jsonl"]["lines"], files["empty.jsonl"]["quarantined"]) == (0, 0)
    # The circle of links is walked once.
    assert len(files) == len(list(fleet.input.iterdir())) - 1


_PROBLEMS = {
    "utf8": "lacks the number 0",
    "old": "has no header",
    "gap": "lacks the numbers 2 to 3",
    "both": "has two different lines with the number",
    "headless": "has no header",
    "endless": "has no end: it was cut off",
}


@pytest.mark.parametrize(("name", "problem"), _PROBLEMS.items(), ids=_PROBLEMS)
def test_a_run_that_cannot_be_judged_says_why(fleet: Judged, name: str, problem: str) -> None:
    (row,) = (row for row in fleet.table("verdicts") if row["run"] == name)
    assert row["verdict"] == "error"
    assert problem in str(row["problem"])


@pytest.mark.parametrize("name", ["new", "long", "cut", "twice", "half", "packed", "parquet"])
def test_a_run_that_is_whole_is_judged(fleet: Judged, name: str) -> None:
    expected = check(fleet.input / "long.jsonl").verdicts[0]
    (row,) = (row for row in fleet.table("verdicts") if row["run"] == name)
    assert row["verdict"] == expected.verdict.value == "pass"
    assert row["events"] == expected.events


def test_duplicates_and_gaps_are_counted(fleet: Judged) -> None:
    runs = {row["run"]: row for row in fleet.table("runs")}
    assert (runs["twice"]["duplicates"], runs["gap"]["missing"]) == (1, 2)
    assert runs["gap"]["gaps"] == [{"first": 2, "last": 3}]
    assert runs["half"]["files"] == 2


def test_one_name_in_two_files_is_two_runs(fleet: Judged) -> None:
    rows = {row["scope"]: row for row in fleet.table("verdicts") if row["run"] == "same"}
    assert rows.keys() == {"same-1.jsonl", "same-2.jsonl"}
    for path, row in rows.items():
        (expected,) = check(fleet.input / str(path)).verdicts
        assert row["verdict"] == expected.verdict.value


def test_a_clock_that_goes_back_has_the_verdict_of_check(fleet: Judged) -> None:
    (expected,) = check(fleet.input / "back.jsonl").verdicts
    (row,) = (row for row in fleet.table("verdicts") if row["run"] == "back")
    assert (row["verdict"], row["good_prefix"]) == (expected.verdict.value, expected.good_prefix)


def test_every_violation_of_the_page_can_be_judged_again(fleet: Judged, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_page(fleet.output, page)
    text = page.read_text(encoding="utf-8")
    links = re.findall(r'download="(.+?)" href="data:application/x-ndjson;base64,(.+?)"', text)
    found: set[tuple[object, ...]] = set()
    for name, content in links:
        assert f"wheelproof check {name}" in text
        case = tmp_path / name
        case.write_bytes(base64.b64decode(content))
        (verdict,) = check(case).verdicts
        assert verdict.violation is not None
        found.add((verdict.run, verdict.violation.rule, verdict.good_prefix))
    rows = fleet.table("violations")
    assert found == {(row["run"], row["rule"], row["good_prefix"]) for row in rows}
    assert len(links) == len(rows)
    for words in (*_QUARANTINED.values(), *_PROBLEMS.values()):
        assert words in text, "not on the page"
    for anchor in re.findall(r'href="#(.+?)"', text):
        assert f'id="{anchor}"' in text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_shuts_nobody_out(fleet: Judged, tmp_path: Path, *, dark: bool) -> None:
    browser()
    page = tmp_path / "pipeline.html"
    write_page(fleet.output, page)
    pages = {"judged": page.read_text(encoding="utf-8")}
    for seen in look_at(pages, (390, 1280), tmp_path, dark=dark):
        assert seen.problems == (), seen.width
        assert seen.content <= seen.width, f"it scrolls sideways at {seen.width}"
