"""What has no verdict of pass or fail, by its reason, with some of the places."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.dataset as dataset

from wheelproof_spark.report.cases import files_that_count
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spark.tables.rows import whole_number
from wheelproof_spec.base.results.verdicts import Verdict

MOST_REASONS = 200
MOST_PLACES = 5
_OTHERS = "(reasons that are not listed)"


@dataclass(slots=True, kw_only=True)
class Reason:
    """A reason: `what` it is about, how many of these there are, and the first of them."""

    what: str
    reason: str
    number: int = 0
    places: list[str] = field(default_factory=list[str])


def unjudged(output: Path, manifest: Manifest) -> list[Reason]:
    """Return the reasons of all errors, inconclusive runs and quarantined lines, in this order.

    After `MOST_REASONS` of them, further ones are counted together.
    """
    found: dict[tuple[str, str], Reason] = {}
    for what, reason, place in (*_runs(output, manifest), *_lines(output, manifest)):
        key = what, reason if len(found) < MOST_REASONS or (what, reason) in found else _OTHERS
        one = found.setdefault(key, Reason(what=key[0], reason=key[1]))
        one.number += 1
        if len(one.places) < MOST_PLACES:
            one.places.append(place)
    return list(found.values())


def _runs(output: Path, manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    columns = ("verdict", "run", "scope", "notes", "problem")
    for verdict in (Verdict.ERROR, Verdict.INCONCLUSIVE):
        files = (output / manifest.tables["verdicts"]).rglob("*.parquet")
        chosen = dataset.field("verdict").isin([verdict.value])
        for _, run, scope, notes, problem in _rows(files, columns, chosen):
            assert isinstance(notes, list | None)
            noted = "; ".join(str(note) for note in notes or ()) or "no explanation was found"
            reason = noted if verdict is Verdict.INCONCLUSIVE else f"the run {problem}"
            yield f"{verdict.value} runs", reason, f"{run} in {scope or 'several files'}"


def _lines(output: Path, manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    paths = files_that_count(output, manifest)
    columns = ("file_id", "offset", "reason")
    files = (output / "bronze").glob("*/kind=quarantined/*.parquet")
    for file_id, offset, reason in _rows(files, columns, None):
        path = paths.get(whole_number(file_id))
        if path is not None:
            place = f"{path}, byte {whole_number(offset):,}"
            yield "quarantined lines", f"the line {reason}", place


def _rows(
    files: Iterable[Path], columns: Sequence[str], chosen: dataset.Expression | None
) -> Iterator[tuple[object, ...]]:
    names = sorted(str(path) for path in files)
    if names:
        for batch in dataset.dataset(names, format="parquet").to_batches(
            columns=list(columns), filter=chosen
        ):
            yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
