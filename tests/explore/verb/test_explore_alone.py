"""`python -m wheelproof_explore`: the verb without the judge, its reports and its refusals."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from wheelproof_explore.__main__ import main
from wheelproof_explore.verdicts import ExitCode

_ACCOUNT = "wheelproof_explore.examples:account"
_LOST_UPDATE = """
import threading
class Box: n = 0
def program():
    box, lock = Box(), threading.Lock()
    def add():
        with lock: pass
        box.n += 1
    threads = [threading.Thread(target=add) for _ in range(2)]
    for one in threads: one.start()
    for one in threads: one.join()
    assert box.n == 2
"""
_IMPORTED_FIRST = """
import gc, own_first
gc.collect()
from wheelproof_explore import explore
print(explore(own_first.program).verdict().name)
"""


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("account", ExitCode.FAIL),
        ("account_mended", ExitCode.PASS),
        ("ticket", ExitCode.FAIL),
        ("ticket_mended", ExitCode.PASS),
    ],
)
def test_the_examples_have_a_race_and_their_mended_forms_have_none(
    program: str, code: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"wheelproof_explore.examples:{program}"]) == code
    assert capsys.readouterr().out.splitlines()[-1] == code.name.lower()


def test_a_failure_is_shown_reported_and_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, suite, page = tmp_path / "r.json", tmp_path / "r.xml", tmp_path / "r.html"
    outputs = ("--json", str(report), "--junit", str(suite), "--html", str(page))
    assert main([_ACCOUNT, *outputs]) == ExitCode.FAIL
    printed = capsys.readouterr().out
    assert "AssertionError: overdrawn" in printed
    document = json.loads(report.read_text(encoding="utf-8"))
    assert (document["schema"], document["exit_code"]) == ("wheelproof.explore/1", 1)
    schedule = document["explorations"][0]["counterexample"]["schedule"]
    assert f"--replay {schedule}" in printed
    (case,) = ElementTree.parse(suite).getroot()
    assert [child.tag for child in case] == ["failure"]
    assert "overdrawn" in page.read_text(encoding="utf-8")
    assert main([_ACCOUNT, "--replay", schedule, "--quiet"]) == ExitCode.FAIL
    assert capsys.readouterr().out == "fail\n"


def test_a_bound_is_inconclusive(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([_ACCOUNT, "--max-runs", "1"]) == ExitCode.INCONCLUSIVE
    assert "the bound on runs was reached after 1 runs" in capsys.readouterr().out


def test_a_report_to_standard_output_stands_there_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([_ACCOUNT, "--json", "-"]) == ExitCode.FAIL
    assert json.loads(capsys.readouterr().out)["verdict"] == "fail"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], ExitCode.USAGE, "name one PROGRAM"),
        (["bug/none"], ExitCode.USAGE, "'bug/none' is no function"),
        (["no.such:thing"], ExitCode.INPUT_REJECTED, "No module named 'no'"),
        ([_ACCOUNT, "--replay", "x"], ExitCode.INPUT_REJECTED, "no schedule"),
        ([_ACCOUNT, "--json", "x", "--junit", "x"], ExitCode.USAGE, "two reports have one file"),
        ([_ACCOUNT, "--max-runs", "0"], ExitCode.USAGE, "--max-runs has to be at least 1"),
    ],
)
def test_what_is_refused_is_one_sentence(
    words: list[str], code: ExitCode, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("wheelproof_explore: ")
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_an_output_that_cannot_be_written_is_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([_ACCOUNT, "--json", str(tmp_path)]) == ExitCode.INTERNAL_ERROR
    assert str(tmp_path) in capsys.readouterr().err


def test_a_report_without_a_folder_is_refused_before_any_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "reprots" / "r.json"
    assert main([_ACCOUNT, "--json", str(report)]) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert f"there is no folder {report.parent}; make it" in shown.err
    assert shown.out == ""


def test_a_module_may_be_imported_before_the_model_checker(tmp_path: Path) -> None:
    """The first search for functions goes through all that is there, not the youngest alone."""
    (tmp_path / "own_first.py").write_text(_LOST_UPDATE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED_FIRST],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "FAIL\n"
