"""Structured Streaming: passes each batch of new files to the judge."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from wheelproof_spark.stream.batch import NewFile
from wheelproof_spark.stream.sources import Source
from wheelproof_spark.stream.stop import Stop
from wheelproof_spark.stream.store import StreamStore

_POLL_SECONDS = 1

TakeBatch = Callable[[int, list[NewFile]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The most files of a batch, and the seconds between two batches.

    None: no pause, and the stream ends when all present files are judged.
    """

    files: int = 1_000
    seconds: float | None = None


def follow(
    spark: SparkSession, source: Source, store: StreamStore, pace: Pace, take: TakeBatch, stop: Stop
) -> None:
    """Pass each batch of new files to `take`, until there are no more or a stop is requested.

    Raises the errors of `take`, StreamingQueryException, and KeyboardInterrupt if a stop at once
    is requested.
    """
    sink = _Sink(source, take)
    writer = source.rows(spark, pace.files).writeStream.foreachBatch(sink.take)
    writer = writer.option("checkpointLocation", str(store.checkpoint))
    if pace.seconds is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{round(pace.seconds * 1_000)} milliseconds")
    query = writer.start()
    try:
        while not query.awaitTermination(_POLL_SECONDS):
            if stop.at_once:
                # Cancelling the jobs ends the batch, and with it the query.
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


class _Sink:
    """The receiver of Spark's batches, which come in another thread."""

    def __init__(self, source: Source, take: TakeBatch) -> None:
        self.error: Exception | None = None
        self._source = source
        self._take = take
        self._busy = threading.Lock()

    def take(self, batch: DataFrame, number: int) -> None:
        """Take the files of a batch."""
        with self._busy:
            try:
                self._take(number, self._source.files(batch, number))
            except Exception as error:
                self.error = error
                raise

    def ended_before_next(self, query: StreamingQuery) -> bool:
        """End the query unless it is in the middle of a batch; return whether it was ended."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            query.stop()
        finally:
            self._busy.release()
        return True
