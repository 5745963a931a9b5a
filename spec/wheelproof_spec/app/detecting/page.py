"""`python -m wheelproof_spec.app.detecting.page [RESULTS]`: renews docs/detection.

`wheelproof bugs --results RESULTS` writes the outcomes. The page has the last one of each cell; it
says so where a cell was not run.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from wheelproof_spec.app.detecting.matrix import ENGINES, table
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.resources import required_checkout
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.components.registry import bugs
from wheelproof_spec.engines.detect.cells import End, Outcome, read_outcomes

FOLDER = "docs/detection"
_OUTCOMES, _PAGE = "outcomes.jsonl", "README.md"

_HEAD = """# Detection

Made from `docs/detection/outcomes.jsonl` by `python -m wheelproof_spec.app.detecting.page`; the
outcomes are those of a run of `wheelproof bugs --results FILE`. `--html` writes the same table with
a counterexample behind each cell.

Each [known bug](../known-bugs.md) against each engine, within a budget. A cell says after how many
seconds the engine found it, in how many runs (cases, states, obligations, histories), and how long
the counterexample is. `missed`: the budget was used up, or all there is was tried. `no end`: it was
ended at many times the budget, stuck or on a busy machine, and counts as not found. Empty: the
engine has no model, no machine or no program for it, or the cell was not run.

"""


def render(outcomes: Sequence[Outcome]) -> str:
    """Return the page as Markdown."""
    found = [one for one in outcomes if one.found.end is End.FOUND]
    lines = [
        f"{engine}: {sum(one.cell.engine == engine for one in found)} of "
        f"{sum(one.cell.engine == engine for one in outcomes)}"
        for engine in ENGINES
        if any(one.cell.engine == engine for one in outcomes)
    ]
    asked = dict.fromkeys(one.cell.subject for one in outcomes)
    seen = {one.cell.subject for one in found}
    seconds = sorted({one.cell.seconds for one in outcomes})
    budget = f"The budget of a cell: {' or '.join(map(str, seconds))} s.\n" if seconds else ""
    counts = (
        f"{len(seen)} of {len(asked)} bugs were found by an engine. Found, of those asked for:\n"
    )
    missing = [f"`{bug.id}`" for bug in bugs() if bug.id not in asked]
    left = f"Not run: {', '.join(missing)}.\n" if missing else ""
    return (
        "\n".join(
            (_HEAD + table(outcomes), "", budget + counts + "; ".join(lines) + ".", left)
        ).rstrip()
        + "\n"
    )


def told(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes of bugs, the last of each cell, without their stories."""
    known = {
        (one.cell.subject, one.cell.engine): replace(one, found=replace(one.found, story=""))
        for one in outcomes
        if one.cell.subject in {bug.id for bug in bugs()}
    }
    return [known[key] for key in sorted(known)]


def main(words: Sequence[str]) -> int:
    """Write the page, and the outcomes if there are new ones."""
    folder = required_checkout() / FOLDER
    outcomes = told(read_outcomes(Path(words[0]) if words else folder / _OUTCOMES))
    folder.mkdir(exist_ok=True)
    (folder / _OUTCOMES).write_bytes(b"".join(map(format_line, outcomes)))
    write_text(folder / _PAGE, render(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
