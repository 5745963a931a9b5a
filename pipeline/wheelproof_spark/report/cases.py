"""The runs that fail, taken out of bronze, so that each can be read and judged by itself."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pyarrow.dataset as dataset

from wheelproof_spark.check.reading.parsing import BODY

MOST_BYTES = 64 << 10
"""The longest run that is taken out whole, in bytes."""
_BEFORE = 6
_COLUMNS = ("format", "run", "file_id", "rank", "seq", "thread", "start", "line", "raw")

Name = tuple[str, str]
"""Format and run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A run in order and without duplicates, and where its explanation ends."""

    lines: tuple[bytes, ...]
    before: tuple[bytes, ...]
    broken: bytes | None


@dataclass(frozen=True, slots=True)
class _Line:
    file_id: int
    rank: int
    seq: int
    thread: str
    start: int
    line: int
    raw: bytes


def lines_of_runs(bronze: Path, names: Iterable[Name]) -> dict[Name, list[_Line] | None]:
    """Return the good lines of runs; None for one that is too long to be taken out."""
    found: dict[Name, list[_Line] | None] = {name: [] for name in names}
    folders = [str(one) for one in sorted(bronze.glob("*/kind=good"))]
    if not found or not folders:
        return found
    sizes = dict.fromkeys(found, 0)
    chosen = dataset.field("run").isin(sorted({run for _, run in found}))
    files = [str(one) for folder in folders for one in sorted(Path(folder).glob("*.parquet"))]
    for batch in dataset.dataset(files, format="parquet").to_batches(
        columns=list(_COLUMNS), filter=chosen
    ):
        columns = [batch.column(name).to_pylist() for name in _COLUMNS]
        for form, run, *rest in zip(*columns, strict=True):
            name = cast("Name", (form, run))
            kept = found.get(name)
            if kept is None:
                continue
            line = _Line(*cast("tuple[int, int, int, str, int, int, bytes]", tuple(rest)))
            kept.append(line)
            sizes[name] += len(line.raw)
            if sizes[name] > MOST_BYTES:
                found[name] = None
    return found


def case_of(lines: Sequence[_Line], files: Mapping[int, str], row: Mapping[str, object]) -> Case:
    """Return the case of a violation: `files` are those that count, by number."""
    scope, index = row["scope"], row["place_index"]
    own = [one for one in lines if one.file_id in files and scope in (None, files[one.file_id])]
    numbered = all(one.thread == "" for one in own)
    ordered = sorted(own, key=_by_number if numbered else _by_place)
    unique: dict[tuple[int, bytes], bytes] = {(one.rank, one.raw): one.raw for one in ordered}
    body = [raw for (rank, _), raw in unique.items() if rank == BODY]
    at = index if isinstance(index, int) and index < len(body) else None
    return Case(
        lines=tuple(unique.values()),
        before=() if at is None else tuple(body[max(0, at - _BEFORE) : at]),
        broken=None if at is None else body[at],
    )


def _by_number(one: _Line) -> tuple[int, ...]:
    return one.rank, one.seq, one.file_id, one.start, one.line


def _by_place(one: _Line) -> tuple[int, ...]:
    return one.rank, one.file_id, one.start, one.line
