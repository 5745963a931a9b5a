"""The order, the time limits, the seeds and the costly fixtures of the tests of all folders."""

import gc
import signal
import subprocess
import sys
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from support import seeds
from support.toolchains import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A background job starts with SIGINT ignored, and one under `nohup` with SIGHUP: the programs under
# test inherit that, and would not end when they are told to. Restore the defaults.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

pytest_plugins = ["support.scheduling"]

# Where Python is told to write no bytecode, it does so for what is imported until the tests begin:
# the programs that tests start need half the time then. What a test writes and imports is not kept.
_WRITES_NO_BYTECODE = sys.dont_write_bytecode
sys.dont_write_bytecode = False

# Whether a test passes does not depend on luck or on other work of the machine: Hypothesis draws
# the same cases in each run, remembers none, and measures no time. A hunt draws others.
_COMMON = settings(deadline=None, database=None, print_blob=True)
settings.register_profile("fixed", _COMMON, derandomize=True)
settings.register_profile("hunt", _COMMON, derandomize=False, max_examples=2_000)
settings.load_profile("hunt" if seeds.hunting() else "fixed")
if not seeds.hunting():
    # Hypothesis draws constants of the modules that are imported just then, so the cases of a test
    # depend on the tests that have run before it in the same process.
    patch.object(providers, "_get_local_constants", Constants).start()

ADAPTERS = Path(__file__).resolve().parent / "adapters"

_LIMITS_SECONDS = {"long": 1800, "slow": 1200}
"""The time limit of a test by its marker; pyproject.toml has the limit of all other tests."""
_LONGEST = ("test_tla_suite.py", "test_signals.py", "test_faults.py")
"""Files that take minutes and would run last by their names."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set the time limits of marked tests, and run their files first.

    If a slow file ran last, one process would run it while all others wait.
    """
    for item in items:
        marked = [name for name in _LIMITS_SECONDS if item.get_closest_marker(name)]
        if marked and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_LIMITS_SECONDS[marked[0]]))
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    slow |= {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: (item.path.name not in _LONGEST, item.path not in slow))


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of every later search for garbage, and as it is.

    The six thousand tests of a worker alone make such a search take a fifth of a second, and
    Python's own tests of locks search some hundred times in each run.
    """
    gc.collect()
    gc.freeze()
    sys.dont_write_bytecode = _WRITES_NO_BYTECODE


@pytest.fixture
def unshrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `explore` show a failure as it was found: to simplify it takes longer than to find it."""
    from wheelproof_explore.options import Options

    unshrunk = partial(Options, shrink=False)
    monkeypatch.setattr("wheelproof_explore.library.Options", unshrunk)


@pytest.fixture(scope="session")
def kafka() -> str:
    """Return the program that starts the adapter of Apache Kafka; build it if needed."""
    return _java_adapter("kafka")


@pytest.fixture(scope="session")
def kafka_broker() -> str:
    """Return the program that starts the adapter of Kafka's broker; build it if needed."""
    return _java_adapter("kafka-broker")


@pytest.fixture(scope="session")
def kafka_purgatories() -> str:
    """Return the program that runs the purgatories of older Kafkas; build it if needed."""
    return _java_adapter("kafka-purgatories")


@pytest.fixture(scope="session")
def kafka_producer() -> str:
    """Return the program that builds the recorder of Kafka's producer; build it if needed."""
    return _java_adapter("kafka-producer")


@pytest.fixture(scope="session")
def netty() -> str:
    """Return the program that starts the adapter of Netty; build it if needed."""
    return _java_adapter("netty")


@pytest.fixture(scope="session")
def agrona() -> str:
    """Return the program that starts the adapter of Agrona; build it if needed."""
    return _java_adapter("agrona")


@pytest.fixture(scope="session")
def spark() -> "Generator[SparkSession]":
    """Yield the one Spark session of all tests, with two cores."""
    from wheelproof_spark.base.session import spark_session

    settings = {
        "spark.sql.shuffle.partitions": "2",
        # Tests are short: they end before optimized code of the JIT compiler would help, and to
        # compile a query takes twice as long as to run it. Jobs that are programs of their own
        # compile theirs.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with spark_session("local[2]", settings=settings) as session:
        yield session


def _java_adapter(name: str) -> str:
    folder = ADAPTERS / f"{name}-java"
    if not any((folder / "target").glob("*.jar")):
        require("mvn")
        subprocess.run(["mvn", "-q", "-B", "package"], cwd=folder, check=True)
    return str(folder / "run")
