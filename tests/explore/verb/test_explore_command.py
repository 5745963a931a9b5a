"""The verb: what it prints, writes and returns."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.problems import (
    ExploreError,
    InputRejectedError,
    OptionRejectedError,
)
from wheelproof_explore.verdicts import ExitCode
from wheelproof_lab.worlds.all_programs import find_program
from wheelproof_spec.app.verbs import explore as command
from wheelproof_spec.base.errors import UsageError


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    command.declare(parser)
    return command.run(parser.parse_args(words))


def test_a_program_that_passes_gets_a_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    assert _run("last-zero-5", "--json", str(report)) == ExitCode.PASS
    assert "last-zero-5: pass, all 64 classes" in capsys.readouterr().out
    document = json.loads(report.read_text(encoding="utf-8"))
    assert document["verdict"] == "pass"
    certificate = document["explorations"][0]
    assert certificate["engine"] == "optimal"
    assert (certificate["classes"], certificate["blocked_runs"]) == (64, 0)
    assert certificate["counterexample"] is None
    assert certificate["digest"] == explore(find_program("last-zero-5")).digest


def test_a_program_that_fails_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    assert _run("lost-update", "--json", str(report)) == ExitCode.FAIL
    printed = capsys.readouterr().out
    assert "1 after 2 increments" in printed
    found = json.loads(report.read_text(encoding="utf-8"))["explorations"][0]["counterexample"]
    assert f"--replay {found['schedule']}" in printed
    assert _run("lost-update", "--replay", found["schedule"], "--quiet") == ExitCode.FAIL


def test_the_page_is_written_for_one_program(tmp_path: Path) -> None:
    page = tmp_path / "pages" / "page.html"
    assert _run("lost-update", "--html", str(page), "--quiet") == ExitCode.FAIL
    assert "counter.set(1)" in page.read_text(encoding="utf-8")
    with pytest.raises(OptionRejectedError, match="--html shows one run"):
        _run("--all", "--html", str(page))


@pytest.mark.parametrize("engine", ["brute", "source", "sample"])
def test_other_engines_never_pass(engine: str) -> None:
    words = ("--engine", engine, "--seed", "1", "--max-runs", "100", "--quiet")
    assert _run("increments-3", *words) == ExitCode.INCONCLUSIVE


def test_the_list_names_programs_of_both_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--list") == ExitCode.PASS
    printed = capsys.readouterr().out
    assert "timer-close" in printed
    assert "bug/KAFKA-2112" in printed


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "name one PROGRAM"),
        (("event", "--all"), "name one PROGRAM"),
        (("--all", "--replay", "x"), "--replay needs the PROGRAM"),
        (("no-such-program",), "no program 'no-such-program'"),
        (("event", "--max-runs", "0"), "at least 1"),
    ],
)
def test_words_that_make_no_sense(words: tuple[str, ...], problem: str) -> None:
    with pytest.raises((OptionRejectedError, UsageError), match=problem):
        _run(*words)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("no.such.module:PROGRAM",), "ModuleNotFoundError"),
        (("wheelproof_spec.base.results.verdicts:Verdict",), "is no function"),
        (("event", "--replay", "nonsense"), "no schedule string"),
    ],
)
def test_input_that_is_refused(words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ExploreError, match=problem) as caught:
        _run(*words)
    assert isinstance(caught.value, InputRejectedError)
    assert caught.value.exit_code is ExitCode.INPUT_REJECTED


_LONG = """
import os, signal
from itertools import count
from wheelproof_lab.worlds.classics import increments
from wheelproof_lab.worlds.making import program

RUNS = count()

def many():
    if next(RUNS) == 100:
        os.kill(os.getpid(), signal.SIGINT)
    return increments(7)

PROGRAM = program("long", many)
"""
_MAIN = """
import argparse, sys
from wheelproof_spec.app.verbs import explore as command

parser = argparse.ArgumentParser()
command.declare(parser)
sys.exit(command.run(parser.parse_args(["long_program:PROGRAM"])))
"""


@pytest.mark.slow
def test_an_interrupt_ends_it_with_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "long_program.py").write_text(_LONG, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _MAIN],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == ExitCode.INTERRUPTED
    assert "long_program:PROGRAM: inconclusive, interrupted after" in done.stdout
