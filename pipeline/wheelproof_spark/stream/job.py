"""The verb `pipeline stream`: files that are moved into a folder are judged as they arrive."""

import copy
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from pyspark.sql import SparkSession

from wheelproof_spark.base.feeder import Pace, Stop, feed
from wheelproof_spark.base.hadoop import input_of
from wheelproof_spark.base.listing import NO_FILE, FoundFile, Input, outside
from wheelproof_spark.base.options import Address, Topic, Workers
from wheelproof_spark.base.session import failing_as, session_for
from wheelproof_spark.check.batch import Batch
from wheelproof_spark.check.inputs import LARGEST_SPLIT, Bring, Plan, plan
from wheelproof_spark.stream.batch import StreamBatch
from wheelproof_spark.stream.progress import CHECKPOINT, known_files, opened, query_of
from wheelproof_spark.stream.state import Patience
from wheelproof_spark.stream.topic import follow_topic
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.history.checkers import CheckOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamJob:
    """The input, how to judge it, the output, and the workers.

    `closing` judges the runs that are still open when all files are judged.
    """

    input: Path | Address | Topic
    output: Path
    options: CheckOptions
    patience: Patience
    pace: Pace
    split_bytes: int = LARGEST_SPLIT
    closing: bool = False
    workers: Workers = field(default_factory=Workers)


def stream(job: StreamJob, after_batch: Callable[[Manifest], None], stop: Stop) -> Manifest:
    """Judge until all is judged or a stop is requested, and return the manifest.

    Raises InputRejectedError, UsageError, MissingToolError, and PipelineError if the stream fails:
    then nothing of the last batch was committed, and the next start repeats it.
    """
    output, options = job.output.resolve(), job.options
    source = outside(output, job.input) if isinstance(job.input, Path) else job.input
    with Store(output) as store, failing_as("the stream"), ExitStack() as stack:
        manifest = opened(store, str(source), options.profile, options.max_states)
        spark = cache(lambda: stack.enter_context(session_for(job.workers)))
        batches = _Batches(spark, store, manifest, job, after_batch)
        with stop.listening():
            if isinstance(source, Topic):
                follow_topic(spark(), source, store, job.pace, batches.take_records, stop)
            else:
                arriving = Arriving(input_of(source, store, spark), known_files(store, manifest))
                take = partial(batches.take, arriving)
                feed(arriving.files, take, job.pace, stop, batches.cancel)
        if job.closing and not stop.asked and batches.manifest.counts.open:
            batches.close()
        return batches.manifest


@dataclass(frozen=True, slots=True)
class Arriving:
    """The files of an input that were not read; `known` has the sizes of all others, by name."""

    source: Input
    known: dict[str, int]

    def files(self) -> Sequence[FoundFile]:
        """Return the files that are to be read, the oldest first."""
        new = (file for file in self.source.files() if self._is_new(file))
        return sorted(new, key=lambda file: (file.state.mtime_ns, file.name))

    def _is_new(self, file: FoundFile) -> bool:
        """Tell whether a file is to be read: an empty one is not, until it has content.

        What was no file, as a dead link, is quarantined once, and read when it is a file.
        """
        if file.state == NO_FILE:
            return file.name not in self.known
        return self.known.get(file.name, 0) == 0 and file.state.size > 0


@dataclass(slots=True)
class _Batches:
    """Does batches; `manifest` is the one that was committed last."""

    _spark: Callable[[], SparkSession]
    _store: Store
    manifest: Manifest
    job: StreamJob
    _after_batch: Callable[[Manifest], None]

    def take(self, arriving: Arriving, files: Sequence[FoundFile]) -> Callable[[], None] | None:
        """Return what does a batch of new files; None if they are gone."""
        manifest = copy.deepcopy(self.manifest)
        work = self._plan(files, arriving.source.bring, manifest)
        if not work.files:
            return None
        # Spark starts in this thread, which hears signals.
        self._spark()

        def does() -> None:
            self._do(work, manifest)
            arriving.known.update({file.path: file.state.size for file in work.files})

        return does

    def take_records(self, number: int, files: Sequence[FoundFile]) -> None:
        """Do a batch of Spark, unless it was committed before."""
        manifest = copy.deepcopy(self.manifest)
        assert manifest.stream is not None
        last = manifest.stream.last
        if number <= last:
            return
        if number != last + 1:
            raise UsageError(
                f"{self._store.output / CHECKPOINT} goes on with batch {number}, but {last} is the "
                "last one that was committed; restore both together, or name another output"
            )
        manifest.stream.last, manifest.stream.query = number, query_of(self._store.output)
        if files:
            self._do(self._plan(files, lambda file: file, manifest), manifest)
        else:
            self._store.save(manifest.text)
            self.manifest = manifest

    def close(self) -> None:
        """Judge all open runs from the lines that they have."""
        self._do(Plan(), copy.deepcopy(self.manifest), closing=True)

    def cancel(self) -> None:
        """End the jobs of the batch that is under way."""
        self._spark().sparkContext.cancelAllJobs()

    def _plan(self, files: Iterable[FoundFile], bring: Bring, manifest: Manifest) -> Plan:
        return plan(files, bring, (), manifest, manifest.next_batch, self.job.split_bytes)

    def _do(self, work: Plan, manifest: Manifest, *, closing: bool = False) -> None:
        job, partitions = self.job, self.job.workers.partitions
        patience = replace(job.patience, closing=closing)
        batch = Batch(self._spark(), self._store, manifest, job.options, partitions)
        StreamBatch(batch, patience).do(work)
        self.manifest = manifest
        self._after_batch(manifest)
