"""The verb `pipeline stream`: files that are moved into a folder are judged as they arrive."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark.sql import SparkSession

from wheelproof_spark.base.lock import locked, outside
from wheelproof_spark.base.options import Address, Topic, Workers
from wheelproof_spark.base.session import failing_as, session_for
from wheelproof_spark.stream.batch import Judging, NewFile, StreamBatch
from wheelproof_spark.stream.query import Pace, follow
from wheelproof_spark.stream.sources import source_of
from wheelproof_spark.stream.stop import Stop
from wheelproof_spark.stream.store import StreamStore
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spec.base.errors import InputRejectedError, UsageError

_PATTERN = frozenset("*?[]{}\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamJob:
    """The input, how to judge it, the output, and the workers.

    `closing` judges the runs that are still open when all files are judged.
    """

    input: Path | Address | Topic
    output: Path
    judging: Judging
    pace: Pace
    closing: bool = False
    workers: Workers = field(default_factory=Workers)


def stream(job: StreamJob, after_batch: Callable[[Manifest], None], stop: Stop) -> Manifest:
    """Judge until all is judged or a stop is requested, and return the manifest.

    Raises InputRejectedError, UsageError, MissingToolError, and PipelineError if the stream fails:
    then nothing of the last batch was committed, and the next start repeats it.
    """
    source, output = _places(job)
    with locked(output):
        store = StreamStore(output)
        options = job.judging.options
        manifest = store.opened(str(source), options.profile, options.max_states)
        # An error is reported in one sentence, without Spark's log.
        quiet = {"spark.log.level": "FATAL"}
        with session_for(job.workers, quiet) as spark:
            batches = _Batches(spark, store, manifest, job, after_batch)
            with failing_as("the stream"):
                with stop.listening():
                    follow(
                        spark, source_of(source, store.spool), store, job.pace, batches.take, stop
                    )
                if job.closing and not stop.asked and batches.manifest.counts.open:
                    batches.close()
            return batches.manifest


@dataclass(slots=True)
class _Batches:
    """The handler of Spark's batches; `manifest` is the one that was committed last."""

    _spark: SparkSession
    _store: StreamStore
    manifest: Manifest
    _job: StreamJob
    _after_batch: Callable[[Manifest], None]

    def take(self, number: int, files: list[NewFile]) -> None:
        """Do a batch of Spark, unless it was committed before."""
        assert self.manifest.stream is not None
        last = self.manifest.stream.last
        if number <= last:
            return
        if number != last + 1:
            raise UsageError(
                f"{self._store.checkpoint} goes on with batch {number}, but {last} is the last one "
                "that was committed; restore both together, or name another output"
            )
        if files:
            self._do(files, number, self._job.judging)
        else:
            self.manifest = self._store.passed_over(self.manifest, number)

    def close(self) -> None:
        """Judge all open runs from the lines that they have."""
        assert self.manifest.stream is not None
        patience = replace(self._job.judging.patience, closing=True)
        self._do([], self.manifest.stream.last, replace(self._job.judging, patience=patience))

    def _do(self, files: list[NewFile], last: int, judging: Judging) -> None:
        partitions = self._job.workers.partitions
        batch = StreamBatch(self._spark, self._store, self.manifest, judging, partitions)
        self.manifest = batch.do(files, last)
        self._after_batch(self.manifest)


def _places(job: StreamJob) -> tuple[Path | Address | Topic, Path]:
    source, output = job.input, job.output.resolve()
    if isinstance(source, Topic):
        return source, output
    if isinstance(source, Path):
        if not source.is_dir():
            problem = "is no folder" if source.exists() else "does not exist"
            remedy = "name the folder that files are moved into"
            raise InputRejectedError(str(source), None, problem, remedy)
        source = outside(output, source)
    if _PATTERN & set(str(source)):
        characters = " ".join(sorted(_PATTERN))
        raise UsageError(f"{job.input} has one of {characters} in its path; name another folder")
    return source, output
