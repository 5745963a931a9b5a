"""Tables of the open runs, the due runs, and the lines that come too late.

A run has a row for each file with lines of it. A file is read whole in one batch, so a run that
is in one file only never waits.
"""

from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql.functions import coalesce, col, lit, when, xxhash64
from pyspark.sql.functions import max as most
from pyspark.sql.functions import min as least
from pyspark.sql.functions import sum as total

from wheelproof_spark.check import silver
from wheelproof_spark.tables.rows import union
from wheelproof_spark.tables.schemas import OPEN, PART_COLUMNS, PARTS, RESULTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The waiting times of runs, in batches.

    `late` is the number of batches after the end of a run in which its lines may come. A run
    without an end is due after `idle` batches without a line of it; None: never. With `closing`
    all runs are due.
    """

    late: int
    idle: int | None
    closing: bool = False


def arrived(good: DataFrame, whole: DataFrame, batch: int) -> DataFrame:
    """Return the parts that a batch has, a row for each file and name."""
    found = silver.of_files(silver.parts_of(good, whole))
    return found.withColumn("batch", lit(batch)).select(*PART_COLUMNS)


def parts(
    known: DataFrame, new: DataFrame, repeats: DataFrame | None, batch: int, patience: Patience
) -> DataFrame:
    """Return the parts of open and new runs, with their state in this batch; see `PARTS`."""
    arriving = new.select("*", lit(None).cast("int").alias("closed"), lit(False).alias("spare"))
    spare = known.where("spare").select(*silver.FILE)
    reopened = known.withColumn("closed", when(~col("spare"), col("closed")))
    rows = silver.sorted_out(
        reopened.unionByName(arriving), spare if repeats is None else repeats.unionByName(spare)
    )
    run = Window.partitionBy(*silver.RUN, "shuffled")
    ended = least(when(col("ends") > 0, col("batch"))).over(run)
    silent = lit(False) if patience.idle is None else col("last") <= batch - patience.idle
    final = (
        lit(patience.closing)
        | (col("headed") > 1)
        | coalesce(col("ended") <= batch - patience.late, col("ended").isNull() & silent)
    )
    events = col("lines") - col("headers") - col("ends")
    complete = (
        (total("headers").over(run) > 0)
        & col("run_needed").isNotNull()
        & (total(events).over(run) >= col("run_needed"))
    )
    late = col("stray") & (col("batch") == batch)
    return (
        rows.withColumn("ended", ended)
        .withColumn("last", most("batch").over(run))
        .withColumn("run_needed", most("needed").over(run))
        .withColumn("final", final)
        .withColumn("late", late)
        .withColumn("due", (col("shuffled") & ~late & (complete | col("final"))))
        .select(*PARTS.names)
    )


def accepted(results: DataFrame, due: DataFrame) -> DataFrame:
    """Return the verdicts that are final: repeated lines may hide that others are missing."""
    runs = due.select(*silver.RUN, "run_needed", "final").distinct()
    different = col("lines") - col("duplicates")
    complete = (col("missing") == 0) & (different >= col("run_needed") + 2)
    rows = results.join(runs, silver.RUN).where(col("final") | complete)
    return rows.withColumn("made_of", lit(0).cast("long")).select(*RESULTS.names)


def left_open(parts: DataFrame, verdicts: DataFrame, batch: int, patience: Patience) -> DataFrame:
    """Return the state for the next batch: runs that stay open, and those judged lately.

    A judged run keeps the rows of its parts, and gets a row like that of a run judged where it was
    read. These rows identify later copies. A repeat waits for a header.
    """
    hi, lo = silver.digest_columns(xxhash64("digest"))
    judged = verdicts.select(*silver.RUN, lit(batch).alias("judged"))
    rows = parts.where("not (late or in_place) and (known or not repeat)")
    rows = rows.join(judged, silver.RUN, "left").withColumn("spare", col("repeat"))
    closed = when(col("spare"), col("batch")).otherwise(coalesce("closed", "judged"))
    rows = rows.withColumn("closed", closed)
    one = lit(1).cast("long")
    again = verdicts.select(
        *silver.NAME,
        col("scope").alias("file_id"),
        *(one.alias("headers"), one.alias("ends"), (col("lines") - 2).alias("needed"), "lines"),
        col("lines").alias("places"),
        *(hi, lo, lit(batch).alias("batch"), lit(True).alias("in_place")),
        *(lit(batch).alias("closed"), lit(False).alias("spare")),
    )
    before = parts.where("in_place and closed is not null")
    remembered = col("closed").isNull() | (col("closed") > batch - patience.late)
    both = union(table.select(*OPEN.names) for table in (rows, again, before)).where(remembered)
    return both.select(*(col(column.name).cast(column.dataType) for column in OPEN))
