"""A stream from a topic of Apache Kafka: a real broker, Spark's own source, its own checkpoint."""

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


def _stream(
    conf: Path, address: str, output: Path, *more: str, code: ExitCode = ExitCode.FAIL
) -> str:
    words = ("--input", address, "--output", str(output), "--available-now", *more)
    workers = ("--master", "local[2]", "--partitions", "2")
    done = subprocess.run(
        [sys.executable, "-m", "wheelproof_spec", "pipeline", "stream", *words, *workers],
        env={**os.environ, "SPARK_CONF_DIR": str(conf)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stderr


def _is_refused_with_another_checkpoint(conf: Path, address: str, output: Path) -> None:
    words = (conf, address, output)
    offsets = output / "checkpoint" / "offsets" / "0"
    whole = offsets.read_text(encoding="utf-8")
    offsets.with_name(".0.crc").unlink()
    offsets.write_text(whole.replace("v1", "v99", 1), encoding="utf-8")
    said = _stream(*words, code=ExitCode.INTERNAL_ERROR)
    assert "v99" in said.splitlines()[-1]
    offsets.write_text(whole, encoding="utf-8")

    # One that is further than the tables: they were restored from a copy, and it was not.
    manifest = committed(output, output).manifest
    before = replace(manifest)
    manifest.stream = StreamProgress(schema=SCHEMA)
    save(output, manifest)
    said = _stream(*words, code=ExitCode.USAGE)
    assert "restore both" in said.splitlines()[-1]
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

    with _broker(tmp_path, libraries) as brokers:
        address = f"kafka://{brokers}/runs"
        half = len(lines) // 2
        send(lines[:half])
        _stream(spark_conf, address, output)
        first = committed(tmp_path, output)
        adds_up(first)
        assert len(open_runs(first)) == 1
        # The second start goes on where the checkpoint is; two partitions have the lines mixed.
        send([*lines[half:], b"{"])
        _is_refused_with_another_checkpoint(spark_conf, address, output)
        _stream(spark_conf, address, output, "--close")
    judged = committed(tmp_path, output)
    adds_up(judged)
    assert judged.manifest.counts.quarantined == 1
    assert [batch.lines for batch in judged.manifest.batches] == [half, len(lines) - half + 1]
    assert deliveries.told(judged.table("runs"))[1] == deliveries.said([tuple(lines)])
