"""The Spark session: in this process by default, a cluster by naming its master."""

import logging
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from wheelproof_spark.base.errors import PipelineError, first_line
from wheelproof_spark.base.options import LOCAL
from wheelproof_spec.base.errors import MissingToolError, UsageError
from wheelproof_spec.engines.tlc.running.java import find_java

OLDEST_JAVA = 17
_LEAST_PARTS_A_CORE = 2
_MODULE = "jdk.incubator.vector"
_SCHEMES = ("local", "spark://", "yarn", "k8s://")
_SETTINGS = {
    "spark.app.name": "wheelproof",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.parquet.compression.codec": "zstd",
    # Good and quarantined lines are written side by side, without a sort.
    "spark.sql.maxConcurrentOutputFileWriters": "8",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "16",
}


@contextmanager
def spark_session(
    master: str = LOCAL, *, progress: bool = False, settings: Mapping[str, str] | None = None
) -> Generator[SparkSession]:
    """Yield a session and stop it afterwards; a session that runs already is used, and runs on.

    Raises MissingToolError without a Java that will do, UsageError for a text that names no master,
    PipelineError if it does not start.
    """
    if not master.startswith(_SCHEMES):
        raise UsageError(f"{master!r} is no master; name local[*], spark://HOST:PORT or the like")
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    session = _start(master, progress=progress, settings=settings or {})
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def failing_as(what: str) -> Generator[None]:
    """Turn errors of Spark and of the disk into one sentence: PipelineError, `what` failed."""
    try:
        yield
    except (PySparkException, Py4JError, OSError) as error:
        raise PipelineError(f"{what} failed: {first_line(error)}") from error


def parts_for(spark: SparkSession, chosen: int | None, needed: int) -> int:
    """Return in how many parts work is done: as chosen, or as needed and two for each core."""
    if chosen is not None:
        return chosen
    return max(needed, spark.sparkContext.defaultParallelism * _LEAST_PARTS_A_CORE)


def _start(master: str, *, progress: bool, settings: Mapping[str, str]) -> SparkSession:
    _require_java()
    logging.getLogger().addFilter(_not_of_py4j)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master)
    chosen = {**_SETTINGS, "spark.ui.showConsoleProgress": str(progress).lower(), **settings}
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        chosen = {"spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g", **chosen}
    for name, value in chosen.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise PipelineError(f"Spark did not start with master {master}: {error}") from error


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Leave out what py4j logs: it raises each of these errors too, and logs Ctrl-C as one."""
    return Path(record.pathname).parent.name != "py4j"


def _require_java() -> None:
    java = find_java(None, os.environ)
    remedy = f"install a full Java {OLDEST_JAVA} or newer, or say where it is with JAVA_HOME"
    if java.major < OLDEST_JAVA:
        raise MissingToolError(f"Java {OLDEST_JAVA} ({java.path} is {java.version})", remedy)
    listed = subprocess.run(  # the program is the user's own choice
        [str(java.path), "--list-modules"], capture_output=True, text=True, check=False
    )
    if _MODULE not in listed.stdout:
        raise MissingToolError(f"the module {_MODULE} of {java.path}", remedy)
