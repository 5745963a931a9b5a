from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from pyarrow import RecordBatch, Schema, Table

class ColumnChunkMetaData:
    total_uncompressed_size: int

class RowGroupMetaData:
    def column(self, i: int) -> ColumnChunkMetaData: ...

class FileMetaData:
    num_rows: int
    num_row_groups: int
    def row_group(self, i: int) -> RowGroupMetaData: ...

class ParquetFile:
    metadata: FileMetaData
    def __init__(
        self, source: BinaryIO, *, read_dictionary: Sequence[str], pre_buffer: bool
    ) -> None: ...
    def iter_batches(
        self, batch_size: int, *, columns: Sequence[str], use_threads: bool
    ) -> Iterator[RecordBatch]: ...

def read_schema(where: BinaryIO) -> Schema: ...
def read_metadata(where: str) -> FileMetaData: ...
def read_table(
    source: str, *, columns: list[str] | None = None, partitioning: None = None
) -> Table: ...
def write_table(table: Table, where: Path, *, row_group_size: int | None = None) -> None: ...
