"""Gold: the tables that people ask, all made from the one row of each run."""

from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import array, coalesce, col, concat, count, explode, lit, split, when
from pyspark.sql.functions import sum as total

from wheelproof_spark.tables.rows import union
from wheelproof_spark.tables.schemas import VERDICT_COLUMNS, VIOLATION_COLUMNS
from wheelproof_spec.base.results.verdicts import Verdict

WHO = ("format", "component", "implementation", "version")
"""By what counts are grouped: the subject of a verdict."""


def account(runs: DataFrame) -> DataFrame:
    """For each verdict: runs, their lines, duplicates and missing events; see `Judged`."""
    sums = (total(name).alias(name) for name in ("lines", "duplicates", "missing"))
    return runs.groupBy("verdict").agg(count("*").alias("runs"), *sums)


def verdicts(runs: DataFrame, files: DataFrame) -> DataFrame:
    """One row for each run: its verdict, its place, and why there is none."""
    return _with_paths(runs.select(*VERDICT_COLUMNS), files)


def violations(runs: DataFrame, files: DataFrame) -> DataFrame:
    """One row for each run that fails: the rule, the place, expected and observed."""
    failed = runs.where(col("verdict") == Verdict.FAIL.value)
    return _with_paths(failed.select(*VIOLATION_COLUMNS), files)


def summary(runs: DataFrame) -> DataFrame:
    """Runs, events and verdicts by format, component, implementation and version."""
    return runs.groupBy(*WHO).agg(
        count("*").alias("runs"),
        total("events").alias("events"),
        *(_number_of(verdict).alias(verdict.value) for verdict in Verdict),
        total("duplicates").alias("duplicates"),
        total("missing").alias("missing"),
    )


def clauses(runs: DataFrame) -> DataFrame:
    """How many of the runs that were judged break which rule, and how many break none."""
    judged = runs.where(col("verdict").isin(Verdict.PASS.value, Verdict.FAIL.value))
    first = array(coalesce(col("rule"), lit("none")))
    broken = judged.withColumn("rule", explode(coalesce(concat(first, "also_broken"), first)))
    return broken.groupBy(*WHO, "profile", "rule").agg(count("*").alias("runs"))


def coverage(runs: DataFrame) -> DataFrame:
    """How often each call or action was recorded, over all runs."""
    pairs = runs.select(*WHO, explode("actions").alias("action", "n"))
    return pairs.groupBy(*WHO, "action").agg(total("n").alias("count"))


def steps(runs: DataFrame) -> DataFrame:
    """How often a thread took which action after which; it begins after nothing."""
    pairs = runs.select(*WHO, explode("steps").alias("step", "n"))
    pair = split("step", ">")
    both = pairs.select(*WHO, pair[0].alias("before"), pair[1].alias("action"), "n")
    return both.groupBy(*WHO, "before", "action").agg(total("n").alias("count"))


def histograms(runs: DataFrame) -> DataFrame:
    """How late tasks ran and how long calls took: ms, rounded up to a power of two."""
    both = union(
        runs.select(*WHO, lit(what).alias("what"), explode(what).alias("ms", "n"))
        for what in ("lateness", "waits")
    )
    return both.groupBy(*WHO, "what", "ms").agg(total("n").alias("count"))


OF_RUNS: Mapping[str, Callable[[DataFrame], DataFrame]] = {
    "summary": summary,
    "clauses": clauses,
    "coverage": coverage,
    "steps": steps,
    "histograms": histograms,
}
TABLES = ("verdicts", "violations", *OF_RUNS)


def write_gold(runs: DataFrame, files: DataFrame, folder: Path) -> dict[str, Path]:
    """Write all tables below `folder`; return where each one is."""
    made = {name: make(runs).coalesce(1) for name, make in OF_RUNS.items()}
    made |= {"verdicts": verdicts(runs, files), "violations": violations(runs, files)}
    for name, table in made.items():
        table.write.parquet(str(folder / name))
    return {name: folder / name for name in made}


def _with_paths(runs: DataFrame, files: DataFrame) -> DataFrame:
    """Replace the numbers of files by their paths: the numbers mean nothing to a reader."""
    for column in ("scope", "place_file"):
        named = files.select(col("id").alias(column), col("path").alias(f"{column}_path"))
        runs = runs.join(named, column, "left").drop(column)
        runs = runs.withColumnRenamed(f"{column}_path", column)
    return runs


def _number_of(verdict: Verdict) -> Column:
    return total(when(col("verdict") == verdict.value, 1).otherwise(0))
