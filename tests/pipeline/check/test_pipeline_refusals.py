"""What the pipeline refuses: one sentence, the right exit code, and nothing is written."""

import json
from pathlib import Path

import pytest

from support.pipeline.refused import refused
from wheelproof_spark.tables.plan import Plan
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.slow


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(b"{}\n")
    return folder


def test_inputs_that_are_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty, file, output = tmp_path / "empty", tmp_path / "file", tmp_path / "out"
    empty.mkdir()
    file.write_bytes(b"")
    (empty / ".hidden").write_bytes(b"{}\n")
    for path, sentence in (
        (tmp_path / "missing", "does not exist"),
        (file, "is no folder"),
        (empty, "has no file"),
    ):
        words = ("check", "--input", path, "--output", output)
        refused(capsys, ExitCode.INPUT_REJECTED, sentence, *words)
    with pytest.raises(SystemExit) as ended:
        main(["pipeline", "check", "--output", str(output)])
    assert ended.value.code == ExitCode.USAGE
    assert "--input" in capsys.readouterr().err


def test_outputs_that_are_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, source: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    words = ("check", "--input", source, "--output")
    refused(capsys, ExitCode.USAGE, "cannot be written", *words, file)
    refused(capsys, ExitCode.USAGE, "is inside of", *words, source / "out")
    (source / "link").symlink_to(tmp_path / "tables")
    refused(capsys, ExitCode.USAGE, "leads to the output", *words, tmp_path / "tables")
    report = ("report", "--output", tmp_path / "none")
    refused(capsys, ExitCode.INPUT_REJECTED, "has no tables", *report)


@pytest.mark.parametrize(
    ("manifest", "code", "sentence"),
    [
        ({"schema": "wheelproof.pipeline/3"}, ExitCode.USAGE, "has the schema"),
        ({"schema": "wheelproof.pipeline/4"}, ExitCode.INPUT_REJECTED, "cannot be read"),
        ([], ExitCode.INPUT_REJECTED, "cannot be read"),
        (None, ExitCode.INPUT_REJECTED, "cannot be read"),
    ],
)
def test_a_manifest_of_another_version(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    source: Path,
    manifest: object,
    code: ExitCode,
    sentence: str,
) -> None:
    output = tmp_path / "out"
    Plan(output).commit(1, (), "{" if manifest is None else json.dumps(manifest))
    refused(capsys, code, sentence, "check", "--input", source, "--output", output)


def test_an_output_from_before_the_plan(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, source: Path
) -> None:
    output = tmp_path / "out"
    output.mkdir()
    (output / "manifest.json").write_bytes(b"{}")
    words = ("--output", output)
    for verb in ("check", "stream"):
        given = (verb, "--input", source, *words)
        refused(capsys, ExitCode.USAGE, "an older version of wheelproof", *given)
    for verb in ("report", "compact"):
        refused(capsys, ExitCode.USAGE, "an older version of wheelproof", verb, *words)
    assert [path.name for path in output.iterdir()] == ["manifest.json"]


def test_a_master_that_is_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, source: Path
) -> None:
    words = ("check", "--input", source, "--output", tmp_path / "out", "--master", "nonsense")
    refused(capsys, ExitCode.USAGE, "is no master", *words)
