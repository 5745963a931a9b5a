"""The verb `pipeline check`: files in, tables and a manifest out."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from wheelproof_spark.base.lock import locked
from wheelproof_spark.base.options import Workers
from wheelproof_spark.base.session import failing_as, parts_for, spark_session
from wheelproof_spark.check import bronze, silver
from wheelproof_spark.check.gold import account, write_gold
from wheelproof_spark.check.inputs import Plan, plan
from wheelproof_spark.check.judging.run import FirstLines
from wheelproof_spark.check.place import next_batch, numbered, sweep, sweep_uncommitted
from wheelproof_spark.tables.manifest import Counts, Judged, Manifest, load, save
from wheelproof_spark.tables.provenance import batch_record
from wheelproof_spark.tables.rows import collected, to_read
from wheelproof_spark.tables.schemas import RESULTS
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.engines.history.checkers import CheckOptions

_BYTES_A_PARTITION = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckJob:
    """What to judge, where the tables go, and who does the work."""

    input: Path
    output: Path
    options: CheckOptions
    workers: Workers = field(default_factory=Workers)
    split_bytes: int | None = None


def check(job: CheckJob) -> Manifest:
    """Judge what is new, commit, and return the manifest; without anything new, do nothing.

    Raises InputRejectedError, UsageError, MissingToolError, and PipelineError if the job fails:
    then nothing is committed.
    """
    source, output = job.input.resolve(), job.output.resolve()
    if output == source or output.is_relative_to(source):
        raise UsageError(f"{job.output} is inside of the input; name another output")
    with locked(output):
        manifest = load(output) or Manifest(
            profile=job.options.profile, max_states=job.options.max_states, input=str(source)
        )
        if manifest.stream is not None:
            raise UsageError(
                f"{job.output} was made by `wheelproof pipeline stream`; name another output"
            )
        manifest.require_options(job.options.profile, job.options.max_states)
        batch = next_batch(output, manifest)
        sweep(output, manifest)
        work = plan(source, manifest, batch, job.split_bytes)
        if work.empty:
            return manifest
        try:
            with failing_as("the job"):
                with spark_session(job.workers.master, progress=job.workers.progress) as spark:
                    _Run(spark, job, output, manifest, batch).do(work)
                save(output, manifest)
        finally:
            sweep_uncommitted(output)
        return manifest


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of the pipeline over what is new."""

    _spark: SparkSession
    _job: CheckJob
    _output: Path
    _manifest: Manifest
    _batch: int

    def do(self, work: Plan) -> None:
        """Write the tables of all layers, and change the manifest accordingly."""
        started = time.monotonic()
        manifest, batch = self._manifest, self._batch
        before = manifest.counts.lines
        manifest.files = work.files
        folder = numbered(self._output, "bronze", batch)
        bronze.write_bronze(bronze.parsed(self._spark, work.splits, work.split_bytes), folder)
        tables = {kind: self._bronze(kind, work) for kind in bronze.KINDS}
        first_lines = bronze.count_lines(tables, manifest.files)
        runs, judged = self._judge(tables["good"], work, first_lines)
        self._count(runs)
        places = write_gold(runs, self._files(), numbered(self._output, "gold", batch))
        places["runs"] = numbered(self._output, "silver", batch)
        manifest.tables = {
            name: str(place.relative_to(self._output)) for name, place in sorted(places.items())
        }
        record = batch_record(
            self._spark,
            batch,
            files=work.fresh,
            size=work.bytes,
            lines=manifest.counts.lines - before,
            judged=judged,
            started=started,
        )
        manifest.batches.append(record)

    def _bronze(self, kind: str, work: Plan) -> DataFrame:
        """Return the lines of a kind that count: a file's are there as long as the file is."""
        numbers = {number for file in work.files for number in file.batches} | {self._batch}
        there = {file.id for file in work.files}
        void = [number for number in range(self._manifest.next_file) if number not in there]
        return bronze.read_bronze(self._spark, self._of_batches(numbers), kind, void)

    def _of_batches(self, numbers: Iterable[int]) -> list[Path]:
        return [numbered(self._output, "bronze", number) for number in sorted(numbers)]

    def _judge(self, good: DataFrame, work: Plan, first_lines: FirstLines) -> tuple[DataFrame, int]:
        """Judge the runs that are new or have changed; return all runs, and how many those are."""
        place = numbered(self._output, "silver", self._batch)
        several = self._several(good)
        lines = silver.scoped(good, several)
        change = self._change(work)
        if change is not None:
            lines = silver.only_changed(lines, change)
        ordered = silver.ordered(lines, self._partitions())
        results = silver.judged(ordered, self._job.options, first_lines)
        results.write.parquet(str(place / "judged"))
        judged = self._spark.read.schema(RESULTS).parquet(to_read(place / "judged")).count()
        if change is not None:
            kept = silver.kept_verdicts(change, silver.scoped(good, several))
            kept.write.parquet(str(place / "kept"))
        parts = [to_read(path) for path in (place / "judged", place / "kept") if path.is_dir()]
        return self._spark.read.schema(RESULTS).parquet(*parts), judged

    def _several(self, good: DataFrame) -> DataFrame | None:
        """Return the names that several files use, written down, so that a plan only reads them."""
        place = numbered(self._output, ".work", self._batch)
        silver.several_headers(good).write.parquet(str(place))
        several = self._spark.read.schema("format string, run string").parquet(to_read(place))
        return None if several.isEmpty() else several

    def _change(self, work: Plan) -> silver.Change | None:
        """Return what is new since the last batch; None if there was none."""
        table = self._manifest.tables.get("runs")
        if table is None:
            return None
        added = self._of_batches([self._batch])
        pairs = silver.pairs_of(bronze.read_bronze(self._spark, added, "good", ()))
        if work.withdrawn:
            folders = self._of_batches({n for file in work.withdrawn for n in file.batches})
            earlier = bronze.read_bronze(self._spark, folders, "good", ())
            gone = silver.pairs_of(earlier, [file.id for file in work.withdrawn])
            pairs = pairs.unionByName(gone).distinct()
        place = self._output / table
        parts = [to_read(path) for path in sorted(place.iterdir()) if path.is_dir()]
        return silver.Change(pairs=pairs, verdicts=self._spark.read.schema(RESULTS).parquet(*parts))

    def _partitions(self) -> int:
        by_size = sum(file.size for file in self._manifest.files) // _BYTES_A_PARTITION
        return parts_for(self._spark, self._job.workers.partitions, by_size)

    def _count(self, runs: DataFrame) -> None:
        rows = collected(account(runs), tuple[str, int, int, int, int])
        judged = [Judged(*row) for row in rows]
        self._manifest.counts = counts = Counts()
        counts.add_files(self._manifest.files)
        counts.add_runs(judged)
        counts.require_sums(sum(row.lines for row in judged))

    def _files(self) -> DataFrame:
        rows = [(file.id, file.path) for file in self._manifest.files]
        return self._spark.createDataFrame(rows, "id int, path string")
