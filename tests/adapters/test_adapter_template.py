"""The adapters to start from pass as they are, and need nothing of this project."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.drive.adapters import ADAPTERS, conform, python
from support.toolchains import require
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.drive.usual import TEMPLATES

TEMPLATE = ADAPTERS / "template"


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_printed_as_it_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["conform", "--template", name])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert printed == (TEMPLATE / TEMPLATES[name]).read_text(encoding="utf-8")


def test_the_adapter_in_python_passes() -> None:
    result = conform(python(TEMPLATE / "adapter.py"), 60)
    assert result.verdict is Verdict.PASS
    assert all(count.checked > 0 for count in result.clauses)


BUILT = {
    "go": ["go", "build", "-o", "{program}", "{source}"],
    "rust": ["rustc", "-O", "--edition", "2024", "-o", "{program}", "{source}"],
}
STARTED = {"java": "java {source}", "javascript": "node {source}"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BUILT, *STARTED])
def test_the_adapter_in_another_language_passes(name: str, tmp_path: Path) -> None:
    source, program = TEMPLATE / TEMPLATES[name], tmp_path / "adapter"
    words = BUILT[name] if name in BUILT else STARTED[name].split()
    require(words[0])
    words = [word.format(program=program, source=source) for word in words]
    if name in BUILT:
        built = subprocess.run(words, capture_output=True, text=True, check=False)
        assert built.returncode == 0, built.stderr
        words = [str(program)]
    result = conform(shlex.join(words), 60)
    assert result.verdict is Verdict.PASS
    assert all(count.checked > 0 for count in result.clauses)
    assert len(source.read_text(encoding="utf-8").splitlines()) <= 150


def _recorded(source: str, folder: Path) -> Path:
    script, run = folder / "recorder.py", folder / "run.jsonl"
    script.write_text(source, encoding="utf-8")
    with run.open("wb") as stream:
        command = [sys.executable, "-I", str(script), "5"]
        subprocess.run(command, stdout=stream, check=True)
    return run


def test_the_recorder_records_what_passes_and_what_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (TEMPLATE / "recorder.py").read_text(encoding="utf-8")
    assert main(["check", str(_recorded(source, tmp_path))]) == ExitCode.PASS
    guarded = "if self._waiting.pop(task, None) is not None:"
    assert guarded in source
    broken = source.replace(guarded, "if True:").replace(
        "            timer.cancel()\n", "            pass\n"
    )
    assert main(["check", str(_recorded(broken, tmp_path))]) == ExitCode.FAIL
    assert "is broken" in capsys.readouterr().out
