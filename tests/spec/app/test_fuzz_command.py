"""The verb fuzz: verdicts, exit codes, reports, and the command that repeats a failure."""

import json
import shlex
import signal
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from wheelproof_spec.app.cli import main
from wheelproof_spec.app.verbs import fuzz
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.verdicts import ExitCode


def test_fuzz_pass_writes_its_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    json_file, junit_file = tmp_path / "fuzz.json", tmp_path / "fuzz.xml"
    options = ["--cases", "5", "--seed", "3", "--json", str(json_file), "--junit", str(junit_file)]
    assert main(["fuzz", "timer", *options]) == ExitCode.PASS
    document = json.loads(json_file.read_text(encoding="utf-8"))
    assert (document["verdict"], document["given"]["seed"]) == ("pass", 3)
    assert [check["verdict"] for check in document["checks"]] == ["pass"]
    assert ElementTree.parse(junit_file).getroot().get("failures") == "0"
    assert "seed 3" in capsys.readouterr().out


def test_fuzz_quiet_prints_the_verdict_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "timer", "--cases", "2", "--seed", "3", "--quiet"]) == ExitCode.PASS
    assert capsys.readouterr().out == "pass\n"


@pytest.mark.slow
def test_fuzz_with_real_threads_runs_both_machines(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--threads", "real", "--cases", "2", "--seed", "3"]
    assert main(["fuzz", "timer", *options]) == ExitCode.PASS
    printed = capsys.readouterr().out
    assert "timer, real threads: pass" in printed
    assert "timer task lists, real threads: pass" in printed


@pytest.mark.slow
def test_fuzz_failure_prints_a_command_that_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    junit_file = tmp_path / "fuzz.xml"
    options = ["--bug", "test-then-submit", "--seed", "1", "--junit", str(junit_file)]
    assert main(["fuzz", "timer", *options]) == ExitCode.FAIL
    printed = capsys.readouterr().out
    assert "Timer.CancelTellsTheTruth" in printed
    assert ElementTree.parse(junit_file).getroot().get("failures") == "1"
    repeat = printed.split("  repeat    ")[1].splitlines()[0]
    program, *words = shlex.split(repeat)
    assert program == "wheelproof"
    assert main(words) == ExitCode.FAIL
    assert f"  repeat    {repeat}" in capsys.readouterr().out


_FOUND = "case, as it was found; now it is made smaller:"
_BUG = ["fuzz", "timer", "--bug", "test-then-submit", "--seed", "1"]


def test_fuzz_shows_a_failure_before_it_makes_it_smaller(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With next to no time to make it smaller, the case is left as it was found."""
    assert main([*_BUG, "--shrink-seconds", "1e-9"]) == ExitCode.FAIL
    before, _, after = capsys.readouterr().out.partition(_FOUND)
    assert "Timer.CancelTellsTheTruth" in before
    found, _, shown = after.partition("case, as small as it was found:")
    assert [line for line in found.splitlines() if '"op"' in line] == [
        line for line in shown.splitlines() if '"op"' in line
    ]


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["none", "real", "controlled"])
def test_fuzz_that_is_interrupted_reports_how_far_it_has_come(
    threads: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The case under way is run to its end, and no batch and no machine follows."""
    signals = iter([signal.SIGINT])

    def interrupt(_: FuzzReport) -> None:
        for number in signals:
            signal.raise_signal(number)

    monkeypatch.setattr(fuzz, "_print_progress", interrupt)
    report = tmp_path / "fuzz.json"
    words = ["--threads", threads, "--seconds", "1000", "--seed", "3", "--json", str(report)]
    assert main(["fuzz", "timer", *words]) == ExitCode.INTERRUPTED
    assert "inconclusive, interrupted after" in capsys.readouterr().out
    assert len(json.loads(report.read_text(encoding="utf-8"))["checks"]) == 1


def test_fuzz_that_is_interrupted_while_it_shrinks_shows_the_smallest_case_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(report: FuzzReport) -> None:
        if report.failure is not None and not report.failure.shrunk:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(fuzz, "_print_progress", interrupt)
    assert main(_BUG) == ExitCode.FAIL
    printed = capsys.readouterr().out
    assert "Timer.CancelTellsTheTruth is broken (interrupted after 10 cases" in printed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--bug", "none-such"], "no known bug 'none-such' here; there are: KAFKA-2226"),
    ],
)
def test_fuzz_bad_words_end_in_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fuzz", "timer", *words]) == ExitCode.USAGE
    printed = capsys.readouterr().err
    assert sentence in printed
    assert len(printed.splitlines()) == 1
