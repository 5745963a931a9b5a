"""Structured Streaming: finds new files, and its checkpoint remembers those it has seen.

Spark reads no file here. Its own readers take a file as a whole into memory, or lose lines that
are too long or no UTF-8; what is new is read as `pipeline check` reads it.
"""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from wheelproof_spark.stream.batch import NewFile
from wheelproof_spark.stream.stop import Stop
from wheelproof_spark.stream.store import StreamStore
from wheelproof_spark.tables.rows import collected
from wheelproof_spark.tables.schemas import SOURCE

_POLL_SECONDS = 1
# Spark forgets a file whose time is this long before that of the newest one: by default a week.
_FOREVER = "36500d"

TakeBatch = Callable[[int, list[NewFile]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How many files a batch has at most, and how many seconds are between two batches.

    None: no pause, and the stream ends when all that is there was judged.
    """

    files: int = 1_000
    seconds: float | None = None


def follow(
    spark: SparkSession, source: Path, store: StreamStore, pace: Pace, take: TakeBatch, stop: Stop
) -> None:
    """Hand each batch of new files to `take`, until there are no more, or until told to stop.

    Raises what `take` raises, StreamingQueryException, and KeyboardInterrupt if told to stop at
    once.
    """
    sink = _Sink(source, take)
    writer = _files(spark, source, pace).writeStream.foreachBatch(sink.take)
    writer = writer.option("checkpointLocation", str(store.checkpoint))
    if pace.seconds is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{round(pace.seconds * 1_000)} milliseconds")
    query = writer.start()
    try:
        while not query.awaitTermination(_POLL_SECONDS):
            if stop.at_once:
                # A query ends with its batch, and a batch with its job.
                spark.sparkContext.cancelAllJobs()
                raise KeyboardInterrupt
            if stop.asked and sink.ended_before_next(query):
                return
    except StreamingQueryException as error:
        if sink.error is not None:
            raise sink.error from error
        raise
    finally:
        query.stop()


def _files(spark: SparkSession, source: Path, pace: Pace) -> DataFrame:
    reader = spark.readStream.format("binaryFile").schema(SOURCE)
    reader = reader.option("recursiveFileLookup", "true").option("maxFileAge", _FOREVER)
    found = reader.option("maxFilesPerTrigger", str(pace.files)).load(str(source))
    return found.select("path", "length")


class _Sink:
    """Takes batches from Spark, in a thread of its own."""

    def __init__(self, source: Path, take: TakeBatch) -> None:
        self.error: Exception | None = None
        self._source = source
        self._take = take
        self._busy = threading.Lock()

    def take(self, batch: DataFrame, number: int) -> None:
        """Take the files of a batch."""
        with self._busy:
            try:
                rows = collected(batch, tuple[str, int])
                self._take(number, [file for row in rows if (file := self._file(*row)) is not None])
            except Exception as error:
                self.error = error
                raise

    def ended_before_next(self, query: StreamingQuery) -> bool:
        """End the query unless it is in the middle of a batch; tell whether it was ended."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            query.stop()
        finally:
            self._busy.release()
        return True

    def _file(self, address: str, size: int) -> NewFile | None:
        path = Path(re.sub("^file:/+", "/", address))
        name = path.relative_to(self._source)
        if any(part.startswith((".", "_")) for part in name.parts) or self._goes_round(path):
            return None
        return NewFile(path=path, name=name.as_posix(), size=size)

    def _goes_round(self, path: Path) -> bool:
        """Tell whether links lead back to a folder that the path has been through."""
        below = [folder for folder in path.parents if folder.is_relative_to(self._source)]
        return len({folder.resolve() for folder in below}) < len(below)
