"""Rows of tables as plain Python values: the rows of tasks, and the rows of the driver."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import TypeVar, cast

import pyarrow as pa
import pyarrow.dataset as dataset
import pyarrow.parquet as parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

_T = TypeVar("_T", bound=tuple[object, ...])

Row = Mapping[str, object]
"""The values of a row by the names of their columns; a missing column is null."""


def collected(table: DataFrame, row: type[_T]) -> list[_T]:
    """Return the rows of a small table; `row` is the tuple type that fits its schema."""
    del row
    return [cast("_T", tuple(found)) for found in table.collect()]


def read_from(spark: SparkSession, schema: StructType, folders: Iterable[Path]) -> DataFrame:
    """Return the rows in tables or folders; characters of patterns in names are escaped."""
    places = [re.sub(r"([\\{}\[\]*?])", r"\\\1", path) for path in _places(folders)]
    if not places:
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(*places)


def _places(folders: Iterable[Path]) -> Iterator[str]:
    """Yield the files of each table, and each folder that is none."""
    # Workers import this module, and read no tables.
    from wheelproof_spark.tables.delta import files_in, is_table

    for folder in folders:
        yield from map(str, files_in(folder) if is_table(folder) else (folder,))


def written(table: DataFrame, folder: Path, schema: StructType | None = None) -> DataFrame:
    """Write a table and return it: a later plan reads it and does not compute it again."""
    table.write.parquet(str(folder))
    return read_from(table.sparkSession, schema or table.schema, [folder])


def union(tables: Iterable[DataFrame]) -> DataFrame:
    """Return the rows of all tables, whose columns have the same names."""
    return reduce(DataFrame.unionByName, tables)


def batches_of(rows: Iterable[Row], schema: pa.Schema, most: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows that a task makes, at most `most` at once."""
    left = iter(rows)
    while some := list(islice(left, most)):
        yield pa.RecordBatch.from_pylist(some, schema=schema)


def write_rows(rows: Sequence[Row], schema: StructType, folder: Path) -> None:
    """Write a table of few rows without a Spark job, in a form that Spark can read."""
    folder.mkdir(parents=True)
    table = pa.Table.from_pylist(rows, schema=to_arrow_schema(schema))
    parquet.write_table(table, folder / "part-00000.parquet")


def read_rows(
    folder: Path, most: int | None = None, columns: Sequence[str] | None = None
) -> list[dict[str, object]]:
    """Return the rows of a table, at most `most`, without a Spark job; None: all columns."""
    chosen, rows = None if columns is None else list(columns), list[dict[str, object]]()
    for place in _places([folder]):
        if most is not None and len(rows) >= most:
            break
        # Of a path in a list, no part is a column.
        rows += parquet.read_table(place, columns=chosen, partitioning=None).to_pylist()
    return rows if most is None else rows[:most]


def rows_where(
    files: Iterable[Path], columns: Sequence[str], chosen: dataset.Expression | None
) -> Iterator[tuple[object, ...]]:
    """Yield columns of the chosen rows of Parquet files, a few at once, without a Spark job."""
    names = sorted(str(path) for path in files)
    if names:
        rows = dataset.dataset(names, format="parquet")
        for batch in rows.to_batches(columns=list(columns), filter=chosen):
            yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)


def whole_number(value: object) -> int:
    """Return the value of a column that has whole numbers."""
    assert isinstance(value, int)
    return value
