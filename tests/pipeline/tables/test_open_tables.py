"""The tables are in an open format: others read them without a word of ours."""

import json
from pathlib import Path

import duckdb
import polars
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from support.pipeline.pipeline_tables import Judged, committed, rows_of, run
from support.pipeline.recorded_fleet import chance_lines
from support.pipeline.refused import refused
from wheelproof_spark.tables.rows import read_from
from wheelproof_spark.tables.schemas import RESULTS
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode


@pytest.fixture(scope="module")
def judged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return an output whose rows came in two batches."""
    del spark
    place = tmp_path_factory.mktemp("open")
    source = place / "in"
    source.mkdir()
    (source / "a.jsonl").write_bytes(b"".join([*chance_lines(1, "one"), b"bad\n"]))
    run(source, place / "out")
    (source / "b.jsonl").write_bytes(b"".join(chance_lines(2, "two")))
    return run(source, place / "out")


def _names(judged: Judged) -> list[str]:
    return sorted(str(row["run"]) for row in judged.table("verdicts"))


def test_others_read_the_newest_version(spark: SparkSession, judged: Judged) -> None:
    folder = judged.output / "gold" / "verdicts"
    assert _names(judged) == ["one", "two"]
    assert sorted(polars.read_delta(str(folder))["run"].to_list()) == ["one", "two"]
    table = DeltaTable(str(folder)).scan()
    connection = duckdb.connect()
    connection.register("verdicts", table)
    assert connection.sql("select run from verdicts order by run").fetchall() == [
        ("one",),
        ("two",),
    ]
    # A table that each batch replaces: only its last files count.
    summary = polars.read_delta(str(judged.output / "gold" / "summary"))
    assert summary["runs"].sum() == judged.manifest.counts.runs == 2
    runs = read_from(spark, RESULTS, [judged.output / "silver" / "runs"])
    assert sorted(row["run"] for row in runs.collect()) == ["one", "two"]


def test_bronze_has_the_kind_of_each_line_as_a_column(judged: Judged) -> None:
    lines = polars.read_delta(str(judged.output / "bronze"))
    quarantined = lines.filter(polars.col("kind") == "quarantined")
    assert quarantined["raw"].to_list() == [b"bad"]
    assert lines.filter(polars.col("kind") == "whole")["run"].sort().to_list() == ["one", "two"]


def test_compaction_changes_no_row(
    judged: Judged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, document = rows_of(judged), tmp_path / "done.json"
    words = ["--output", str(judged.output), "--json", str(document)]
    assert main(["pipeline", "compact", *words]) == ExitCode.PASS
    assert "files became" in capsys.readouterr().out
    tables = {row["table"]: row for row in json.loads(document.read_text())["tables"]}
    assert tables["verdicts"]["before"] > tables["verdicts"]["after"] == 1
    assert rows_of(committed(judged.input, judged.output)) == before
    # What comes later is added, as before.
    (judged.input / "c.jsonl").write_bytes(b"".join(chance_lines(3, "three")))
    later = run(judged.input, judged.output)
    later.adds_up()
    assert _names(later) == ["one", "three", "two"]


def test_without_tables_there_is_nothing_to_compact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("compact", "--output", tmp_path / "none")
    refused(capsys, ExitCode.INPUT_REJECTED, "has no tables", *words)
    assert list(tmp_path.iterdir()) == []
