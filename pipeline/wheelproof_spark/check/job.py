"""The verb `pipeline check`: files in, tables and a manifest out."""

import time
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count
from pyspark.sql.functions import sum as total

from wheelproof_spark.base.errors import PipelineError, first_line
from wheelproof_spark.base.place import locked, next_batch, numbered, sweep, sweep_uncommitted
from wheelproof_spark.base.session import LOCAL, spark_session
from wheelproof_spark.check import bronze, silver
from wheelproof_spark.check.gold import write_gold
from wheelproof_spark.check.inputs import Plan, plan
from wheelproof_spark.check.judging.run_judge import FirstLines
from wheelproof_spark.tables.collected import collected
from wheelproof_spark.tables.manifest import Batch, Counts, Manifest, load, save
from wheelproof_spark.tables.provenance import machine, versions
from wheelproof_spark.tables.schemas import RESULTS
from wheelproof_spec.check.checkers import CheckOptions
from wheelproof_spec.errors import UsageError

_BYTES_A_PARTITION = 64 << 20
_LEAST_PARTITIONS_A_CORE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckJob:
    """What to judge, where the tables go, and who does the work."""

    input: Path
    output: Path
    options: CheckOptions
    master: str = LOCAL
    partitions: int | None = None
    split_bytes: int | None = None
    progress: bool = False


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
            with spark_session(job.master, progress=job.progress) as spark:
                _Run(spark, job, output, manifest, batch).do(work)
            save(output, manifest)
        except (PySparkException, Py4JError, OSError) as error:
            raise PipelineError(f"the job failed: {first_line(error)}") from error
        finally:
            sweep_uncommitted(output)
        return manifest


class _Run:
    """One run of the pipeline over what is new."""

    def __init__(
        self, spark: SparkSession, job: CheckJob, output: Path, manifest: Manifest, batch: int
    ) -> None:
        self._spark = spark
        self._job = job
        self._output = output
        self._manifest = manifest
        self._batch = batch

    def do(self, work: Plan) -> None:
        """Write the tables of all layers, and change the manifest accordingly."""
        started = time.monotonic()
        manifest, batch = self._manifest, self._batch
        before = sum(one.lines for one in manifest.files)
        manifest.files = work.files
        folder = numbered(self._output, "bronze", batch)
        bronze.write_bronze(bronze.parsed(self._spark, work.splits, work.split_bytes), folder)
        tables = {kind: self._bronze(kind, work) for kind in ("good", "quarantined", "split")}
        first_lines = bronze.count_lines(tables, manifest.files)
        bronze.sum_up(manifest)
        runs, judged = self._judge(tables["good"], work, first_lines)
        self._count(runs)
        places = write_gold(runs, self._files(), numbered(self._output, "gold", batch))
        places["runs"] = numbered(self._output, "silver", batch)
        manifest.tables = {
            name: str(place.relative_to(self._output)) for name, place in sorted(places.items())
        }
        lines = manifest.counts.lines - before
        seconds = round(time.monotonic() - started, 3)
        manifest.batches.append(self._record(work, lines, judged, seconds))

    def _bronze(self, kind: str, work: Plan) -> DataFrame:
        batches = sorted({number for one in work.files for number in one.batches} | {self._batch})
        folders = [numbered(self._output, "bronze", number) for number in batches]
        # A file's lines of a batch are there as long as the file is.
        void = self._void(work)
        return bronze.read_bronze(self._spark, folders, kind, void)

    def _void(self, work: Plan) -> list[int]:
        """Return the files whose lines are in bronze and do not count any more."""
        there = {one.id for one in work.files}
        return [number for number in range(self._manifest.next_file) if number not in there]

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
        judged = self._spark.read.schema(RESULTS).parquet(str(place / "judged")).count()
        if change is not None:
            kept = silver.kept_verdicts(change, silver.scoped(good, several))
            kept.write.parquet(str(place / "kept"))
        parts = [str(path) for path in (place / "judged", place / "kept") if path.is_dir()]
        return self._spark.read.schema(RESULTS).parquet(*parts), judged

    def _several(self, good: DataFrame) -> DataFrame | None:
        """Return the names that several files use, written down, so that a plan only reads them."""
        place = numbered(self._output, ".work", self._batch)
        silver.several_headers(good).write.parquet(str(place))
        several = self._spark.read.schema("format string, run string").parquet(str(place))
        return None if several.isEmpty() else several

    def _change(self, work: Plan) -> silver.Change | None:
        """Return what is new since the last batch; None if there was none."""
        table = self._manifest.tables.get("runs")
        if table is None:
            return None
        added = numbered(self._output, "bronze", self._batch)
        pairs = silver.pairs_of(bronze.read_bronze(self._spark, [added], "good", ()))
        if work.withdrawn:
            numbers = sorted({number for one in work.withdrawn for number in one.batches})
            folders = [numbered(self._output, "bronze", number) for number in numbers]
            earlier = bronze.read_bronze(self._spark, folders, "good", ())
            gone = silver.pairs_of(earlier, [one.id for one in work.withdrawn])
            pairs = pairs.unionByName(gone).distinct()
        place = self._output / table
        parts = [str(path) for path in sorted(place.iterdir()) if path.is_dir()]
        return silver.Change(pairs=pairs, verdicts=self._spark.read.schema(RESULTS).parquet(*parts))

    def _partitions(self) -> int:
        if self._job.partitions is not None:
            return self._job.partitions
        cores = self._spark.sparkContext.defaultParallelism
        by_size = sum(one.size for one in self._manifest.files) // _BYTES_A_PARTITION
        return max(by_size, cores * _LEAST_PARTITIONS_A_CORE)

    def _count(self, runs: DataFrame) -> None:
        found = runs.groupBy("verdict").agg(
            count("*"), total("lines"), total("duplicates"), total("missing")
        )
        rows = collected(found, tuple[str, int, int, int, int])
        counts: Counts = self._manifest.counts
        counts.add_verdicts({row[0]: row[1] for row in rows})
        counts.runs = sum(row[1] for row in rows)
        counts.duplicates = sum(row[3] for row in rows)
        counts.missing = sum(row[4] for row in rows)
        counts.require_sums(sum(row[2] for row in rows))

    def _files(self) -> DataFrame:
        rows = [(one.id, one.path) for one in self._manifest.files]
        return self._spark.createDataFrame(rows, "id int, path string")

    def _record(self, work: Plan, lines: int, judged: int, seconds: float) -> Batch:
        return Batch(
            number=self._batch,
            files=work.fresh,
            bytes=work.bytes,
            lines=lines,
            judged=judged,
            seconds=seconds,
            master=self._spark.sparkContext.master or self._job.master,
            versions=versions(),
            machine=machine(),
        )
