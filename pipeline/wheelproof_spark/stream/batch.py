"""One batch of a stream: new files in, verdicts on the runs that are due, one commit."""

import copy
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, collect_set, count, count_distinct, lit, when
from pyspark.sql.functions import sum as total
from pyspark.sql.types import IntegerType, StructField, StructType

from wheelproof_spark.base.listing import Delivered, FoundFile
from wheelproof_spark.base.session import parts_for, shuffle_in
from wheelproof_spark.check import bronze, silver
from wheelproof_spark.check.gold import APPENDED, SUMMED, NewRuns
from wheelproof_spark.check.inputs import LARGEST_SPLIT, Plan, plan
from wheelproof_spark.stream import state
from wheelproof_spark.stream.progress import query_of
from wheelproof_spark.stream.state import Patience
from wheelproof_spark.tables.documents import document_of
from wheelproof_spark.tables.manifest import SCHEMA, Manifest
from wheelproof_spark.tables.plan import Move
from wheelproof_spark.tables.provenance import batch_record
from wheelproof_spark.tables.rows import collected, read_from, union, write_rows, written
from wheelproof_spark.tables.schemas import FILES, OPEN, PART, PARTS, RESULTS
from wheelproof_spark.tables.store import Attempt, Store
from wheelproof_spec.history.checkers import CheckOptions

MOST_BATCHES = 100
"""The number of batches that the manifest lists."""
_LINES_A_PARTITION = 300_000
_RUNS = StructType([*RESULTS, StructField("batch", IntegerType())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How the runs of a stream are judged."""

    options: CheckOptions
    patience: Patience
    split_bytes: int = LARGEST_SPLIT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """The due work: the batches of the due lines, and the counts of lines, parts and runs."""

    batches: list[int]
    lines: int
    parts: int
    whole: int


class StreamBatch:
    """One batch: reads, judges and commits it."""

    def __init__(
        self,
        spark: SparkSession,
        store: Store,
        manifest: Manifest,
        judging: Judging,
        partitions: int | None,
    ) -> None:
        self._spark = spark
        self._store = store
        # A copy: the caller's manifest stays as it is if the batch fails.
        self._manifest = copy.deepcopy(manifest)
        assert self._manifest.stream is not None
        self._progress = self._manifest.stream
        self._judging = judging
        self._partitions = partitions
        self._number = self._progress.commits + 1
        self._attempt: Attempt = store.attempt()
        self._moves: list[Move] = []

    def do(self, found: Sequence[FoundFile], last: int) -> Manifest:
        """Read the files, judge the due runs, commit, and return the manifest.

        `last` is the newest Spark batch of a topic after that.
        """
        started = time.monotonic()
        shuffle_in(self._spark, parts_for(self._spark, self._partitions, 0))
        work = plan(Delivered(found), self._manifest, self._number, self._judging.split_bytes)
        arrived, entries = self._read(work), work.files
        rows = [
            {"file_id": entry.id, "size": entry.state.size, **asdict(entry)} for entry in entries
        ]
        write_rows(rows, FILES, self._added("files", "files"))
        parts = self._parts(arrived)
        due = self._due(parts)
        runs, shuffled = self._judge(parts, due)
        new = NewRuns(runs, shuffled)
        counts = self._manifest.counts
        counts.add_runs(new.judged)
        self._progress.judged_lines += sum(row.lines for row in new.judged)
        kept = sum(row.lines for row in new.judged if row.shuffled)
        counts.repeated += new.shuffled_lines - kept
        in_place = runs.where("made_of is null")
        self._keep_open(parts, in_place if shuffled is None else in_place.unionByName(shuffled))
        if len(new) or "summary" not in self._manifest.tables:
            self._write_gold(new, due)
        self._manifest.counts.require_sums(self._progress.judged_lines)
        self._progress.commits, self._progress.last = self._number, last
        self._progress.query = query_of(self._store.output)
        record = batch_record(
            self._spark,
            self._number,
            files=len(entries),
            size=sum(file.state.size for file in entries),
            lines=sum(file.lines for file in entries),
            judged=len(new),
            started=started,
        )
        self._manifest.batches = [*self._manifest.batches, record][-MOST_BATCHES:]
        document = document_of(asdict(self._manifest), SCHEMA)
        self._store.commit(document, self._number, self._attempt, self._moves)
        return self._manifest

    def _read(self, work: Plan) -> DataFrame:
        """Write the lines of the files, and count them; write and return their parts."""
        if work.empty:
            return self._spark.createDataFrame([], PART)
        folder = self._place("bronze", "bronze")
        rows = bronze.read_splits(self._spark, work, self._judging.options, folder)
        new = self._written(state.arrived(rows["good"], rows["whole"], self._number), "new", PART)
        bronze.count_lines(rows, new, work.files, folder)
        self._manifest.counts.add_files(work.files)
        return new

    def _parts(self, new: DataFrame) -> DataFrame:
        """Write and return the state of each part in this batch."""
        known, patience = self._known(), self._judging.patience
        parts = state.parts(known, new, None, self._number, patience)
        parts = self._written(parts, "parts", PARTS)
        names = parts.where(col("batch") == self._number).select(*silver.NAME).distinct()
        strays = parts.where("stray").join(names, silver.NAME, "left_semi")
        repeats = silver.repeats_among(strays, parts, collect_set("batch"), self._rows)
        if repeats is None:
            return parts
        repeats = self._written(repeats, "repeats")
        parts = state.parts(known, new, repeats, self._number, patience)
        return self._written(parts, "resolved", PARTS)

    def _written(self, table: DataFrame, name: str, schema: StructType | None = None) -> DataFrame:
        return written(table, self._attempt.of(name), schema)

    def _known(self) -> DataFrame:
        table = self._manifest.tables.get("open")
        if table is None:
            return self._spark.createDataFrame([], OPEN)
        return read_from(self._spark, OPEN, [self._store.path(table)])

    def _judge(self, parts: DataFrame, due: _Due) -> tuple[DataFrame, DataFrame | None]:
        """Write and return the verdicts of this batch, and those of shuffled runs."""
        place = self._added("runs", "silver/runs")
        tables, shuffled = list[DataFrame](), None
        first = bronze.first_lines(self._bronze({*due.batches, self._number}))
        if due.whole:
            others = parts.where("not in_place or repeat")
            before = silver.before_splits(self._spark, first)
            tables.append(silver.in_place(self._rows("whole", [self._number]), before, others))
        if due.parts:
            rows = parts.where("due")
            good, whole = (self._rows(kind, due.batches) for kind in ("good", "whole"))
            lines = silver.lines_of(good, whole, rows, number=due.parts)
            needed = due.lines // _LINES_A_PARTITION
            parts_due = parts_for(self._spark, self._partitions, needed)
            ordered = silver.ordered(lines, parts_due)
            results = silver.judged(ordered, self._judging.options, first)
            shuffled = self._written(state.accepted(results, rows), "shuffled", RESULTS)
            tables.append(silver.once(shuffled, parts))
        if tables:
            numbered = union(tables).withColumn("batch", lit(self._number))
            numbered.write.parquet(str(place))
        else:
            write_rows([], _RUNS, place)
        return read_from(self._spark, RESULTS, [place]), shuffled

    def _due(self, parts: DataFrame) -> _Due:
        is_open = col("closed").isNull()
        in_place, repeat = is_open & col("in_place"), is_open & col("repeat")
        # The change of the repeat count: a part that was judged alone before may belong to a longer
        # run now.
        more = when(repeat, col("lines")).otherwise(0) - when(col("spare"), col("lines")).otherwise(
            0
        )
        found = parts.groupBy("due", "late", repeat, "batch", in_place).agg(
            total("lines"), count("*"), total(more)
        )
        rows = collected(found, tuple[bool, bool, bool, int, bool, int, int, int])
        new = [row for row in rows if row[3] == self._number]
        self._manifest.counts.late += sum(row[5] for row in new if row[1])
        # A waiting part may turn out to be a repeat of a new one.
        self._manifest.counts.repeated += sum(row[7] for row in rows)
        due = [row for row in rows if row[0]]
        return _Due(
            batches=sorted({row[3] for row in due}),
            lines=sum(row[5] for row in due),
            parts=sum(row[6] for row in due),
            whole=sum(row[6] for row in new if row[4] and not row[2]),
        )

    def _rows(self, kind: str, batches: Iterable[int]) -> DataFrame:
        return bronze.read_bronze(self._spark, self._bronze(batches), kind)

    def _bronze(self, batches: Iterable[int]) -> list[Path]:
        folders = (self._of_batch("bronze", batch) for batch in sorted(batches))
        return [folder for folder in folders if folder.is_dir()]

    def _of_batch(self, name: str, batch: int) -> Path:
        """Return the folder of a batch's part of a table, for this batch or an earlier one."""
        if batch == self._number:
            return self._attempt.of(name)
        return self._store.path(f"{name}/{batch:06}")

    def _keep_open(self, parts: DataFrame, runs: DataFrame) -> None:
        """Write the parts that stay open, with `runs` as judged, and those judged lately."""
        stays = state.left_open(parts, runs, self._number, self._judging.patience)
        place = self._added("open", "state", replaces=True)
        waiting = written(stays, place, OPEN).where("closed is null")
        found = waiting.agg(count_distinct("format", "run"), total("lines"))
        ((runs_open, lines),) = collected(found, tuple[int, int | None])
        counts = self._manifest.counts
        # The open runs are counted again, now that it is known which ones are still open.
        counts.runs += runs_open - counts.open
        counts.open, counts.open_lines = runs_open, lines or 0

    def _write_gold(self, new: NewRuns, due: _Due) -> None:
        """Add the verdicts of the batch to the tables."""
        tables = self._manifest.tables
        batches = due.batches or [self._number]
        folders = [self._of_batch("files", batch) for batch in batches]
        files = read_from(self._spark, FILES, folders)
        named = files.select(col("file_id").alias("id"), "path")
        new.write_appended(named, self._attempt.folder, self._number)
        for name in APPENDED:
            self._added(name, f"gold/{name}")
        before = {name: self._store.path(tables[name]) for name in SUMMED if name in tables}
        new.write_summed(before, self._attempt.folder)
        for name in SUMMED:
            self._added(name, f"gold/{name}", replaces=True)

    def _added(self, name: str, table: str, *, replaces: bool = False) -> Path:
        """Name a table, and return the folder to write this batch's part of it to."""
        self._manifest.tables[name] = table
        return self._place(name, table, replaces=replaces)

    def _place(self, name: str, table: str, *, replaces: bool = False) -> Path:
        """Return the folder to write a part of a table to; the commit adds it."""
        there = f"{table}/{self._number:06}"
        self._moves.append(Move(here=name, there=there, table=table, replaces=replaces))
        return self._attempt.of(name)
