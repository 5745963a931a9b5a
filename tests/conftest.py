"""What tests of several folders share."""

import signal
import subprocess
from pathlib import Path

import pytest

# A job in the background is started with Ctrl-C switched off, and hands that on to the programs
# that are tested here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ADAPTERS = Path(__file__).resolve().parents[1] / "adapters"


@pytest.fixture(scope="session")
def kafka() -> str:
    """Return the program that starts the adapter of Apache Kafka, built if that was not done."""
    return _java_adapter("kafka")


@pytest.fixture(scope="session")
def netty() -> str:
    """Return the program that starts the adapter of Netty, built if that was not done."""
    return _java_adapter("netty")


def _java_adapter(name: str) -> str:
    folder = ADAPTERS / f"{name}-java"
    if not (folder / "target" / f"{name}-driver.jar").is_file():
        subprocess.run(["mvn", "-q", "-B", "package"], cwd=folder, check=True)
    return str(folder / "run")
