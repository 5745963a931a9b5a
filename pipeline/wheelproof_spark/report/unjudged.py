"""What has no verdict of pass or fail, by its reason, with some of the places."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pyarrow.dataset as dataset

from wheelproof_spark.report.cases import files_that_count
from wheelproof_spark.tables.delta import files_in
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spark.tables.rows import rows_where, whole_number
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
        files = files_in(output / manifest.tables["verdicts"])
        chosen = dataset.field("verdict").isin([verdict.value])
        for _, run, scope, notes, problem in rows_where(files, columns, chosen):
            given = cast("list[str] | None", notes)
            noted = "; ".join(given or ()) or "no explanation was found"
            reason = noted if verdict is Verdict.INCONCLUSIVE else f"the run {problem}"
            yield f"{verdict.value} runs", reason, f"{run} in {scope or 'several files'}"


def _lines(output: Path, manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    paths = files_that_count(output, manifest)
    columns = ("file_id", "offset", "reason")
    files = (output / "bronze").glob("*/kind=quarantined/*.parquet")
    for file_id, offset, reason in rows_where(files, columns, None):
        path = paths.get(whole_number(file_id))
        if path is not None:
            place = f"{path}, byte {whole_number(offset):,}"
            yield "quarantined lines", f"the line {reason}", place
