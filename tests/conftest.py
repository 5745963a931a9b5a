"""What tests of several folders share."""

import signal
import subprocess
from pathlib import Path

import pytest

# A job in the background is started with Ctrl-C switched off, and hands that on to the programs
# that are tested here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

KAFKA_ADAPTER = Path(__file__).resolve().parents[1] / "adapters" / "kafka-java"


@pytest.fixture(scope="session")
def kafka() -> str:
    """Return the program that starts the Java adapter, which is built if that has not been done."""
    if not (KAFKA_ADAPTER / "target" / "kafka-driver.jar").is_file():
        subprocess.run(["mvn", "-q", "-B", "package"], cwd=KAFKA_ADAPTER, check=True)
    return str(KAFKA_ADAPTER / "run")
