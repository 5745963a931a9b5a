"""Tables in the open format Delta Lake: a transaction adds files that were written before.

The package deltalake does that without Java and without Spark. Its transactions have a number of
the application, so that one that is repeated changes nothing.
"""

import json
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
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
    """Raise UsageError if no table can be in this folder: deltalake takes its path for a URL."""
    for bad in "%\\":
        if bad in str(output):
            raise UsageError(
                f"{output} has a {bad} in its path, and tables cannot; name another output"
            )


def is_table(folder: Path) -> bool:
    """Tell whether a folder is a table, and not only a folder of files."""
    return (folder / "_delta_log").is_dir()


def files_in(folder: Path) -> list[Path]:
    """Return the files of the newest version of a table, those of early batches first."""
    with _failing(folder):
        return [folder / path for path in sorted(_paths(_opened(folder)))]


def commit(table: Path, place: Path, number: int, *, replaces: bool) -> None:
    """Add the files in `place`, a folder in the table; with `replaces`, as its only files.

    `number` is that of the batch: a table that has it stays as it is.
    """
    with _failing(table):
        found = sorted(place.rglob("*.parquet"))
        if not found and not (replaces and is_table(table)):
            return
        if not is_table(table):
            _create(table, place, found[0])
        there = _opened(table)
        if (there.transaction_version(_APPLICATION) or 0) >= number:
            return
        there.create_write_transaction(
            [_added(table, place, file) for file in found],
            "overwrite" if replaces else "append",
            there.schema(),
            partition_by=there.metadata().partition_columns,
            commit_properties=CommitProperties(
                app_transactions=[Transaction(_APPLICATION, number)]
            ),
        )
        if replaces:
            # Whoever reads the last version can finish.
            now = _opened(table)
            _vacuum(table, now, [there.version(), now.version()])


def join(table: Path) -> tuple[int, int]:
    """Join the small files of a table, and remove all files that its newest version has not.

    Returns how many files the table had before, and has now.
    """
    with _failing(table):
        before = len(_paths(_opened(table)))
        if before > 1:
            _opened(table).optimize.compact()
        now = _opened(table)
        _vacuum(table, now, None)
        return before, len(_paths(now))


def _opened(folder: Path) -> DeltaTable:
    # Anew each time: an object does not see its own transactions.
    return DeltaTable(str(folder))


def _paths(table: DeltaTable) -> list[str]:
    return [str(path) for path in pa.table(table.get_add_actions()).column("path").to_pylist()]


def _vacuum(folder: Path, table: DeltaTable, versions: list[int] | None) -> None:
    """Remove the files that neither the newest version nor one of these has."""
    table.vacuum(
        retention_hours=0,
        enforce_retention_duration=False,
        dry_run=False,
        keep_versions=versions,
        # A checkpoint forgets which files it has replaced.
        full=True,
    )
    for batch in folder.glob("[0-9]*"):
        # What Spark writes beside its files belongs to no version.
        if next(batch.rglob("*.parquet"), None) is None:
            shutil.rmtree(batch)


def _create(table: Path, place: Path, file: Path) -> None:
    with file.open("rb") as stream:
        schema = parquet.read_schema(stream)
    columns = list(_partition(place, file))
    for column in columns:
        schema = schema.append(pa.field(column, pa.string()))
    DeltaTable.create(
        str(table),
        schema=schema,
        partition_by=columns,
        configuration=_SETTINGS,
    )


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
def _failing(folder: Path) -> Generator[None]:
    """Turn errors of the format into a PipelineError, in one sentence."""
    try:
        yield
    except DeltaError as error:
        reason = first_line(error)
        raise PipelineError(f"the table {folder} cannot be used: {reason}") from error
