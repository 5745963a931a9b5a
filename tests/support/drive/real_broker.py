"""A real Kafka broker in a process of its own, and the program whose producers talk to it."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from support.drive.adapters import ADAPTERS

RECORDER = ADAPTERS / "kafka-producer-java"
BROKER = ADAPTERS / "kafka-broker-java"
_JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m")
_CLASS_PATH = f"{RECORDER / 'target' / 'test-classes'}:{BROKER / 'target' / 'lib'}/*"
_START_TRIES = 5
_PATIENCE_S = 240


@dataclass(frozen=True, slots=True)
class RealBroker:
    """A broker that serves at `port`; it can be paused, resumed and ended."""

    process: subprocess.Popen[bytes]
    port: int

    def do(self, what: str) -> None:
        """Do what the program with the producers asks for."""
        signals = {"pause": signal.SIGSTOP, "resume": signal.SIGCONT, "stop": signal.SIGKILL}
        os.kill(self.process.pid, signals[what])
        if what == "stop":
            self.process.wait()


@dataclass(frozen=True, slots=True)
class ProducerProgram:
    """The program with the producers, under the agent that records them into a folder."""

    process: subprocess.Popen[str]
    broker: RealBroker
    recordings: Path

    def run(self, scenario: str) -> list[Path]:
        """Run a scenario to its end, and return what was recorded meanwhile."""
        before = set(self.recordings.iterdir())
        requests, answers = _pipes(self.process)
        _say(requests, scenario)
        while (asked := answers.readline().strip()) != "done":
            assert asked, f"the program ended in the scenario {scenario!r}"
            self.broker.do(asked)
            _say(requests, asked)
        return sorted(set(self.recordings.iterdir()) - before)

    def end(self) -> None:
        """Let the program end: what was not closed is recorded then."""
        _pipes(self.process)[0].close()
        self.process.wait()


@contextmanager
def producer_program(folder: Path) -> Generator[ProducerProgram]:
    """Start a broker and the program, both in `folder`, and end them afterwards."""
    recordings = folder / "recordings"
    with ExitStack() as ends:
        broker = ends.enter_context(_started_broker(folder))
        agent = f"-javaagent:{RECORDER / 'target' / 'kafka-producer-recorder.jar'}={recordings}"
        load = ("-cp", _CLASS_PATH, "wheelproof.producer.load.ProducerLoad")
        process = ends.enter_context(
            subprocess.Popen(
                [*_JAVA, agent, *load, f"localhost:{broker.port}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        ends.callback(process.kill)
        program = ProducerProgram(process, broker, recordings)
        _say(_pipes(process)[0], "topic")
        assert _pipes(process)[1].readline() == "done\n"
        yield program


@contextmanager
def _started_broker(folder: Path) -> Generator[RealBroker]:
    """Start a broker; another program may take one of its ports first: then try other ones."""
    for number in range(_START_TRIES):
        port, controller = _free_ports()
        place = folder / f"broker-{number}"
        place.mkdir()
        properties = place / "server.properties"
        properties.write_text(_properties(place, port, controller), encoding="utf-8")
        command = [*_JAVA, "-cp", _CLASS_PATH, "wheelproof.producer.load.OneBroker"]
        with subprocess.Popen([*command, str(properties)], stdout=subprocess.DEVNULL) as process:
            try:
                if _serves(process, port):
                    yield RealBroker(process, port)
                    return
            finally:
                process.kill()
    raise AssertionError("the broker has not started")


def _properties(place: Path, port: int, controller: int) -> str:
    return f"""
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://localhost:{port},CONTROLLER://localhost:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={place / "logs"}
broker.session.timeout.ms=600000
"""


def _serves(process: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until the broker accepts a connection; False if it has ended before."""
    until = time.monotonic() + _PATIENCE_S
    while process.poll() is None:
        try:
            socket.create_connection(("localhost", port)).close()
        except OSError:
            assert time.monotonic() < until, "the broker does not serve"
            time.sleep(0.1)
        else:
            return True
    return False


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("localhost", 0))
        other.bind(("localhost", 0))
        return int(one.getsockname()[1]), int(other.getsockname()[1])


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _say(requests: IO[str], what: str) -> None:
    requests.write(what + "\n")
    requests.flush()
