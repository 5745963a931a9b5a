"""The sources of a stream: a folder that files are moved into, or a topic of Apache Kafka.

Spark finds new files, and its checkpoint remembers the ones seen. Spark reads no file of a folder
here: its readers load a whole file into memory, or lose lines that are too long or not UTF-8. The
records of a topic are written to a file for each partition and batch, and read as files are; these
files are removed when the batch is committed.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import coalesce, col, lit

from wheelproof_spark.base.hadoop import RemoteFile, RemoteFolder
from wheelproof_spark.base.options import Address, Topic
from wheelproof_spark.stream.batch import NewFile
from wheelproof_spark.tables.rows import collected
from wheelproof_spark.tables.schemas import SOURCE
from wheelproof_spec.base.errors import MissingToolError

# Spark forgets a file that is this much older than the newest one: by default a week.
_FOREVER = "36500d"
_RECORDS_A_FILE = 1_000
_SETTINGS = "spark.wheelproof.kafka."


class Source(Protocol):
    """A source that a stream reads."""

    def rows(self, spark: SparkSession, files: int) -> DataFrame:
        """Return the new files or records as a stream; at most so many files a batch."""
        ...

    def files(self, batch: DataFrame, number: int) -> list[NewFile]:
        """Return the files of a batch."""
        ...


@dataclass(frozen=True, slots=True)
class FolderSource:
    """Files that are moved into a folder."""

    folder: Path

    def rows(self, spark: SparkSession, files: int) -> DataFrame:
        """Return the paths and sizes of the files."""
        return _found(spark, self.folder, files)

    def files(self, batch: DataFrame, number: int) -> list[NewFile]:
        """Return the files of a batch; hidden ones are left out."""
        del number
        rows = collected(batch, tuple[str, int])
        return [file for row in rows if (file := self._file(*row)) is not None]

    def _file(self, address: str, size: int) -> NewFile | None:
        path = Path(re.sub("^file:/+", "/", address))
        name = path.relative_to(self.folder)
        if any(part.startswith((".", "_")) for part in name.parts) or self._goes_round(path):
            return None
        return NewFile(path=path, name=name.as_posix(), size=size)

    def _goes_round(self, path: Path) -> bool:
        """Tell whether links lead back to a folder that is already in the path."""
        below = [folder for folder in path.parents if folder.is_relative_to(self.folder)]
        return len({folder.resolve() for folder in below}) < len(below)


@dataclass(frozen=True, slots=True)
class RemoteSource:
    """Files that are moved into a folder of Hadoop's; `spool` takes their copies."""

    address: Address
    spool: Path

    def rows(self, spark: SparkSession, files: int) -> DataFrame:
        """Return the addresses and sizes of the files."""
        return _found(spark, self.address, files)

    def files(self, batch: DataFrame, number: int) -> list[NewFile]:
        """Copy the files of a batch and return them; hidden ones are left out."""
        remote = RemoteFolder(batch.sparkSession, self.address)
        new: list[NewFile] = []
        for address, size in collected(batch, tuple[str, int]):
            file = RemoteFile(remote.name_of(address), (size, 0))
            path = self.spool / f"{number:06}" / file.name
            if not file.hidden and remote.bring(file.name, path):
                new.append(NewFile(path=path, name=file.name, size=path.stat().st_size))
        return new


def _found(spark: SparkSession, folder: Path | Address, files: int) -> DataFrame:
    reader = spark.readStream.format("binaryFile").schema(SOURCE)
    reader = reader.option("recursiveFileLookup", "true").option("maxFileAge", _FOREVER)
    found = reader.option("maxFilesPerTrigger", str(files)).load(str(folder))
    return found.select("path", "length")


@dataclass(frozen=True, slots=True)
class TopicSource:
    """Records of a topic, each a line or several; `spool` takes the files of records."""

    topic: Topic
    spool: Path

    def rows(self, spark: SparkSession, files: int) -> DataFrame:
        """Return the records, from the first one on; a file counts as a thousand records."""
        options = {
            "kafka.bootstrap.servers": self.topic.brokers,
            "subscribe": self.topic.name,
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

    def files(self, batch: DataFrame, number: int) -> list[NewFile]:
        """Write the records in their order, a file for each partition."""
        folder = self.spool / f"{number:06}"
        shutil.rmtree(folder, ignore_errors=True)
        writer = batch.write.partitionBy("partition").option("compression", "none")
        writer.text(str(folder))
        found: list[NewFile] = []
        for path in sorted(folder.glob("partition=*/*.txt")):
            partition = path.parent.name.removeprefix("partition=")
            name = f"{self.topic.name}/{partition}/{number:06}"
            found.append(NewFile(path=path, name=name, size=path.stat().st_size))
        return found


def source_of(source: Path | Address | Topic, spool: Path) -> Source:
    """Return the source that a stream reads."""
    match source:
        case Topic():
            return TopicSource(source, spool)
        case Address():
            return RemoteSource(source, spool)
        case Path():
            return FolderSource(source)
