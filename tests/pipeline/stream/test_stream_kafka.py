"""A stream from a topic of Apache Kafka: a real broker, Spark's own source, its own checkpoint."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from support.pipeline import deliveries
from support.pipeline.pipeline_tables import committed, save
from support.pipeline.recorded_fleet import chance_lines
from support.pipeline.streamed_folder import adds_up, open_runs
from wheelproof_spark.stream.progress import SCHEMA
from wheelproof_spark.tables.manifest import StreamProgress
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.long

_HERE = Path(deliveries.__file__).with_name("kafka")
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{0},CONTROLLER://127.0.0.1:{1}
controller.quorum.voters=1@127.0.0.1:{1}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={2}
offsets.topic.replication.factor=1
"""


_PROGRAM = """\
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from wheelproof_spark.base.session import spark_session
from wheelproof_spec.app.cli import main
with spark_session("local[2]"):
    for line in sys.stdin:
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            code = main(json.loads(line))
        print(json.dumps([code, said.getvalue()]), flush=True)
"""


def _java(libraries: str, *words: object) -> list[str]:
    quick = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", libraries)
    return ["java", *quick, *map(str, words)]


@contextmanager
def _broker(folder: Path, libraries: str) -> Generator[str]:
    """Start a broker of one node, without ZooKeeper, and yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("", 0)) as other:
        ports = [taken.getsockname()[1] for taken in (one, other)]
    properties = folder / "server.properties"
    properties.write_text(_PROPERTIES.format(*ports, folder / "logs"))
    name = ("--cluster-id", "wheelproof-of-one-node", "--config", properties)
    words = _java(libraries, "kafka.tools.StorageTool", "format", *name)
    subprocess.run(words, check=True, capture_output=True)
    with subprocess.Popen(_java(libraries, "kafka.Kafka", properties)) as process:
        try:
            yield f"127.0.0.1:{ports[0]}"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def spark_conf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose spark-defaults.conf adds Spark's source for Apache Kafka."""
    target = _HERE / "target"
    if not target.is_dir():
        goal = ("dependency:copy-dependencies", "-DoutputDirectory=target")
        subprocess.run(["mvn", "-q", "-B", *goal, "-DincludeScope=runtime"], cwd=_HERE, check=True)
    jars = (
        jar
        for name in ("spark-*kafka", "kafka", "commons-pool2")
        for jar in target.glob(f"{name}*.jar")
    )
    folder = tmp_path_factory.mktemp("conf")
    (folder / "spark-defaults.conf").write_text(f"spark.jars {','.join(map(str, jars))}\n")
    return folder


class _Pipeline:
    """A program with one session of Spark, which runs one verb after the other."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def stream(self, address: str, output: Path, *more: str, code: ExitCode = ExitCode.FAIL) -> str:
        """Judge what is there; return the last line that was printed."""
        words = ("--input", address, "--output", str(output), "--available-now", *more)
        asked, said = self._process.stdin, self._process.stdout
        assert asked is not None
        assert said is not None
        command = json.dumps(["pipeline", "stream", *words, "--partitions", "2"])
        asked.write(f"{command}\n")
        asked.flush()
        found, printed = json.loads(said.readline())
        assert found == code, printed
        return str(printed).splitlines()[-1]


@contextmanager
def _pipeline(conf: Path) -> Generator[_Pipeline]:
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "SPARK_CONF_DIR": str(conf)},
    ) as process:
        yield _Pipeline(process)


def _is_refused_with_another_checkpoint(pipeline: _Pipeline, address: str, output: Path) -> None:
    offsets = output / "checkpoint" / "offsets" / "0"
    whole = offsets.read_text(encoding="utf-8")
    offsets.with_name(".0.crc").unlink()
    offsets.write_text(whole.replace("v1", "v99", 1), encoding="utf-8")
    assert "v99" in pipeline.stream(address, output, code=ExitCode.INTERNAL_ERROR)
    offsets.write_text(whole, encoding="utf-8")

    # One that is further than the tables: they were restored from a copy, and it was not.
    manifest = committed(output, output).manifest
    before = replace(manifest)
    manifest.stream = StreamProgress(schema=SCHEMA)
    save(output, manifest)
    assert "restore both" in pipeline.stream(address, output, code=ExitCode.USAGE)
    save(output, before)


def test_a_topic_has_the_verdicts_of_its_lines(
    kafka_broker: str, spark_conf: Path, tmp_path: Path
) -> None:
    libraries = str(Path(kafka_broker).parent / "target" / "lib" / "*")
    lines = [line for seed in range(8) for line in chance_lines(seed, f"1-{seed}")]
    output = tmp_path / "out"

    def send(some: Sequence[bytes]) -> None:
        (tmp_path / "lines").write_bytes(b"".join(some))
        words = (_HERE / "Produce.java", brokers, "runs", tmp_path / "lines")
        subprocess.run(_java(libraries, *words), check=True)

    with _broker(tmp_path, libraries) as brokers, _pipeline(spark_conf) as pipeline:
        address = f"kafka://{brokers}/runs"
        half = len(lines) // 2
        send(lines[:half])
        pipeline.stream(address, output)
        first = committed(tmp_path, output)
        adds_up(first)
        assert len(open_runs(first)) == 1
        # The second start goes on where the checkpoint is; two partitions have the lines mixed.
        send([*lines[half:], b"{"])
        _is_refused_with_another_checkpoint(pipeline, address, output)
        pipeline.stream(address, output, "--close")
    judged = committed(tmp_path, output)
    adds_up(judged)
    assert judged.manifest.counts.quarantined == 1
    assert [batch.lines for batch in judged.manifest.batches] == [half, len(lines) - half + 1]
    assert deliveries.told(judged.table("runs"))[1] == deliveries.said([tuple(lines)])
