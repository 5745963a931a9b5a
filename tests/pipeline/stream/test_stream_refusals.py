"""What a stream refuses before Spark is started: one sentence, and nothing is written."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from support.pipeline.pipeline_tables import save
from support.pipeline.refused import refused
from wheelproof_spark.check.judging.columns import JUDGE
from wheelproof_spark.stream.progress import SCHEMA
from wheelproof_spark.tables.manifest import Manifest, StreamProgress
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode
from wheelproof_spec.history.checkers import MAX_STATES


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


@pytest.fixture
def output(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def _refused(
    capsys: pytest.CaptureFixture[str],
    code: ExitCode,
    sentence: str,
    source: Path,
    output: Path,
    *more: str,
) -> None:
    refused(capsys, code, sentence, "stream", "--input", source, "--output", output, *more)


def _manifest(source: Path, schema: str = SCHEMA) -> Manifest:
    manifest = Manifest(profile=None, max_states=MAX_STATES, judge=JUDGE, input=str(source))
    manifest.stream = StreamProgress(schema=schema, query="a", last=3)
    return manifest


def test_inputs_that_are_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, source: Path, output: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    rejected = ExitCode.INPUT_REJECTED
    _refused(capsys, rejected, "does not exist", tmp_path / "none", output)
    _refused(capsys, rejected, "is no folder", file, output)
    _refused(capsys, ExitCode.USAGE, "is inside of", source, source / "out")
    _refused(capsys, ExitCode.USAGE, "is inside of", source, tmp_path)
    _refused(capsys, ExitCode.USAGE, "needs --available-now", source, output, "--close")


def test_outputs_of_something_else(
    capsys: pytest.CaptureFixture[str], source: Path, output: Path
) -> None:
    save(output, Manifest(profile=None, max_states=MAX_STATES, input=str(source)))
    _refused(capsys, ExitCode.USAGE, "`wheelproof pipeline check`", source, output)
    save(output, _manifest(source))
    _refused(capsys, ExitCode.USAGE, "with profile", source, output, "--profile", "never-early")
    save(output, replace(_manifest(source), judge="0.0"))
    _refused(capsys, ExitCode.USAGE, "are those of wheelproof 0.0", source, output)
    check = ["pipeline", "check", "--input", str(source), "--output", str(output)]
    (source / "a.jsonl").write_bytes(b"{}\n")
    assert main(check) == ExitCode.USAGE
    assert "`wheelproof pipeline stream`" in capsys.readouterr().err
    save(output, _manifest(source.parent / "other"))
    _refused(capsys, ExitCode.USAGE, "belongs to a stream of", source, output)


def test_checkpoints_of_something_else(
    capsys: pytest.CaptureFixture[str], source: Path, output: Path
) -> None:
    save(output, _manifest(source, "wheelproof.pipeline.stream/0"))
    _refused(capsys, ExitCode.USAGE, "not 'wheelproof.pipeline.stream/3'", source, output)
    save(output, _manifest(source))
    _refused(capsys, ExitCode.USAGE, "is missing", source, output)
    checkpoint = output / "checkpoint"
    checkpoint.mkdir()
    for text in ("[", '["id"]', json.dumps({"id": "b"}), json.dumps({"id": "a"})):
        (checkpoint / "metadata").write_text(text, encoding="utf-8")
        # The last one is older than the tables: it lacks their last batch.
        _refused(capsys, ExitCode.USAGE, "is not that of these tables", source, output)
    shutil.rmtree(output / "plan")
    _refused(capsys, ExitCode.USAGE, "but no tables", source, output)
