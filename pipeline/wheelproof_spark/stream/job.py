"""The verb `pipeline stream`: a folder that files are moved into, judged as they come."""

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
    """What to judge and how, where the tables go, and who does the work.

    `closing` judges what is still open when all files are.
    """

    input: Path | Address | Topic
    output: Path
    judging: Judging
    pace: Pace
    closing: bool = False
    workers: Workers = field(default_factory=Workers)


def stream(job: StreamJob, after_batch: Callable[[Manifest], None], stop: Stop) -> Manifest:
    """Judge until told to stop, and return the manifest.

    Raises InputRejectedError, UsageError, MissingToolError, and PipelineError if the stream fails:
    then nothing of the last batch was committed, and the next start repeats it.
    """
    source, output = _places(job)
    with locked(output):
        store = StreamStore(output)
        options = job.judging.options
        manifest = store.opened(str(source), options.profile, options.max_states)
        # Whatever fails is told in one sentence.
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
    """What is done with each batch: `manifest` is what was committed last."""

    _spark: SparkSession
    _store: StreamStore
    manifest: Manifest
    _job: StreamJob
    _after_batch: Callable[[Manifest], None]

    def take(self, number: int, files: list[NewFile]) -> None:
        """Do a batch of Spark; one that was committed before is not done again."""
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
        """Judge all that is open, as far as it goes."""
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
