"""The verb `pipeline report`: one page from the gold tables, which needs nothing else."""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet as parquet
from jinja2 import Environment, PackageLoader, StrictUndefined

from wheelproof_spark.manifest import Manifest, load
from wheelproof_spark.outcome import code_of, sentence
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
    manifest = load(output)
    if manifest is None or not manifest.tables:
        remedy = "run `wheelproof pipeline check` first"
        raise InputRejectedError(str(output), None, "has no manifest.json", remedy)
    path = arguments.html or output / "report.html"
    tables = {
        name: _read(output / manifest.tables[name])
        for name in ("summary", "clauses", "coverage", "histograms")
    }
    broken = _read(output / manifest.tables["violations"], MOST_VIOLATIONS)
    write_text(path, render(manifest, tables, broken))
    if arguments.json is not None:
        write_json(arguments.json, {"page": str(path), "counts": asdict(manifest.counts)})
    print(f"{sentence(manifest)}\n{path}")
    return ExitCode.PASS


def render(
    manifest: Manifest, tables: Mapping[str, Iterable[_Row]], violations: Iterable[_Row]
) -> str:
    """Return the page."""
    environment = Environment(
        loader=PackageLoader("wheelproof_spark"),
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
        histograms=_histograms(tables["histograms"]),
        violations=sorted(violations, key=lambda row: (str(row["rule"]), str(row["run"]))),
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
    """One chart for each subject: all that the specification has, taken or not."""
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        known = counts.setdefault(_subject(row), _nothing_taken(row))
        known[str(row["action"])] = _number(row["count"])
    return [_chart(title, known) for title, known in sorted(counts.items())]


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
