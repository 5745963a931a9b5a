"""The Spark session: in this process by default, on a cluster if its master is named."""

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from wheelproof_spark.base.errors import PipelineError, first_line
from wheelproof_spark.base.options import LOCAL, Workers
from wheelproof_spec.base.errors import MissingToolError, UsageError
from wheelproof_spec.base.needs import SPARK_JAVA, java_remedy
from wheelproof_spec.tlc.running.java import find_java

_LEAST_PARTS_A_CORE = 2
_MODULE = "jdk.incubator.vector"
_SCHEMES = ("local", "spark://", "yarn", "k8s://")
_SHUFFLE = "spark.sql.shuffle.partitions"
_JAVA = "spark.driver.extraJavaOptions"
_FRUGAL = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Python does most of the work: Java's second compiler and parallel collector cost more than they
save."""
_SETTINGS = {
    "spark.app.name": "wheelproof",
    "spark.ui.enabled": "false",
    # An error is reported in one sentence, without Spark's log.
    "spark.log.level": "FATAL",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.parquet.compression.codec": "zstd",
    # Good and quarantined lines are written side by side, without a sort.
    "spark.sql.maxConcurrentOutputFileWriters": "8",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # The tables are small compared with the lines. Adaptive execution makes a job of each stage,
    # which takes longer than what it saves.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}


@contextmanager
def spark_session(
    master: str | None = None,
    *,
    progress: bool = False,
    settings: Mapping[str, str] | None = None,
) -> Generator[SparkSession]:
    """Yield a session and stop it afterwards; reuse an active session and leave it running.

    Raises MissingToolError without a suitable Java, UsageError if `master` names no master,
    PipelineError if the session does not start.
    """
    if master is not None and not master.startswith(_SCHEMES):
        raise UsageError(f"{master!r} is no master; name local[*], spark://HOST:PORT or the like")
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    session = _start(master, progress=progress, settings=settings or {})
    with TemporaryDirectory() as folder:
        try:
            _send_wheel(session, Path(folder))
            yield session
        finally:
            session.stop()


def session_for(workers: Workers) -> AbstractContextManager[SparkSession]:
    """Return the session for these workers, with our settings and then the user's."""
    return spark_session(workers.master, progress=workers.progress, settings=workers.conf)


@contextmanager
def signal_kept() -> Generator[None]:
    """Keep the program's own handler of Ctrl-C in the block: PySpark takes it when it starts."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        # Also if Spark does not start: then nobody else gives the handler back.
        own = before not in (signal.default_int_handler, signal.SIG_DFL, signal.SIG_IGN, None)
        if own and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def failing_as(what: str) -> Generator[None]:
    """Turn errors of Spark and of the disk into a PipelineError with the sentence `what` failed."""
    try:
        yield
    except (PySparkException, Py4JError, OSError) as error:
        raise PipelineError(f"{what} failed: {first_line(error)}") from error


def parts_for(spark: SparkSession, chosen: int | None, needed: int) -> int:
    """Return the number of partitions: as chosen, or as needed and at least two for each core."""
    if chosen is not None:
        return chosen
    return max(needed, spark.sparkContext.defaultParallelism * _LEAST_PARTS_A_CORE)


def shuffle_in(spark: SparkSession, parts: int) -> None:
    """Set the number of partitions of joins and counts, unless the user has chosen a number."""
    if not spark.sparkContext.getConf().contains(_SHUFFLE):
        spark.conf.set(_SHUFFLE, str(parts))


def _start(master: str | None, *, progress: bool, settings: Mapping[str, str]) -> SparkSession:
    _require_java()
    logging.getLogger().addFilter(_not_of_py4j)
    chosen = chosen_settings(master, progress=progress, settings=settings)
    os.environ.setdefault("PYSPARK_PYTHON", chosen.get("spark.pyspark.python", sys.executable))
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder
    for name, value in chosen.items():
        builder = builder.config(name, value)
    try:
        with signal_kept():
            session = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        where = chosen.get("spark.master", "of spark-submit")
        raise PipelineError(f"Spark did not start with master {where}: {error}") from error
    if _submitted():
        known = session.sparkContext.getConf()
        for name in _SETTINGS:
            if name.startswith("spark.sql.") and not known.contains(name):
                session.conf.set(name, _SETTINGS[name])
    return session


def chosen_settings(
    master: str | None, *, progress: bool, settings: Mapping[str, str]
) -> dict[str, str]:
    """Return the start settings of a session: the user's, and ours where the user has none.

    Under spark-submit the session has its settings already, and none of ours is added.
    """
    given = dict(settings) if master is None else {**settings, "spark.master": master}
    if _submitted():
        return given
    theirs = {**_defaults_of_spark(), **given}
    ours = {**_SETTINGS, "spark.ui.showConsoleProgress": str(progress).lower()}
    ours["spark.master"] = LOCAL
    if theirs.get("spark.master", LOCAL).startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        ours |= {"spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g", _JAVA: _FRUGAL}
    return {name: ours[name] for name in ours.keys() - theirs.keys()} | given


def _send_wheel(session: SparkSession, folder: Path) -> None:
    """Send the wheel that this program runs from to the workers, if it does.

    Spark sends what `--py-files` names, but puts only files that are named .zip on the path.
    """
    wheel = next((place for place in Path(__file__).parents if place.suffix == ".whl"), None)
    if wheel is not None and wheel.is_file():
        packed = shutil.copyfile(wheel, folder / f"{wheel.stem}.zip")
        session.sparkContext.addPyFile(str(packed))


def _submitted() -> bool:
    """Tell whether spark-submit has started this process, and Java with the user's settings."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _defaults_of_spark() -> dict[str, str]:
    """Return the user's settings in spark-defaults.conf, which override ours."""
    home = os.environ.get("SPARK_HOME", "")
    folder = os.environ.get("SPARK_CONF_DIR") or (str(Path(home, "conf")) if home else "")
    file = Path(folder, "spark-defaults.conf")
    if not folder or not file.is_file():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    found = (re.split(r"[\s=]+", line.strip(), maxsplit=1) for line in lines)
    return {pair[0]: pair[1] for pair in found if len(pair) == 2 and pair[0].startswith("spark.")}


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Filter out py4j's log records: py4j also raises these errors, and logs Ctrl-C as one."""
    return Path(record.pathname).parent.name != "py4j"


def _require_java() -> None:
    java = find_java(None, os.environ)
    remedy = java_remedy(SPARK_JAVA)
    if java.major < SPARK_JAVA:
        raise MissingToolError(f"Java {SPARK_JAVA} ({java.path} is {java.version})", remedy)
    listed = subprocess.run(  # the program is the user's own choice
        [str(java.path), "--list-modules"], capture_output=True, text=True, check=False
    )
    if _MODULE not in listed.stdout:
        raise MissingToolError(f"the module {_MODULE} of {java.path}", f"{remedy}; take a full one")
