"""The verb `pipeline compact`: small files of tables are joined, and old ones are removed."""

from dataclasses import dataclass
from pathlib import Path

from wheelproof_spark.base.lock import locked
from wheelproof_spark.base.session import failing_as
from wheelproof_spark.tables import delta
from wheelproof_spark.tables.manifest import Manifest, load
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.errors import InputRejectedError

_BY_BATCH = "files"
"""The table that a stream reads by the folders of its batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """A table that was compacted: how many files it had, and has."""

    table: str
    before: int
    after: int


def compact(output: Path) -> list[Compacted]:
    """Compact the tables of runs; no row changes, and no version but the newest can be read.

    Raises InputRejectedError if there are no tables, UsageError if the output is in use.
    """
    # Before the lock, which makes a folder that is not there.
    _committed(output)
    with locked(output):
        manifest = _committed(output)
        with failing_as("the compaction"):
            Store(output).recover(manifest)
            found: list[Compacted] = []
            for name, table in sorted(manifest.tables.items()):
                if name != _BY_BATCH and delta.is_table(output / table):
                    before, after = delta.join(output / table)
                    found.append(Compacted(table=name, before=before, after=after))
        return found


def _committed(output: Path) -> Manifest:
    manifest = load(output)
    if manifest is None or not manifest.tables:
        remedy = "run `wheelproof pipeline check` first"
        raise InputRejectedError(str(output), None, "has no manifest.json", remedy)
    return manifest
