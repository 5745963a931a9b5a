"""One batch of a stream: new files in, verdicts on the runs that are due, one commit."""

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, collect_set, count, count_distinct, lit, when
from pyspark.sql.functions import sum as total
from pyspark.sql.types import IntegerType, StructField, StructType

from wheelproof_spark.check import silver
from wheelproof_spark.check.batch import Batch
from wheelproof_spark.check.gold import NewRuns
from wheelproof_spark.check.inputs import Plan
from wheelproof_spark.stream import state
from wheelproof_spark.stream.state import Patience
from wheelproof_spark.tables.rows import collected, read_from, union, write_rows, written
from wheelproof_spark.tables.schemas import FILES, OPEN, PART, PARTS, RESULTS

_LINES_A_PARTITION = 300_000
_RUNS = StructType([*RESULTS, StructField("batch", IntegerType())])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """The due work: the batches of the due lines, and the counts of lines, parts and runs."""

    batches: list[int]
    lines: int
    parts: int
    whole: int


class StreamBatch:
    """One batch: reads, judges and commits it."""

    def __init__(self, batch: Batch, patience: Patience) -> None:
        self._batch, self._spark, self._number = batch, batch.spark, batch.number
        self._manifest = batch.manifest
        assert self._manifest.stream is not None
        self._progress = self._manifest.stream
        self._patience = patience

    def do(self, work: Plan) -> None:
        """Read the files, judge the due runs, and commit."""
        batch, counts = self._batch, self._manifest.counts
        batch.shuffles_in(0)
        arrived = self._read(work)
        batch.write_files(work.files)
        parts = self._parts(arrived)
        due = self._due(parts)
        runs, shuffled = self._judge(parts, due)
        new = NewRuns(runs, shuffled)
        counts.add_runs(new.judged)
        self._progress.judged_lines += sum(row.lines for row in new.judged)
        kept = sum(row.lines for row in new.judged if row.shuffled)
        counts.repeated += new.shuffled_lines - kept
        in_place = runs.where("made_of is null")
        self._keep_open(parts, in_place if shuffled is None else in_place.unionByName(shuffled))
        if len(new) or "summary" not in self._manifest.tables:
            folders = [batch.of("files", number) for number in due.batches or [self._number]]
            files = read_from(self._spark, FILES, folders)
            named = files.select(col("file_id").alias("id"), "path")
            batch.write_gold(new, named, self._number)
        counts.require_sums(self._progress.judged_lines)
        lines = sum(file.lines for file in work.files)
        batch.commit(files=len(work.files), size=work.bytes, lines=lines, judged=len(new))

    def _read(self, work: Plan) -> DataFrame:
        """Write the lines of the files, and count them; write and return their parts."""
        if work.empty:
            return self._spark.createDataFrame([], PART)
        batch = self._batch
        lines = batch.read(work)
        arrived = state.arrived(lines["good"], lines["whole"], self._number)
        new = batch.written(arrived, "new", PART)
        batch.count(lines, new, work.files)
        self._manifest.counts.add_files(work.files)
        return new

    def _parts(self, new: DataFrame) -> DataFrame:
        """Write and return the state of each part in this batch."""
        batch, patience, table = self._batch, self._patience, self._batch.before("open")
        known = read_from(self._spark, OPEN, () if table is None else [table])
        parts = state.parts(known, new, None, self._number, patience)
        parts = batch.written(parts, "parts", PARTS)
        names = parts.where(col("batch") == self._number).select(*silver.NAME).distinct()
        strays = parts.where("stray").join(names, silver.NAME, "left_semi")
        repeats = silver.repeats_among(strays, parts, collect_set("batch"), batch.rows)
        if repeats is None:
            return parts
        repeats = batch.written(repeats, "repeats")
        parts = state.parts(known, new, repeats, self._number, patience)
        return batch.written(parts, "resolved", PARTS)

    def _judge(self, parts: DataFrame, due: _Due) -> tuple[DataFrame, DataFrame | None]:
        """Write and return the verdicts of this batch, and those of shuffled runs."""
        batch, tables, shuffled = self._batch, list[DataFrame](), None
        place = batch.place("runs", "silver/runs")
        first = batch.first_lines([*due.batches, self._number])
        if due.whole:
            others = parts.where("not in_place or repeat")
            before = silver.before_splits(self._spark, first)
            tables.append(silver.in_place(batch.rows("whole", [self._number]), before, others))
        if due.parts:
            rows, needed = parts.where("due"), due.lines // _LINES_A_PARTITION
            results = batch.judged(rows, due.parts, due.batches, needed, first)
            shuffled = batch.written(state.accepted(results, rows), "shuffled", RESULTS)
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

    def _keep_open(self, parts: DataFrame, runs: DataFrame) -> None:
        """Write the parts that stay open, with `runs` as judged, and those judged lately."""
        stays = state.left_open(parts, runs, self._number, self._patience)
        place = self._batch.place("open", "state", replaces=True)
        waiting = written(stays, place, OPEN).where("closed is null")
        found = waiting.agg(count_distinct("format", "run"), total("lines"))
        ((runs_open, lines),) = collected(found, tuple[int, int | None])
        counts = self._manifest.counts
        # The open runs are counted again, now that it is known which ones are still open.
        counts.runs += runs_open - counts.open
        counts.open, counts.open_lines = runs_open, lines or 0
