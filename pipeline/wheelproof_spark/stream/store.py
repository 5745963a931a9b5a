"""The folder of a stream: a batch is written to a work folder, committed at once, then moved.

Each attempt has its own work folder: a killed process may have left a Spark that still writes for a
moment, and it must not write where the next process writes.
"""

import copy
import json
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from wheelproof_spark.tables.manifest import Manifest, StreamProgress, load, save
from wheelproof_spark.tables.rows import read_rows, whole_number
from wheelproof_spec.base.errors import UsageError

SCHEMA = "wheelproof.pipeline.stream/3"
CHECKPOINT = "checkpoint"
_WORK = ".work"
_REPLACED = ("state", "gold")
_ANEW = "name another output, and judge the input anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a batch: `folder` has its tables until they are committed."""

    folder: Path

    def of(self, name: str) -> Path:
        """Return the folder to write a table to."""
        return self.folder / name


class StreamStore:
    """The output of a stream, on disk; the caller must hold `locked`."""

    def __init__(self, output: Path) -> None:
        self.output = output

    @property
    def checkpoint(self) -> Path:
        """The folder in which Spark stores which files it has seen."""
        return self.output / CHECKPOINT

    @property
    def spool(self) -> Path:
        """The folder of a batch's records and copied files, until it is committed."""
        return self.output / _WORK / "spool"

    def opened(self, source: str, profile: str | None, max_states: int) -> Manifest:
        """Move the last batch to its place, and return the manifest.

        Raises UsageError if it is not the output of such a stream, InputRejectedError if it is
        damaged.
        """
        manifest = load(self.output)
        if manifest is None:
            if self.checkpoint.exists():
                raise UsageError(f"{self.output} has a checkpoint, but no manifest.json; {_ANEW}")
            manifest = Manifest(profile=profile, max_states=max_states, input=source)
            manifest.stream = StreamProgress(schema=SCHEMA)
            save(self.output, manifest)
            return manifest
        progress = self._progress(manifest)
        manifest.require_options(profile, max_states)
        if manifest.input != source:
            raise UsageError(
                f"{self.output} belongs to a stream of {manifest.input}; name that input, or "
                "another output"
            )
        self._require_checkpoint(progress)
        self.move_in(progress)
        self._sweep(set(manifest.tables.values()))
        return manifest

    def query(self) -> str:
        """Return the id of Spark's checkpoint; empty if it cannot be read."""
        try:
            document: object = json.loads((self.checkpoint / "metadata").read_text())
        except (OSError, ValueError):
            return ""
        if not isinstance(document, dict):
            return ""
        return str(cast("dict[str, object]", document).get("id", ""))

    def known_files(self, manifest: Manifest) -> dict[str, int]:
        """Return the sizes of the files of all batches, by name."""
        table = manifest.tables.get("files")
        if table is None:
            return {}
        rows = read_rows(self.path(table), columns=("path", "size"))
        return {str(row["path"]): whole_number(row["size"]) for row in rows}

    def attempt(self) -> Attempt:
        """Make the work folder of a batch, and return it."""
        folder = self.output / _WORK / uuid.uuid4().hex
        folder.mkdir(parents=True)
        return Attempt(folder=folder)

    def path(self, table: str) -> Path:
        """Return the folder of a table of the manifest, after its move."""
        return self.output / table

    def passed_over(self, manifest: Manifest, last: int) -> Manifest:
        """Commit a Spark batch without files; return the manifest."""
        changed = copy.deepcopy(manifest)
        assert changed.stream is not None
        changed.stream.last, changed.stream.query = last, self.query()
        save(self.output, changed)
        return changed

    def commit(self, manifest: Manifest, attempt: Attempt, places: Mapping[str, str]) -> None:
        """Commit the manifest, and move the folders of the attempt to their `places`."""
        assert manifest.stream is not None
        manifest.stream.query = self.query()
        before = load(self.output)
        work = attempt.folder.relative_to(self.output)
        manifest.stream.moves = {str(work / name): place for name, place in places.items()}
        save(self.output, manifest)
        self.move_in(manifest.stream)
        kept = set(manifest.tables.values()) | set(before.tables.values() if before else ())
        self._sweep(kept)

    def _progress(self, manifest: Manifest) -> StreamProgress:
        if manifest.stream is None:
            raise UsageError(f"{self.output} was made by `wheelproof pipeline check`; {_ANEW}")
        if manifest.stream.schema != SCHEMA:
            raise UsageError(
                f"the checkpoint in {self.output} has the version {manifest.stream.schema!r}, "
                f"not {SCHEMA!r}; {_ANEW}"
            )
        return manifest.stream

    def _require_checkpoint(self, progress: StreamProgress) -> None:
        """Raise UsageError if Spark's checkpoint is not that of the last batch."""
        if not progress.query:
            return
        # Spark writes the offsets of a batch before the batch begins.
        newest = self.checkpoint / "offsets" / str(progress.last)
        if progress.query != self.query() or not newest.is_file():
            raise UsageError(
                f"{self.checkpoint} is missing, or is not that of these tables; restore it, or "
                + _ANEW
            )

    def move_in(self, progress: StreamProgress) -> None:
        """Move the folders of the last commit to their places; skip those that were moved."""
        for here, there in progress.moves.items():
            source, target = self.output / here, self.output / there
            if source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)

    def _sweep(self, kept: set[str]) -> None:
        """Remove the folders that were not committed or were replaced."""
        for folder in (self.output / _WORK).glob("*"):
            shutil.rmtree(folder, ignore_errors=True)
        for layer in _REPLACED:
            for folder in (self.output / layer).glob("[0-9]*"):
                if not any((self.output / table).is_relative_to(folder) for table in kept):
                    shutil.rmtree(folder, ignore_errors=True)
