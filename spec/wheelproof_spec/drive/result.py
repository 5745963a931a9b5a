"""The result of a driven conformance run, as data for terminals, pages and machines."""

from collections.abc import Mapping
from dataclasses import dataclass

from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, overall
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.drive.driver.messages import Introduction


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseCount:
    """How often a clause was checked, how often it was skipped as a known limit, and why.

    Also used for an undeclared capability: how often a case was left out, and what it means.
    """

    clause: str
    checked: int
    skipped: int
    reason: str
    undeclared: bool = False

    @property
    def why(self) -> str:
        """The reason why it was skipped; empty if it is not to be skipped."""
        kind = "not declared by the driver" if self.undeclared else "known limit"
        return f"{kind}: {self.reason}" if self.reason else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceFailure:
    """A case that breaks the contract: its lines, the last of which shows the violation.

    `answers` are the implementation's answers to these lines when they were sent once more. If the
    last of them is a refusal, `last_lines` are the last lines of the driver's standard error.
    """

    case: str
    violation: Violation
    lines: tuple[str, ...]
    answers: tuple[str, ...]
    last_lines: tuple[str, ...]
    repeat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverTrouble:
    """A failure of the driver itself: the case, one sentence, its last output, the case's lines."""

    case: str
    problem: str
    last_lines: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The result of a named case, or of all fuzzed cases together; `summary` is one sentence."""

    name: str
    verdict: Verdict
    seconds: float
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplicable:
    """A named case that was not driven, since it needs a known limit or something undeclared."""

    case: str
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenProfile:
    """A profile that an implementation does not keep, and the clause that a case broke."""

    profile: str
    violation: Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """The strongest profile that all cases pass by, None if there is none; stronger ones fail."""

    profile: str | None
    stronger: tuple[BrokenProfile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceResult:
    """The outcome of a run; `seconds` is wall time, `open_question` why it may be inconclusive.

    `implementation` is None if the driver never introduced itself. `steps` counts the calls on the
    component and `cases` its resets, both including those of shrinking. `repeat` is the command
    that repeats the run. If cases fail, `passes_as` is another profile by which the same cases
    pass, if one was found. `inferred` is the search for the strongest profile, if it was asked for.
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
    not_applicable: tuple[NotApplicable, ...]
    failures: tuple[ConformanceFailure, ...]
    troubles: tuple[DriverTrouble, ...]
    open_question: str | None
    passes_as: str | None
    inferred: Inferred | None
    repeat: str

    @property
    def verdict(self) -> Verdict:
        """The verdict of the whole run."""
        verdicts = [result.verdict for result in self.results]
        if self.troubles:
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
    """Return the run as checks: one for each case result, driver failure and open question."""
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
    for trouble in result.troubles:
        details = "\n".join((*trouble.lines, *trouble.last_lines))
        name = f"the driver, {trouble.case}" if trouble.case else "the driver"
        checks.append(_run_check(result, name, Verdict.ERROR, trouble.problem, details))
    if result.open_question is not None:
        question = result.open_question
        checks.append(_run_check(result, "the driver", Verdict.INCONCLUSIVE, question, ""))
    return tuple(checks)


def given(result: ConformanceResult) -> Mapping[str, object]:
    """Return the settings of the run."""
    names = ("component", "profile", "driver", "seed")
    return {name: getattr(result, name) for name in names}


def _run_check(
    result: ConformanceResult, name: str, verdict: Verdict, summary: str, details: str
) -> CheckResult:
    return CheckResult(
        name=name,
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
    return "\n".join((*head, *failure.lines, *failure.last_lines))
