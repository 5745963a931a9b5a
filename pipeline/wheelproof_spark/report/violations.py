"""The violations as the page shows them: each with its case, which can be judged again."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, groupby, islice, zip_longest
from operator import itemgetter
from pathlib import Path

from wheelproof_spark.report.cases import Case, Name, case_of, files_that_count, lines_of_runs
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spark.tables.rows import Row

MOST_CASES = 50
"""The most violations that have their run in the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A violation: `row` is its table row; `case` is None if the run is too long or not chosen."""

    number: int
    row: Row
    case: Case | None

    @property
    def anchor(self) -> str:
        """The name of its place in the page."""
        return f"case-{self.number}"

    @property
    def file(self) -> str:
        """The file name under which the page offers its run."""
        return f"{self.anchor}.jsonl"

    @property
    def link(self) -> str:
        """The run itself, as a link that contains all its lines."""
        assert self.case is not None
        content = b"".join(line + b"\n" for line in self.case.lines)
        return f"data:application/x-ndjson;base64,{base64.b64encode(content).decode()}"

    @property
    def before(self) -> str:
        """The last events that have an explanation."""
        lines = () if self.case is None else self.case.before
        return "\n".join(line.decode() for line in lines)

    @property
    def broken(self) -> str:
        """The first event that has no explanation."""
        line = None if self.case is None else self.case.broken
        return "" if line is None else line.decode()


def explained(output: Path, manifest: Manifest, rows: Iterable[Row]) -> list[Violation]:
    """Return violations by rule; the first ones of each rule have their cases."""
    ordered = sorted(rows, key=lambda row: (str(row["rule"]), str(row["run"]), str(row["scope"])))
    rules = [list(rows) for _, rows in groupby(ordered, key=itemgetter("rule"))]
    first = chain.from_iterable(zip_longest(*rules))
    names = {_name(row) for row in islice(filter(None, first), MOST_CASES)}
    lines, files = lines_of_runs(output / "bronze", names), files_that_count(output, manifest)
    found: list[Violation] = []
    for number, row in enumerate(ordered, start=1):
        own = lines.get(_name(row))
        case = None if own is None else case_of(own, files, row)
        found.append(Violation(number=number, row=row, case=case))
    return found


def _name(row: Row) -> Name:
    return str(row["format"]), str(row["run"])
