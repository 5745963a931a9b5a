"""Silver: the lines of each run in one place and in order, handed to its checker."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.functions import broadcast, col, lit, when

from wheelproof_spark.check.judging.groups import judge_groups
from wheelproof_spark.check.judging.run import FirstLines
from wheelproof_spark.tables.schemas import GOOD, RESULTS
from wheelproof_spec.engines.history.checkers import CheckOptions

_NAME = ["format", "run"]
_PAIR = ["format", "run", "file_id"]
_KEY = ["format", "run", "scope"]
_ORDER = [*_KEY, "rank", "seq", "thread", "file_id", "start", "line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What has changed: runs, by file, that gained or lost lines; the verdicts until now."""

    pairs: DataFrame
    verdicts: DataFrame


def several_headers(good: DataFrame) -> DataFrame:
    """Return the names that several files have runs of; each of these files has its own run."""
    headers = good.where(col("rank") == 0).select(*_PAIR).distinct()
    return headers.groupBy(*_NAME).count().where("count > 1").select(*_NAME)


def scoped(good: DataFrame, several: DataFrame | None) -> DataFrame:
    """Return the lines with the file that their run is confined to, or -1."""
    lines = good.select(*GOOD)
    if several is None:
        return lines.withColumn("scope", lit(-1))
    marked = broadcast(several.withColumn("shared", lit(True)))
    scope = when(col("shared"), col("file_id")).otherwise(lit(-1))
    return lines.join(marked, _NAME, "left").withColumn("scope", scope).drop("shared")


def only_changed(lines: DataFrame, change: Change) -> DataFrame:
    """Leave out the runs whose verdicts stay."""
    names = broadcast(change.pairs.select(*_NAME).distinct())
    stays = broadcast(_still_scoped(change))
    return lines.join(names, _NAME, "left_semi").join(stays, _KEY, "left_anti")


def kept_verdicts(change: Change, lines: DataFrame) -> DataFrame:
    """Return the verdicts until now that stay: of other names, or of other files."""
    names = change.pairs.select(*_NAME).distinct()
    others = change.verdicts.join(names, _NAME, "left_anti")
    there = lines.select(*_KEY).distinct()
    stays = _still_scoped(change).join(there, _KEY, "left_semi")
    return others.unionByName(change.verdicts.join(stays, _KEY, "left_semi"))


def _still_scoped(change: Change) -> DataFrame:
    """Return the runs confined to one file in which nothing has changed."""
    touched = change.pairs.select(*_NAME, col("file_id").alias("scope"))
    confined = change.verdicts.where("scope >= 0").select(*_KEY)
    named = confined.join(change.pairs.select(*_NAME).distinct(), _NAME, "left_semi")
    return named.join(touched, _KEY, "left_anti")


def ordered(lines: DataFrame, partitions: int) -> DataFrame:
    """Return the lines, each run in one partition and in order: the one shuffle."""
    keyed = lines.select("format", "run", "scope", *GOOD[2:])
    return keyed.repartition(partitions, *_KEY).sortWithinPartitions(*_ORDER)


def judged(lines: DataFrame, options: CheckOptions, first_lines: FirstLines) -> DataFrame:
    """Return one row for each run of ordered lines."""
    return lines.mapInArrow(judge_groups(options, first_lines), RESULTS)


def pairs_of(good: DataFrame, ids: Sequence[int] | None = None) -> DataFrame:
    """Return the runs, by file, of which there are lines; only those of the files `ids`."""
    lines = good if ids is None else good.where(col("file_id").isin(list(ids)))
    return lines.select(*_PAIR).distinct()
