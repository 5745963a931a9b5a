"""Gold: the tables for queries, all made from the one row of each run."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    array,
    coalesce,
    col,
    concat,
    count,
    explode,
    lit,
    split,
    struct,
    to_json,
    when,
)
from pyspark.sql.functions import sum as total
from pyspark.sql.types import StringType, StructType

from wheelproof_spark.base.errors import PipelineError
from wheelproof_spark.check.judging.columns import JUDGE
from wheelproof_spark.tables.documents import record_of
from wheelproof_spark.tables.manifest import Judged
from wheelproof_spark.tables.rows import Row, collected, read_rows, union, whole_number, write_rows
from wheelproof_spark.tables.schemas import VERDICT_COLUMNS, VIOLATION_COLUMNS
from wheelproof_spec.base.results.verdicts import Verdict

WHO = ("format", "component", "implementation", "version")
"""The columns that counts are grouped by: the subject of a verdict."""


def account(runs: DataFrame) -> DataFrame:
    """Return for each verdict: runs, their lines, duplicates and missing lines; see `Judged`."""
    sums = (total(name).alias(name) for name in ("lines", "duplicates", "missing"))
    cut_off = total(when(col("cut_off"), 1).otherwise(0)).alias("cut_off")
    by_verdict = runs.groupBy("judge", "verdict", col("made_of").isNotNull().alias("shuffled"))
    return by_verdict.agg(count("*").alias("runs"), *sums, cut_off)


def verdicts(runs: DataFrame, files: DataFrame) -> DataFrame:
    """Return one row for each run: its verdict, the place of a violation, and any problem."""
    return _with_paths(runs.select(*VERDICT_COLUMNS), files)


def violations(runs: DataFrame, files: DataFrame) -> DataFrame:
    """Return one row for each run that fails: the rule, the place, expected and observed."""
    failed = runs.where(col("verdict") == Verdict.FAIL.value)
    return _with_paths(failed.select(*VIOLATION_COLUMNS), files)


def summary(runs: DataFrame) -> DataFrame:
    """Return runs, events and verdicts by format, component, implementation and version."""
    return runs.groupBy(*WHO).agg(
        count("*").alias("runs"),
        total("events").alias("events"),
        *(_number_of(verdict).alias(verdict.value) for verdict in Verdict),
        total("duplicates").alias("duplicates"),
        total("missing").alias("missing"),
        total(when(col("cut_off"), 1).otherwise(0)).alias("cut_off"),
    )


def clauses(runs: DataFrame) -> DataFrame:
    """Return the number of judged runs that break each rule, and that break none."""
    judged = runs.where(col("verdict").isin(Verdict.PASS.value, Verdict.FAIL.value))
    first = array(coalesce(col("rule"), lit("none")))
    broken = judged.withColumn("rule", explode(coalesce(concat(first, "also_broken"), first)))
    return broken.groupBy(*WHO, "profile", "rule").agg(count("*").alias("runs"))


def tested(runs: DataFrame) -> DataFrame:
    """Return how often each clause was tested, over all runs; 0: nothing is known of it."""
    pairs = runs.select(*WHO, "profile", explode("checked").alias("clause", "n"))
    return pairs.groupBy(*WHO, "profile", "clause").agg(total("n").alias("count"))


def coverage(runs: DataFrame) -> DataFrame:
    """Return how often each call or action was recorded, over all runs."""
    pairs = runs.select(*WHO, explode("actions").alias("action", "n"))
    return pairs.groupBy(*WHO, "action").agg(total("n").alias("count"))


def steps(runs: DataFrame) -> DataFrame:
    """Return how often a thread took an action after another; '' is before its first action."""
    pairs = runs.select(*WHO, explode("steps").alias("step", "n"))
    pair = split("step", ">")
    both = pairs.select(*WHO, pair[0].alias("before"), pair[1].alias("action"), "n")
    return both.groupBy(*WHO, "before", "action").agg(total("n").alias("count"))


def histograms(runs: DataFrame) -> DataFrame:
    """Return how late tasks ran and how long calls took: ms, rounded up to a power of two."""
    both = union(
        runs.select(*WHO, lit(what).alias("what"), explode(what).alias("ms", "n"))
        for what in ("lateness", "waits")
    )
    return both.groupBy(*WHO, "what", "ms").agg(total("n").alias("count"))


OF_RUNS: Mapping[str, Callable[[DataFrame], DataFrame]] = {
    "summary": summary,
    "clauses": clauses,
    "tested": tested,
    "coverage": coverage,
    "steps": steps,
    "histograms": histograms,
}


def _with_paths(runs: DataFrame, files: DataFrame) -> DataFrame:
    """Replace the numbers of files by their paths: the numbers mean nothing to a reader."""
    for column in ("scope", "place_file"):
        named = files.select(col("id").alias(column), col("path").alias(f"{column}_path"))
        runs = runs.join(named, column, "left").drop(column)
        runs = runs.withColumnRenamed(f"{column}_path", column)
    return runs


def _number_of(verdict: Verdict) -> Column:
    return total(when(col("verdict") == verdict.value, 1).otherwise(0))


APPENDED = ("verdicts", "violations")
SUMMED = tuple(OF_RUNS)
TABLES = (*APPENDED, *SUMMED)
_ACCOUNT, _SHUFFLED = "account", "shuffled"
_MEASURED = "ms"


class NewRuns:
    """The runs that a batch judged, counted in one Spark job."""

    def __init__(self, runs: DataFrame, shuffled: DataFrame | None = None) -> None:
        """Count the runs; `shuffled` are those that were judged after the shuffle, with repeats."""
        self._runs = runs
        made = {name: make(runs) for name, make in OF_RUNS.items()}
        self._schemas = {name: table.schema for name, table in made.items()}
        made[_ACCOUNT] = account(runs)
        if shuffled is not None:
            made[_SHUFFLED] = shuffled.agg(coalesce(total("lines"), lit(0)).alias("lines"))
        self._rows: dict[str, list[Row]] = {name: [] for name in made}
        # A Spark job is slow even for few rows, so one job makes the rows of all tables.
        together = union(
            table.select(lit(name).alias("table"), to_json(struct(*table.columns)).alias("row"))
            for name, table in made.items()
        )
        for name, row in collected(together, tuple[str, str]):
            self._rows[name].append(cast("dict[str, object]", json.loads(row)))
        self.judged = [record_of(Judged, row) for row in self._rows[_ACCOUNT]]
        if others := {row.judge for row in self.judged} - {JUDGE}:
            raise PipelineError(
                f"the workers have wheelproof {min(others)}, and the driver has {JUDGE}; install "
                "the same on both"
            )
        self.shuffled_lines = sum(
            whole_number(row["lines"]) for row in self._rows.get(_SHUFFLED, ())
        )

    def __len__(self) -> int:
        """Return the number of runs."""
        return sum(row.runs for row in self.judged)

    def write_appended(self, files: DataFrame, folder: Path, batch: int | None = None) -> None:
        """Write the rows that a batch adds: one for each run, and one for each failing run.

        With `batch` they have its number.
        """
        for name, rows in (
            ("verdicts", verdicts(self._runs, files)),
            ("violations", violations(self._runs, files)),
        ):
            table = rows if batch is None else rows.withColumn("batch", lit(batch))
            if self._rows["clauses" if name == "violations" else _ACCOUNT]:
                table.write.parquet(str(folder / name))
            else:
                write_rows([], table.schema, folder / name)

    def write_summed(self, before: Mapping[str, Path], folder: Path) -> None:
        """Write the counts of all batches: those `before`, and those of these runs."""
        for name, schema in self._schemas.items():
            old = read_rows(before[name]) if name in before else []
            write_rows(_summed([*old, *self._rows[name]], schema), schema, folder / name)


def _summed(rows: Iterable[Row], schema: StructType) -> Sequence[Row]:
    keys = [
        column.name
        for column in schema
        if isinstance(column.dataType, StringType) or column.name == _MEASURED
    ]
    counts = [name for name in schema.names if name not in keys]
    sums: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in keys)
        known = sums.setdefault(
            key, {**dict(zip(keys, key, strict=True)), **dict.fromkeys(counts, 0)}
        )
        for name in counts:
            known[name] = whole_number(known[name]) + whole_number(row.get(name) or 0)
    return list(sums.values())
