"""Bronze: every line that was read, good or quarantined, and the account of each task."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from wheelproof_spark.check.inputs import bins
from wheelproof_spark.check.judging.run_judge import FirstLines
from wheelproof_spark.check.reading.parsing import parser
from wheelproof_spark.check.reading.splits import Split
from wheelproof_spark.tables.collected import collected
from wheelproof_spark.tables.manifest import FileEntry, Manifest
from wheelproof_spark.tables.schemas import BRONZE, SPLITS


def parsed(spark: SparkSession, splits: Sequence[Split], split_bytes: int) -> DataFrame:
    """Return the lines of the splits, parsed."""
    rows = [
        ([(one.file_id, one.path, one.start, one.end) for one in group],)
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
    paths = [str(path) for folder in folders if (path := folder / f"kind={kind}").is_dir()]
    if not paths:
        return spark.createDataFrame([], BRONZE)
    lines = spark.read.schema(BRONZE).parquet(*paths)
    return lines.where(~col("file_id").isin(list(withdrawn))) if withdrawn else lines


def count_lines(bronze: dict[str, DataFrame], files: Iterable[FileEntry]) -> FirstLines:
    """Count each file's lines, and return how many are before each split.

    What a task says that it read and what was written are counted separately.
    """
    by_id = {one.id: one for one in files}
    for one in by_id.values():
        one.lines = one.good = one.quarantined = 0
    first: dict[tuple[int, int], int] = {}
    splits = bronze["split"].select("file_id", "start", "line")
    for file_id, start, lines in sorted(collected(splits, tuple[int, int, int])):
        entry = by_id[file_id]
        first[file_id, start] = entry.lines
        entry.lines += lines
    for file_id, count in collected(_by_file(bronze["good"]), tuple[int, int]):
        by_id[file_id].good = count
    for file_id, count in collected(_by_file(bronze["quarantined"]), tuple[int, int]):
        by_id[file_id].quarantined = count
    return first


def _by_file(lines: DataFrame) -> DataFrame:
    return lines.groupBy("file_id").count()


def sum_up(manifest: Manifest) -> None:
    """Add up the counts of all files."""
    counts = manifest.counts
    counts.files = len(manifest.files)
    counts.lines = sum(one.lines for one in manifest.files)
    counts.good = sum(one.good for one in manifest.files)
    counts.quarantined = sum(one.quarantined for one in manifest.files)
