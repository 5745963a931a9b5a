"""What was judged: an input, its output, and the tables that the manifest names."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spark.base.options import Workers
from wheelproof_spark.check.job import CheckJob
from wheelproof_spark.check.job import check as run_pipeline
from wheelproof_spark.tables.manifest import Manifest, load
from wheelproof_spark.tables.rows import read_rows
from wheelproof_spark.tables.store import Store
from wheelproof_spec.history.checkers import CheckOptions

Table = list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class Judged:
    """An input and its tables."""

    input: Path
    output: Path
    manifest: Manifest

    def table(self, name: str) -> Table:
        """Return the rows of a table."""
        return read_rows(self.output / self.manifest.tables[name])

    def quarantined(self) -> dict[str, list[str]]:
        """Return the reasons by the paths of files."""
        names = {row["file_id"]: str(row["path"]) for row in self.table("files")}
        reasons: dict[str, list[str]] = {}
        for folder in sorted((self.output / "bronze").glob("*/kind=quarantined")):
            for row in read_rows(folder):
                path = names.get(row["file_id"])
                if path is not None:
                    reasons.setdefault(path, []).append(str(row["reason"]))
        return reasons

    def adds_up(self) -> None:
        """Assert that nothing was lost and nothing was judged twice, from the tables themselves."""
        counts, verdicts = self.manifest.counts, self.table("verdicts")
        quarantined = sum(len(rows) for rows in self.quarantined().values())
        assert counts.lines == counts.good + counts.quarantined
        assert counts.quarantined == quarantined
        assert counts.runs == len(verdicts)
        assert len({(row["format"], row["run"], row["scope"]) for row in verdicts}) == len(verdicts)
        judged = sum(int(str(row["lines"])) for row in self.table("runs"))
        assert counts.good == judged + counts.repeated
        by_verdict = (counts.passed, counts.failed, counts.inconclusive, counts.error)
        names = ("pass", "fail", "inconclusive", "error")
        found = [row["verdict"] for row in verdicts]
        assert by_verdict == tuple(found.count(name) for name in names)


def run(
    source: Path, output: Path, *, partitions: int = 2, split_bytes: int | None = None
) -> Judged:
    """Run the pipeline in this process."""
    job = CheckJob(
        input=source,
        output=output,
        options=CheckOptions(),
        workers=Workers(partitions=partitions),
        split_bytes=split_bytes,
    )
    return Judged(source, output, run_pipeline(job))


def committed(source: Path, output: Path) -> Judged:
    """Return what is committed."""
    return Judged(source, output, load(output))


def save(output: Path, manifest: Manifest) -> None:
    """Commit a manifest, as a pipeline with this history would have."""
    with Store(output) as store:
        store.save(manifest.text)


def rows_of(
    judged: Judged, names: Iterable[str] | None = None, *, without: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the rows of tables, or of all, in an order of their own, without some columns."""
    return {
        name: sorted(
            json.dumps({key: row[key] for key in row if key not in without}, default=str)
            for row in judged.table(name)
        )
        for name in names or judged.manifest.tables
    }
