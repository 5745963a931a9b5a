"""Judges Apache Kafka's own classes: drives them, and repeats the findings on them."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from wheelproof_lab.publish.main_job.sections import Section
from wheelproof_lab.publish.verdicts.subjects import IMPLEMENTATIONS
from wheelproof_spec.app.pages.conformance.page import render_conformance
from wheelproof_spec.base.resources import checkout_directory
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict
from wheelproof_spec.components.registry import suites
from wheelproof_spec.drive.conformance import conform
from wheelproof_spec.drive.plan import ConformancePlan
from wheelproof_spec.drive.result import check_results

CASES = 300
"""The number of random cases that each component is driven through."""
DRIVEN = {
    run.component: run.skip
    for one in IMPLEMENTATIONS
    for run in one.driven
    if (one.name, run.profile) == ("Apache Kafka", "kafka")
}
"""The known limits of each component that the adapter drives; the broker only repeats findings."""
_CASES_BETWEEN_REPORTS = 100
_REFUTED = frozenset({"callbacks-deadlock", "callbacks-deadlock-queued"})
_PROGRAMS = {
    "ConfirmFindings": "kafka-java",
    "ConfirmPurgatoryRuns": "kafka-java",
    "ConfirmProducerRuns": "kafka-java",
    "ConfirmBrokerRuns": "kafka-broker-java",
}
"""Each program that repeats findings, and the adapter that has it."""
_CONFIRM_SECONDS = 120

_Report = Callable[[str], None]


def built_adapter() -> Path | None:
    """Return the folder of the Java adapter if it has been built on this machine."""
    checkout = checkout_directory()
    if checkout is None:
        return None
    adapter = checkout / "adapters" / "kafka-java"
    return adapter if (adapter / "target" / "kafka-driver.jar").is_file() else None


def conformance_section(
    adapter: Path, component: str, seed: int, folder: Path, report: _Report
) -> Section:
    """Drive Kafka's class for `component` through CASES cases and judge it by the profile kafka.

    A page with the clauses and every failing case goes into `folder`.
    A known limit that is no longer needed is a failure.
    """
    report(f"driving Kafka's {component} through {CASES:,} cases")
    limits = DRIVEN[component]
    result = conform(
        suites()[component],
        ConformancePlan(
            driver=shlex.quote(str(adapter / "run")),
            profile="kafka",
            cases=CASES,
            seed=seed,
            skip=None if limits is None else adapter.parents[1] / limits,
            must_fail=limits is not None,
        ),
        progress=lambda cases, steps: _report_some(cases, steps, report),
    )
    page = f"kafka-{component}.html"
    write_text(folder / page, render_conformance(result))
    known = [f"{count.clause} ({count.reason})" for count in result.clauses if count.reason]
    return Section(
        title=f"Conformance: Apache Kafka's {component}",
        edge="oracle and Kafka",
        subject=f"{result.subject}, profile {result.profile}, {result.steps:,} driven steps",
        results=check_results(result),
        note=f"Known limits, skipped: {'; '.join(known)}" if known else "No known limits.",
        page=page,
    )


def findings_section(adapter: Path, report: _Report) -> Section:
    """Repeat the counterexamples of docs/findings.md on Kafka's classes.

    A check passes if this release does what docs/findings.md says: it shows the counterexample,
    or, for a refuted finding, does not show it.
    """
    results: list[CheckResult] = []
    versions: set[str] = set()
    for program, folder in _PROGRAMS.items():
        report(f"repeating the findings on Kafka's classes: {program}")
        completed = subprocess.run(
            [str(adapter.parent / folder / "run"), program],
            capture_output=True,
            text=True,
            check=False,
            timeout=_CONFIRM_SECONDS,
        )
        if completed.returncode:
            last_lines = completed.stderr.strip().splitlines()[-5:]
            results.append(_trouble(program, completed.returncode, last_lines))
            continue
        documents = [json.loads(line) for line in completed.stdout.splitlines()]
        versions |= {str(document["version"]) for document in documents}
        results += [_confirmation(document) for document in documents]
    return Section(
        title="Findings: where Kafka's classes break a promise",
        edge="detailed specification and Kafka",
        subject=f"Apache Kafka {', '.join(sorted(versions))}",
        results=tuple(results),
        note="A pass means that this release does what docs/findings.md says of it: the "
        "counterexample is seen, or, for what was refuted there, is not.",
    )


def _report_some(cases: int, steps: int, report: _Report) -> None:
    if cases % _CASES_BETWEEN_REPORTS == 0:
        report(f"{cases:,} cases, {steps:,} steps")


def _confirmation(document: dict[str, object]) -> CheckResult:
    return CheckResult(
        name=str(document["finding"]),
        group="findings",
        verdict=Verdict.PASS
        if document["confirmed"] is (document["finding"] not in _REFUTED)
        else Verdict.FAIL,
        summary=str(document["observed"]),
    )


def _trouble(program: str, exit_code: int, last_lines: list[str]) -> CheckResult:
    return CheckResult(
        name=program,
        group="findings",
        verdict=Verdict.ERROR,
        summary=f"the program ended with exit code {exit_code}",
        details="\n".join(last_lines),
    )
