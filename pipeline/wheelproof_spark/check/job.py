"""The verb `pipeline check`: files in, tables out; what changed is judged again."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
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

from wheelproof_spark.base.feeder import Pace, Stop, feed
from wheelproof_spark.base.hadoop import input_of
from wheelproof_spark.base.listing import FORMATS, FoundFile, Input, outside
from wheelproof_spark.base.options import Address, Workers
from wheelproof_spark.base.session import failing_as, session_for
from wheelproof_spark.check import silver
from wheelproof_spark.check.batch import Batch
from wheelproof_spark.check.gold import NewRuns
from wheelproof_spark.check.inputs import Plan, plan
from wheelproof_spark.check.judging.columns import JUDGE
from wheelproof_spark.check.judging.run import FirstLines
from wheelproof_spark.tables.files import FileEntry, read_files
from wheelproof_spark.tables.manifest import Counts, Manifest, parsed
from wheelproof_spark.tables.rows import collected, read_from, rows_where, union, written
from wheelproof_spark.tables.schemas import PIECES, RESULTS
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.history.checkers import CheckOptions

_BYTES_A_PARTITION = 64 << 20


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
    then nothing is committed. KeyboardInterrupt: a signal ended it.
    """
    output, stop = job.output.resolve(), Stop()
    source = job.input if isinstance(job.input, Address) else outside(output, job.input)
    with Store(output) as store, failing_as("the job"), ExitStack() as stack:
        manifest = _opened(store, job, str(source))
        spark = cache(lambda: stack.enter_context(session_for(job.workers)))
        checks = _Check(spark, store, manifest, job, input_of(source, store, spark))
        with stop.listening():
            # All that is there is one batch.
            feed(checks.files, checks.take, Pace(), stop, checks.cancel)
        return manifest


def _opened(store: Store, job: CheckJob, source: str) -> Manifest:
    """Finish the last commit, and return the manifest; raises UsageError if it is no check's."""
    manifest = parsed(store.plan) or Manifest(
        profile=job.options.profile, max_states=job.options.max_states, judge=JUDGE, input=source
    )
    if manifest.stream is not None:
        raise UsageError(
            f"{job.output} was made by `wheelproof pipeline stream`; name another output"
        )
    manifest.require_options(job.options.profile, job.options.max_states)
    store.recover()
    if manifest.judge != JUDGE:
        # Another version may read and judge the same lines in another way: all is read anew.
        manifest = replace(manifest, judge=JUDGE, tables={})
    return manifest


@dataclass(frozen=True, slots=True)
class _Check:
    """Takes what is in the input, and does what is new in it; `manifest` goes on from there."""

    _spark: Callable[[], SparkSession]
    _store: Store
    _manifest: Manifest
    _job: CheckJob
    _source: Input

    def files(self) -> Sequence[FoundFile]:
        """Return the files of the input; raises InputRejectedError if there is none."""
        found = self._source.files()
        self._require_some(found)
        return found

    def take(self, listed: Sequence[FoundFile]) -> Callable[[], None] | None:
        """Return what does the batch; None if nothing has changed."""
        manifest, job = self._manifest, self._job
        table = manifest.tables.get("files")
        known = [] if table is None else read_files(self._store.path(table))
        number = manifest.next_batch
        work = plan(listed, self._source.bring, known, manifest, number, job.split_bytes)
        self._require_some(work.files)
        if work.empty:
            return None
        partitions = job.workers.partitions
        begun = Batch(self._spark(), self._store, manifest, job.options, partitions)
        return _Run(begun, work).do

    def cancel(self) -> None:
        """End the jobs of the batch that is under way."""
        self._spark().sparkContext.cancelAllJobs()

    def _require_some(self, files: Sequence[object]) -> None:
        if not files:
            raise InputRejectedError(
                self._manifest.input, None, "has no file", f"put {FORMATS} there"
            )


@dataclass(frozen=True, slots=True)
class _Run:
    """One batch of a check: what came or went, and all that it changes."""

    _batch: Batch
    _work: Plan

    def do(self) -> None:
        """Write the tables of all layers, and commit them."""
        batch, work, manifest = self._batch, self._work, self._batch.manifest
        batch.shuffles_in(work.bytes // _BYTES_A_PARTITION)
        before = sum(file.lines for file in work.files)
        self._read()
        read, shuffled = [batch.number], None
        if not self._only_adds():
            # All is written anew, with the verdicts of runs that did not change.
            read, shuffled = self._batches, self._shuffled_before()
            manifest.tables, manifest.counts = {}, Counts()
        batch.shuffles_in(self._needed(read))
        runs, judged = self._judge(read, shuffled)
        paths = [(file.file_id, file.path) for file in self._files_of(read)]
        batch.write_gold(runs, batch.spark.createDataFrame(paths, "id int, path string"))
        batch.write_files(work.files, replaces=True)
        lines = sum(file.lines for file in work.files) - before
        batch.commit(files=work.fresh, size=work.bytes, lines=lines, judged=judged)

    def _read(self) -> None:
        """Write the new lines, and the pieces of each file by name."""
        batch = self._batch
        lines = batch.read(self._work)
        parts = silver.parts_of(lines["good"], lines["whole"])
        parts = batch.write_parts(parts.withColumn("batches", array(lit(batch.number))), PIECES)
        batch.count(lines, parts, self._work.files)

    def _only_adds(self) -> bool:
        """Tell whether all earlier rows stay; not if a run of an earlier batch has changed.

        All is written anew if a line is gone, if a new one has the name of an earlier run, and if
        none is good.
        """
        batch, work = self._batch, self._work
        if not batch.manifest.tables or work.withdrawn:
            return False
        parts = batch.of("parts", batch.number).glob("*.parquet")
        new = set(rows_where(parts, silver.NAME, None))
        if not new:
            return False
        before = {*self._batches} - {batch.number}
        files = (file for n in before for file in batch.of("parts", n).glob("*.parquet"))
        same = dataset.field("run").isin(sorted({str(run) for _, run in new}))
        there = {file.file_id for file in work.files}
        return not any(
            tuple(name) in new and file_id in there
            for *name, file_id in rows_where(files, silver.FILE, same)
        )

    @property
    def _batches(self) -> list[int]:
        """The batches whose lines count."""
        read = {number for file in self._work.files for number in file.batches}
        return sorted({*read, self._batch.number})

    @property
    def _void(self) -> list[int]:
        """The files that do not count any more."""
        there = {file.file_id for file in self._work.files}
        return [n for n in range(self._batch.manifest.next_file) if n not in there]

    def _judge(self, read: Sequence[int], before: DataFrame | None) -> tuple[NewRuns, int]:
        """Write the rows of the runs in `read`; return them, and the number of runs judged now.

        `before` has the rows of runs that earlier batches shuffled.
        """
        batch, spark = self._batch, self._batch.spark
        parts, found = self._resolved(read, before)
        first = batch.first_lines(read)
        others = parts.where("not in_place or repeat") if found.others else None
        whole = batch.rows("whole", read, self._void)
        runs = silver.in_place(whole, silver.before_splits(spark, first), others)
        shuffled = None
        if found.shuffled:
            rows = self._shuffled(found, before, parts, first)
            shuffled = written(rows, batch.place("shuffled", "silver/shuffled"))
            runs = runs.unionByName(silver.once(shuffled, parts))
        runs = written(runs, batch.place("runs", "silver/runs"))
        counted = NewRuns(runs, shuffled)
        self._count(counted, found.repeated)
        return counted, found.due + found.fresh

    def _resolved(
        self, read: Sequence[int], before: DataFrame | None
    ) -> tuple[DataFrame, "_Parts"]:
        """Write and return the state of each part, with the counts."""
        batch, void = self._batch, self._void
        parts = read_from(batch.spark, PIECES, [batch.of("parts", number) for number in read])
        if void:
            parts = parts.where(~col("file_id").isin(void))
        resolved = batch.written(silver.resolved(parts, None, before), "resolved/parts")
        found = self._counted(resolved)
        if not found.strays:
            return resolved, found
        repeats = silver.repeats_among(
            resolved.where("stray"),
            resolved,
            flatten(collect_set("batches")),
            lambda kind, batches: batch.rows(kind, batches, void),
        )
        repeats = None if repeats is None else batch.written(repeats, "resolved/repeats")
        resolved = batch.written(silver.resolved(parts, repeats, before), "resolved/again")
        return resolved, self._counted(resolved)

    def _counted(self, parts: DataFrame) -> "_Parts":
        others = ~col("in_place") | col("repeat")
        fresh = ~others & array_contains("batches", self._batch.number)
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
        table = self._batch.before("shuffled")
        return None if table is None else read_from(self._batch.spark, RESULTS, [table])

    def _shuffled(
        self, found: "_Parts", before: DataFrame | None, parts: DataFrame, first: FirstLines
    ) -> DataFrame:
        """Return the rows of all runs that were not judged where they were read."""
        tables = list[DataFrame]()
        if before is not None:
            stays = parts.where("shuffled and not due").select(*silver.RUN, "made_of").distinct()
            tables.append(before.join(stays, [*silver.RUN, "made_of"], "left_semi"))
        if number := found.due_parts:
            due, batches = parts.where("due"), found.batches
            needed = self._needed(batches)
            results = self._batch.judged(due, number, batches, needed, first, self._void)
            tables.append(silver.with_parts(results, due))
        return union(tables)

    def _count(self, runs: NewRuns, repeated: int) -> None:
        """Count all runs: those before, which stay, and the new ones."""
        before = self._batch.manifest.counts
        kept = sum(row.lines for row in runs.judged if row.shuffled)
        judged = before.good - before.repeated + sum(row.lines for row in runs.judged)
        counts = replace(before, files=0, lines=0, good=0, quarantined=0)
        counts.repeated += repeated + runs.shuffled_lines - kept
        counts.add_files(self._work.files)
        counts.add_runs(runs.judged)
        counts.require_sums(judged)
        self._batch.manifest.counts = counts

    def _files_of(self, read: Sequence[int]) -> list[FileEntry]:
        """Return the files with lines in these batches."""
        return [file for file in self._work.files if not {*read}.isdisjoint(file.batches)]

    def _needed(self, read: Sequence[int]) -> int:
        """Return the number of partitions that the lines of these batches need."""
        return sum(file.state.size for file in self._files_of(read)) // _BYTES_A_PARTITION


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
