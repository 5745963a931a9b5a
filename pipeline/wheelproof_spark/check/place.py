"""The numbered folders of batches, and the removal of uncommitted ones."""

import shutil
from contextlib import suppress
from pathlib import Path

from wheelproof_spark.tables.manifest import NAME, Manifest, load

_NUMBERED = ("bronze", "parts", "silver", "gold", ".work")

_KEPT = ("bronze", "parts")


def numbered(output: Path, layer: str, batch: int) -> Path:
    """Return the folder of a batch's tables in a layer."""
    return output / layer / f"{batch:06}"


def next_batch(output: Path, manifest: Manifest) -> int:
    """Return a number that no batch has used.

    A killed driver may have left a Spark that still writes for a moment, and it must not write
    where the next driver writes. Call this before `sweep`.
    """
    begun = (_number(folder) for layer in _NUMBERED for folder in (output / layer).glob("*"))
    return max((*begun, *(batch.number for batch in manifest.batches)), default=0) + 1


def sweep(output: Path, manifest: Manifest | None) -> None:
    """Remove uncommitted folders, and the tables that were replaced two batches ago."""
    for half_written in output.glob(f"{NAME}*.part"):
        half_written.unlink()
    committed = {batch.number for batch in manifest.batches} if manifest is not None else set[int]()
    newest = sorted(committed)[-2:]
    for layer in _NUMBERED:
        for folder in (output / layer).glob("*"):
            number = _number(folder)
            if number not in committed or (layer not in _KEPT and number not in newest):
                shutil.rmtree(folder)


def _number(folder: Path) -> int:
    return int(folder.name) if folder.name.isdigit() else -1


def sweep_uncommitted(output: Path) -> None:
    """Remove what a failed job has left; if that fails too, the next run removes it."""
    with suppress(OSError):
        sweep(output, load(output))
