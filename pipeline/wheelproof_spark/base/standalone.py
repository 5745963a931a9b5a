"""A standalone cluster on this machine: a master and its workers, from the package of PySpark.

For trials, tests and the benchmark: real processes, real shuffles over sockets, no installation.
"""

import queue
import re
import subprocess
import threading
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from wheelproof_spark.base.errors import PipelineError
from wheelproof_spec.base.process_group import MARK, end, marked_environment

_HOST = "127.0.0.1"
_DEPLOY = "org.apache.spark.deploy"
_START_SECONDS = 120.0
_GRACE_SECONDS = 20.0
_ENVIRONMENT = {
    "SPARK_LOCAL_IP": _HOST,
    "SPARK_DAEMON_MEMORY": "256m",
    # The REST port is a fixed one, and no job here is submitted through it.
    "SPARK_DAEMON_JAVA_OPTS": "-Dspark.master.rest.enabled=false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A running cluster: its address, and its processes, each the leader of a session."""

    master: str
    processes: tuple[int, ...]


@contextmanager
def standalone_cluster(
    folder: Path, workers: int = 2, *, cores: int = 1, memory: str = "1g"
) -> Generator[Cluster]:
    """Start a master and workers on free ports, yield the cluster, and end all processes.

    `folder` takes logs and executors' files. Raises PipelineError if a process does not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    local = ("--host", _HOST, "--port", "0", "--webui-port", "0")
    with ExitStack() as stack:
        master = stack.enter_context(
            _daemon(folder / "master.log", (f"{_DEPLOY}.master.Master", *local))
        )
        address = _awaited(master, r"Starting Spark master at (spark://\S+)")
        _awaited(master, "elected leader")
        started = [master]
        for number in range(workers):
            place = ("--work-dir", str(folder / f"worker-{number}"))
            size = ("--cores", str(cores), "--memory", memory)
            words = (f"{_DEPLOY}.worker.Worker", *local, *size, *place, address)
            log = folder / f"worker-{number}.log"
            started.append(stack.enter_context(_daemon(log, words)))
        for worker in started[1:]:
            _awaited(worker, "Successfully registered with master")
        yield Cluster(master=address, processes=tuple(daemon.process.pid for daemon in started))


@dataclass(frozen=True, slots=True)
class _Daemon:
    process: "subprocess.Popen[bytes]"
    log: Path
    lines: "queue.SimpleQueue[str | None]"


@contextmanager
def _daemon(log: Path, words: Sequence[str]) -> Generator[_Daemon]:
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**marked_environment(), **_ENVIRONMENT}
    process = subprocess.Popen(  # Spark's own program, on this machine
        [str(program), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )
    daemon = _Daemon(process, log, queue.SimpleQueue())
    reader = threading.Thread(target=_read, args=(daemon,))
    reader.start()
    try:
        yield daemon
    finally:
        end(process, _GRACE_SECONDS, environment[MARK])
        reader.join()


def _read(daemon: _Daemon) -> None:
    """Copy the daemon's output to its log: a daemon blocks when its pipe is full."""
    assert daemon.process.stdout is not None
    with daemon.process.stdout as stream, daemon.log.open("wb") as log:
        for line in stream:
            log.write(line)
            log.flush()
            daemon.lines.put(line.decode(errors="replace"))
    daemon.lines.put(None)


def _awaited(daemon: _Daemon, pattern: str) -> str:
    """Return the first match of the pattern in the log, or its group if it has one."""
    try:
        while (line := daemon.lines.get(timeout=_START_SECONDS)) is not None:
            found = re.search(pattern, line)
            if found is not None:
                return found[found.re.groups]
    except queue.Empty:
        pass
    raise PipelineError(f"Spark's standalone cluster did not start; see {daemon.log}")
