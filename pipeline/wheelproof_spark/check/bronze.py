"""Bronze: every line that was read, good or quarantined, and the number of lines of each split."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit
from pyspark.sql.functions import sum as total

from wheelproof_spark.check.inputs import SMALLEST_SPLIT, Plan, bins
from wheelproof_spark.check.judging.in_place import reader
from wheelproof_spark.check.judging.run import FirstLines
from wheelproof_spark.check.reading.splits import Split
from wheelproof_spark.tables.files import FileEntry
from wheelproof_spark.tables.rows import collected, read_from, union
from wheelproof_spark.tables.schemas import BRONZE, SPLITS
from wheelproof_spec.history.checkers import CheckOptions

KINDS = ("good", "whole", "quarantined", "split")
_FIRST_LINES = "_first_lines.json"


def parsed(
    spark: SparkSession, splits: Sequence[Split], split_bytes: int, options: CheckOptions
) -> DataFrame:
    """Return the parsed lines of the splits, and the judged runs that are whole in one split."""
    rows = [
        ([(split.file_id, split.path, split.start, split.end) for split in group],)
        for group in bins(splits, max(split_bytes, SMALLEST_SPLIT))
    ]
    slices = spark.sparkContext.parallelize(rows, max(len(rows), 1))
    return spark.createDataFrame(slices, SPLITS).mapInArrow(reader(options), BRONZE)


def read_splits(
    spark: SparkSession, work: Plan, options: CheckOptions, folder: Path
) -> Mapping[str, DataFrame]:
    """Write the lines of a batch to `folder`, one table for each kind, and return the tables."""
    lines = parsed(spark, work.splits, work.split_bytes, options)
    lines.write.partitionBy("kind").parquet(str(folder))
    return {kind: read_bronze(spark, [folder], kind) for kind in KINDS}


def read_bronze(
    spark: SparkSession, folders: Iterable[Path], kind: str, withdrawn: Sequence[int] = ()
) -> DataFrame:
    """Return the rows of a kind, without those of withdrawn files."""
    places = [place for folder in folders if (place := folder / f"kind={kind}").is_dir()]
    if not places:
        return spark.createDataFrame([], BRONZE)
    lines = read_from(spark, BRONZE, places)
    return lines.where(~col("file_id").isin(list(withdrawn))) if withdrawn else lines


def count_lines(
    bronze: Mapping[str, DataFrame], parts: DataFrame, files: Iterable[FileEntry], folder: Path
) -> None:
    """Add the line counts of a batch to its files; write to `folder` the count before each split.

    The lines that tasks report as read, and the lines that were written (the good ones in
    `parts`), are counted separately.
    """
    by_id = {file.file_id: file for file in files}
    rows = {kind: bronze[kind].select("file_id", "start", "line") for kind in KINDS[2:]}
    rows["quarantined"] = rows["quarantined"].withColumn("line", lit(1))
    rows["good"] = parts.select("file_id", lit(0).alias("start"), col("lines").alias("line"))
    found = union(
        table.groupBy("file_id", "start")
        .agg(total("line").alias("lines"))
        .select(lit(kind).alias("kind"), "file_id", "start", "lines")
        for kind, table in rows.items()
    )
    first: list[tuple[int, int, int]] = []
    for kind, file_id, start, lines in sorted(collected(found, tuple[str, int, int, int])):
        file = by_id[file_id]
        match kind:
            case "split":
                if file.lines:
                    first.append((file_id, start, file.lines))
                file.lines += lines
            case "good":
                file.good += lines
            case _:
                file.quarantined += lines
    (folder / _FIRST_LINES).write_text(json.dumps(first))


def first_lines(folders: Iterable[Path]) -> FirstLines:
    """Return the number of lines before each split that is not the first of its file."""
    return {
        (file_id, start): lines
        for folder in folders
        for file_id, start, lines in json.loads((folder / _FIRST_LINES).read_text())
    }
