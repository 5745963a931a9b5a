"""The verb `pipeline stream`: files that are moved into a folder are judged as they arrive."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pyspark.sql import SparkSession

from wheelproof_spark.base.hadoop import RemoteFolder
from wheelproof_spark.base.listing import FoundFile, Input, LocalFolder, outside
from wheelproof_spark.base.options import Address, Topic, Workers
from wheelproof_spark.base.session import failing_as, session_for
from wheelproof_spark.stream.batch import Judging, StreamBatch
from wheelproof_spark.stream.folder import Pace, follow_folder
from wheelproof_spark.stream.progress import CHECKPOINT, known_files, opened, query_of
from wheelproof_spark.stream.stop import Stop
from wheelproof_spark.stream.topic import follow_topic
from wheelproof_spark.tables.documents import document_of
from wheelproof_spark.tables.manifest import SCHEMA, Manifest
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.errors import UsageError


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
    output = job.output.resolve()
    source = outside(output, job.input) if isinstance(job.input, Path) else job.input
    with Store(output) as store:
        options = job.judging.options
        manifest = opened(store, str(source), options.profile, options.max_states)
        # An error is reported in one sentence, without Spark's log.
        quiet = {"spark.log.level": "FATAL"}
        with session_for(job.workers, quiet) as spark:
            batches = _Batches(spark, store, manifest, job, after_batch)
            with failing_as("the stream"):
                with stop.listening():
                    _follow(spark, source, store, batches, stop)
                if job.closing and not stop.asked and batches.manifest.counts.open:
                    batches.close()
            return batches.manifest


@dataclass(slots=True)
class _Batches:
    """The handler of Spark's batches; `manifest` is the one that was committed last."""

    _spark: SparkSession
    _store: Store
    manifest: Manifest
    job: StreamJob
    _after_batch: Callable[[Manifest], None]

    def take(self, number: int, files: Sequence[FoundFile]) -> None:
        """Do a batch of Spark, unless it was committed before."""
        assert self.manifest.stream is not None
        last = self.manifest.stream.last
        if number <= last:
            return
        if number != last + 1:
            raise UsageError(
                f"{self._store.output / CHECKPOINT} goes on with batch {number}, but {last} is the "
                "last one that was committed; restore both together, or name another output"
            )
        if files:
            self._do(files, number, self.job.judging)
        else:
            query = query_of(self._store.output)
            passed_over = replace(self.manifest.stream, last=number, query=query)
            self.manifest = replace(self.manifest, stream=passed_over)
            self._store.save(document_of(asdict(self.manifest), SCHEMA))

    def take_files(self, files: Sequence[FoundFile]) -> None:
        """Do a batch of new files."""
        assert self.manifest.stream is not None
        self._do(files, self.manifest.stream.last, self.job.judging)

    def close(self) -> None:
        """Judge all open runs from the lines that they have."""
        assert self.manifest.stream is not None
        patience = replace(self.job.judging.patience, closing=True)
        self._do([], self.manifest.stream.last, replace(self.job.judging, patience=patience))

    def _do(self, files: Sequence[FoundFile], last: int, judging: Judging) -> None:
        partitions = self.job.workers.partitions
        batch = StreamBatch(self._spark, self._store, self.manifest, judging, partitions)
        self.manifest = batch.do(files, last)
        self._after_batch(self.manifest)


def _follow(
    spark: SparkSession,
    source: Path | Address | Topic,
    store: Store,
    batches: "_Batches",
    stop: Stop,
) -> None:
    pace = batches.job.pace
    if isinstance(source, Topic):
        follow_topic(spark, source, store, pace, batches.take, stop)
        return
    found: Input
    if isinstance(source, Address):
        found = RemoteFolder(spark, source, store)
    else:
        found = LocalFolder(source, store.output)
    known, cancel = known_files(store, batches.manifest), spark.sparkContext.cancelAllJobs
    follow_folder(found, known, pace, batches.take_files, stop, cancel)
