"""An input in a file system that is not POSIX: HDFS, of one node, started by the test."""

import subprocess
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.pipeline import deliveries
from support.pipeline.pipeline_tables import Judged, committed, rows_of, run
from support.pipeline.recorded_fleet import histories
from support.pipeline.refused import refused
from support.pipeline.streamed_folder import adds_up
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.long

_HERE = Path(deliveries.__file__).with_name("hdfs")
Put = Callable[[str, bytes], None]


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, Put]]:
    """Yield the address of a folder, and what puts a file there."""
    if not (_HERE / "target").is_dir():
        goal = ("dependency:copy-dependencies", "-DoutputDirectory=target")
        subprocess.run(["mvn", "-q", "-B", *goal, "-DincludeScope=runtime"], cwd=_HERE, check=True)
    folder = tmp_path_factory.mktemp("hdfs")
    quick = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")
    words = ["java", *quick, "-cp", f"{_HERE}/target/*", f"{_HERE}/MiniDfs.java", str(folder)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, said = process.stdin, process.stdout
        address = f"{said.readline().strip()}/runs"

        def put(name: str, content: bytes) -> None:
            (folder / "file").write_bytes(content)
            # A file appears at once, as it does where files are renamed: it is written aside.
            asked.write(f"{folder}/file\t/runs/{name}\n")
            asked.flush()
            assert said.readline() == "done\n"

        try:
            yield address, put
        finally:
            process.kill()


def _judged(verb: str, address: str, output: Path, *more: str) -> Judged:
    words = ("pipeline", verb, "--input", address, "--output", str(output), "--partitions", "2")
    assert main([*words, *more]) == ExitCode.FAIL
    return committed(output, output)


def test_what_is_in_hdfs_has_the_verdicts_of_a_folder(
    spark: SparkSession, hdfs: tuple[str, Put], tmp_path: Path
) -> None:
    del spark
    address, put = hdfs
    local, output = tmp_path / "in", tmp_path / "out"

    def deliver(name: str, content: bytes) -> None:
        put(f"check/{name}", content)
        (local / name).parent.mkdir(parents=True, exist_ok=True)
        (local / name).write_bytes(content)

    lines = histories(range(12))
    deliver("grows.jsonl", b"".join(lines[:70]))
    deliver("deep/a [1] {b} c?.jsonl", b"".join(histories(range(12, 20))))
    put("check/_hidden", b"{")
    first = _judged("check", f"{address}/check", output)
    assert _judged("check", f"{address}/check/", output).manifest == first.manifest
    deliver("grows.jsonl", b"".join(lines))
    second = _judged("check", f"{address}/check", output)
    second.adds_up()
    at_once = run(local, tmp_path / "local")
    # A file has another time in each place, and here it was read in two batches.
    tables = {*second.manifest.tables} - {"files"}
    assert rows_of(second, tables, without=("scope",)) == rows_of(
        at_once, tables, without=("scope",)
    )
    read = [
        {(file["path"], file["size"], file["lines"], file["good"]) for file in one.table("files")}
        for one in (second, at_once)
    ]
    assert read[0] == read[1]
    # What was read before is not brought again, and nothing that was brought stays.
    assert [batch.files for batch in second.manifest.batches] == [2, 1]
    assert second.manifest.batches[1].lines == len(lines) - 70
    assert not (output / ".work" / "input").exists()


def test_a_stream_takes_what_arrives_in_hdfs(
    spark: SparkSession, hdfs: tuple[str, Put], tmp_path: Path
) -> None:
    del spark
    address, put = hdfs
    output, runs = tmp_path / "out", 0
    for name, seeds in (("1.jsonl", range(4)), ("deep/2.jsonl", range(4, 6))):
        put(f"stream/{name}", b"".join(histories(seeds)))
        put("stream/.hidden", b"{")
        judged = _judged("stream", f"{address}/stream", output, "--available-now")
        runs += len(seeds)
        assert judged.manifest.counts.runs == len(judged.table("verdicts")) == runs
    adds_up(judged)
    assert {file["path"] for file in judged.table("files")} == {"1.jsonl", "deep/2.jsonl"}


def test_what_hadoop_does_not_know_is_one_sentence(
    spark: SparkSession, hdfs: tuple[str, Put], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    del spark
    for address, code, problem in (
        (f"{hdfs[0]}/not", ExitCode.INPUT_REJECTED, "does not exist"),
        ("nothing://a/b", ExitCode.INTERNAL_ERROR, 'No FileSystem for scheme "nothing"'),
    ):
        refused(capsys, code, problem, "check", "--input", address, "--output", tmp_path / "out")
