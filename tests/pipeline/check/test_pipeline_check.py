"""The pipeline as a whole, on Spark: golden tables, the verdicts of `check`, counts that add up."""

import gzip
import json
import random
import shutil
from collections import Counter
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from zstandard import ZstdCompressor

from support.pipeline.pipeline_tables import Judged, rows_of, run, save
from support.pipeline.recorded_fleet import (
    RUNS_A_FILE,
    chance_lines,
    check,
    histories,
    record_known_bug,
    record_reference,
    shown,
    shown_by_check,
    trace_lines,
)
from wheelproof_spark.check import silver
from wheelproof_spark.check.bronze import read_bronze
from wheelproof_spark.tables.delta import files_in
from wheelproof_spark.tables.plan import Plan
from wheelproof_spark.tables.rows import written
from wheelproof_spec.app.cli import main
from wheelproof_spec.history.checkers import CheckOptions

pytestmark = pytest.mark.slow

_MOST_JOBS = 12
"""A job of Spark takes long, however little it does: this many are enough for a small batch."""


def _fleet(folder: Path) -> Path:
    folder.mkdir()
    for seed in range(4):
        record_reference(folder / f"reference-{seed}.jsonl", RUNS_A_FILE, seed)
    record_known_bug(folder / "bug.jsonl", RUNS_A_FILE)
    (folder / "chance.jsonl").write_bytes(b"".join(histories(range(100))))
    trace = b"".join(trace_lines("t"))
    (folder / "trace.jsonl.gz").write_bytes(gzip.compress(trace))
    (folder / "deep").mkdir()
    open_order = b"".join(trace_lines("u", numbered=False))
    (folder / "deep" / "trace.zst").write_bytes(ZstdCompressor().compress(open_order))
    return folder


@pytest.fixture(scope="session")
def fleet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    del spark
    folder = tmp_path_factory.mktemp("pipeline")
    return run(_fleet(folder / "in"), folder / "out")


def test_the_tables_are_golden(fleet: Judged) -> None:
    subject = ("implementation", "component", "format")
    summary = {tuple(row[name] for name in subject): row for row in fleet.table("summary")}
    assert {key: (row["runs"], row["pass"]) for key, row in summary.items()} == {
        ("wheelproof", "timer", "history"): (80, 80),
        ("wheelproof", "buffer_pool", "history"): (120, 80),
        ("machine", "timer", "history"): (50, 24),
        ("machine", "buffer_pool", "history"): (50, 41),
        ("machine", "timer", "trace"): (2, 2),
    }
    counts = fleet.manifest.counts
    assert (counts.files, counts.runs, counts.error) == (8, 302, 0)
    clauses = {
        row["rule"]: row["runs"]
        for row in fleet.table("clauses")
        if row["implementation"] == "wheelproof" and row["component"] == "buffer_pool"
    }
    assert clauses == {"none": 80, "BufferPool.TakesBackOnlyWhatIsLent": 40}
    coverage = {(row["format"], row["action"]): row["count"] for row in fleet.table("coverage")}
    assert [coverage["trace", action] for action in ("Offer", "Shutdown")] == [2, 2]
    assert {row["what"] for row in fleet.table("histograms")} == {"lateness", "waits"}


def test_the_verdicts_are_those_of_check(fleet: Judged) -> None:
    paths = [path for path in fleet.input.iterdir() if path.suffix in (".jsonl", ".gz")]
    rows = fleet.table("verdicts")
    assert shown(row for row in rows if row["run"] != "u") == shown_by_check(paths)


def test_each_clause_is_tested_as_often_as_by_check(fleet: Judged) -> None:
    paths = [path for path in fleet.input.iterdir() if path.suffix in (".jsonl", ".gz")]
    expected = Counter[tuple[str, str]]()
    for verdict in (verdict for path in paths for verdict in check(path).verdicts):
        if verdict.implementation.startswith("wheelproof"):
            for clause, times in verdict.checked.items():
                expected[verdict.profile, clause] += times
    counted = {
        (row["profile"], row["clause"]): row["count"]
        for row in fleet.table("tested")
        if row["implementation"] == "wheelproof"
    }
    assert counted == expected
    assert sum(expected.values()) > 1_000
    assert 0 in counted.values()


def test_nothing_new_is_nothing_to_do(fleet: Judged) -> None:
    before = Plan(fleet.output).version
    again = run(fleet.input, fleet.output)
    assert again.manifest == fleet.manifest
    assert Plan(fleet.output).version == before


def test_another_version_judges_all_again(spark: SparkSession, tmp_path: Path) -> None:
    del spark
    source, output = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    one, two = chance_lines(1, "one"), chance_lines(3, "two")
    (source / "a.jsonl").write_bytes(b"".join([*one, *two[:4]]))
    (source / "b.jsonl").write_bytes(b"".join(two[4:]))
    first = run(source, output)
    before = _comparable(first)
    save(output, replace(first.manifest, judge="0.0"))
    second = run(source, output)
    second.adds_up()
    assert second.manifest.batches[-1].judged == second.manifest.counts.runs == 2
    assert second.manifest.counts == first.manifest.counts
    assert {row["judge"] for row in second.table("verdicts")} == {second.manifest.judge}
    assert {row["judge"] for row in second.table("runs")} == {version("wheelproof")}
    assert _comparable(second) == before
    assert run(source, output).manifest == second.manifest


def _comparable(judged: Judged) -> dict[str, list[str]]:
    left_out = ("place_file", "place_line", "scope")
    return rows_of(judged, ("verdicts", "summary", "coverage"), without=left_out)


@pytest.mark.long
def test_partitions_and_order_change_nothing(fleet: Judged, tmp_path: Path) -> None:
    chance = random.Random(7)
    other = tmp_path / "in"
    shutil.copytree(fleet.input, other)
    lines = (other / "chance.jsonl").read_bytes().splitlines(keepends=True)
    chance.shuffle(lines)
    (other / "chance.jsonl").unlink()
    for number in range(3):
        (other / f"{number}-{chance.random()}.jsonl").write_bytes(b"".join(lines[number::3]))
    for seed in range(4):
        (other / f"reference-{seed}.jsonl").rename(other / f"{9 - seed}.jsonl")
    judged = run(other, tmp_path / "out", partitions=7, split_bytes=9_999)
    assert _comparable(judged) == _comparable(fleet)


def test_the_plan_has_one_shuffle(
    fleet: Judged, spark: SparkSession, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = fleet.output / "bronze" / "000001"
    good, whole = (read_bronze(spark, [folder], kind) for kind in ("good", "whole"))
    assert (good.select("run").distinct().count(), whole.count()) == (1, 301)
    pieces = spark.read.parquet(str(fleet.output / "parts" / "000001"))
    due = written(silver.resolved(pieces, None, None).where("due"), tmp_path / "due")
    for number, joins in ((due.count(), 0), (10**9, 3)):
        lines = silver.ordered(silver.lines_of(good, whole, due, number=number), 3)
        results = silver.judged(lines, CheckOptions(), {})
        results.explain()
        plan = capsys.readouterr().out
        assert "Sort [format" in plan
        # Few parts are sent to the lines; many are joined, which shuffles lines and parts.
        assert plan.count("Exchange hashpartitioning(") == 1 + 2 * joins
        assert [row["run"] for row in results.collect()] == ["u"]


_ROWS = ("silver/runs", "silver/shuffled", "gold/verdicts", "gold/violations")


def _written(output: Path) -> dict[str, set[Path]]:
    """Return the files of each table with a row for each run: what is written anew is another."""
    return {table: set(files_in(output / table)) for table in _ROWS}


def test_only_what_is_new_is_judged_and_written(spark: SparkSession, tmp_path: Path) -> None:
    source, output = tmp_path / "in", tmp_path / "out [1] {a,b}*?"
    source.mkdir()

    def write(name: str, *runs: list[bytes]) -> None:
        with (source / name).open("ab") as grown:
            grown.write(b"".join(line for run in runs for line in run))

    def jobs() -> int:
        return len(spark.sparkContext.statusTracker().getJobIdsForGroup())

    def judged() -> tuple[int, bool]:
        """Return how many runs one more check judges, and whether all earlier rows stay."""
        before = _written(output)
        found = run(source, output)
        found.adds_up()
        after = _written(output)
        (stay,) = {before[table] < after[table] for table in _ROWS}
        return found.manifest.batches[-1].judged, stay

    broken, known = trace_lines("torn"), jobs()
    write("a.jsonl", chance_lines(1, "one"), chance_lines(2, "two"), list(reversed(broken)))
    write("b.jsonl", chance_lines(3, "three")[:4])
    assert run(source, output).manifest.batches[-1].judged == 4
    assert 0 < jobs() - known <= _MOST_JOBS
    write("b.jsonl", chance_lines(3, "three")[4:])
    write("c.jsonl", chance_lines(4, "four"))
    write("d.jsonl", chance_lines(5, "two"))
    # Now "two" is in two files, each a run of its own, and the first one stays as it was judged.
    assert judged() == (1 + 1 + 1, False)
    assert jobs() - known <= 2 * _MOST_JOBS
    write("e.jsonl", chance_lines(7, "new"), list(reversed(trace_lines("other"))), [b"bad\n"])
    assert judged() == (2, True)
    write("e.jsonl", list(reversed(trace_lines("more"))))
    write("f.jsonl", chance_lines(6, "six"), [b"no line\n"])
    assert judged() == (2, True)
    # A name that an earlier run has: which of them count has to be found out for all of them.
    write("g.jsonl", chance_lines(7, "two"))
    (source / "c.jsonl").unlink()
    assert judged() == (1, False)
    (source / "d.jsonl").unlink()
    (source / "g.jsonl").unlink()
    assert judged() == (0, False)
    last, fresh = run(source, output), run(source, tmp_path / "fresh")
    assert _comparable(last) == _comparable(fresh)
    assert last.manifest.counts == fresh.manifest.counts


def test_the_page_needs_nothing_else(
    fleet: Judged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    words = ["pipeline", "report", "--output", str(fleet.output), "--html", str(page)]
    assert main(words) == 0
    assert "302 runs" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    assert "BufferPool.TakesBackOnlyWhatIsLent" in text
    assert "bug.jsonl" in text
    assert 'class="chart"' in text
    assert "http" not in text


def test_the_exit_code_is_that_of_check(fleet: Judged, tmp_path: Path) -> None:
    document = tmp_path / "outcome.json"
    words = ["--input", str(fleet.input), "--output", str(fleet.output), "--json", str(document)]
    assert main(["pipeline", "check", *words]) == main(
        ["check", *(str(path) for path in fleet.input.rglob("*.*") if path.is_file())]
    )
    assert json.loads(document.read_text())["exit_code"] == 1
