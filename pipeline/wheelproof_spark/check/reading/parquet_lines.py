"""Lines stored as Parquet: one column `line`, a row for each line of JSON Lines."""

import re
from collections.abc import Iterator
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.parquet as parquet

MAGIC = b"PAR1"
COLUMN = "line"
MOST_CHUNK_BYTES = 512 << 20
"""The most that the column of one row group may unpack to, in bytes."""

_ROWS = 4_096
_TYPES = ("binary", "string", "large_binary", "large_string", "binary_view", "string_view")


def parquet_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield the value of each row.

    Raises ValueError or OSError if the file is damaged or has another schema.
    """
    _require_column(parquet.read_schema(stream))
    # With a dictionary, a value that is repeated a million times is in memory once.
    file = parquet.ParquetFile(stream, read_dictionary=[COLUMN], pre_buffer=False)
    for number in range(file.metadata.num_row_groups):
        chunk = file.metadata.row_group(number).column(0)
        if chunk.total_uncompressed_size > MOST_CHUNK_BYTES:
            raise ValueError(f"row group {number} has more than {MOST_CHUNK_BYTES:,} bytes")
    for batch in file.iter_batches(batch_size=_ROWS, columns=[COLUMN], use_threads=False):
        yield from _values(batch.column(0))


def _require_column(schema: pa.Schema) -> None:
    kinds = {column.name: _values_of(column.type) for column in schema}
    if len(kinds) != 1 or kinds.get(COLUMN) not in _TYPES:
        shown = ", ".join(f"{name} {kind}" for name, kind in kinds.items()) or "none"
        raise ValueError(f"it must have one column, {COLUMN!r} of binary; it has {shown}")


def _values_of(kind: pa.DataType) -> str:
    """Return the type of a column's values, also if the column is a dictionary."""
    return re.sub(r"^dictionary<values=(\w+),.*>$", r"\1", str(kind))


def _values(column: pa.Array) -> Iterator[bytes | None]:
    assert isinstance(column, pa.DictionaryArray)
    # Text is not decoded here: one bad byte must reject only its own line.
    known = cast("list[bytes]", column.dictionary.cast(pa.binary()).to_pylist())
    for index in cast("list[int | None]", column.indices.to_pylist()):
        yield None if index is None else known[index]
