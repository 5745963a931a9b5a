"""What a driven conformance run has shown, as data for screens, pages and machines."""

from collections.abc import Mapping
from dataclasses import dataclass

from wheelproof_spec.base.verdicts import CheckResult, Verdict, overall
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.engines.drive.driver.messages import Introduction


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseCount:
    """How often a clause was checked, and how often it was skipped as a known limit, and why."""

    clause: str
    checked: int
    skipped: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceFailure:
    """A case that breaks the contract: its lines, the last of which shows it.

    `answers` are what the implementation said to them when it was asked once more.
    """

    case: str
    violation: Violation
    lines: tuple[str, ...]
    answers: tuple[str, ...]
    repeat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverTrouble:
    """How the driver itself failed: one sentence, its last lines, the case that it was in."""

    problem: str
    last_lines: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A named case, or all fuzzed cases together, with how it went in a sentence."""

    name: str
    verdict: Verdict
    seconds: float
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceResult:
    """The outcome of a run; `seconds` is wall time, `open_question` why it may be inconclusive.

    `implementation` is None if the driver never introduced itself. `steps` counts the calls that
    were made on the component, `cases` its resets, those that shrinking needed included; `repeat`
    is the command that does the same again.
    """

    component: str
    profile: str
    driver: str
    implementation: Introduction | None
    seed: int
    cases: int
    steps: int
    seconds: float
    clauses: tuple[ClauseCount, ...]
    results: tuple[CaseResult, ...]
    failures: tuple[ConformanceFailure, ...]
    trouble: DriverTrouble | None
    open_question: str | None
    repeat: str

    @property
    def verdict(self) -> Verdict:
        """The verdict of the whole run."""
        verdicts = [result.verdict for result in self.results]
        if self.trouble is not None:
            verdicts.append(Verdict.ERROR)
        if self.open_question is not None:
            verdicts.append(Verdict.INCONCLUSIVE)
        return overall(verdicts)

    @property
    def subject(self) -> str:
        """The implementation and its version."""
        if self.implementation is None:
            return "an implementation that did not introduce itself"
        return f"{self.implementation.implementation} {self.implementation.version}"


def check_results(result: ConformanceResult) -> tuple[CheckResult, ...]:
    """Return the run as checks, one a named case and one for the fuzzed cases."""
    stories = {failure.case: _story(failure) for failure in result.failures}
    checks = [
        CheckResult(
            name=case.name,
            group="conform",
            verdict=case.verdict,
            seconds=case.seconds,
            summary=case.summary,
            details=stories.get(case.name, ""),
        )
        for case in result.results
    ]
    if result.trouble is not None:
        details = "\n".join((*result.trouble.lines, *result.trouble.last_lines))
        checks.append(_run_check(result, Verdict.ERROR, result.trouble.problem, details))
    if result.open_question is not None:
        checks.append(_run_check(result, Verdict.INCONCLUSIVE, result.open_question, ""))
    return tuple(checks)


def given(result: ConformanceResult) -> Mapping[str, object]:
    """Return what the run was asked for."""
    names = ("component", "profile", "driver", "seed")
    return {name: getattr(result, name) for name in names}


def _run_check(
    result: ConformanceResult, verdict: Verdict, summary: str, details: str
) -> CheckResult:
    return CheckResult(
        name="the driver",
        group="conform",
        verdict=verdict,
        seconds=result.seconds,
        summary=summary,
        details=details,
    )


def _story(failure: ConformanceFailure) -> str:
    violation = failure.violation
    head = (
        f"rule: {violation.rule}",
        f"expected: {violation.expected}",
        f"observed: {violation.observed}",
        f"reason: {violation.reason}",
        f"repeat: {failure.repeat}",
    )
    return "\n".join((*head, *failure.lines))
