"""A batch, as `check` and `stream` do it: its tables are written, and all are committed at once."""

import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from wheelproof_spark.base.session import parts_for, shuffle_in
from wheelproof_spark.check import bronze, silver
from wheelproof_spark.check.gold import SUMMED, TABLES, NewRuns
from wheelproof_spark.check.inputs import Plan
from wheelproof_spark.check.judging.run import FirstLines
from wheelproof_spark.tables.files import FileEntry, write_files
from wheelproof_spark.tables.manifest import BatchRecord, Manifest
from wheelproof_spark.tables.plan import Move
from wheelproof_spark.tables.rows import written
from wheelproof_spark.tables.store import Store
from wheelproof_spec.history.checkers import CheckOptions

MOST_BATCHES = 100
"""The number of batches that the manifest lists."""


class Batch:
    """The tables of one batch, and its commit; the manifest tells what was there before."""

    def __init__(
        self,
        spark: SparkSession,
        store: Store,
        manifest: Manifest,
        options: CheckOptions,
        partitions: int | None,
    ) -> None:
        self.spark, self.manifest, self.number = spark, manifest, manifest.next_batch
        self._store, self._options, self._partitions = store, options, partitions
        self._attempt = store.attempt()
        self._moves = list[Move]()
        self._started = time.monotonic()

    def shuffles_in(self, needed: int) -> None:
        """Choose the number of partitions of joins and counts."""
        shuffle_in(self.spark, parts_for(self.spark, self._partitions, needed))

    def written(self, table: DataFrame, name: str, schema: StructType | None = None) -> DataFrame:
        """Write a table of this batch, and return it."""
        return written(table, self._attempt / name, schema)

    def of(self, layer: str, batch: int) -> Path:
        """Return the folder of this batch, or of an earlier one, in a layer."""
        if batch == self.number:
            return self._attempt / layer
        return self._store.path(f"{layer}/{batch:06}")

    def before(self, name: str) -> Path | None:
        """Return a table as earlier batches have left it; None if they have none."""
        table = self.manifest.tables.get(name)
        return None if table is None else self._store.path(table)

    def place(self, name: str, table: str, *, replaces: bool = False) -> Path:
        """Name a table, and return the folder to write this batch's part of it to.

        With `replaces`, and if the manifest does not have it, the part is all of the table.
        """
        new = name not in self.manifest.tables
        self.manifest.tables[name] = table
        return self._adds(name, table, replaces=replaces or new)

    def _adds(self, name: str, table: str, *, replaces: bool) -> Path:
        self._moves.append(Move(here=name, table=table, replaces=replaces))
        return self._attempt / name

    def read(self, work: Plan) -> Mapping[str, DataFrame]:
        """Write the lines of the batch to its layer `bronze`; return them by their kind."""
        folder = self._adds("bronze", "bronze", replaces=False)
        return bronze.read_splits(self.spark, work, self._options, folder)

    def write_parts(self, parts: DataFrame, schema: StructType) -> DataFrame:
        """Write the parts of a batch to the layer `parts`, and return them."""
        return written(parts, self._adds("parts", "parts", replaces=False), schema)

    def count(
        self, lines: Mapping[str, DataFrame], parts: DataFrame, files: Iterable[FileEntry]
    ) -> None:
        """Count the lines of the files that were read."""
        bronze.count_lines(lines, parts, files, self.of("bronze", self.number))

    def write_files(self, files: Iterable[FileEntry], *, replaces: bool = False) -> None:
        """Write the files that were read, as they are now."""
        write_files(files, self.place("files", "files", replaces=replaces))

    def rows(self, kind: str, batches: Iterable[int], void: Sequence[int] = ()) -> DataFrame:
        """Return the lines of a kind, without those of void files."""
        return bronze.read_bronze(self.spark, self._bronze(batches), kind, void)

    def first_lines(self, batches: Iterable[int]) -> FirstLines:
        """Return the number of lines before each split of these batches."""
        return bronze.first_lines(folder for folder in self._bronze(batches) if folder.is_dir())

    def _bronze(self, batches: Iterable[int]) -> list[Path]:
        return [self.of("bronze", batch) for batch in sorted({*batches})]

    def judged(
        self,
        parts: DataFrame,
        number: int,
        batches: Sequence[int],
        needed: int,
        first: FirstLines,
        void: Sequence[int] = (),
    ) -> DataFrame:
        """Return the rows of the runs in `number` parts, from all their lines in the batches."""
        good, whole = (self.rows(kind, batches, void) for kind in ("good", "whole"))
        lines = silver.lines_of(good, whole, parts, number=number)
        ordered = silver.ordered(lines, parts_for(self.spark, self._partitions, needed))
        return silver.judged(ordered, self._options, first)

    def write_gold(self, new: NewRuns, paths: DataFrame, batch: int | None = None) -> None:
        """Add the new runs to the tables of gold; with `batch`, rows have its number."""
        there = {name: place for name in SUMMED if (place := self.before(name)) is not None}
        new.write_appended(paths, self._attempt, batch)
        new.write_summed(there, self._attempt)
        for name in TABLES:
            self.place(name, f"gold/{name}", replaces=name in SUMMED)

    def commit(self, *, files: int, size: int, lines: int, judged: int) -> None:
        """Commit the manifest and the tables; the figures are those of this batch."""
        record = BatchRecord(
            number=self.number,
            files=files,
            bytes=size,
            lines=lines,
            judged=judged,
            seconds=round(time.monotonic() - self._started, 3),
            master=self.spark.sparkContext.master or "",
            versions={
                "wheelproof": version("wheelproof"),
                "pyspark": pyspark.__version__,
                "python": platform.python_version(),
            },
            machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        )
        self.manifest.batches = [*self.manifest.batches, record][-MOST_BATCHES:]
        self._store.commit(self.manifest.text, self.number, self._attempt, self._moves)
