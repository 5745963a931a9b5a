"""Bursts of calls that overlap: what is wrong fails, what is only strange passes, drivers may fail.

The fakes do the same in every run, so what they do wrong is found in every run.
"""

import json
import shlex
from pathlib import Path

import pytest

from support.drive.commands import HEAPQ, burst_driver
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.base.suite import BurstReport, FuzzPlan
from wheelproof_spec.components.registry import suites
from wheelproof_spec.components.timer.cases import SUITE
from wheelproof_spec.drive.conformance import conform
from wheelproof_spec.drive.driver.port import DriverPort
from wheelproof_spec.drive.driver.process import DriverFailedError, DriverLimits
from wheelproof_spec.drive.driver.session import DriverSession
from wheelproof_spec.drive.plan import OVERLAPPING, ConformancePlan
from wheelproof_spec.fuzz.overlapping import REPEATS

_CASES = 60


def _timer(behaviour: str) -> str:
    return burst_driver("timer", behaviour)


def _report(behaviour: str, cases: int = _CASES, timeout_s: float = 20.0) -> BurstReport:
    return _reported("timer", behaviour, cases, timeout_s)


def _reported(
    component: str, behaviour: str, cases: int, timeout_s: float = 20.0, profile: str = "kafka"
) -> BurstReport:
    suite, limits = suites()[component], DriverLimits(timeout_s=timeout_s)
    wire: DrivenWire[Request, object] = DrivenWire(suite.definition)
    with DriverSession(burst_driver(component, behaviour), limits) as session:
        session.introduce()
        port = DriverPort(session, wire.parse_answer)
        assert suite.bursts is not None
        return suite.bursts(profile, Tally()).run(port, FuzzPlan(cases=cases, seed=1))


@pytest.mark.parametrize("behaviour", ["in_order", "reversed_callers", "one_by_one"])
def test_what_some_order_explains_passes(behaviour: str) -> None:
    report = _report(behaviour)
    assert report.failures == ()
    assert report.cases == _CASES
    assert report.bursts > _CASES
    assert report.calls > 2 * report.bursts
    assert not report.undecided


@pytest.mark.parametrize(
    ("behaviour", "rule"),
    [
        ("lost_add", "Timer.NothingDueIsLeftBehind"),
        ("runs_twice", "Timer.RunsAtMostOncePerAdd"),
        ("early", "Timer.NeverBeforeItIsDue"),
        ("both_cancel", "Timer.CancelTellsTheTruth"),
        ("refuses", "Timer.AcceptsItsDomain"),
    ],
)
def test_what_no_order_explains_fails_and_shrinks(behaviour: str, rule: str) -> None:
    failures = _report(behaviour, cases=40).failures
    [failure] = [one for one in failures if one.violation.rule == rule]
    # A fake does the same in each run.
    assert (failure.failed, failure.runs) == (REPEATS, REPEATS)
    called = [line for line in failure.lines if "caller" in json.loads(line)]
    assert 1 <= len(called) <= 6


@pytest.mark.parametrize("behaviour", ["in_order", "reversed_callers", "one_by_one"])
@pytest.mark.parametrize("profile", ["kafka", "wheelproof"])
def test_a_purgatory_whose_calls_some_order_explains_passes(behaviour: str, profile: str) -> None:
    report = _reported("purgatory", behaviour, _CASES, profile=profile)
    assert report.failures == ()
    assert report.bursts > _CASES
    assert not report.undecided


@pytest.mark.parametrize(
    ("behaviour", "rule"),
    [
        ("completes_twice", "Purgatory.CompletesAtMostOnce"),
        ("no_second_try", "Purgatory.TriggerCompletes"),
        ("both_force", "Purgatory.AnswersWhetherItCompleted"),
        ("no_expiry", "Purgatory.ExpiresInTime"),
        ("refuses", "Purgatory.AcceptsItsDomain"),
    ],
)
def test_a_purgatory_whose_calls_no_order_explains_fails_and_shrinks(
    behaviour: str, rule: str
) -> None:
    failures = _reported("purgatory", behaviour, 150).failures
    [failure] = [one for one in failures if one.violation.rule == rule]
    assert (failure.failed, failure.runs) == (REPEATS, REPEATS)
    called = [line for line in failure.lines if "caller" in json.loads(line)]
    assert 1 <= len(called) <= 8


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ("drops", "has answered a later request, and not this one (request "),
        ("swaps", "has answered a later request, and not this one (request "),
        ("hangs", "was silent for 2 s, and 3 requests of a burst have no answer"),
        ("dies", "ended with exit code 3 before it answered, and 3 requests of a burst"),
        ("invents", "carries the id 10000000, which no open request has"),
    ],
)
def test_a_driver_that_fails_in_a_burst_is_named_in_a_sentence(
    behaviour: str, problem: str
) -> None:
    with pytest.raises(DriverFailedError) as caught:
        _report(behaviour, timeout_s=2.0 if behaviour == "hangs" else 20.0)
    assert caught.value.problem.startswith("the driver ")
    assert problem in caught.value.problem
    assert "\n" not in caught.value.problem


def test_the_verdict_says_what_was_sent_and_what_was_not_judged() -> None:
    result = conform(SUITE, ConformancePlan(driver=_timer("reversed_callers"), cases=100))
    assert result.verdict is Verdict.PASS
    [said] = [case for case in result.results if case.name == OVERLAPPING]
    assert said.summary.startswith("10 cases, ")
    assert " bursts, " in said.summary
    assert said.summary.endswith(" calls; not judged: the order in which tasks run")


def test_a_failure_prints_a_command_that_repeats_it() -> None:
    result = conform(SUITE, ConformancePlan(driver=_timer("lost_add"), cases=600))
    assert result.verdict is Verdict.FAIL
    failure = result.failures[0]
    assert failure.case == OVERLAPPING
    said = next(case for case in result.results if case.name == OVERLAPPING)
    assert said.summary.endswith("this case failed in 20 of 20 runs")
    printed, _, command = failure.repeat.rpartition(" | ")
    assert shlex.split(printed)[2:] == list(failure.lines)
    assert command.startswith("wheelproof conform --driver ")
    assert command.endswith(" --case -")


def test_a_case_with_callers_is_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "case.jsonl"
    case.write_text(
        '{"id":1,"op":"reset","component":"timer","config":{"tick_ms":1}}\n'
        '{"id":2,"op":"add","caller":"x","args":{"task":"c","delay_ms":1}}\n'
        '{"id":3,"op":"add","caller":"y","args":{"task":"a","delay_ms":0}}\n'
        '{"id":4,"op":"size"}\n',
        encoding="utf-8",
    )
    command = ["conform", "--case", str(case), "--driver"]
    assert main([*command, _timer("lost_add")]) == ExitCode.FAIL
    assert "this case failed in 20 of 20 runs" in capsys.readouterr().out
    assert main([*command, _timer("in_order")]) == ExitCode.PASS
    assert "20 cases, 20 bursts, 40 calls" in capsys.readouterr().out
    assert main([*command, HEAPQ]) == ExitCode.INCONCLUSIVE
    assert "the case has callers, and the driver is not 'concurrent'" in capsys.readouterr().out


@pytest.mark.parametrize("behaviour", ["drops", "dies"])
def test_a_driver_that_fails_in_a_burst_is_an_error(
    behaviour: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["conform", "--cases", "10", "--driver", _timer(behaviour)]) == ExitCode.INTERNAL_ERROR
    )
    said = capsys.readouterr().out
    assert said.count("error: the driver ") == 1
    assert "ERROR  overlapping calls  (the driver failed in a burst)" in said
