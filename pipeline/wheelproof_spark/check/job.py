"""The verb `pipeline check`: files in, tables and a manifest out."""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pyarrow.dataset as dataset
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import (
    array,
    array_contains,
    coalesce,
    col,
    collect_set,
    count,
    flatten,
    lit,
    when,
)
from pyspark.sql.functions import sum as total

from wheelproof_spark.base.hadoop import RemoteFolder
from wheelproof_spark.base.listing import FORMATS, Input, LocalFolder, outside
from wheelproof_spark.base.options import Address, Workers
from wheelproof_spark.base.session import failing_as, parts_for, session_for, shuffle_in
from wheelproof_spark.check import bronze, silver
from wheelproof_spark.check.gold import SUMMED, TABLES, NewRuns
from wheelproof_spark.check.inputs import Plan, plan
from wheelproof_spark.check.judging.columns import JUDGE
from wheelproof_spark.check.judging.run import FirstLines
from wheelproof_spark.tables.documents import document_of
from wheelproof_spark.tables.manifest import SCHEMA, Counts, FileEntry, Manifest, parsed
from wheelproof_spark.tables.plan import Move
from wheelproof_spark.tables.provenance import batch_record
from wheelproof_spark.tables.rows import collected, read_from, rows_where, union, written
from wheelproof_spark.tables.schemas import PIECES, RESULTS
from wheelproof_spark.tables.store import Attempt, Store
from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.history.checkers import CheckOptions

_BYTES_A_PARTITION = 64 << 20
_RUNS, _SHUFFLED = "silver/runs", "silver/shuffled"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckJob:
    """The input to judge, the output of the tables, and the workers."""

    input: Path | Address
    output: Path
    options: CheckOptions
    workers: Workers = field(default_factory=Workers)
    split_bytes: int | None = None


def check(job: CheckJob) -> Manifest:
    """Judge new input, commit, and return the manifest; do nothing if there is none.

    Raises InputRejectedError, UsageError, MissingToolError, and PipelineError if the job fails:
    then nothing is committed.
    """
    output = job.output.resolve()
    source = job.input if isinstance(job.input, Address) else outside(output, job.input)
    with Store(output) as store:
        manifest = parsed(store.plan) or Manifest(
            profile=job.options.profile,
            max_states=job.options.max_states,
            judge=JUDGE,
            input=str(source),
        )
        if manifest.stream is not None:
            raise UsageError(
                f"{job.output} was made by `wheelproof pipeline stream`; name another output"
            )
        manifest.require_options(job.options.profile, job.options.max_states)
        batch = manifest.batches[-1].number + 1 if manifest.batches else 1
        if manifest.judge != JUDGE:
            # Another version may read and judge the same lines in another way: all is read anew.
            manifest = replace(manifest, judge=JUDGE, files=[], tables={})
        with failing_as("the job"), ExitStack() as stack:
            store.recover()
            found: Input
            if isinstance(source, Address):
                # Only Spark can read Hadoop's file systems: it starts to find the new files.
                spark = stack.enter_context(session_for(job.workers))
                found = RemoteFolder(spark, source, store)
            else:
                found = LocalFolder(source, output)
            work = plan(found, manifest, batch, job.split_bytes)
            if not work.files:
                remedy = f"put {FORMATS} there"
                raise InputRejectedError(manifest.input, None, "has no file", remedy)
            if not work.empty:
                spark = stack.enter_context(session_for(job.workers))
                attempt = store.attempt()
                moves = _Run(spark, job, store, attempt, manifest, batch).do(work)
                store.commit(document_of(asdict(manifest), SCHEMA), batch, attempt, moves)
        return manifest


def _place(layer: str, batch: int) -> str:
    """Return the folder of a batch in a table or layer, relative to the output."""
    return f"{layer}/{batch:06}"


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of the pipeline over the new input."""

    _spark: SparkSession
    _job: CheckJob
    _store: Store
    _attempt: Attempt
    _manifest: Manifest
    _batch: int

    def do(self, work: Plan) -> Sequence[Move]:
        """Write the tables of all layers, update the manifest, and return the moves."""
        started = time.monotonic()
        shuffle_in(self._spark, self._partitions(work.bytes))
        manifest, batch = self._manifest, self._batch
        before = sum(file.lines for file in work.files)
        manifest.files = work.files
        self._read(work)
        earlier = self._earlier(work)
        read = self._bronze().of([batch]) if earlier else self._bronze()
        shuffle_in(self._spark, self._partitions(self._size(read)))
        runs, judged = self._judge(read, earlier)
        gold = self._attempt.of("gold")
        runs.write_appended(self._paths(read), gold)
        runs.write_summed(earlier, gold)
        moves = self._moves(earlier)
        record = batch_record(
            self._spark,
            batch,
            files=work.fresh,
            size=work.bytes,
            lines=sum(file.lines for file in work.files) - before,
            judged=judged,
            started=started,
        )
        manifest.batches.append(record)
        return moves

    def _moves(self, earlier: Mapping[str, Path]) -> Sequence[Move]:
        """Return the moves of the batch, and name its tables; the rows of `earlier` ones stay."""
        tables = {name: f"gold/{name}" for name in sorted(TABLES)} | {"runs": _RUNS}
        if "shuffled" in earlier or self._attempt.of(_SHUFFLED).is_dir():
            tables["shuffled"] = _SHUFFLED
        self._manifest.tables = tables
        moves = [
            Move(
                here=table,
                there=_place(table, self._batch),
                table=table,
                replaces=name not in earlier or name in SUMMED,
            )
            for name, table in tables.items()
        ]
        for layer, table in (("bronze", "bronze"), ("parts", None)):
            there = _place(layer, self._batch)
            moves.append(Move(here=layer, there=there, table=table, replaces=False))
        return moves

    def _read(self, work: Plan) -> None:
        """Write the new lines, and the pieces of each file by name."""
        folder = self._attempt.of("bronze")
        tables = bronze.read_splits(self._spark, work, self._job.options, folder)
        parts = silver.parts_of(tables["good"], tables["whole"])
        parts = parts.withColumn("batches", array(lit(self._batch)))
        parts = written(parts, self._attempt.of("parts"), PIECES)
        bronze.count_lines(tables, parts, self._manifest.files, folder)

    def _earlier(self, work: Plan) -> Mapping[str, Path]:
        """Return the tables whose rows all stay; none if a run of an earlier batch has changed.

        All is written anew if a line is gone, if a new one has the name of an earlier run, and if
        none is good.
        """
        tables = {name: self._store.path(table) for name, table in self._manifest.tables.items()}
        if not tables or work.withdrawn:
            return {}
        parts = self._folder("parts", self._batch).glob("*.parquet")
        new = set(rows_where(parts, silver.NAME, None))
        if not new:
            return {}
        before = self._batches() - {self._batch}
        files = (file for n in before for file in self._folder("parts", n).glob("*.parquet"))
        same = dataset.field("run").isin(sorted({str(run) for _, run in new}))
        there = {file.id for file in work.files}
        for *name, file_id in rows_where(files, silver.FILE, same):
            if tuple(name) in new and file_id in there:
                return {}
        return tables

    def _batches(self) -> set[int]:
        return {number for file in self._manifest.files for number in file.batches} | {self._batch}

    def _bronze(self) -> "_Bronze":
        """Return the lines of all batches that count."""
        numbers = sorted(self._batches())
        there = {file.id for file in self._manifest.files}
        return _Bronze(
            folders={number: self._folder("bronze", number) for number in numbers},
            parts={number: self._folder("parts", number) for number in numbers},
            void=[number for number in range(self._manifest.next_file) if number not in there],
        )

    def _judge(self, read: "_Bronze", earlier: Mapping[str, Path]) -> tuple[NewRuns, int]:
        """Write the rows of the runs in `read`; return them, and the number of runs judged now.

        `earlier` are the tables of all other runs.
        """
        spark = self._spark
        whole = read.rows(spark, "whole")
        before = None if earlier else self._shuffled_before()
        parts, found = self._resolved(read, before)
        first = bronze.first_lines(read.folders.values())
        others = parts.where("not in_place or repeat") if found.others else None
        runs = silver.in_place(whole, silver.before_splits(spark, first), others)
        shuffled = None
        if found.shuffled:
            due = read.of(found.batches)
            rows = self._shuffled(due, before, parts, first, found.due_parts)
            shuffled = written(rows, self._attempt.of(_SHUFFLED))
            runs = runs.unionByName(silver.once(shuffled, parts))
        runs = written(runs, self._attempt.of(_RUNS))
        counted = NewRuns(runs, shuffled)
        self._count(counted, found.repeated, self._manifest.counts if earlier else Counts())
        return counted, found.due + found.fresh

    def _resolved(self, read: "_Bronze", before: DataFrame | None) -> tuple[DataFrame, "_Parts"]:
        """Write and return the state of each part, with the counts.

        `before` has the rows of runs that earlier batches shuffled.
        """
        spark = self._spark
        parts = read_from(spark, PIECES, read.parts.values())
        if read.void:
            parts = parts.where(~col("file_id").isin(read.void))
        place = self._attempt.of("resolved")
        resolved = written(silver.resolved(parts, None, before), place / "parts")
        found = self._counted(resolved)
        if not found.strays:
            return resolved, found
        repeats = silver.repeats_among(
            resolved.where("stray"),
            resolved,
            flatten(collect_set("batches")),
            lambda kind, batches: read.of(batches).rows(spark, kind),
        )
        repeats = None if repeats is None else written(repeats, place / "repeats")
        resolved = written(silver.resolved(parts, repeats, before), place / "resolved")
        return resolved, self._counted(resolved)

    def _counted(self, parts: DataFrame) -> "_Parts":
        others = ~col("in_place") | col("repeat")
        fresh = ~others & array_contains("batches", self._batch)
        numbers = {
            "others": others,
            "shuffled": col("shuffled"),
            "strays": col("stray"),
            "due": col("leads"),
            "fresh": fresh,
            "due_parts": col("due"),
        }
        asked = parts.agg(
            *(count(when(which, 1)).alias(name) for name, which in numbers.items()),
            coalesce(total(when(col("repeat"), col("lines"))), lit(0)).alias("repeated"),
            flatten(collect_set(when(col("due"), col("batches")))).alias("batches"),
        )
        (row,) = collected(asked, tuple[int, int, int, int, int, int, int, list[int]])
        return _Parts(*row)

    def _shuffled_before(self) -> DataFrame | None:
        """Return the rows of the runs that earlier batches shuffled, or None."""
        table = self._manifest.tables.get("shuffled")
        return None if table is None else read_from(self._spark, RESULTS, [self._store.path(table)])

    def _shuffled(
        self,
        read: "_Bronze",
        before: DataFrame | None,
        parts: DataFrame,
        first_lines: FirstLines,
        due: int,
    ) -> DataFrame:
        """Return the rows of all runs that were not judged where they were read."""
        tables = list[DataFrame]()
        if before is not None:
            stays = parts.where("shuffled and not due").select(*silver.RUN, "made_of").distinct()
            tables.append(before.join(stays, [*silver.RUN, "made_of"], "left_semi"))
        if due:
            chosen = parts.where("due")
            good, whole = (read.rows(self._spark, kind) for kind in ("good", "whole"))
            lines = silver.lines_of(good, whole, chosen, number=due)
            ordered = silver.ordered(lines, self._partitions(self._size(read)))
            results = silver.judged(ordered, self._job.options, first_lines)
            tables.append(silver.with_parts(results, chosen))
        return union(tables)

    def _folder(self, layer: str, batch: int) -> Path:
        """Return the folder of the tables of this batch, or of an earlier one."""
        if batch == self._batch:
            return self._attempt.of(layer)
        return self._store.path(_place(layer, batch))

    def _partitions(self, size: int) -> int:
        by_size = size // _BYTES_A_PARTITION
        return parts_for(self._spark, self._job.workers.partitions, by_size)

    def _count(self, runs: NewRuns, repeated: int, before: Counts) -> None:
        """Count all runs: those `before`, which stay, and the new ones."""
        kept = sum(row.lines for row in runs.judged if row.shuffled)
        judged = before.good - before.repeated + sum(row.lines for row in runs.judged)
        counts = replace(before, files=0, lines=0, good=0, quarantined=0)
        counts.repeated += repeated + runs.shuffled_lines - kept
        counts.add_files(self._manifest.files)
        counts.add_runs(runs.judged)
        counts.require_sums(judged)
        self._manifest.counts = counts

    def _files_of(self, read: "_Bronze") -> list[FileEntry]:
        """Return the files with lines in these batches."""
        files = self._manifest.files
        return [file for file in files if not read.folders.keys().isdisjoint(file.batches)]

    def _size(self, read: "_Bronze") -> int:
        return sum(file.state.size for file in self._files_of(read))

    def _paths(self, read: "_Bronze") -> DataFrame:
        rows = [(file.id, file.path) for file in self._files_of(read)]
        return self._spark.createDataFrame(rows, "id int, path string")


@dataclass(frozen=True, slots=True)
class _Parts:
    """Counts of parts; `due` counts runs, `repeated` lines; `batches` have the due lines."""

    others: int
    shuffled: int
    strays: int
    due: int
    fresh: int
    due_parts: int
    repeated: int
    batches: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bronze:
    """The lines read so far, by batch, without those of `void` files (changed or gone)."""

    folders: Mapping[int, Path]
    parts: Mapping[int, Path]
    void: Sequence[int]

    def rows(self, spark: SparkSession, kind: str) -> DataFrame:
        """Return the rows of a kind, without those of void files."""
        return bronze.read_bronze(spark, self.folders.values(), kind, self.void)

    def of(self, batches: Sequence[int]) -> "_Bronze":
        """Return the lines of these batches only."""
        folders = {number: self.folders[number] for number in batches}
        return replace(self, folders=folders, parts={n: self.parts[n] for n in batches})
