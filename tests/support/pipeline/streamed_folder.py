"""A folder that files arrive in, and what the stream has made of it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from support.pipeline.pipeline_tables import Judged, Table
from wheelproof_spark.base.feeder import Pace, Stop
from wheelproof_spark.base.options import Workers
from wheelproof_spark.stream.job import StreamJob, stream
from wheelproof_spark.stream.state import Patience
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spec.history.checkers import CheckOptions


@dataclass(slots=True)
class StreamedFolder:
    """Files arrive one after the other, in the order of their times."""

    source: Path
    output: Path
    arrived: int = 0

    def arrive(self, content: bytes | Iterable[bytes], name: str | None = None) -> None:
        """Move a file in, as a writer has to."""
        self.source.mkdir(exist_ok=True)
        self.arrived += 1
        hidden = self.source / f".{self.arrived}"
        hidden.write_bytes(content if isinstance(content, bytes) else b"".join(content))
        os.utime(hidden, (1_000_000 + self.arrived, 1_000_000 + self.arrived))
        hidden.rename(self.source / (name or f"{self.arrived:03}.jsonl"))

    def judge(
        self,
        *,
        late: int = 1,
        idle: int | None = None,
        closing: bool = False,
        files: int = 1_000,
        split_bytes: int = 1 << 20,
    ) -> Judged:
        """Judge what is there."""
        job = StreamJob(
            input=self.source,
            output=self.output,
            options=CheckOptions(),
            patience=Patience(late=late, idle=idle),
            split_bytes=split_bytes,
            pace=Pace(files=files),
            closing=closing,
            workers=Workers(partitions=2),
        )
        judged = Judged(self.source, self.output, stream(job, _nothing, Stop(_never)))
        adds_up(judged)
        return judged


def adds_up(judged: Judged) -> None:
    """Assert that every line and every run is counted exactly once, by the tables themselves."""
    counts = judged.manifest.counts
    runs, waiting = judged.table("runs"), _waiting(judged)
    files = judged.table("files")
    assert counts.lines == counts.good + counts.quarantined == _sum(files, "lines")
    lines = _sum(runs, "lines") + counts.repeated
    assert counts.good == lines + _sum(waiting, "lines") + counts.late
    assert counts.open == len({(row["format"], row["run"]) for row in waiting})
    ends = (counts.passed, counts.failed, counts.inconclusive, counts.error)
    assert sum(ends) == len(runs) == counts.runs - counts.open
    found = [row["verdict"] for row in runs]
    assert ends == tuple(found.count(name) for name in ("pass", "fail", "inconclusive", "error"))
    assert len(judged.table("verdicts")) == len(runs)
    assert _sum(judged.table("summary"), "runs") == len(runs)
    assert len(judged.table("violations")) == counts.failed
    assert counts.files == len(files)


def open_runs(judged: Judged) -> set[str]:
    """Return the names of runs that have no verdict yet."""
    return {str(row["run"]) for row in _waiting(judged)}


def verdicts(judged: Judged, batch: int | None = None) -> dict[str, tuple[object, object]]:
    """Return verdict and problem of each run that was judged in a batch."""
    rows = [row for row in judged.table("runs") if batch in (None, int(str(row["batch"])))]
    found = {str(row["run"]): (row["verdict"], row["problem"]) for row in rows}
    assert len(found) == len(rows)
    return found


def _waiting(judged: Judged) -> Table:
    return [row for row in judged.table("open") if row["closed"] is None]


def _sum(rows: Table, column: str) -> int:
    return sum(int(str(row[column])) for row in rows)


def _nothing(manifest: Manifest) -> None:
    del manifest


def _never() -> None:
    raise AssertionError("nobody has asked to stop")
