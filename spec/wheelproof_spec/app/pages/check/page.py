"""The page of a check: each run with its verdict, and each failing one as a timeline."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.app.pages.check.excerpt import Excerpt, read_excerpt
from wheelproof_spec.app.pages.check.lanes import COLUMN, LANE, Lanes, lanes_of
from wheelproof_spec.app.pages.environment import html
from wheelproof_spec.base.errors import printable
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.history.reader import STANDARD_INPUT
from wheelproof_spec.history.result import code_of, verdict_line
from wheelproof_spec.history.routing import FileResult

MOST_TIMELINES = 20
"""The most failing runs whose threads are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingRun:
    """A run that fails, with the lines around the failing event; no lines without a file."""

    source: str
    verdict: RunVerdict
    excerpt: Excerpt
    lanes: Lanes | None


def render_check(files: Sequence[Path], results: Sequence[FileResult], repeat: str) -> str:
    """Return the page as HTML; `repeat` is the command that checks again."""
    failing = [
        (path, result.source, verdict)
        for path, result in zip(files, results, strict=True)
        for verdict in result.verdicts
        if verdict.verdict is Verdict.FAIL
    ]
    checked, skipped = Counter[str](), Counter[str]()
    for result in results:
        for verdict in result.verdicts:
            checked.update(verdict.checked)
            skipped.update(verdict.skipped)
    return html(
        "check",
        results=results,
        failing=[_failing_run(*one) for one in failing[:MOST_TIMELINES]],
        clauses=sorted({*checked, *skipped}),
        checked=checked,
        skipped=skipped,
        undrawn=max(len(failing) - MOST_TIMELINES, 0),
        passed=code_of(results) is ExitCode.PASS,
        failed=code_of(results) is ExitCode.FAIL,
        line=printable(verdict_line(results)),
        repeat=repeat,
        column=COLUMN,
        lane=LANE,
    )


def _failing_run(path: Path, source: str, verdict: RunVerdict) -> FailingRun:
    # Standard input cannot be read a second time.
    excerpt = Excerpt() if path == STANDARD_INPUT else read_excerpt(path, verdict)
    bad_line = 0 if verdict.place is None else verdict.place.line
    return FailingRun(
        source=source,
        verdict=verdict,
        excerpt=excerpt,
        lanes=lanes_of(excerpt.moments, bad_line, excerpt.explaining) if excerpt.moments else None,
    )
