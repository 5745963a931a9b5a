"""The output on disk: a batch is written to a work folder, committed at once, then moved.

The manifest is the plan of the commit. Then each folder is moved into its table, and a transaction
of the table's format adds the files: whoever stops in between does the rest at the next start.

Each attempt has its own work folder: a killed process may have left a Spark that still writes for a
moment, and it must not write where the next process writes.
"""

import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wheelproof_spark.tables import delta
from wheelproof_spark.tables.manifest import NAME, Manifest, Move, save

_WORK = ".work"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a batch: `folder` has its tables until they are committed."""

    folder: Path

    def of(self, name: str) -> Path:
        """Return the folder to write a table to."""
        return self.folder / name


class Store:
    """The output of a check or a stream; the caller must hold `locked`.

    Raises UsageError if no table can be there.
    """

    def __init__(self, output: Path) -> None:
        delta.require_path(output)
        self.output = output

    @property
    def spool(self) -> Path:
        """The folder of a batch's records and copied files, until it is committed."""
        return self.output / _WORK / "spool"

    def path(self, table: str) -> Path:
        """Return the folder of a table of the manifest, after its move."""
        return self.output / table

    def attempt(self) -> Attempt:
        """Make the work folder of a batch, and return it."""
        folder = self.output / _WORK / uuid.uuid4().hex
        folder.mkdir(parents=True)
        return Attempt(folder=folder)

    def commit(
        self, manifest: Manifest, batch: int, attempt: Attempt, moves: Sequence[Move]
    ) -> None:
        """Commit the manifest, and make the moves of the batch from the folder of the attempt."""
        work = attempt.folder.relative_to(self.output)
        manifest.moved = batch
        manifest.moves = [replace(move, here=str(work / move.here)) for move in moves]
        save(self.output, manifest)
        self.recover(manifest)

    def recover(self, manifest: Manifest) -> None:
        """Finish the last commit, and remove what was not committed."""
        self.move_in(manifest)
        for half_written in self.output.glob(f"{NAME}*.part"):
            half_written.unlink()
        for folder in (self.output / _WORK).glob("*"):
            shutil.rmtree(folder, ignore_errors=True)

    def move_in(self, manifest: Manifest) -> None:
        """Make the moves of the last commit; skip those that were made."""
        for move in manifest.moves:
            source, target = self.output / move.here, self.output / move.there
            if source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)
            if move.table is not None:
                table = self.output / move.table
                delta.commit(table, target, manifest.moved, replaces=move.replaces)
