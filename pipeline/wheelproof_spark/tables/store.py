"""The output on disk: a batch is written to a work folder, committed at once, then moved.

Each attempt has its own work folder: a killed process may have left a Spark that still writes for a
moment, and it must not write where the next process writes.
"""

import re
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spark.tables.manifest import NAME, Manifest, load, save

_WORK = ".work"
_WRITTEN = re.compile("[0-9]{6}-")
"""The number of the batch that has written a file of an earlier table."""
_REPLACED = ("state", "silver", "gold")
"""The folders whose numbered folders a later batch replaces."""


def add_earlier(table: Path, earlier: Path) -> None:
    """Add the files of an earlier batch's table to a table: as links, so that no byte is copied."""
    for file in earlier.glob("*.parquet"):
        written = file.name if _WRITTEN.match(file.name) else f"{earlier.parent.name}-{file.name}"
        table.mkdir(exist_ok=True)
        try:
            (table / written).hardlink_to(file)
        except OSError:
            # Not every file system has hard links.
            shutil.copyfile(file, table / written)


def batches_in(table: Path) -> int:
    """Return how many batches have written the files of a table."""
    found = (_WRITTEN.match(file.name) for file in table.glob("*.parquet"))
    return len({match and match[0] for match in found})


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a batch: `folder` has its tables until they are committed."""

    folder: Path

    def of(self, name: str) -> Path:
        """Return the folder to write a table to."""
        return self.folder / name


class Store:
    """The output of a check or a stream; the caller must hold `locked`."""

    def __init__(self, output: Path) -> None:
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

    def commit(self, manifest: Manifest, attempt: Attempt, places: Mapping[str, str]) -> None:
        """Commit the manifest, and move the folders of the attempt to their `places`."""
        before = load(self.output)
        work = attempt.folder.relative_to(self.output)
        manifest.moves = {str(work / name): place for name, place in places.items()}
        save(self.output, manifest)
        self.move_in(manifest)
        # Whoever reads the tables of the last batch can finish.
        self._sweep(manifest, *(() if before is None else (before,)))

    def recover(self, manifest: Manifest) -> None:
        """Finish the last commit, and remove what was not committed or was replaced."""
        self.move_in(manifest)
        self._sweep(manifest)

    def move_in(self, manifest: Manifest) -> None:
        """Move the folders of the last commit to their places; skip those that were moved."""
        for here, there in manifest.moves.items():
            source, target = self.output / here, self.output / there
            if source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)

    def _sweep(self, *manifests: Manifest) -> None:
        """Remove the folders that none of these manifests names."""
        kept = {self.output / table for manifest in manifests for table in manifest.tables.values()}
        for half_written in self.output.glob(f"{NAME}*.part"):
            half_written.unlink()
        for folder in (self.output / _WORK).glob("*"):
            shutil.rmtree(folder, ignore_errors=True)
        for layer in _REPLACED:
            for folder in (self.output / layer).glob("[0-9]*"):
                if not any(table.is_relative_to(folder) for table in kept):
                    shutil.rmtree(folder, ignore_errors=True)
