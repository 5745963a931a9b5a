"""The verb prove: what it prints and writes, exit codes, and what it lacks in one sentence."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from wheelproof_lab.__main__ import main
from wheelproof_lab.prove import verb as prove
from wheelproof_lab.prove.all_proofs import listed
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict


def _result(name: str, verdict: Verdict) -> CheckResult:
    return CheckResult(
        name=name, group="p", verdict=verdict, seconds=0, summary="so", details="  two states"
    )


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[CheckResult]:
    """Return the list of what the obligations of each proof end with."""
    given: list[CheckResult] = []

    def proved(names: list[str], *, jobs: int, seconds: float) -> Iterator[CheckResult]:
        del names, jobs, seconds
        return iter(given)

    monkeypatch.setattr(prove, "proved", proved)
    return given


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "--list"]) == ExitCode.PASS
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [proof.name for proof in listed()]


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ((Verdict.PASS,), ExitCode.PASS),
        ((Verdict.PASS, Verdict.INCONCLUSIVE), ExitCode.INCONCLUSIVE),
        ((Verdict.INCONCLUSIVE, Verdict.FAIL), ExitCode.FAIL),
    ],
)
def test_each_obligation_is_a_line(
    verdicts: tuple[Verdict, ...],
    code: ExitCode,
    answers: list[CheckResult],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers += [_result(f"o{number}", one) for number, one in enumerate(verdicts)]
    report = tmp_path / "prove.json"
    assert main(["prove", "maybe-try-complete-flag", "--json", str(report)]) == code
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("p: ")] == [
        f"p: o{number}: {one.value}, so" for number, one in enumerate(verdicts)
    ]
    # States are shown where something is wrong.
    assert lines.count("  two states") == len(verdicts) - verdicts.count(Verdict.PASS)
    document = json.loads(report.read_text())
    assert document["schema"] == "wheelproof.prove/1"
    assert [check["verdict"] for check in document["checks"]] == list(verdicts)
    assert document["given"]["proofs"] == ["maybe-try-complete-flag"]


def test_interrupted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(prove, "proved", interrupt)
    assert main(["prove", "--all", "--quiet"]) == ExitCode.INTERRUPTED
    assert "interrupted" in capsys.readouterr().out


@pytest.mark.slow
def test_details_show_a_refutation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "*-flag", "--details"]) == ExitCode.PASS
    printed = capsys.readouterr().out
    assert "  OwedIsWatched is broken:\n  TryLock(t1)\n" in printed
    assert re.search(r"    pc: t1 TryLock, .*  ->  t1 SetPending, ", printed)
    assert "    1  MakeTrue(t1)\n" in printed


@pytest.mark.slow
def test_two_at_a_time_show_what_one_shows(capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[str] = []
    for jobs in "12":
        assert main(["prove", "*-flag", "*-monitor", "--jobs", jobs]) == ExitCode.PASS
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_without_java_the_text_of_a_module_is_inconclusive(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    assert main(["prove", "*-flag", "--jobs", "1"]) == ExitCode.INCONCLUSIVE
    printed = capsys.readouterr().out
    assert "the text of the module: inconclusive, Java was not found" in printed
