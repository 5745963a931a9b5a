"""The failing runs, extracted from bronze, so that each can be read and judged by itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.dataset as dataset

from wheelproof_spark.check.judging.in_place import WHOLE, lines_of_whole
from wheelproof_spark.check.judging.order import Row
from wheelproof_spark.check.reading.parsing import BODY
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spark.tables.rows import read_rows, whole_number
from wheelproof_spark.tables.schemas import GOOD

MOST_BYTES = 64 << 10
"""The longest run that is extracted, in bytes."""
_BEFORE = 6

Name = tuple[str, str]
"""Format and run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A run in order without duplicates, its first unexplained event, and some events before it."""

    lines: tuple[bytes, ...]
    before: tuple[bytes, ...]
    broken: bytes | None


def files_that_count(output: Path, manifest: Manifest) -> dict[int, str]:
    """Return the paths of the files that count, by number."""
    rows = read_rows(output / manifest.tables["files"], columns=("file_id", "path"))
    return {whole_number(row["file_id"]): str(row["path"]) for row in rows}


def lines_of_runs(bronze: Path, names: Iterable[Name]) -> dict[Name, list[Row] | None]:
    """Return the good lines of runs; None for a run that is too long to extract."""
    found: dict[Name, list[Row] | None] = {name: [] for name in names}
    sizes = dict.fromkeys(found, 0)
    if not found:
        return found
    chosen = dataset.field("run").isin(sorted({run for _, run in found}))
    good = _rows(bronze, "good", GOOD, chosen)
    whole = lines_of_whole(_rows(bronze, "whole", WHOLE, chosen))
    for batch in chain(good, whole):
        columns = [batch.column(name).to_pylist() for name in GOOD]
        for form, run, *rest in zip(*columns, strict=True):
            name = cast("Name", (form, run))
            kept = found.get(name)
            if kept is None:
                continue
            line = Row(*cast("tuple[int, int, str, int, int, int, bytes]", tuple(rest)))
            kept.append(line)
            sizes[name] += len(line.raw)
            if sizes[name] > MOST_BYTES:
                found[name] = None
    return found


def _rows(
    bronze: Path, kind: str, columns: Sequence[str], chosen: dataset.Expression
) -> Iterator[pa.RecordBatch]:
    files = [str(path) for path in sorted(bronze.glob(f"*/kind={kind}/*.parquet"))]
    if files:
        rows = dataset.dataset(files, format="parquet")
        yield from rows.to_batches(columns=list(columns), filter=chosen)


def case_of(lines: Sequence[Row], files: Mapping[int, str], row: Mapping[str, object]) -> Case:
    """Return the case of a violation; `files` are the files that count, by number."""
    scope, index = row["scope"], row["place_index"]
    own = [line for line in lines if line.file_id in files and scope in (None, files[line.file_id])]
    numbered = all(line.thread == "" for line in own)
    own.sort(key=lambda line: (line.rank, line.seq if numbered else 0, *line.place))
    unique = {(line.rank, line.raw): line.raw for line in own}
    body = [raw for (rank, _), raw in unique.items() if rank == BODY]
    at = index if isinstance(index, int) and index < len(body) else None
    return Case(
        lines=tuple(unique.values()),
        before=() if at is None else tuple(body[max(0, at - _BEFORE) : at]),
        broken=None if at is None else body[at],
    )
