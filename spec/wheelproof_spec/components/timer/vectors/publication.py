"""The published files: which there are, and what is in each of them."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.history.lines import Vector
from wheelproof_spec.base.resources import checkout_directory
from wheelproof_spec.base.results.reports import make_folder
from wheelproof_spec.components.timer.vectors.generate import (
    CORNERS,
    SEED,
    WHEELS,
    corner_vectors,
    edge_vectors,
    scenario_vectors,
)
from wheelproof_spec.engines.tlc.running.launch import Toolchain, find_toolchain
from wheelproof_spec.engines.vectors.files import write_vectors


def vectors_directory() -> Path:
    """Return the folder of the published vectors; raises UsageError where there is no checkout."""
    checkout = checkout_directory()
    if checkout is None:
        raise UsageError("there is no checkout; name the files, or give --output")
    return checkout / "vectors"


def generate(folder: Path, toolchain: Toolchain | None = None) -> Mapping[Path, int]:
    """Write all files into `folder`; return how many vectors each of them has.

    Raises MissingToolError without a TLC, DisagreementError if TLC and the contract differ.
    """
    make_folder(folder)
    counts: dict[Path, int] = {}
    for name, make in _files(toolchain or find_toolchain()).items():
        vectors = make()
        write_vectors(folder / name, vectors)
        counts[folder / name] = len(vectors)
    return counts


def _files(toolchain: Toolchain) -> Mapping[str, Callable[[], list[Vector[object, object]]]]:
    return {
        "timer-scenarios.jsonl": scenario_vectors,
        "timer-corners.jsonl": partial(corner_vectors, SEED, CORNERS),
        **{
            f"timer-edges-{wheel.name}.jsonl": partial(edge_vectors, toolchain, wheel)
            for wheel in WHEELS
        },
    }
