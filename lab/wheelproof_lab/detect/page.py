"""`python -m wheelproof_lab pages detection [--results FILE ...]`: renews docs/detection.

`python -m wheelproof_lab bugs --results FILE` writes the outcomes. The page shows the last outcome
of each cell, and names the bugs that were not run. The figures of mutants are written by
`python -m wheelproof_lab mutate --json docs/detection/mutants-NAME.json`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.detect.matrix import ENGINES, controls, table
from wheelproof_lab.detect.mutation.cells import End, Outcome, read_outcomes
from wheelproof_lab.publish.markdown import markdown
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.results.reports import json_text, write_text
from wheelproof_spec.base.strict_json import JsonObject, parse_object

FOLDER = "docs/detection"
_OUTCOMES, _PAGE, _REPORTS = "outcomes.jsonl", "README.md", "mutants-*.json"


def render(outcomes: Sequence[Outcome], reports: Sequence[JsonObject] = ()) -> str:
    """Return the page as Markdown: outcomes of bugs and controls, and figures of mutants."""
    ours = [one for one in outcomes if one.cell.subject]
    found = Counter(one.cell.engine for one in ours if one.found.end is End.FOUND)
    of = Counter(one.cell.engine for one in ours)
    asked = {one.cell.subject for one in ours}
    return markdown(
        "detection",
        table=table(ours),
        controls=controls(outcomes),
        seconds=sorted({one.cell.seconds for one in ours}),
        seen={one.cell.subject for one in ours if one.found.end is End.FOUND},
        asked=asked,
        counts=[(engine, found[engine], of[engine]) for engine in ENGINES if of[engine]],
        missing=[bug.id for bug in bugs() if bug.id not in asked],
        bugs=bugs(),
        reports=reports,
    )


def told(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the last outcome of each cell that is still known, without its story."""
    ids = {bug.id: number for number, bug in enumerate(bugs(), 1)} | {"": 0}
    known = {
        (ids[one.cell.subject], one.cell.component, one.cell.engine, one.cell.seed): replace(
            one, found=replace(one.found, story="")
        )
        for one in outcomes
        if one.cell.subject in ids
    }
    return [known[key] for key in sorted(known)]


def reports_in(folder: Path) -> list[JsonObject]:
    """Return the reports on mutants in a folder."""
    return [parse_object(path.read_bytes()) for path in sorted(folder.glob(_REPORTS))]


def _kept(report: JsonObject) -> dict[str, object]:
    """Return the parts of a report that the page shows; the rest depends on machine and run."""
    checks = cast(Sequence[JsonObject], report["checks"])
    return {
        "given": report["given"],
        "summary": report["summary"],
        "checks": [{"name": one["name"], "summary": one["summary"]} for one in checks],
    }


def renew_page(files: Sequence[Path] = ()) -> int:
    """Write the outcomes in `files`, the kept parts of the reports, and the page.

    Without files, the outcomes are those that were kept last.
    """
    folder = required_checkout() / FOLDER
    read = files or [folder / _OUTCOMES]
    outcomes = told(one for file in read for one in read_outcomes(file))
    folder.mkdir(exist_ok=True)
    (folder / _OUTCOMES).write_bytes(b"".join(map(format_line, outcomes)))
    for path in folder.glob(_REPORTS):
        write_text(path, json_text(_kept(parse_object(path.read_bytes()))))
    write_text(folder / _PAGE, render(outcomes, reports_in(folder)))
    return 0
