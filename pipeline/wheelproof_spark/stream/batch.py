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

from wheelproof_spark.base.session import parts_for
from wheelproof_spark.check import bronze, silver
from wheelproof_spark.check.inputs import LARGEST_SPLIT, arrived, splits_of
from wheelproof_spark.check.judging.run import FirstLines
from wheelproof_spark.check.reading.splits import Split
from wheelproof_spark.stream import state
from wheelproof_spark.stream.gold import APPENDED, SUMMED, NewRuns
from wheelproof_spark.stream.state import Patience
from wheelproof_spark.stream.store import Attempt, StreamStore
from wheelproof_spark.tables.manifest import FileEntry, Manifest
from wheelproof_spark.tables.provenance import batch_record
from wheelproof_spark.tables.rows import collected, to_read, write_rows
from wheelproof_spark.tables.schemas import FILES, OPEN, PARTS, RESULTS
from wheelproof_spec.engines.history.checkers import CheckOptions

MOST_BATCHES = 100
"""How many batches the manifest tells of."""
_FIRST_LINES = "_first_lines.json"
_LINES_A_PARTITION = 300_000


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
        self,
        spark: SparkSession,
        store: StreamStore,
        manifest: Manifest,
        judging: Judging,
        partitions: int | None,
    ) -> None:
        self._spark = spark
        self._store = store
        # Whoever has the manifest until now keeps it if the batch fails.
        self._manifest = copy.deepcopy(manifest)
        assert self._manifest.stream is not None
        self._progress = self._manifest.stream
        self._judging = judging
        self._partitions = partitions
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
        self._manifest.counts.add_runs(new.judged)
        self._progress.judged_lines += sum(row.lines for row in new.judged)
        self._keep_open(parts, runs)
        if len(new) or "summary" not in self._manifest.tables:
            self._write_gold(new, due)
        self._manifest.counts.require_sums(self._progress.judged_lines)
        self._progress.commits, self._progress.last = self._number, last
        record = batch_record(
            self._spark,
            self._number,
            files=len(entries),
            size=sum(file.size for file in entries),
            lines=sum(file.lines for file in entries),
            judged=len(new),
            started=started,
        )
        self._manifest.batches = [*self._manifest.batches, record][-MOST_BATCHES:]
        self._store.commit(self._manifest, self._attempt, self._places)
        return self._manifest

    def _read(self, found: Sequence[NewFile]) -> list[FileEntry]:
        """Parse the files into bronze, and count their lines."""
        entries, splits = list[FileEntry](), list[Split]()
        for file in sorted(found, key=lambda file: file.name):
            entry = arrived(file.path, file.name, file.size, self._manifest, self._number)
            entries.append(entry)
            splits += splits_of(file.path, entry, self._judging.split_bytes)
        if splits:
            lines = bronze.parsed(self._spark, splits, self._judging.split_bytes)
            bronze.write_bronze(lines, self._place("bronze", f"bronze/{self._number:06}"))
            self._count_lines(entries)
        rows = [{"file_id": entry.id, **asdict(entry)} for entry in entries]
        write_rows(rows, FILES, self._added("files", "files"))
        return entries

    def _count_lines(self, entries: Sequence[FileEntry]) -> None:
        folder = self._attempt.of("bronze")
        lines = {kind: bronze.read_bronze(self._spark, [folder], kind, ()) for kind in bronze.KINDS}
        first = bronze.count_lines(lines, entries)
        known = [(*split, before) for split, before in first.items() if before]
        (folder / _FIRST_LINES).write_text(json.dumps(known))
        self._manifest.counts.add_files(entries)

    def _parts(self) -> DataFrame:
        """Return what becomes of each run in this batch, written down."""
        good = bronze.read_bronze(self._spark, [self._attempt.of("bronze")], "good", ())
        new = state.arrived(good, self._number)
        parts = state.parts(self._known(), new, self._number, self._judging.patience)
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
            good = bronze.read_bronze(self._spark, self._bronze(due), "good", ())
            lines = state.lines_of(good, rows, due.parts)
            needed = due.lines // _LINES_A_PARTITION
            parts_due = parts_for(self._spark, self._partitions, needed)
            ordered = silver.ordered(lines, parts_due)
            results = silver.judged(ordered, self._judging.options, self._first_lines(due))
            state.accepted(results, rows).write.parquet(str(place))
        else:
            write_rows([], RESULTS, place)
        return self._spark.read.schema(RESULTS).parquet(to_read(place))

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

    def _keep_open(self, parts: DataFrame, runs: DataFrame) -> None:
        patience = self._judging.patience
        stays = state.left_open(self._known(), parts, runs, self._number, patience)
        place = self._place("open", f"state/{self._number:06}")
        stays.write.parquet(str(place))
        waiting = self._spark.read.schema(OPEN).parquet(to_read(place)).where("closed is null")
        found = waiting.agg(count_distinct("format", "run"), total("lines"))
        ((runs_open, lines),) = collected(found, tuple[int, int | None])
        counts = self._manifest.counts
        # Runs that were open are counted again once it is known which ones still are.
        counts.runs += runs_open - counts.open
        counts.open, counts.open_lines = runs_open, lines or 0
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
