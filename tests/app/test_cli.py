"""The program as a whole: help, version, and what it says when an extra is missing."""

import subprocess
import sys

import pytest

from wheelproof_spec.app.cli import main
from wheelproof_spec.base.verdicts import ExitCode

VERBS = ("tlc", "explore", "graph", "fuzz", "conform")


def test_cli_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == ExitCode.PASS
    printed = capsys.readouterr().out
    assert all(verb in printed for verb in VERBS)


def test_cli_unknown_verb_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["none-such"])
    assert ended.value.code == ExitCode.USAGE
    assert "none-such" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [
        (["fuzz", "timer"], "hypothesis", "fuzz"),
        (["conform", "--driver", "true", "--component", "purgatory"], "hypothesis", "fuzz"),
        (["tlc"], "rich", "tlc"),
        (["explore", "--all"], "greenlet", "explore"),
        (["graph", "--all"], "greenlet", "explore"),
        (["pipeline", "check", "--input", "in", "--output", "out"], "pyspark", "spark"),
    ],
)
@pytest.mark.slow
def test_cli_missing_extra_is_one_sentence(words: list[str], module: str, extra: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None; "
        f"from wheelproof_spec.app.cli import main; sys.exit(main({words!r}))"
    )
    completed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert completed.returncode == ExitCode.USAGE
    assert len(completed.stderr.splitlines()) == 1
    assert f"pip install 'wheelproof[{extra}]'" in completed.stderr
