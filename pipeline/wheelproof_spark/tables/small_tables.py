"""Tables of few rows: read and written by the driver, without a job of Spark."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType


def write_rows(rows: Sequence[Mapping[str, object]], schema: StructType, folder: Path) -> None:
    """Write a table into a folder, which Spark and others can read."""
    folder.mkdir(parents=True)
    arrow = to_arrow_schema(schema)
    columns = [pa.array([row.get(one.name) for row in rows], one.type) for one in arrow]
    table = pa.Table.from_arrays(columns, schema=arrow)
    parquet.write_table(table, folder / "part-00000.parquet")


def read_rows(folder: Path) -> list[dict[str, object]]:
    """Return the rows of a table."""
    return parquet.read_table(str(folder)).to_pylist()
