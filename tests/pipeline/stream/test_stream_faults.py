"""A stream that is killed or stopped: nothing is lost, and nothing is judged twice."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.pipeline.pipeline_tables import Judged, committed, rows_of
from support.pipeline.recorded_fleet import histories
from support.pipeline.started_program import await_end, started
from support.pipeline.streamed_folder import StreamedFolder, adds_up, open_runs
from wheelproof_spark.tables.outcome import code_of
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.long

_ENVIRONMENT = {"SPARK_LOCAL_IP": "127.0.0.1"}


@pytest.fixture(scope="module")
def first(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return an output of one batch with open runs; files have arrived since that end them."""
    del spark
    place = tmp_path_factory.mktemp("first")
    folder = StreamedFolder(place / "in", place / "out")
    lines = histories(range(9))
    folder.arrive(lines[::2])
    judged = folder.judge()
    folder.arrive(lines[1::2])
    folder.arrive([*histories(range(9, 12)), b"{"])
    return judged


@pytest.fixture(scope="module")
def expected(first: Judged, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return what becomes of it if nothing goes wrong."""
    output = tmp_path_factory.mktemp("expected") / "out"
    judged = StreamedFolder(first.input, Path(shutil.copytree(first.output, output))).judge()
    assert (len(open_runs(first)), judged.manifest.counts.runs) == (9, 12)
    return judged


@pytest.fixture
def folder(first: Judged, tmp_path: Path) -> StreamedFolder:
    return StreamedFolder(first.input, Path(shutil.copytree(first.output, tmp_path / "out")))


def _words(folder: StreamedFolder, *more: object) -> tuple[object, ...]:
    words = ("--input", folder.source, "--output", folder.output, "--master", "local[2]")
    return ("pipeline", "stream", *words, "--partitions", 2, "--late", 1, *more)


@pytest.mark.parametrize(
    "place",
    ["commit", *(pytest.param(place, marks=pytest.mark.hunt) for place in ("judge", "moves"))],
)
def test_a_driver_that_is_killed_is_as_one_that_never_was(
    folder: StreamedFolder, first: Judged, expected: Judged, tmp_path: Path, place: str
) -> None:
    words = _words(folder, "--available-now")
    with started(tmp_path / "stops", (place,), words, _ENVIRONMENT) as program:
        stopped = program.stopped()
        # Its Java half still writes for a moment, beside the next one.
        program.process.kill()
        program.process.wait()
        stopped.goes_on()
        was = committed(folder.source, folder.output)
        assert len(was.manifest.batches) == (2 if place == "moves" else 1)
        if place != "moves":
            assert rows_of(was) == rows_of(first)
        judged = folder.judge()
    assert rows_of(judged) == rows_of(expected)
    assert judged.manifest.counts == expected.manifest.counts
    assert [batch.number for batch in judged.manifest.batches] == [1, 2]


def test_ctrl_c_ends_with_the_batch(
    folder: StreamedFolder, expected: Judged, tmp_path: Path
) -> None:
    words = _words(folder, "--every", 1)
    with started(tmp_path / "stops", ("parse",), words, _ENVIRONMENT) as program:
        stopped = program.stopped()
        family = program.family()
        # Every process of a terminal gets it, the workers of Python too.
        os.killpg(program.process.pid, signal.SIGINT)
        stopped.goes_on()
        code, printed = program.ended()
        await_end(family)
        assert program.family() == []
    assert code == code_of(expected.manifest.counts) == ExitCode.FAIL
    assert "stopping after this batch" in printed
    assert "Traceback" not in printed
    judged = committed(folder.source, folder.output)
    adds_up(judged)
    assert rows_of(judged) == rows_of(expected)


def test_ctrl_c_twice_ends_at_once(
    folder: StreamedFolder, first: Judged, expected: Judged, tmp_path: Path
) -> None:
    words = _words(folder, "--available-now")
    with started(tmp_path / "stops", ("parse",), words, _ENVIRONMENT) as program:
        stopped = program.stopped()
        family = program.family()
        program.process.send_signal(signal.SIGINT)
        assert program.process.stderr is not None
        while "once more" not in program.process.stderr.readline():
            pass
        program.process.send_signal(signal.SIGINT)
        code, printed = program.ended()
        stopped.goes_on()
        await_end(family)
    assert code == ExitCode.INTERRUPTED
    assert "interrupted" in printed
    assert "Traceback" not in printed
    assert rows_of(committed(folder.source, folder.output)) == rows_of(first)
    assert rows_of(folder.judge()) == rows_of(expected)


def test_the_page_of_a_stream(
    expected: Judged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    words = ["pipeline", "report", "--output", str(expected.output), "--html", str(page)]
    assert main(words) == ExitCode.PASS
    assert "0 open" in capsys.readouterr().out
    assert "machine 1" in page.read_text(encoding="utf-8")
