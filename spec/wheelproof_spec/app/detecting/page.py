"""`python -m wheelproof_spec.app.detecting.page [RESULTS...]`: renews docs/detection.

`wheelproof bugs --results RESULTS` writes the outcomes. The page has the last one of each cell; it
says so where a cell was not run. `wheelproof mutate --json docs/detection/mutants-NAME.json` writes
the figures of mutants.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from wheelproof_spec.app.detecting.matrix import ENGINES, controls, table
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.resources import required_checkout
from wheelproof_spec.base.results.reports import json_text, write_text
from wheelproof_spec.base.strict_json import JsonObject, parse_object
from wheelproof_spec.components.registry import bugs
from wheelproof_spec.engines.detect.cells import End, Outcome, read_outcomes

FOLDER = "docs/detection"
_OUTCOMES, _PAGE, _REPORTS = "outcomes.jsonl", "README.md", "mutants-*.json"

_HEAD = """# Detection

Made from `docs/detection/outcomes.jsonl` by `python -m wheelproof_spec.app.detecting.page`; the
outcomes are those of a run of `wheelproof bugs --results FILE`. `--html` writes the same table with
a counterexample behind each cell.

Each [known bug](../known-bugs.md) against each engine, within a budget of CPU time. A cell says
after how many seconds of that the engine found it, in how many runs (cases, states, obligations,
histories), and how long the counterexample is. `missed`: the budget was used up, or all there is
was tried. `no end`: it was ended at many times the budget, and counts as not found. Empty: the
engine has no model, no machine or no program for it, or the cell was not run.

"""
_CONTROLS = """
## The reference itself

In the same matrix nothing is found in the reference as it is. A cell says how many looks at it were
clean, each from another seed, and at how many runs they looked together. Engines that draw nothing
look once.

"""
_ALONE = """
## Seen by engines of one kind

A bug is seen by engines of two different kinds, or its table says why not.

"""
_MUTANTS = """
## Mutants

Small changes of the reference, and of the TLA+ modules, by `wheelproof mutate`. A mutant of the
reference is killed by the first engine that sees it. One of a module is killed by a property (or a
state that TLC cannot evaluate), and only if there is none by a witness or a pinned number. The
ledger of equivalent ones is `app/detecting/survivors.toml`.

"""


def render(outcomes: Sequence[Outcome], reports: Sequence[JsonObject] = ()) -> str:
    """Return the page as Markdown: outcomes of bugs and controls, and figures of mutants."""
    ours = [one for one in outcomes if one.cell.subject]
    found = [one for one in ours if one.found.end is End.FOUND]
    counts = [
        f"{engine}: {sum(one.cell.engine == engine for one in found)} of "
        f"{sum(one.cell.engine == engine for one in ours)}"
        for engine in ENGINES
        if any(one.cell.engine == engine for one in ours)
    ]
    asked = dict.fromkeys(one.cell.subject for one in ours)
    seen = {one.cell.subject for one in found}
    seconds = sorted({one.cell.seconds for one in ours})
    missing = [f"`{bug.id}`" for bug in bugs() if bug.id not in asked]
    alone = [f"- `{bug.id}`: {bug.alone}" for bug in bugs() if bug.alone]
    return (
        "\n".join(
            (
                _HEAD + table(ours),
                "",
                f"The budget of a cell: {' or '.join(map(str, seconds))} s.",
                f"{len(seen)} of {len(asked)} bugs were found by an engine.",
                f"Found, of those asked for: {'; '.join(counts)}.",
                *([f"Not run: {', '.join(missing)}."] if missing else []),
                _CONTROLS + controls(outcomes),
                _ALONE + "\n".join(alone),
                _MUTANTS + "\n".join(map(_figures, reports)),
            )
        ).rstrip()
        + "\n"
    )


def _figures(report: JsonObject) -> str:
    given = cast(JsonObject, report["given"])
    checks = cast(Sequence[JsonObject], report["checks"])
    left = [one for one in checks if not str(one["summary"]).startswith("killed")]
    return "\n".join(
        (
            f"Of `{given['of']}`, a sample of {given['mutants']} from seed {given['seed']}, "
            f"{given['seconds']} s for each engine, {given['day']}: {report['summary']}.",
            "",
            *(f"- `{one['name']}`: {one['summary']}" for one in left),
            "",
        )
    )


def told(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes, the last of each cell, without their stories."""
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
    """Return the reports on mutants that a folder has."""
    return [parse_object(path.read_bytes()) for path in sorted(folder.glob(_REPORTS))]


def _kept(report: JsonObject) -> dict[str, object]:
    """Return what the page shows of a report: the rest belongs to one machine and one run."""
    checks = cast(Sequence[JsonObject], report["checks"])
    return {
        "given": report["given"],
        "summary": report["summary"],
        "checks": [{"name": one["name"], "summary": one["summary"]} for one in checks],
    }


def main(words: Sequence[str]) -> int:
    """Write the page, and the outcomes if there are new ones."""
    folder = required_checkout() / FOLDER
    files = [Path(word) for word in words] or [folder / _OUTCOMES]
    outcomes = told(one for file in files for one in read_outcomes(file))
    folder.mkdir(exist_ok=True)
    (folder / _OUTCOMES).write_bytes(b"".join(map(format_line, outcomes)))
    for path in folder.glob(_REPORTS):
        write_text(path, json_text(_kept(parse_object(path.read_bytes()))))
    write_text(folder / _PAGE, render(outcomes, reports_in(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
