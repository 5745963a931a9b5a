"""The entry point bootstrap.py on Pythons that are too old."""

import ast
import sys
from pathlib import Path

import pytest

import bootstrap


def test_entry_point_can_be_parsed_by_python_3_6() -> None:
    source = Path(bootstrap.__file__).read_text()
    ast.parse(source, feature_version=(3, 6))


def test_old_python_gets_one_sentence_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 18, "final", 0))
    assert bootstrap.main() == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "Python 3.11 or newer is needed and this is 3.8" in printed.err
