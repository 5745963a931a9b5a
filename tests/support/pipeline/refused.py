"""What a verb refuses: one sentence, and the right exit code."""

import pytest

from wheelproof_spec.app.cli import main
from wheelproof_spec.base.verdicts import ExitCode


def refused(
    capsys: pytest.CaptureFixture[str], code: ExitCode, sentence: str, *words: object
) -> None:
    """Assert that `wheelproof pipeline WORDS` ends so, and says nothing else."""
    assert main(["pipeline", *map(str, words)]) == code
    printed = capsys.readouterr().err
    assert sentence in printed
    assert len(printed.splitlines()) == 1
