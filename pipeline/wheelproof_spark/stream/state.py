"""Which runs are open, which are due, and which lines come too late: all as tables.

A run has a row for each file that has lines of it. A file is read whole in one batch, so that a
run that is confined to one file never waits.
"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import broadcast, coalesce, col, count, lit, when
from pyspark.sql.functions import max as most
from pyspark.sql.functions import min as least
from pyspark.sql.functions import sum as total

from wheelproof_spark.check.reading.parsing import BODY, END, HEADER
from wheelproof_spark.tables.schemas import GOOD, OPEN, PART_COLUMNS, PARTS, RESULTS

_NAME = ["format", "run"]
_FILE = [*_NAME, "file_id"]
_RUN = [*_NAME, "scope"]
_MOST_BROADCAST = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long runs wait, in batches.

    `late` is for how many batches after the end of a run its lines may come; `idle`, how many
    batches without a line of it a run without an end is waited for: None is for ever. With
    `closing` nothing is waited for.
    """

    late: int
    idle: int | None
    closing: bool = False


def arrived(good: DataFrame, batch: int) -> DataFrame:
    """Return what the good lines of a batch say of their runs, a row for each run and file."""
    found = good.groupBy(*_FILE).agg(
        _number_of(HEADER).alias("headers"),
        _number_of(BODY).alias("body"),
        _number_of(END).alias("ends"),
        most(when(col("rank") == END, col("seq"))).alias("needed"),
        count("*").alias("lines"),
    )
    return found.withColumn("batch", lit(batch)).select(*PART_COLUMNS)


def parts(known: DataFrame, new: DataFrame, batch: int, patience: Patience) -> DataFrame:
    """Return open runs and new ones, with what becomes of them in this batch; see `PARTS`."""
    closed = known.where(col("closed").isNotNull()).select(*_NAME, "closed")
    waiting = known.where(col("closed").isNull()).select(*PART_COLUMNS)
    rows = waiting.unionByName(new).join(closed, _NAME, "left")
    name = Window.partitionBy(*_NAME)
    run = Window.partitionBy(*_RUN)
    has_header, was_judged = col("headers") > 0, col("closed").isNotNull()
    several = count(when(has_header, 1)).over(name) > 1
    ended = least(when(col("ends") > 0, col("batch"))).over(run)
    silent = lit(False) if patience.idle is None else col("last") <= batch - patience.idle
    final = (
        lit(patience.closing)
        | (col("scope") >= 0)
        | coalesce(col("ended") <= batch - patience.late, col("ended").isNull() & silent)
    )
    whole = (
        (total("headers").over(run) > 0)
        & col("run_needed").isNotNull()
        & (total("body").over(run) >= col("run_needed"))
    )
    return (
        rows.withColumn("late", was_judged & ~has_header)
        .withColumn("scope", when(was_judged | several, col("file_id")).otherwise(lit(-1)))
        .withColumn("ended", ended)
        .withColumn("last", most("batch").over(run))
        .withColumn("run_needed", most("needed").over(run))
        .withColumn("final", final)
        .withColumn("due", ~col("late") & (whole | col("final")))
        .select(*PARTS.names)
    )


def lines_of(good: DataFrame, due: DataFrame, parts_due: int) -> DataFrame:
    """Return the lines of the runs that are due, with the file that a run is confined to."""
    chosen = due.select(*_FILE, "scope")
    # Lines are many and wide: they stay where they are as long as the other side is small.
    chosen = broadcast(chosen) if parts_due <= _MOST_BROADCAST else chosen
    return good.select(*GOOD).join(chosen, _FILE)


def accepted(results: DataFrame, due: DataFrame) -> DataFrame:
    """Return the verdicts that stay: lines that are repeated may hide that others are missing."""
    runs = due.select(*_RUN, "run_needed", "final").distinct()
    different = col("lines") - col("duplicates")
    complete = (col("missing") == 0) & (different >= col("run_needed") + 2)
    return results.join(runs, _RUN).where(col("final") | complete).select(*RESULTS.names)


def left_open(
    known: DataFrame, judged_parts: DataFrame, verdicts: DataFrame, batch: int, patience: Patience
) -> DataFrame:
    """Return what is known for the next batch: runs that stay open, names that were judged."""
    waiting = judged_parts.where(~col("late")).join(verdicts.select(*_RUN), _RUN, "left_anti")
    stays = waiting.select(*PART_COLUMNS).withColumn("closed", lit(None).cast("int"))
    now = verdicts.select(*_NAME).withColumn("closed", lit(batch))
    before = known.where(col("closed") > batch - patience.late).select(*_NAME, "closed")
    remembered = before.unionByName(now).groupBy(*_NAME).agg(most("closed").alias("closed"))
    both = stays.unionByName(remembered, allowMissingColumns=True)
    return both.select(*(col(column.name).cast(column.dataType) for column in OPEN))


def _number_of(rank: int) -> Column:
    return count(when(col("rank") == rank, 1))
