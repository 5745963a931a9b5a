"""Silver: one row for each run, judged where it was read, or from all its lines in order.

A run that is whole in one file is a run of its own, even if other files use its name. The parts of
that name in other files are one run; if several of them have a header, each part is its own run.
A repeat is a byte-for-byte copy: the same part once more, the same run, or a part without a header
whose lines are all lines of a whole run.
"""

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql.functions import (
    array_distinct,
    broadcast,
    coalesce,
    col,
    collect_list,
    collect_set,
    count,
    count_distinct,
    flatten,
    lit,
    row_number,
    shiftrightunsigned,
    sort_array,
    struct,
    when,
    xxhash64,
)
from pyspark.sql.functions import max as most
from pyspark.sql.functions import sum as total

from wheelproof_spark.check.judging.in_place import lines_of_whole
from wheelproof_spark.check.judging.run import FirstLines, judge_groups
from wheelproof_spark.check.reading.parsing import END, HEADER
from wheelproof_spark.tables.rows import collected
from wheelproof_spark.tables.schemas import GOOD, LINES, RESULTS
from wheelproof_spec.history.checkers import CheckOptions

NAME = ["format", "run"]
FILE = [*NAME, "file_id"]
RUN = [*NAME, "scope"]
_CONTENT = ["hi", "lo"]
_PLACE = ["rank", "seq", "thread"]
_ORDER = [*RUN, *_PLACE, "file_id", "start", "line"]
_LOW = 0xFFFFFFFF
_FEW = 100_000
"""The most parts that are sent to all lines: they fit in the memory of the driver."""


Lines = Callable[[str, Sequence[int]], DataFrame]
"""The lines of a kind in batches."""


def digest_columns(digest: Column) -> tuple[Column, Column]:
    """Return a hash in two halves, whose sums over lines cannot overflow."""
    return shiftrightunsigned(digest, 32).alias("hi"), digest.bitwiseAND(_LOW).alias("lo")


def parts_of(good: DataFrame, whole: DataFrame) -> DataFrame:
    """Return the pieces of each file by name: whole runs, and the lines of other runs."""
    hi, lo = digest_columns(xxhash64("raw"))
    sums = (total(hi).alias("hi"), total(lo).alias("lo"))
    needed = most(when(col("rank") == END, col("seq"))).alias("needed")
    counts = (_number_of(HEADER).alias("headers"), _number_of(END).alias("ends"), needed)
    places = count_distinct(*_PLACE).alias("places")
    lines = good.groupBy(*FILE).agg(*counts, count("*").alias("lines"), places, *sums)
    one = lit(1).cast("long")
    found = (one.alias("headers"), one.alias("ends"), (col("lines") - 2).alias("needed"))
    counted = ("lines", col("lines").alias("places"))
    wholes = whole.select(*FILE, *found, *counted, *digest_columns(xxhash64("result.digest")))
    return lines.withColumn("wholes", lit(0)).unionByName(wholes.withColumn("wholes", lit(1)))


def of_files(pieces: DataFrame, *more: Column) -> DataFrame:
    """Return one part for each file and name."""
    sums = (total(name).alias(name) for name in ("headers", "ends", "lines", "places", *_CONTENT))
    in_place = ((count("*") == 1) & (total("wholes") == 1)).alias("in_place")
    return pieces.groupBy(*FILE).agg(*sums, most("needed").alias("needed"), in_place, *more)


def sorted_out(parts: DataFrame, repeats: DataFrame | None) -> DataFrame:
    """Return the classified parts; `repeats` are parts without a header that are known copies.

    They still belong to a run if another part has its header. A run that was `closed` before does
    not become a part of another run.
    """
    counts = (col("headers") == 1) & (col("ends") == 1) & (col("lines") - 2 == col("needed"))
    # A duplicate line may hide that another line is missing.
    counts &= col("places") == col("lines")
    rows = parts.withColumn("whole", col("in_place") | coalesce(counts, lit(False)))
    same = Window.partitionBy(*NAME, "in_place", *_CONTENT).orderBy("file_id")
    rows = rows.withColumn("repeat", row_number().over(same) > 1)
    known = lit(False)
    if repeats is not None:
        rows = rows.join(repeats.select(*FILE, lit(True).alias("found")), FILE, "left")
        known = coalesce("found", lit(False))
    name = Window.partitionBy(*NAME)
    free = ~col("repeat") & col("closed").isNull()
    rest = ~col("whole") & free
    headed = count(when(rest & (col("headers") > 0), 1)).over(name)
    rows = rows.withColumn("known", known).withColumn("headed", headed)
    rows = rows.withColumn("repeat", col("repeat") | (col("known") & (col("headed") == 0)))
    alone = count(when(rest, 1)).over(name) == 1
    by_itself = col("whole") | alone | (col("headed") > 1)
    rows = rows.withColumn("scope", when(by_itself, col("file_id")).otherwise(lit(-1)))
    judged = count(when(col("whole") & ~col("repeat"), 1)).over(name) > 0
    stray = rest & (col("headers") == 0) & (col("headed") == 0) & judged
    return rows.withColumn("stray", stray).withColumn("shuffled", ~col("in_place") & free)


def resolved(pieces: DataFrame, repeats: DataFrame | None, verdicts: DataFrame | None) -> DataFrame:
    """Return the state of each part; `verdicts` are those of runs that were shuffled before."""
    batches = array_distinct(flatten(collect_set("batches"))).alias("batches")
    parts = of_files(pieces, batches).withColumn("closed", lit(None).cast("int"))
    rows = sorted_out(parts, repeats)
    run = Window.partitionBy(*RUN, "shuffled")
    leads = row_number().over(run.orderBy("file_id")) == 1
    made_of = sort_array(collect_list(struct("file_id", "lines", *_CONTENT)).over(run))
    rows = rows.withColumn("made_of", when(col("shuffled"), xxhash64(made_of)))
    kept = lit(False)
    if verdicts is not None:
        before = verdicts.select(*RUN, "made_of", lit(True).alias("kept"))
        rows = rows.join(before, [*RUN, "made_of"], "left")
        kept = coalesce("kept", lit(False))
    rows = rows.withColumn("due", col("shuffled") & ~kept)
    names = ("lines", *_CONTENT, "scope", "made_of", "batches", "closed")
    flags = ("in_place", "whole", "repeat", "shuffled", "stray", "due")
    return rows.select(*FILE, *names, *flags, (col("due") & leads).alias("leads"))


def _number_of(rank: int) -> Column:
    return count(when(col("rank") == rank, 1))


def lines_of(good: DataFrame, whole: DataFrame, parts: DataFrame, *, number: int) -> DataFrame:
    """Return the lines of `number` parts, with the only file of their run, or -1.

    A few parts are sent to the lines. Otherwise Spark shuffles all lines, to join them.
    """
    chosen = parts.select(*FILE, "scope")
    if number <= _FEW:
        chosen = broadcast(chosen)
    lines = good.select(*GOOD).join(chosen, FILE)
    torn = whole.join(chosen, FILE, "left_semi")
    return lines.unionByName(torn.mapInArrow(lines_of_whole, LINES).join(chosen, FILE))


def ordered(lines: DataFrame, partitions: int) -> DataFrame:
    """Return the lines, each run in one partition and in order: the one shuffle."""
    keyed = lines.select(*RUN, *GOOD[2:])
    return keyed.repartition(partitions, *RUN).sortWithinPartitions(*_ORDER)


def judged(lines: DataFrame, options: CheckOptions, first_lines: FirstLines) -> DataFrame:
    """Return one row for each run of ordered lines."""
    return lines.mapInArrow(judge_groups(options, first_lines), RESULTS)


def with_parts(results: DataFrame, parts: DataFrame) -> DataFrame:
    """Return the rows of runs with `made_of`, a hash of their parts."""
    made_of = parts.select(*RUN, "made_of").distinct()
    return results.drop("made_of").join(made_of, RUN).select(*RESULTS.names)


def once(results: DataFrame, parts: DataFrame) -> DataFrame:
    """Return the runs without byte-for-byte copies of a run in another file."""
    wholes = parts.where("in_place").select(*NAME, *_CONTENT)
    content = digest_columns(xxhash64("digest"))
    number = row_number().over(Window.partitionBy(*NAME, "digest").orderBy("scope"))
    rows = results.withColumn("number", number).select("*", *content).where("number = 1")
    return rows.join(wholes, [*NAME, *_CONTENT], "left_anti").select(*RESULTS.names)


def repeats_among(
    strays: DataFrame, parts: DataFrame, batches: Column, lines: Lines
) -> DataFrame | None:
    """Return the strays whose lines are all byte-for-byte lines of judged runs; None without any.

    `parts` have these runs too; `batches` aggregates the batches of parts.
    """
    about = parts.where("not repeat").join(strays.select(*NAME).distinct(), NAME, "left_semi")
    ((number, found),) = collected(about.agg(count("*"), batches), tuple[int, list[int]])
    if not number:
        return None
    good, whole = lines("good", found), lines("whole", found)
    line = [*NAME, *_PLACE, "raw"]
    judged = about.where("whole or closed is not null")
    known = lines_of(good, whole, judged, number=number).select(*line).distinct()
    own = lines_of(good, whole, about.where("stray"), number=number)
    counts = own.join(known.withColumn("known", lit(1)), line, "left").groupBy(*FILE)
    both = counts.agg(count("*").alias("lines"), count("known").alias("known"))
    return both.where("lines = known").select(*FILE)


def before_splits(spark: SparkSession, first_lines: FirstLines) -> DataFrame | None:
    """Return the number of lines before each split as a table; None if all files are one split."""
    rows = [(*split, lines) for split, lines in first_lines.items()]
    if not rows:
        return None
    return spark.createDataFrame(rows, "file_id int, start long, before long")


def in_place(whole: DataFrame, before: DataFrame | None, others: DataFrame | None) -> DataFrame:
    """Return the rows of runs that were judged where they were read, without `others`.

    `before` has the number of lines before each split.
    """
    rows = whole if others is None else whole.join(others.select(*FILE), FILE, "left_anti")
    if before is None:
        return rows.select("result.*")
    rows = rows.join(before, ["file_id", "start"], "left")
    line = col("result.place_line") + coalesce("before", lit(0))
    return rows.select("result.*", line.alias("line")).select(*_with_line(RESULTS.names))


def _with_line(names: Sequence[str]) -> list[Column]:
    return [col("line").alias(name) if name == "place_line" else col(name) for name in names]
