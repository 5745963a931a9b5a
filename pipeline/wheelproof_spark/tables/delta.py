"""Tables in the open format Delta Lake: a transaction adds files that were written before.

The package deltalake does that without Java and without Spark. Its transactions have a number of
the application, so that one that is repeated changes nothing.
"""

import json
import shutil
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as parquet
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, CommitProperties, Transaction

from wheelproof_spark.base.errors import PipelineError, first_line
from wheelproof_spec.base.errors import UsageError

_APPLICATION = "wheelproof"
_SETTINGS = {
    # The log keeps the transactions of an hour, and of the last checkpoint.
    "delta.logRetentionDuration": "interval 1 hours",
    "delta.deletedFileRetentionDuration": "interval 1 hours",
}


def require_path(output: Path) -> None:
    """Raise UsageError if no table can be in this folder: deltalake decodes its path as a URL."""
    path = str(output)
    if "\\" in path or unquote(path) != path:
        raise UsageError(
            f"{output} has a backslash or an escape like %20 in its path, and tables cannot; name "
            "another output"
        )


def is_table(folder: Path) -> bool:
    """Tell whether a folder is a table, and not only a folder of files."""
    return (folder / "_delta_log").is_dir()


def files_in(folder: Path) -> list[Path]:
    """Return the files of the newest version of a table, those of early batches first."""
    return newest(folder)[1]


def newest(folder: Path) -> tuple[int, list[Path]]:
    """Return the newest version of a table, and its files."""
    with failing(folder):
        table = _opened(folder)
        return table.version(), [folder / path for path in sorted(_paths(table))]


def create(folder: Path, schema: pa.Schema, partitions: Sequence[str] = ()) -> None:
    """Make an empty table, unless there is one."""
    with failing(folder):
        if is_table(folder):
            return
        try:
            DeltaTable.create(
                str(folder),
                schema=schema,
                partition_by=list(partitions),
                configuration=_SETTINGS,
            )
        except DeltaError:
            # Another pipeline may have made it in this moment.
            if not is_table(folder):
                raise


def add(
    folder: Path,
    place: Path,
    files: Iterable[Path],
    number: int,
    *,
    replaces: bool,
    at: int | None = None,
) -> None:
    """Add the files in `place` to a table, in the transaction `number` of the application.

    Raises CommitFailedError if another one was faster, since version `at` or since this moment.
    """
    table = DeltaTable(str(folder), version=at)
    table.create_write_transaction(
        [_added(folder, place, file) for file in files],
        "overwrite" if replaces else "append",
        table.schema(),
        partition_by=table.metadata().partition_columns,
        commit_properties=CommitProperties(app_transactions=[Transaction(_APPLICATION, number)]),
    )


def commit(table: Path, place: Path, number: int, *, replaces: bool) -> None:
    """Add the files in `place`, a folder in the table; with `replaces`, as its only files.

    `number` is that of the batch: a table that has it stays as it is.
    """
    with failing(table):
        found = sorted(place.rglob("*.parquet"))
        if not found and not (replaces and is_table(table)):
            return
        if not is_table(table):
            _create_for(table, place, found[0])
        if _has(table, number):
            return
        before = _paths(_opened(table))
        try:
            add(table, place, found, number, replaces=replaces)
        except CommitFailedError:
            # Another pipeline that starts finishes the same batch.
            if not _has(table, number):
                raise
        if replaces:
            # Whoever reads the last version can finish.
            _sweep(table, number, {*before, *_paths(_opened(table))})


def join(table: Path) -> tuple[int, int]:
    """Join the small files of a table, and remove the files that its newest version has not.

    Returns how many files the table had before, and has now.
    """
    with failing(table):
        before = len(_paths(_opened(table)))
        if before > 1:
            _opened(table).optimize.compact()
        now = _opened(table)
        # These are in no numbered folder: earlier compactions made them.
        now.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
        _sweep(table, now.transaction_version(_APPLICATION) or 0, _paths(now))
        return before, len(_paths(now))


def _opened(folder: Path) -> DeltaTable:
    # Anew each time: an object does not see its own transactions.
    return DeltaTable(str(folder))


def _paths(table: DeltaTable) -> list[str]:
    return [str(path) for path in pa.table(table.get_add_actions()).column("path").to_pylist()]


def _has(folder: Path, number: int) -> bool:
    return (_opened(folder).transaction_version(_APPLICATION) or 0) >= number


def _sweep(folder: Path, number: int, kept: Iterable[str]) -> None:
    """Remove the folders of batches up to `number` that have none of the files that are kept.

    What came later may not be committed yet: another pipeline has moved it here.
    """
    used = {path.partition("/")[0] for path in kept}
    for batch in folder.glob("[0-9]*"):
        if batch.is_dir() and batch.name not in used and int(batch.name) <= number:
            shutil.rmtree(batch, ignore_errors=True)


def _create_for(table: Path, place: Path, file: Path) -> None:
    with file.open("rb") as stream:
        schema = parquet.read_schema(stream)
    columns = list(_partition(place, file))
    for column in columns:
        schema = schema.append(pa.field(column, pa.string()))
    create(table, schema, columns)


def _added(table: Path, place: Path, file: Path) -> AddAction:
    status = file.stat()
    return AddAction(
        path=file.relative_to(table).as_posix(),
        size=status.st_size,
        partition_values=_partition(place, file),
        modification_time=status.st_mtime_ns // 1_000_000,
        data_change=True,
        stats=json.dumps({"numRecords": parquet.read_metadata(str(file)).num_rows}),
    )


def _partition(place: Path, file: Path) -> dict[str, str | None]:
    """Return the values of the columns that Spark writes as folders, `kind=good`."""
    pairs = (part.partition("=") for part in file.parent.relative_to(place).parts)
    return {name: value for name, _, value in pairs}


@contextmanager
def failing(folder: Path) -> Generator[None]:
    """Turn errors of the format into a PipelineError, in one sentence."""
    try:
        yield
    except DeltaError as error:
        reason = first_line(error)
        raise PipelineError(f"the table {folder} cannot be used: {reason}") from error
