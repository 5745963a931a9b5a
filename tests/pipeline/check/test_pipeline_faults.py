"""Faults of the driver and the disk: the last good output stays, and nothing else does."""

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.pipeline.faults import disk_that_fills, when_read
from support.pipeline.pipeline_tables import Judged, committed, rows_of, run
from support.pipeline.recorded_fleet import histories
from support.pipeline.started_program import await_end, started
from wheelproof_spark.tables.plan import Move, Plan
from wheelproof_spark.tables.store import Store
from wheelproof_spec.app.cli import main
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


class _Killed(BaseException):
    """What nobody handles, as nobody handles SIGKILL."""


def test_what_a_killed_driver_wrote_is_never_read(
    first: Judged, expected: Judged, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise _Killed

    def has_no_time(*_: object) -> None:
        pass

    with monkeypatch.context() as patched:
        patched.setattr(Store, "commit", killed)
        # A driver that is killed does not tidy up.
        patched.setattr(Store, "__exit__", has_no_time)
        with pytest.raises(_Killed):
            run(first.input, output)
    (attempt,) = (output / ".work").iterdir()
    assert (attempt / "bronze").is_dir()
    assert (attempt / "summary").is_dir()
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


def _fails(
    capsys: pytest.CaptureFixture[str], first: Judged, output: Path, *sentences: str
) -> None:
    """Assert that the job fails with these words, and that the last good output stays."""
    assert main([*map(str, _words(first, output))]) == ExitCode.INTERNAL_ERROR
    printed = capsys.readouterr().err
    for sentence in sentences:
        assert sentence in printed.splitlines()[-1]
    assert "Traceback" not in printed
    assert _files(output) == _files(first.output)


def test_a_disk_that_is_full_for_java_fails_the_job(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], first: Judged, output: Path
) -> None:
    java = int(vars(type(spark.sparkContext))["_jvm"].java.lang.ProcessHandle.current().pid())
    with disk_that_fills(java) as fills, when_read(fills):
        _fails(capsys, first, output, "wheelproof: the job failed", "File too large")
    committed(first.input, output).adds_up()


def test_a_disk_that_is_full_at_the_commit_leaves_the_last_good_output(
    capsys: pytest.CaptureFixture[str],
    first: Judged,
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commit = Plan.commit
    with disk_that_fills(0) as fills:

        def committing(plan: Plan, batch: int, moves: Sequence[Move], document: str) -> None:
            fills()
            commit(plan, batch, moves, document)

        monkeypatch.setattr(Plan, "commit", committing)
        _fails(capsys, first, output, "plan cannot be written", "File too large")
    committed(first.input, output).adds_up()


def test_a_worker_that_is_killed_fails_the_job_and_commits_nothing(
    capsys: pytest.CaptureFixture[str], first: Judged, output: Path
) -> None:
    def dies() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with when_read(dies):
        # What Spark says of it depends on how far the worker came.
        _fails(capsys, first, output, "wheelproof: the job failed: ")
