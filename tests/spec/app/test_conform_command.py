"""`wheelproof conform`: verdicts, exit codes and reports."""

import json
import shlex
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import cast

import pytest

from support.checkout import ROOT
from support.drive.commands import HEAPQ, REFERENCE, bad_driver
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.base.strict_json import JsonObject, parse_object
from wheelproof_spec.components.timer.cases import SUITE
from wheelproof_spec.components.timer.component import TimerClause
from wheelproof_spec.drive.conformance import MOST_FAILURES
from wheelproof_spec.drive.conformance import conform as conform_suite
from wheelproof_spec.drive.driver.process import DriverLimits
from wheelproof_spec.drive.plan import FUZZED_CASES, ConformancePlan

pytestmark = pytest.mark.slow

FEW = ("--cases", "5", "--seed", "3")


def conform(driver: str, *options: str) -> int:
    return main(["conform", "--driver", driver, *FEW, *options])


def read_json(path: Path) -> JsonObject:
    return parse_object(path.read_bytes())


def test_the_reference_passes_through_the_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    assert conform(REFERENCE) == ExitCode.PASS
    screen = capsys.readouterr().out
    assert screen.splitlines()[-1].startswith("PASS: timer of wheelproof 0.1.0, profile kafka: ")
    for clause in clauses_of(TimerClause, Wire.DRIVEN, "kafka"):
        assert clause in screen
    assert "ok    a wheel of one bucket" in screen


def test_quiet_prints_the_verdict_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert conform(HEAPQ, "--quiet") == ExitCode.PASS
    screen = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in screen] == [
        f"PASS: timer of python-heapq {sys.version.split()[0]}"
    ]


def test_a_failure_names_rule_case_and_repetition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    assert conform(HEAPQ, "--profile", "never-early", "--json", str(report)) == ExitCode.FAIL
    screen = capsys.readouterr().out
    assert "Timer.NeverBeforeItIsDue is broken" in screen
    command = f"| wheelproof conform --driver '{HEAPQ}' --component timer --profile never-early"
    assert f"{command} --case -" in screen
    document = read_json(report)
    assert document["schema"] == "wheelproof.conform/1"
    assert document["verdict"] == "fail"


def test_one_case_is_driven_alone_and_repeats_its_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, case = tmp_path / "report.json", tmp_path / "case.jsonl"
    assert conform(HEAPQ, "--profile", "never-early", "--json", str(report)) == ExitCode.FAIL
    lines, _, reason = _first_failure(report)
    case.write_text("\n".join(lines), encoding="utf-8")
    capsys.readouterr()
    words = ["conform", "--driver", HEAPQ, "--profile", "never-early", "--case", str(case)]
    assert main(words) == ExitCode.FAIL
    screen = capsys.readouterr().out
    assert reason in screen
    assert "never-early: 1 cases, " in screen.splitlines()[-1]
    assert f"repeat it: wheelproof conform --driver '{HEAPQ}'" in screen
    assert main([*words[:3], "--case", str(case), "--profile", "kafka"]) == ExitCode.PASS


def test_the_command_of_a_failure_repeats_it_in_a_shell(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert conform(HEAPQ, "--profile", "never-early", "--json", str(report)) == ExitCode.FAIL
    _, repeat, reason = _first_failure(report)
    program = f"{shlex.quote(sys.executable)} -m wheelproof_spec"
    command = repeat.replace("| wheelproof", f"| {program}")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.FAIL, done.stderr
    assert reason in done.stdout


def _first_failure(report: Path) -> tuple[list[str], str, str]:
    """Return the requests of the first failure, the command that repeats it, and the reason."""
    failures = cast("list[JsonObject]", read_json(report)["failures"])
    violation = cast("JsonObject", failures[0]["violation"])
    lines = cast("list[str]", failures[0]["lines"])
    return lines, str(failures[0]["repeat"]), str(violation["reason"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "case.jsonl: there is no request"),
        ("\n{", "case.jsonl:2: the line "),
        ('{"id":1,"op":"size"}', "case.jsonl:1: the case does not begin with a reset"),
        ('{"id":1,"op":"sizes"}', "case.jsonl:1: the line asks for the unknown operation 'sizes'"),
    ],
)
def test_a_file_that_is_no_case_is_rejected(
    text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "case.jsonl"
    case.write_text(text, encoding="utf-8")
    assert main(["conform", "--driver", HEAPQ, "--case", str(case)]) == ExitCode.INPUT_REJECTED
    assert problem in capsys.readouterr().err


def test_junit_has_a_test_for_each_named_case_and_one_for_the_fuzzed(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert conform(HEAPQ, "--profile", "never-early", "--junit", str(report)) == ExitCode.FAIL
    suite = ElementTree.parse(report).getroot()
    failed = [case for case in suite if case.find("failure") is not None]
    assert suite.attrib["failures"] == str(len(failed))
    assert "fuzzed cases" in {case.attrib["name"] for case in suite}
    assert "deadlines inside a tick are rounded as declared" in {
        case.attrib["name"] for case in failed
    }


@pytest.mark.parametrize("behaviour", ["no_virtual_time", "no_timer"])
def test_a_missing_capability_is_unsupported(
    behaviour: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert conform(bad_driver(behaviour)) == ExitCode.INCONCLUSIVE
    assert "unsupported: the driver " in capsys.readouterr().out


def test_a_crash_is_an_error_and_the_reports_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    json_report, junit_report = tmp_path / "report.json", tmp_path / "report.xml"
    options = ("--json", str(json_report), "--junit", str(junit_report))
    assert conform(bad_driver("dies"), *options) == ExitCode.INTERNAL_ERROR
    screen = capsys.readouterr().out
    assert screen.startswith("error: the driver ended with exit code 3"), "before the tables"
    assert f"given up after {MOST_FAILURES} failures of the driver" in screen
    assert "    out of buckets" in screen
    assert read_json(json_report)["verdict"] == "error"
    assert ElementTree.parse(junit_report).getroot().attrib["errors"] == str(MOST_FAILURES)


def test_a_driver_that_never_introduces_itself_is_an_error_after_the_time_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert conform(bad_driver("says_nothing"), "--timeout", "0.1") == ExitCode.INTERNAL_ERROR
    screen = capsys.readouterr().out
    assert "was silent for 0.1 s (request 1, hello)" in screen
    assert "an adapter has to flush its standard output after each line" in screen
    assert "checked" not in screen, "there is nothing to count"


def test_a_hanging_driver_is_an_error() -> None:
    plan = ConformancePlan(driver=bad_driver("silent"), limits=DriverLimits(timeout_s=0.1))
    result = conform_suite(SUITE, plan)
    assert result.verdict is Verdict.ERROR
    assert "was silent for 0.1 s (request 2, reset)" in result.troubles[0].problem
    assert len(result.troubles) == 1, "each silence lasts as long as the first"
    assert "give it more time with --timeout if it is slow" in str(result.open_question)


def test_a_driver_that_dies_in_the_fuzzed_cases_is_an_error_with_its_case(
    tmp_path: Path,
) -> None:
    result = conform_suite(SUITE, ConformancePlan(driver=_mortal(tmp_path), cases=8, seed=1))
    assert result.verdict is Verdict.ERROR
    trouble = result.troubles[0]
    assert trouble.case == FUZZED_CASES
    assert "ended with exit code 1 before it answered" in trouble.problem
    assert '"op":"reset"' in trouble.lines[0]
    assert '"op":"cancel"' in trouble.lines[-1]
    assert "cancelled too often" in trouble.last_lines[-1]
    summaries = {case.name: case.summary for case in result.results}
    assert summaries[FUZZED_CASES].startswith("8 cases"), "a new driver went on"


@pytest.mark.parametrize("wrong", [False, True])
def test_what_a_crash_leaves_is_driven_and_hides_nothing(wrong: bool, tmp_path: Path) -> None:
    driver = _changed(tmp_path, "len(self.add_of_task)}", "len(self.heap)}") if wrong else HEAPQ
    head = "    def cancel(self, task: str) -> dict[str, object]:\n"
    source = Path(shlex.split(driver)[-1])
    dies = _changed(tmp_path, head, f"{head}        assert self.now_ms < 2**61\n", source)
    whole = conform_suite(SUITE, ConformancePlan(driver=dies, cases=5, seed=1, profile="kafka"))
    crashed = {trouble.case for trouble in whole.troubles}
    named = {scenario.name for scenario in SUITE.scenarios()}
    assert crashed == {name for name in named if name.startswith("the longest delay")}
    assert {case.name for case in whole.results} == {*(named - crashed), FUZZED_CASES}
    assert whole.verdict is (Verdict.FAIL if wrong else Verdict.ERROR)


def _changed(directory: Path, old: str, new: str, source: Path | None = None) -> str:
    """Return the command of the adapter `source`, or the shipped one, with a change."""
    text = (source or ROOT / "adapters" / "python-heapq" / "driver.py").read_text(encoding="utf-8")
    assert old in text
    path = directory / f"changed{len(list(directory.iterdir()))}.py"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return shlex.join([sys.executable, str(path)])


def test_a_named_case_that_fails_is_made_small(tmp_path: Path) -> None:
    driver = _changed(tmp_path, "len(self.add_of_task)}", "len(self.heap) + 1}")
    result = conform_suite(SUITE, ConformancePlan(driver=driver, cases=5, profile="kafka"))
    named = [failure for failure in result.failures if failure.case != FUZZED_CASES]
    assert len(named) > 3
    assert {len(failure.lines) for failure in named} == {2}, "a reset, and asking for the size"


def test_the_profile_is_the_one_that_the_driver_declares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert conform(REFERENCE, "--component", "purgatory", "--quiet") == ExitCode.PASS
    assert "profile wheelproof" in capsys.readouterr().out
    declares = '"capabilities": capabilities, "profiles": {"timer": "%s"}'
    for declared, code in (("never-early", ExitCode.FAIL), ("lax", ExitCode.INCONCLUSIVE)):
        driver = _changed(tmp_path, '"capabilities": capabilities', declares % declared)
        assert conform(driver) == code
        assert conform(driver, "--profile", "kafka") == (
            code if code is ExitCode.INCONCLUSIVE else ExitCode.PASS
        )


@pytest.mark.parametrize("wrong", [False, True])
def test_a_failure_names_a_profile_by_which_the_same_cases_pass(
    wrong: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    driver = _changed(tmp_path, "len(self.add_of_task)}", "len(self.heap)}") if wrong else HEAPQ
    assert conform(driver, "--profile", "never-early") == ExitCode.FAIL
    hint = "the same cases pass by the profile kafka: --profile kafka"
    assert (hint in capsys.readouterr().out) is not wrong


def _mortal(directory: Path) -> str:
    """Return the command of an adapter that dies at the sixtieth cancel, in a fuzzed case."""
    head = "    def cancel(self, task: str) -> dict[str, object]:\n"
    before = "    cancels = 0\n\n"
    after = (
        "        HeapTimer.cancels += 1\n"
        "        assert HeapTimer.cancels < 60, 'cancelled too often'\n"
    )
    return _changed(directory, head, before + head + after)


def _exit_code(*words: str) -> object:
    try:
        return main(words)
    except SystemExit as ended:
        return ended.code


@pytest.mark.parametrize(
    "words",
    [
        ("--driver", "./no-such-driver"),
        ("--driver", ""),
        ("--driver", "'"),
        (),
        ("--driver", "x", "--cases", "0"),
        ("--driver", "x", "--cases", "many"),
        ("--driver", "x", "--timeout", "0"),
        ("--driver", "x", "--timeout", "nan"),
        ("--driver", "x", "--profile", "sloppy"),
        ("--driver", "x", "--component", "carburettor"),
        ("--driver", "x", "--must-fail"),
    ],
)
def test_wrong_words_are_a_usage_error(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _exit_code("conform", *words) == ExitCode.USAGE
    assert len(capsys.readouterr().err.splitlines()[-1]) > len("wheelproof: ")


def test_what_is_skipped_is_counted_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skip = tmp_path / "known.txt"
    skip.write_text(
        "# comment\n\nDomain.WheelOfOneBucket not made for it\n"
        "Timer.RunsInOrderOfDueTime  a pool of threads\nTimer.SizeCountsWaitingTasks lazy\n"
        "Timer.CancelTellsTheTruth  void\nDomain.NegativeDelay  unsigned\n",
        encoding="utf-8",
    )
    report = tmp_path / "report.json"
    assert conform(HEAPQ, "--skip", str(skip), "--json", str(report)) == ExitCode.PASS
    screen = capsys.readouterr().out
    assert "known limit: not made for it" in screen
    assert "n/a   a wheel of one bucket  (not applicable: needs Domain.WheelOfOneB" in screen
    counts = {
        line.split()[0]: [int(word.replace(",", "")) for word in line.split()[1:3]]
        for line in screen.splitlines()
        if line.startswith(("Timer.", "Domain."))
    }
    assert counts["Domain.WheelOfOneBucket"] == [0, 1]
    assert counts["Domain.NegativeDelay"] == [0, 1]
    for name in ("RunsInOrderOfDueTime", "SizeCountsWaitingTasks", "CancelTellsTheTruth"):
        checked, skipped = counts[f"Timer.{name}"]
        assert (checked, skipped > 0) == (0, True)


def test_a_known_limit_that_is_none_any_more_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skip = tmp_path / "known.txt"
    skip.write_text(
        "# comment\nDomain.WheelOfOneBucket  fixed since\nTimer.SizeCountsWaitingTasks  lazy\n",
        encoding="utf-8",
    )
    command = _changed(tmp_path, "len(self.add_of_task)}", "len(self.heap)}")
    assert conform(command, "--skip", str(skip)) == ExitCode.PASS
    capsys.readouterr()
    assert conform(command, "--skip", str(skip), "--must-fail") == ExitCode.FAIL
    screen = capsys.readouterr().out.splitlines()
    stale = next(line for line in screen if line.startswith("FAIL  known limit"))
    assert f"{skip}:2: Domain.WheelOfOneBucket holds in every named case and in 5 random" in stale
    assert "remove the line" in stale
    assert [line for line in screen if "still so: Timer.SizeCountsWaitingTasks" in line]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Timer.Unheard of it", "known.txt:1: 'Timer.Unheard' cannot be skipped; use one of "),
        ("Timer.NothingDueIsLeftBehind  lazy", "cannot be skipped"),
        ("#\nDomain.NegativeDelay", "known.txt:2: Domain.NegativeDelay is skipped without a "),
        ("Domain.NegativeDelay a\nDomain.NegativeDelay b", "known.txt:2: Domain.NegativeDelay is"),
        ("\udcff", "known.txt: is not UTF-8"),
    ],
)
def test_a_wrong_file_of_known_limits_is_rejected(
    text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skip = tmp_path / "known.txt"
    skip.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert conform("./never-started", "--skip", str(skip)) == ExitCode.INPUT_REJECTED
    assert problem in capsys.readouterr().err


def test_a_missing_file_of_known_limits_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    assert conform("./never-started", "--skip", "no/such/file") == ExitCode.INPUT_REJECTED
    assert "no/such/file: cannot be read (No such file or directory)" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_run_with_a_report(number: signal.Signals, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    driver = bad_driver("interrupts_its_judge", number.name)
    command = [sys.executable, "-m", "wheelproof_spec.app.cli", "conform", "--driver", driver]
    ended = subprocess.run(
        [*command, "--json", str(report)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == ExitCode.INTERRUPTED, ended.stderr
    assert "interrupted; what was not finished is not judged" in ended.stdout
    assert json.loads(report.read_text(encoding="utf-8"))["steps"] == 2


def test_progress_is_told_of_cases_and_steps() -> None:
    told: list[tuple[int, int]] = []
    result = conform_suite(
        SUITE,
        ConformancePlan(driver=HEAPQ, cases=3, seed=1),
        progress=lambda cases, steps: told.append((cases, steps)),
    )
    assert result.verdict is Verdict.PASS
    assert [cases for cases, _ in told] == list(range(1, result.cases + 1))
    assert told[-1][1] < result.steps
