"""Faults of the driver and the disk: the last good output stays, and nothing else does."""

import os
import resource
import shutil
import signal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.pipeline.pipeline_tables import Judged, committed, rows_of, run
from support.pipeline.recorded_fleet import histories
from support.pipeline.started_program import await_end, parent_of, started
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.long

_ENVIRONMENT = {"SPARK_LOCAL_IP": "127.0.0.1"}


@pytest.fixture(scope="module")
def first(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return an output of one batch; its input has grown since."""
    del spark
    folder = tmp_path_factory.mktemp("first")
    (folder / "in").mkdir()
    (folder / "in" / "a.jsonl").write_bytes(b"".join(histories(range(20))))
    judged = run(folder / "in", folder / "out")
    (folder / "in" / "b.jsonl").write_bytes(b"".join(histories(range(20, 40))))
    return judged


@pytest.fixture(scope="module")
def expected(first: Judged, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return what the input as it is now comes to, if nothing goes wrong."""
    return run(first.input, tmp_path_factory.mktemp("expected") / "out")


@pytest.fixture
def output(first: Judged, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first.output, tmp_path / "out"))


def _words(first: Judged, output: Path) -> tuple[object, ...]:
    words = ("--input", first.input, "--output", output, "--master", "local[2]")
    return ("pipeline", "check", *words, "--partitions", 2)


def _files(output: Path) -> dict[str, bytes]:
    found = (path for path in output.rglob("*") if path.is_file())
    return {str(path.relative_to(output)): path.read_bytes() for path in found}


def _goes_on_from(first: Judged, output: Path, expected: Judged) -> None:
    """Assert that the first batch is still there, whole, and that the next run does the rest."""
    last_good = committed(first.input, output)
    last_good.adds_up()
    assert rows_of(last_good) == rows_of(first)
    judged = run(first.input, output)
    judged.adds_up()
    assert [done.number for done in judged.manifest.batches] == [1, 2]
    left_out = ("scope", "batches")
    assert rows_of(judged, without=left_out) == rows_of(expected, without=left_out)
    for table in ("bronze", "silver/runs", "gold/verdicts"):
        folders = sorted(folder.name for folder in (output / table).glob("[0-9]*"))
        assert folders == ["000001", "000002"]


@pytest.mark.parametrize("place", ["commit", pytest.param("parse", marks=pytest.mark.hunt)])
def test_what_a_killed_driver_wrote_is_never_read(
    first: Judged, expected: Judged, output: Path, tmp_path: Path, place: str
) -> None:
    words = _words(first, output)
    with started(tmp_path / "stops", (place,), words, _ENVIRONMENT) as program:
        stopped = program.stopped()
        family = program.family()
        # Both halves of the driver, Python and Java: neither has the time to tidy up.
        os.killpg(program.process.pid, signal.SIGKILL)
        stopped.goes_on()
        await_end(family)
        assert program.family() == []
    (attempt,) = (output / ".work").iterdir()
    assert (attempt / "bronze").is_dir()
    assert (attempt / "summary").is_dir() == (place == "commit")
    _goes_on_from(first, output, expected)


def test_ctrl_c_leaves_nothing_behind(
    first: Judged, expected: Judged, output: Path, tmp_path: Path
) -> None:
    words = _words(first, output)
    with started(tmp_path / "stops", ("parse",), words, _ENVIRONMENT) as program:
        stopped = program.stopped()
        family = program.family()
        os.killpg(program.process.pid, signal.SIGINT)
        code, printed = program.ended()
        stopped.goes_on()
        assert code == ExitCode.INTERRUPTED, printed
        assert "wheelproof: interrupted" in printed
        assert "Traceback" not in printed
        await_end(family)
        assert program.family() == []
    assert _files(output) == _files(first.output)
    _goes_on_from(first, output, expected)


@pytest.mark.parametrize(
    ("place", "sentence"),
    [("parse", "wheelproof: the job failed"), ("commit", "plan cannot be written")],
)
def test_a_full_disk_leaves_the_last_good_output(
    first: Judged, output: Path, tmp_path: Path, place: str, sentence: str
) -> None:
    words = _words(first, output)
    with started(tmp_path / "stops", (place,), words, _ENVIRONMENT) as program:
        stopped = program.stopped()
        # From here on no process of the program can write another byte into a file.
        for pid in program.family():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0))
        stopped.goes_on()
        code, printed = program.ended()
        assert code == ExitCode.INTERNAL_ERROR, printed
        assert sentence in printed.splitlines()[-1]
        assert "File too large" in printed.splitlines()[-1]
        assert "Traceback" not in printed
    assert _files(output) == _files(first.output)
    committed(first.input, output).adds_up()


def test_a_worker_that_is_killed_fails_the_job_and_commits_nothing(
    first: Judged, output: Path, tmp_path: Path
) -> None:
    words = _words(first, output)
    with started(tmp_path / "stops", ("parse",), words, _ENVIRONMENT) as program:
        worker = program.stopped()
        assert parent_of(parent_of(worker.pid)) in program.family()
        os.kill(worker.pid, 9)
        worker.goes_on()
        code, printed = program.ended()
        assert code == ExitCode.INTERNAL_ERROR, printed
        # What Spark says of it depends on how far the worker came.
        assert "wheelproof: the job failed: " in printed.splitlines()[-1]
    assert _files(output) == _files(first.output)
