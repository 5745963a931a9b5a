"""The table `files`: what was read of each file of the input, and up to where."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from wheelproof_spark.base.listing import FileState
from wheelproof_spark.tables.documents import record_of
from wheelproof_spark.tables.rows import read_rows, write_rows
from wheelproof_spark.tables.schemas import FILES

_STATE = tuple(field.name for field in fields(FileState))


@dataclass(slots=True, kw_only=True)
class FileEntry:
    """A file that was read up to its size, in one batch or, as it grew, in several.

    `complete` says that these bytes end with a line end, so that more can be read from there;
    `tail` is the digest of samples of these bytes, empty if they could not be read.
    """

    file_id: int
    path: str
    state: FileState
    complete: bool
    tail: str
    batches: list[int]
    lines: int = 0
    good: int = 0
    quarantined: int = 0


def write_files(files: Iterable[FileEntry], folder: Path) -> None:
    """Write a part of the table."""
    write_rows([{**asdict(file), **asdict(file.state)} for file in files], FILES, folder)


def read_files(table: Path) -> list[FileEntry]:
    """Return the files that count; those of a stream in the order of its batches."""
    found = list[FileEntry]()
    for row in read_rows(table):
        state = {name: row.pop(name) for name in _STATE}
        found.append(record_of(FileEntry, {**row, "state": state}))
    return found
