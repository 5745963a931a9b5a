"""One self-contained page from the gold tables."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from wheelproof_spark.check.gold import OF_RUNS
from wheelproof_spark.report.step_graph import StepGraph, Steps, step_graph
from wheelproof_spark.report.unjudged import Reason, unjudged
from wheelproof_spark.report.violations import Violation, explained
from wheelproof_spark.tables.manifest import Manifest, load
from wheelproof_spark.tables.outcome import code_of
from wheelproof_spark.tables.rows import Row, read_rows, whole_number
from wheelproof_spec.app.pages.environment import html
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.components.registry import COMPONENTS, definition_of

MOST_VIOLATIONS = 500

Charts = Mapping[str, Mapping[str, int]]
"""The charts by their titles: the label and the length of each bar."""


def write_page(output: Path, path: Path) -> Manifest:
    """Write the page of the tables in `output` to `path`, and return the manifest.

    Raises InputRejectedError if there are no tables.
    """
    manifest = load(output)
    there = [name for name in OF_RUNS if name in manifest.tables]
    tables = {name: read_rows(output / manifest.tables[name]) for name in there}
    broken = read_rows(output / manifest.tables["violations"], MOST_VIOLATIONS)
    reasons = unjudged(output, manifest)
    write_text(path, render(manifest, tables, explained(output, manifest, broken), reasons))
    return manifest


def render(
    manifest: Manifest,
    tables: Mapping[str, Iterable[Row]],
    violations: Sequence[Violation],
    reasons: Sequence[Reason],
) -> str:
    """Return the page: first what fails, then what was not judged, then the figures."""
    return html(
        "pipeline",
        "wheelproof_spark.report",
        manifest=manifest,
        verdict=code_of(manifest.counts).name.lower(),
        summary=sorted(tables["summary"], key=_subject),
        clauses=sorted(tables["clauses"], key=lambda row: (_subject(row), str(row["rule"]))),
        tested=_tested(tables.get("tested", ())),
        coverage=_coverage(tables["coverage"]),
        graphs=_graphs(tables.get("steps", ())),
        histograms=_histograms(tables["histograms"]),
        violations=violations,
        reasons=reasons,
        first_of_rule={found.row["rule"]: found.anchor for found in reversed(violations)},
        most=MOST_VIOLATIONS,
    )


def _subject(row: Row) -> str:
    words = (row["implementation"], row["version"], row["component"], row["format"])
    return " ".join(str(word) for word in words)


def _by_subject(rows: Iterable[Row]) -> Mapping[str, list[Row]]:
    """Return the rows of each subject; a run without a header has no known subject."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["component"] in COMPONENTS:
            found.setdefault(_subject(row), []).append(row)
    return dict(sorted(found.items()))


def _tested(rows: Iterable[Row]) -> Charts:
    """Return one chart for each subject: its clauses, tested or not."""
    return {
        subject: _counts(sorted(found, key=lambda row: str(row["clause"])), "clause")
        for subject, found in _by_subject(rows).items()
    }


def _coverage(rows: Iterable[Row]) -> Charts:
    """Return one chart for each subject: all specified calls or actions, taken or not."""
    return {
        subject: dict.fromkeys(_actions(found[0]), 0) | _counts(found, "action")
        for subject, found in _by_subject(rows).items()
    }


def _graphs(rows: Iterable[Row]) -> list[StepGraph]:
    """Return one picture for each subject that has traces."""
    return [
        step_graph(subject, _actions(found[0]), _steps(found))
        for subject, found in _by_subject(rows).items()
    ]


def _actions(row: Row) -> list[str]:
    """Return all names that a subject's specification has: actions of traces, or calls."""
    component = definition_of(str(row["component"]))
    if row["format"] == "trace":
        return [action.action for action in component.actions]
    return [operation.name for operation in component.operations_on(Wire.RECORDED)]


def _counts(rows: Iterable[Row], of: str) -> dict[str, int]:
    counts = Counter[str]()
    for row in rows:
        counts[str(row[of])] += whole_number(row["count"])
    return counts


def _steps(rows: Iterable[Row]) -> Steps:
    return {(str(row["before"]), str(row["action"])): whole_number(row["count"]) for row in rows}


def _histograms(rows: Iterable[Row]) -> Charts:
    counts: dict[str, dict[int, int]] = {}
    for row in rows:
        what = "how late tasks ran" if row["what"] == "lateness" else "how long calls took"
        title = f"{_subject(row)}: {what}"
        counts.setdefault(title, {})[whole_number(row["ms"])] = whole_number(row["count"])
    return {
        title: {f"≤ {ms:,} ms": known[ms] for ms in sorted(known)}
        for title, known in sorted(counts.items())
    }
