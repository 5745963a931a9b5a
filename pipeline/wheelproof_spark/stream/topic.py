"""The records of a topic of Apache Kafka, each a line or several, batch by batch.

Spark's Structured Streaming reads them, and its checkpoint remembers the records of each batch.
They are written to a file for each partition and batch, and read as files are; these files are
removed when the batch is committed.
"""

import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import coalesce, col, lit
from pyspark.sql.streaming.query import StreamingQuery

from wheelproof_spark.base.feeder import POLL_SECONDS, Pace, Stop
from wheelproof_spark.base.listing import FileState, FoundFile
from wheelproof_spark.base.options import Topic
from wheelproof_spark.stream.progress import CHECKPOINT
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.errors import MissingToolError

_FILES = 1_000
_RECORDS_A_FILE = 1_000
_SETTINGS = "spark.wheelproof.kafka."

TakeBatch = Callable[[int, Sequence[FoundFile]], None]


def follow_topic(
    spark: SparkSession, topic: Topic, store: Store, pace: Pace, take: TakeBatch, stop: Stop
) -> None:
    """Pass each batch of records to `take`, until there are no more or a stop is requested.

    Raises the errors of `take`, StreamingQueryException, and KeyboardInterrupt if a stop at once
    is requested.
    """
    sink = _Sink(topic, store, take)
    writer = _rows(spark, topic, pace.files or _FILES).writeStream.foreachBatch(sink.take)
    writer = writer.option("checkpointLocation", str(store.output / CHECKPOINT))
    if pace.seconds is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{round(pace.seconds * 1_000)} milliseconds")
    query = writer.start()
    try:
        while not query.awaitTermination(POLL_SECONDS):
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

    def __init__(self, topic: Topic, store: Store, take: TakeBatch) -> None:
        self.error: Exception | None = None
        self._topic = topic
        self._store = store
        self._take = take
        self._busy = threading.Lock()

    def take(self, batch: DataFrame, number: int) -> None:
        """Take the records of a batch."""
        with self._busy:
            try:
                spool = self._store.spool / f"{number:06}"
                self._take(number, _files(self._topic, batch, spool, number))
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


def _rows(spark: SparkSession, topic: Topic, files: int) -> DataFrame:
    """Return the records, from the first one on; a file counts as a thousand records."""
    options = {
        "kafka.bootstrap.servers": topic.brokers,
        "subscribe": topic.name,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(files * _RECORDS_A_FILE),
    }
    for name, setting in spark.sparkContext.getConf().getAll():
        if name.startswith(_SETTINGS):
            options["kafka." + name.removeprefix(_SETTINGS)] = setting
    try:
        found = spark.readStream.format("kafka").options(**options).load()
    except AnalysisException as error:
        package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}"
        remedy = f"add --conf spark.jars.packages={package}"
        raise MissingToolError("Spark's source for Apache Kafka", remedy) from error
    # A record without a value is an empty line, which is quarantined.
    value = coalesce(col("value").cast("string"), lit("")).alias("value")
    return found.select("partition", value)


def _files(topic: Topic, batch: DataFrame, folder: Path, number: int) -> Sequence[FoundFile]:
    """Write the records in their order, a file for each partition."""
    shutil.rmtree(folder, ignore_errors=True)
    writer = batch.write.partitionBy("partition").option("compression", "none")
    writer.text(str(folder))
    found: list[FoundFile] = []
    for path in sorted(folder.glob("partition=*/*.txt")):
        partition = path.parent.name.removeprefix("partition=")
        name = f"{topic.name}/{partition}/{number:06}"
        state = FileState(size=path.stat().st_size)
        found.append(FoundFile(name=name, path=path, state=state))
    return found
