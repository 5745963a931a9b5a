"""One batch of a stream: new files in, verdicts on the runs that are due, one commit."""

import copy
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, count, count_distinct
from pyspark.sql.functions import sum as total

from wheelproof_spark.check import silver
from wheelproof_spark.check.bronze import parsed, read_bronze, write_bronze
from wheelproof_spark.check.inputs import LARGEST_SPLIT, arrived, splits_of
from wheelproof_spark.check.judging.run_judge import FirstLines
from wheelproof_spark.check.reading.splits import Split
from wheelproof_spark.stream import state as stream_state
from wheelproof_spark.stream.gold import APPENDED, SUMMED, NewRuns
from wheelproof_spark.stream.state import Patience
from wheelproof_spark.stream.store import Attempt, StreamStore
from wheelproof_spark.tables.collected import collected
from wheelproof_spark.tables.manifest import Batch, FileEntry, Manifest
from wheelproof_spark.tables.provenance import machine, versions
from wheelproof_spark.tables.schemas import BRONZE, RESULTS
from wheelproof_spark.tables.small_tables import write_rows
from wheelproof_spark.tables.stream_schemas import FILES, OPEN, PARTS
from wheelproof_spec.check.checkers import CheckOptions

MOST_BATCHES = 100
"""How many batches the manifest tells of."""
_FIRST_LINES = "_first_lines.json"
_LINES_A_PARTITION = 300_000
_LEAST_PARTITIONS_A_CORE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file that Spark has found: where it is, its name in the input, its size in bytes."""

    path: Path
    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How the runs of a stream are judged."""

    options: CheckOptions
    patience: Patience
    partitions: int | None = None
    split_bytes: int = LARGEST_SPLIT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """What is to be judged: in which batches its lines came, how many these are."""

    batches: list[int]
    lines: int
    parts: int


class StreamBatch:
    """Does one batch, and commits it."""

    def __init__(
        self, spark: SparkSession, store: StreamStore, manifest: Manifest, judging: Judging
    ) -> None:
        self._spark = spark
        self._store = store
        # Whoever has the manifest until now keeps it if the batch fails.
        self._manifest = copy.deepcopy(manifest)
        assert self._manifest.stream is not None
        self._progress = self._manifest.stream
        self._judging = judging
        self._number = self._progress.commits + 1
        self._attempt: Attempt = store.attempt()
        self._places: dict[str, str] = {}

    def do(self, found: Sequence[NewFile], last: int) -> Manifest:
        """Read the files, judge what is due, commit, and return the manifest.

        `last` is the newest of Spark's batches then.
        """
        started = time.monotonic()
        entries = self._read(found)
        parts = self._parts()
        due = self._due(parts)
        runs = self._judge(parts, due)
        new = NewRuns(runs)
        self._count(new)
        self._keep_open(parts, runs)
        if len(new) or "summary" not in self._manifest.tables:
            self._write_gold(new, due)
        self._manifest.counts.require_sums(self._progress.judged_lines)
        self._progress.commits, self._progress.last = self._number, last
        self._record(entries, len(new), time.monotonic() - started)
        self._store.commit(self._manifest, self._attempt, self._places)
        return self._manifest

    def _read(self, found: Sequence[NewFile]) -> list[FileEntry]:
        """Parse the files into bronze, and count their lines."""
        entries, splits = list[FileEntry](), list[Split]()
        for one in sorted(found, key=lambda file: file.name):
            entry = arrived(one.path, one.name, one.size, self._manifest, self._number)
            entries.append(entry)
            splits += splits_of(one.path, entry, self._judging.split_bytes)
        if splits:
            lines = parsed(self._spark, splits, self._judging.split_bytes)
            write_bronze(lines, self._place("bronze", f"bronze/{self._number:06}"))
            self._count_lines(entries)
        rows = [{"file_id": one.id, **asdict(one)} for one in entries]
        write_rows(rows, FILES, self._added("files", "files"))
        return entries

    def _count_lines(self, entries: Sequence[FileEntry]) -> None:
        by_id = {one.id: one for one in entries}
        bronze = self._spark.read.schema(BRONZE).parquet(str(self._attempt.of("bronze")))
        found = bronze.groupBy("kind", "file_id", "start").agg(count("*"), total("line"))
        first_lines: list[tuple[int, int, int]] = []
        for kind, file_id, start, rows, lines in sorted(
            collected(found, tuple[str, int, int, int, int])
        ):
            entry = by_id[file_id]
            match kind:
                case "split":
                    if entry.lines:
                        first_lines.append((file_id, start, entry.lines))
                    entry.lines += lines
                case "good":
                    entry.good += rows
                case _:
                    entry.quarantined += rows
        (self._attempt.of("bronze") / _FIRST_LINES).write_text(json.dumps(first_lines))
        counts = self._manifest.counts
        counts.files += len(entries)
        counts.lines += sum(one.lines for one in entries)
        counts.good += sum(one.good for one in entries)
        counts.quarantined += sum(one.quarantined for one in entries)

    def _parts(self) -> DataFrame:
        """Return what becomes of each run in this batch, written down."""
        good = read_bronze(self._spark, [self._attempt.of("bronze")], "good", ())
        new = stream_state.arrived(good, self._number)
        parts = stream_state.parts(self._known(), new, self._number, self._judging.patience)
        parts.write.parquet(str(self._attempt.of("parts")))
        return self._spark.read.schema(PARTS).parquet(str(self._attempt.of("parts")))

    def _known(self) -> DataFrame:
        table = self._manifest.tables.get("open")
        if table is None:
            return self._spark.createDataFrame([], OPEN)
        return self._spark.read.schema(OPEN).parquet(str(self._store.path(table)))

    def _judge(self, parts: DataFrame, due: _Due) -> DataFrame:
        """Return the verdicts of this batch, written down."""
        place = self._added("runs", "silver/runs")
        if due.parts:
            rows = parts.where("due")
            good = read_bronze(self._spark, self._bronze(due), "good", ())
            lines = stream_state.lines_of(good, rows, due.parts)
            ordered = silver.ordered(lines, self._partitions(due))
            results = silver.judged(ordered, self._judging.options, self._first_lines(due))
            stream_state.accepted(results, rows).write.parquet(str(place))
        else:
            write_rows([], RESULTS, place)
        return self._spark.read.schema(RESULTS).parquet(str(place))

    def _due(self, parts: DataFrame) -> _Due:
        found = parts.groupBy("due", "late", "batch").agg(total("lines"), count("*"))
        rows = collected(found, tuple[bool, bool, int, int, int])
        self._manifest.counts.late += sum(row[3] for row in rows if row[1])
        due = [row for row in rows if row[0]]
        return _Due(
            batches=sorted({row[2] for row in due}),
            lines=sum(row[3] for row in due),
            parts=sum(row[4] for row in due),
        )

    def _bronze(self, due: _Due) -> list[Path]:
        return [self._of_batch("bronze", "", batch) for batch in due.batches]

    def _of_batch(self, name: str, prefix: str, batch: int) -> Path:
        """Return where a batch, this one or one before it, has its part of a table."""
        if batch == self._number:
            return self._attempt.of(name)
        return self._store.path(f"{name}/{prefix}{batch:06}")

    def _first_lines(self, due: _Due) -> FirstLines:
        """Return how many lines are before each split, of the files that were read in several."""
        return {
            (file_id, start): lines
            for folder in self._bronze(due)
            for file_id, start, lines in json.loads((folder / _FIRST_LINES).read_text())
        }

    def _partitions(self, due: _Due) -> int:
        if self._judging.partitions is not None:
            return self._judging.partitions
        cores = self._spark.sparkContext.defaultParallelism
        return max(due.lines // _LINES_A_PARTITION, cores * _LEAST_PARTITIONS_A_CORE)

    def _count(self, new: NewRuns) -> None:
        counts = self._manifest.counts
        new.add_to(counts)
        self._progress.judged_lines += new.lines
        # Runs that were open are counted again once it is known which ones still are.
        counts.runs += len(new) - counts.open

    def _keep_open(self, parts: DataFrame, runs: DataFrame) -> None:
        patience = self._judging.patience
        stays = stream_state.left_open(self._known(), parts, runs, self._number, patience)
        place = self._place("open", f"state/{self._number:06}")
        stays.write.parquet(str(place))
        waiting = self._spark.read.schema(OPEN).parquet(str(place)).where("closed is null")
        found = waiting.agg(count_distinct("format", "run"), total("lines"))
        ((runs_open, lines),) = collected(found, tuple[int, int | None])
        counts = self._manifest.counts
        counts.open, counts.open_lines = runs_open, lines or 0
        counts.runs += runs_open
        self._manifest.tables["open"] = self._places["open"]

    def _write_gold(self, new: NewRuns, due: _Due) -> None:
        """Add the verdicts of the batch to the tables."""
        tables = self._manifest.tables
        batches = due.batches or [self._number]
        folders = [str(self._of_batch("files", "batch=", batch)) for batch in batches]
        files = self._spark.read.schema(FILES).parquet(*folders)
        named = files.select(col("file_id").alias("id"), "path")
        new.write_appended(named, self._attempt.folder)
        for name in APPENDED:
            self._added(name, f"gold/{name}")
        before = {name: self._store.path(tables[name]) for name in SUMMED if name in tables}
        new.write_summed(before, self._place("gold", f"gold/{self._number:06}"))
        tables |= {name: f"gold/{self._number:06}/{name}" for name in SUMMED}

    def _place(self, name: str, place: str) -> Path:
        """Return where a table is written that has its place when the batch is committed."""
        self._places[name] = place
        return self._attempt.of(name)

    def _added(self, name: str, table: str) -> Path:
        """Return where the part of a table is written that this batch adds."""
        self._manifest.tables[name] = table
        return self._place(name, f"{table}/batch={self._number:06}")

    def _record(self, entries: Sequence[FileEntry], judged: int, seconds: float) -> None:
        self._manifest.batches.append(
            Batch(
                number=self._number,
                files=len(entries),
                bytes=sum(one.size for one in entries),
                lines=sum(one.lines for one in entries),
                judged=judged,
                seconds=round(seconds, 3),
                master=self._spark.sparkContext.master or "",
                versions=versions(),
                machine=machine(),
            )
        )
        del self._manifest.batches[:-MOST_BATCHES]
