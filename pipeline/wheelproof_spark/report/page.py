"""The verb `pipeline report`: one page from the gold tables, which needs nothing else."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet as parquet
from jinja2 import Environment, PackageLoader, StrictUndefined

from wheelproof_spark.check.gold import OF_RUNS
from wheelproof_spark.report.step_graph import StepGraph, step_graph
from wheelproof_spark.report.violations import Violation, explained
from wheelproof_spark.tables.manifest import Manifest, load
from wheelproof_spark.tables.outcome import code_of, sentence
from wheelproof_spec.errors import InputRejectedError
from wheelproof_spec.reports import write_json, write_text
from wheelproof_spec.traces.components import COMPONENTS
from wheelproof_spec.verdicts import ExitCode

MOST_VIOLATIONS = 500
_WIDTH = 420
_BAR = 18

_Row = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a chart: `width` in pixels."""

    label: str
    count: int
    width: float
    y: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Bars from top to bottom, with what they count."""

    title: str
    bars: tuple[Bar, ...]

    @property
    def height(self) -> int:
        """The height of the picture in pixels."""
        return _BAR * len(self.bars) + 4


def write_report(arguments: argparse.Namespace) -> int:
    """Write the page of the last committed batch."""
    output: Path = arguments.output
    path = arguments.html or output / "report.html"
    manifest = write_page(output, path)
    if arguments.json is not None:
        write_json(arguments.json, {"page": str(path), "counts": asdict(manifest.counts)})
    print(f"{sentence(manifest)}\n{path}")
    return ExitCode.PASS


def write_page(output: Path, path: Path) -> Manifest:
    """Write the page of what is in `output` to `path`, and return the manifest.

    Raises InputRejectedError if nothing is there.
    """
    manifest = load(output)
    if manifest is None or not manifest.tables:
        remedy = "run `wheelproof pipeline check` first"
        raise InputRejectedError(str(output), None, "has no manifest.json", remedy)
    tables = {
        name: _read(output / place) for name, place in manifest.tables.items() if name in OF_RUNS
    }
    broken = _read(output / manifest.tables["violations"], MOST_VIOLATIONS)
    write_text(path, render(manifest, tables, explained(output, manifest, broken)))
    return manifest


def render(
    manifest: Manifest, tables: Mapping[str, Iterable[_Row]], violations: Sequence[Violation]
) -> str:
    """Return the page."""
    environment = Environment(
        loader=PackageLoader("wheelproof_spark.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("pipeline.html.jinja").render(
        manifest=manifest,
        verdict=code_of(manifest.counts).name.lower(),
        summary=sorted(tables["summary"], key=_subject),
        clauses=sorted(tables["clauses"], key=lambda row: (_subject(row), str(row["rule"]))),
        coverage=_coverage(tables["coverage"]),
        graphs=_graphs(tables.get("steps", ())),
        histograms=_histograms(tables["histograms"]),
        violations=violations,
        first_of_rule={one.row["rule"]: one.anchor for one in reversed(violations)},
        most=MOST_VIOLATIONS,
        version=version("wheelproof"),
    )


def _read(folder: Path, most: int | None = None) -> list[dict[str, object]]:
    rows = parquet.read_table(str(folder))
    return (rows if most is None else rows.slice(0, most)).to_pylist()


def _subject(row: _Row) -> str:
    words = (row["implementation"], row["version"], row["component"], row["format"])
    return " ".join(str(word) for word in words)


def _coverage(rows: Iterable[_Row]) -> list[Chart]:
    """One chart for each subject: all that the specification has, taken or not.

    Runs without a header do not say whose they are, and are left out.
    """
    counts: dict[str, dict[str, int]] = {}
    for row in (one for one in rows if one["component"] in COMPONENTS):
        known = counts.setdefault(_subject(row), _nothing_taken(row))
        known[str(row["action"])] = _number(row["count"])
    return [_chart(title, known) for title, known in sorted(counts.items())]


def _graphs(rows: Iterable[_Row]) -> list[StepGraph]:
    """One picture for each subject that has traces."""
    steps: dict[str, dict[tuple[str, str], int]] = {}
    actions: dict[str, list[str]] = {}
    for row in (one for one in rows if one["component"] in COMPONENTS):
        title = _subject(row)
        actions.setdefault(title, list(_nothing_taken(row)))
        pair = str(row["before"]), str(row["action"])
        steps.setdefault(title, {})[pair] = _number(row["count"])
    return [step_graph(title, actions[title], found) for title, found in sorted(steps.items())]


def _nothing_taken(row: _Row) -> dict[str, int]:
    component = COMPONENTS[str(row["component"])]
    if row["format"] == "trace":
        return {one.action: 0 for one in component.actions}
    return {one.f: 0 for one in component.calls}


def _histograms(rows: Iterable[_Row]) -> list[Chart]:
    counts: dict[str, dict[int, int]] = {}
    for row in rows:
        what = "how late tasks ran" if row["what"] == "lateness" else "how long calls took"
        title = f"{_subject(row)}: {what}"
        counts.setdefault(title, {})[_number(row["ms"])] = _number(row["count"])
    return [
        _chart(title, {f"≤ {ms:,} ms": known[ms] for ms in sorted(known)})
        for title, known in sorted(counts.items())
    ]


def _chart(title: str, counts: Mapping[str, int]) -> Chart:
    most = max([*counts.values(), 1])
    bars = (
        Bar(label=label, count=count, width=round(_WIDTH * count / most, 1), y=_BAR * at)
        for at, (label, count) in enumerate(counts.items())
    )
    return Chart(title=title, bars=tuple(bars))


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
