"""Bronze: every line that was read, good or quarantined, and the account of each task."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, count, lit
from pyspark.sql.functions import sum as total

from wheelproof_spark.check.inputs import bins
from wheelproof_spark.check.judging.run import FirstLines
from wheelproof_spark.check.reading.parsing import parser
from wheelproof_spark.check.reading.splits import Split
from wheelproof_spark.tables.manifest import FileEntry
from wheelproof_spark.tables.rows import collected, to_read, union
from wheelproof_spark.tables.schemas import BRONZE, SPLITS

KINDS = ("good", "quarantined", "split")


def parsed(spark: SparkSession, splits: Sequence[Split], split_bytes: int) -> DataFrame:
    """Return the lines of the splits, parsed."""
    rows = [
        ([(split.file_id, split.path, split.start, split.end) for split in group],)
        for group in bins(splits, split_bytes)
    ]
    slices = spark.sparkContext.parallelize(rows, max(len(rows), 1))
    return spark.createDataFrame(slices, SPLITS).mapInArrow(parser(), BRONZE)


def write_bronze(lines: DataFrame, folder: Path) -> None:
    """Write the lines of a batch, once, in tables of their kind."""
    lines.write.partitionBy("kind").parquet(str(folder))


def read_bronze(
    spark: SparkSession, folders: Iterable[Path], kind: str, withdrawn: Sequence[int]
) -> DataFrame:
    """Return the lines of a kind, those of withdrawn files left out."""
    paths = [to_read(path) for folder in folders if (path := folder / f"kind={kind}").is_dir()]
    if not paths:
        return spark.createDataFrame([], BRONZE)
    lines = spark.read.schema(BRONZE).parquet(*paths)
    return lines.where(~col("file_id").isin(list(withdrawn))) if withdrawn else lines


def count_lines(bronze: Mapping[str, DataFrame], files: Iterable[FileEntry]) -> FirstLines:
    """Count each file's lines anew, and return how many are before each split.

    `bronze` has the lines of all three kinds. What a task says that it read and what was written
    are counted separately.
    """
    by_id = {file.id: file for file in files}
    for file in by_id.values():
        file.lines = file.good = file.quarantined = 0
    found = union(
        lines.groupBy("file_id", "start")
        .agg(count("*").alias("rows"), total("line").alias("lines"))
        .select(lit(kind).alias("kind"), "*")
        for kind, lines in bronze.items()
    )
    first: dict[tuple[int, int], int] = {}
    for kind, file_id, start, rows, lines in sorted(
        collected(found, tuple[str, int, int, int, int])
    ):
        file = by_id[file_id]
        match kind:
            case "split":
                first[file_id, start] = file.lines
                file.lines += lines
            case "good":
                file.good += rows
            case _:
                file.quarantined += rows
    return first
