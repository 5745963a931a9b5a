"""Hostile tries that need a process of their own: streams closed or full, signals, modes."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from support.hostile import HISTORY, Ended, require_good_end, snapshot
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.slow

PROGRAM = f"{sys.executable} -m wheelproof_spec"
FULL = "standard output cannot be written (No space left on device)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.jsonl").write_bytes(HISTORY)
    return tmp_path


def _shell(command: str) -> Ended:
    done = subprocess.run(
        ["bash", "-c", command.replace("wheelproof", PROGRAM)],
        capture_output=True,
        text=True,
        check=False,
    )
    ended = Ended(code=done.returncode, output=done.stdout, errors=done.stderr)
    require_good_end([command], ended)
    return ended


@pytest.mark.parametrize(
    "words",
    [
        "--version",
        "schema print",
        "explore --list",
        "explore bug/anyone-takes",
        "fuzz buffer_pool --cases 1 --seed 1",
        "conform --template python",
        "tlc --write-cfg MCTimer_smoke",
    ],
)
def test_full_standard_output(words: str) -> None:
    ended = _shell(f"wheelproof {words} > /dev/full")
    assert ended.code == ExitCode.INTERNAL_ERROR
    assert FULL in ended.errors


def test_full_standard_output_leaves_the_verdict_and_the_reports(folder: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{PROGRAM} check run.jsonl --json report > /dev/full"],
        capture_output=True,
        text=True,
        check=False,
    )
    verdict, sentence = done.stderr.splitlines()
    assert "1 runs in 1 files" in verdict
    assert FULL in sentence
    assert done.returncode == ExitCode.INTERNAL_ERROR
    assert b'"verdict"' in snapshot(folder)["report"]


@pytest.mark.parametrize("words", ["--help", "schema print", "explore --list", "check run.jsonl"])
@pytest.mark.parametrize("reader", ["true", "head -1"])
def test_standard_output_that_nobody_reads(words: str, reader: str) -> None:
    ended = _shell(f"wheelproof {words} | {reader}; exit ${{PIPESTATUS[0]}}")
    assert ended.errors == ""


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("wheelproof schema print >&-", ExitCode.PASS),
        ("wheelproof schema print >&- 2>&- <&-", ExitCode.PASS),
        ("wheelproof check - <&-", ExitCode.INPUT_REJECTED),
        ("PYTHONIOENCODING=ascii wheelproof check $'\\xff'", ExitCode.INPUT_REJECTED),
        ("PYTHONIOENCODING=ascii wheelproof schema validate é", ExitCode.INPUT_REJECTED),
        ("wheelproof check - --html run.jsonl < run.jsonl", ExitCode.USAGE),
        ("wheelproof check run.jsonl --html out.txt > out.txt", ExitCode.USAGE),
        ("ulimit -f 1; wheelproof schema print --json big.json", ExitCode.INTERNAL_ERROR),
    ],
)
def test_streams(command: str, code: ExitCode, folder: Path) -> None:
    assert _shell(command).code == code
    assert snapshot(folder)["run.jsonl"] == HISTORY
    assert not list(folder.glob(".wheelproof-*"))


@pytest.mark.parametrize("errors", ["&-", "/dev/full"])
@pytest.mark.parametrize(
    ("words", "code"),
    [("check nothing", ExitCode.INPUT_REJECTED), ("chek", ExitCode.USAGE)],
)
def test_standard_error_that_takes_nothing(words: str, code: ExitCode, errors: str) -> None:
    assert _shell(f"wheelproof {words} 2>{errors}; echo $?").output == f"{code}\n"


@pytest.mark.parametrize(
    ("words", "kind"), [("--json -", b'{\n  "schema"'), ("--junit -", b"<?xml version")]
)
@pytest.mark.parametrize(
    "command", ["check run.jsonl", "explore bug/anyone-takes", "fuzz timer --cases 1", "doctor"]
)
def test_a_report_on_standard_output_is_alone_there(command: str, words: str, kind: bytes) -> None:
    done = subprocess.run(
        [*PROGRAM.split(), *command.split(), *words.split()], capture_output=True, check=False
    )
    assert done.stdout.startswith(kind)
    assert done.stdout.rstrip().endswith((b"}", b"</testsuite>", b"/>"))
    assert done.stderr


@pytest.mark.parametrize(("umask", "mode"), [("022", 0o644), ("027", 0o640), ("077", 0o600)])
def test_outputs_have_the_mode_that_the_umask_gives(umask: str, mode: int, folder: Path) -> None:
    _shell(f"umask {umask}; wheelproof check run.jsonl --html page.html --json report.json")
    for name in ("page.html", "report.json"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == mode


def test_an_output_that_is_replaced_keeps_its_mode_and_its_links(folder: Path) -> None:
    page = folder / "page.html"
    page.write_text("old")
    page.chmod(0o604)
    (folder / "link.html").symlink_to(page)
    _shell("wheelproof check run.jsonl --html link.html")
    assert stat.S_IMODE(page.stat().st_mode) == 0o604
    assert (folder / "link.html").is_symlink()
    assert b"<html" in page.read_bytes()


_TOLD_WHEN_IT_STARTS = """
import sys
from wheelproof_spec.app import cli, program

def runs(parser, run, _runs=program.runs, **files):
    def told(arguments):
        print("started", flush=True)
        return run(arguments)
    _runs(parser, told, **files)

program.runs = runs
sys.exit(cli.main())
"""


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "command",
    [
        "explore file-system-16 --engine brute",
        "fuzz timer --seconds 600",
        "check -",
        "record --component timer --operations 100000000 --output kept.jsonl",
    ],
)
def test_a_signal_ends_all(command: str, signum: signal.Signals, folder: Path) -> None:
    kept = folder / "kept.jsonl"
    kept.write_bytes(HISTORY)
    with subprocess.Popen(
        [sys.executable, "-c", _TOLD_WHEN_IT_STARTS, *command.split()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(signum)
        output, errors = process.communicate()
    require_good_end([command], Ended(code=process.returncode, output=output, errors=errors))
    assert process.returncode == ExitCode.INTERRUPTED
    assert kept.read_bytes() == HISTORY
    assert sorted(snapshot(folder)) == ["kept.jsonl", "run.jsonl"]
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
