"""Apache Kafka's own timer, judged: the driven wheel, and the findings repeated on SystemTimer."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from wheelproof_spec.conformance.conformance import ConformancePlan, conform
from wheelproof_spec.conformance.conformance_result import check_results
from wheelproof_spec.conformance.timer_suite import TimerSuite
from wheelproof_spec.main_job.sections import Section
from wheelproof_spec.resources import checkout_directory
from wheelproof_spec.verdicts import CheckResult, Verdict

CASES = 1_000
_CASES_BETWEEN_REPORTS = 250
_CONFIRM_SECONDS = 120

_Report = Callable[[str], None]


def built_adapter() -> Path | None:
    """Return the folder of the Java adapter if it has been built on this machine."""
    checkout = checkout_directory()
    if checkout is None:
        return None
    adapter = checkout / "adapters" / "kafka-java"
    return adapter if (adapter / "target" / "kafka-driver.jar").is_file() else None


def conformance_section(adapter: Path, seed: int, report: _Report) -> Section:
    """Drive Kafka's TimingWheel through CASES cases and judge it by the profile kafka."""
    report(f"driving Kafka's timing wheel through {CASES:,} cases")
    result = conform(
        TimerSuite(),
        ConformancePlan(
            driver=shlex.quote(str(adapter / "run")),
            cases=CASES,
            seed=seed,
            skip=adapter / "known-limits.txt",
        ),
        progress=lambda cases, steps: _report_some(cases, steps, report),
    )
    limits = (f"{count.clause} ({count.reason})" for count in result.clauses if count.reason)
    return Section(
        title="Conformance: Apache Kafka's timing wheel",
        edge="oracle and Kafka",
        subject=f"{result.subject}, profile {result.profile}, {result.steps:,} driven steps",
        results=check_results(result),
        note=f"Known limits, skipped: {'; '.join(limits)}",
    )


def findings_section(adapter: Path, report: _Report) -> Section:
    """Repeat the counterexamples of docs/findings.md on Kafka's SystemTimer.

    A check passes if the finding is confirmed on this release, and fails if it is not: then the
    finding, or the release, has changed.
    """
    report("repeating the findings on Kafka's SystemTimer")
    completed = subprocess.run(
        [str(adapter / "run"), "ConfirmFindings"],
        capture_output=True,
        text=True,
        check=False,
        timeout=_CONFIRM_SECONDS,
    )
    if completed.returncode:
        last_lines = completed.stderr.strip().splitlines()[-5:]
        return _findings([_trouble(completed.returncode, last_lines)], "Kafka's SystemTimer")
    documents = [json.loads(line) for line in completed.stdout.splitlines()]
    versions = {str(document["version"]) for document in documents}
    subject = f"SystemTimer of kafka-server-common {', '.join(sorted(versions))}"
    return _findings([_confirmation(document) for document in documents], subject)


def _report_some(cases: int, steps: int, report: _Report) -> None:
    if cases % _CASES_BETWEEN_REPORTS == 0:
        report(f"{cases:,} cases, {steps:,} steps")


def _findings(results: list[CheckResult], subject: str) -> Section:
    return Section(
        title="Findings: where Kafka's SystemTimer breaks a promise",
        edge="detailed specification and Kafka",
        subject=subject,
        results=tuple(results),
        note="A pass means that the counterexample of docs/findings.md was seen on this release.",
    )


def _confirmation(document: dict[str, object]) -> CheckResult:
    return CheckResult(
        name=str(document["finding"]),
        group="findings",
        verdict=Verdict.PASS if document["confirmed"] is True else Verdict.FAIL,
        seconds=0.0,
        summary=str(document["observed"]),
    )


def _trouble(exit_code: int, last_lines: list[str]) -> CheckResult:
    return CheckResult(
        name="ConfirmFindings",
        group="findings",
        verdict=Verdict.ERROR,
        seconds=0.0,
        summary=f"the program ended with exit code {exit_code}",
        details="\n".join(last_lines),
    )
