"""The verb `pipeline compact`: small files of tables are joined, and old ones are removed."""

from dataclasses import dataclass
from pathlib import Path

from wheelproof_spark.base.session import failing_as
from wheelproof_spark.tables import delta
from wheelproof_spark.tables.manifest import load
from wheelproof_spark.tables.store import Store

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

    Raises InputRejectedError if there are no tables, UsageError if an older version made them.
    """
    manifest = load(output)
    found: list[Compacted] = []
    with Store(output) as store, failing_as("the compaction"):
        store.recover()
        for name, table in sorted(manifest.tables.items()):
            if name != _BY_BATCH and delta.is_table(output / table):
                before, after = delta.join(output / table)
                found.append(Compacted(table=name, before=before, after=after))
    return found
