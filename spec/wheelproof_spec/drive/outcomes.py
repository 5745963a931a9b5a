"""What a run of conformance has found: the outcome of each case, failures, and open questions."""

import time
from collections.abc import Iterable, Sequence

from wheelproof_spec.base.component import AnyDefinition, Capability
from wheelproof_spec.base.results.known_limits import KnownLimit
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import BurstReport
from wheelproof_spec.drive.driver.messages import Introduction
from wheelproof_spec.drive.driver.process import DriverFailedError, DriverSilentError
from wheelproof_spec.drive.plan import OVERLAPPING, VECTORS, ConformancePlan
from wheelproof_spec.drive.result import (
    CaseResult,
    ClauseCount,
    ConformanceFailure,
    ConformanceResult,
    DriverTrouble,
    Inferred,
    NotApplicable,
)

_NO_HELLO = (
    "hello was not answered: an adapter has to flush its standard output after each line; give it "
    "more time with --timeout if it is slow to start"
)


class Outcomes:
    """The outcomes so far of a run."""

    def __init__(
        self, plan: ConformancePlan, definition: AnyDefinition, known_limits: Sequence[KnownLimit]
    ) -> None:
        """Begin with nothing; the profile is the plan's, or the first of the component."""
        self._plan = plan
        self._definition = definition
        self._known_limits = known_limits
        self.profile = definition.profiles[0] if plan.profile is None else plan.profile
        self.introduction: Introduction | None = None
        self.results: list[CaseResult] = []
        self.not_applicable: list[NotApplicable] = []
        self.failures: list[ConformanceFailure] = []
        self.troubles: list[DriverTrouble] = []
        self.passes_as: str | None = None
        self.inferred: Inferred | None = None
        self.open_question: str | None = None

    def report(self, name: str, started: float, verdict: Verdict, summary: str) -> None:
        """Note the verdict of a case, or of a kind of cases, which was begun at `started`."""
        seconds = time.monotonic() - started
        result = CaseResult(name=name, verdict=verdict, seconds=seconds, summary=summary)
        self.results.append(result)

    def report_case(
        self, name: str, started: float, violation: Violation | None, extent: str
    ) -> None:
        """Note a case that passes, or the clause that it breaks."""
        verdict = Verdict.PASS if violation is None else Verdict.FAIL
        summary = extent if violation is None else f"{violation.rule}: {violation.reason}"
        self.report(name, started, verdict, summary)

    def report_bursts(self, report: BurstReport, started: float) -> None:
        """Note what bursts of calls that overlap have shown."""
        for failure in report.failures:
            wrong, often = failure.violation, f"{failure.failed} of {failure.runs} runs"
            summary = f"{wrong.rule}: {wrong.reason}; this case failed in {often}"
            self.report(OVERLAPPING, started, Verdict.FAIL, summary)
            # A case of several callers is not asked once more for its answers: they may differ.
            self.fail(OVERLAPPING, wrong, failure.lines)
        if report.failures:
            return
        extent = f"{report.cases:,} cases, {report.bursts:,} bursts, {report.calls:,} calls"
        unseen = ", ".join(report.unseen)
        given_up = f"; {report.undecided:,} cases gave up" if report.undecided else ""
        seen = report.bursts and report.undecided < report.cases
        verdict = Verdict.PASS if seen else Verdict.INCONCLUSIVE
        self.report(OVERLAPPING, started, verdict, f"{extent}{given_up}; not judged: {unseen}")

    def fail(
        self,
        case: str,
        violation: Violation,
        lines: tuple[str, ...],
        answers: tuple[str, ...] = (),
        last_lines: tuple[str, ...] = (),
    ) -> None:
        """Note a failure: the requests, their answers, and what the driver said in the end."""
        self.failures.append(
            ConformanceFailure(
                case=case,
                violation=violation,
                lines=lines,
                answers=answers,
                last_lines=last_lines,
                repeat=self._repeat(case, lines),
            )
        )

    def trouble(self, failure: DriverFailedError, case: str, lines: tuple[str, ...]) -> None:
        """Note that the driver failed in a case."""
        self.troubles.append(
            DriverTrouble(
                case=case, problem=failure.problem, last_lines=failure.last_lines, lines=lines
            )
        )
        if self.introduction is None and isinstance(failure, DriverSilentError):
            self.open_question = _NO_HELLO

    def result(
        self,
        extent: tuple[int, int],
        seconds: float,
        tally: Tally,
        undeclared: Sequence[Capability],
    ) -> ConformanceResult:
        """Return the result of the run, whose `extent` is cases and steps."""
        cases, steps = extent
        return ConformanceResult(
            component=self._definition.name,
            profile=self.profile,
            driver=self._plan.driver,
            implementation=self.introduction,
            seed=self._plan.seed,
            cases=cases,
            steps=steps,
            seconds=seconds,
            clauses=tuple(self._clause_counts(tally, undeclared)),
            results=tuple(self.results),
            not_applicable=tuple(self.not_applicable),
            failures=tuple(self.failures),
            troubles=tuple(self.troubles),
            open_question=self.open_question,
            passes_as=self.passes_as,
            inferred=self.inferred,
            repeat=self._plan.repeat(self._definition.name, self.profile),
        )

    def _repeat(self, case: str, lines: Sequence[str]) -> str:
        names = self._definition.name, self.profile
        if case == VECTORS or self._plan.case is not None:
            return self._plan.repeat(*names)
        return self._plan.repeat_case(*names, lines)

    def _clause_counts(
        self, tally: Tally, undeclared: Sequence[Capability]
    ) -> Iterable[ClauseCount]:
        reasons = {limit.clause: limit.reason for limit in self._known_limits}
        reasons |= {str(capability): capability.about for capability in undeclared}
        for clause in dict.fromkeys((*tally.checked, *tally.skipped)):
            yield ClauseCount(
                clause=clause,
                checked=tally.checked.get(clause, 0),
                skipped=tally.skipped.get(clause, 0),
                reason=reasons.get(clause, ""),
                undeclared=clause in undeclared,
            )


def why_unsupported(definition: AnyDefinition, introduction: Introduction) -> str | None:
    """Return why a driver cannot be judged by the definition of a component, if so."""
    if definition.name not in introduction.components:
        return f"unsupported: the driver has no component {definition.name!r}"
    for capability in definition.capabilities:
        if capability not in introduction.capabilities:
            return f"unsupported: the driver lacks the capability {capability!r}"
    for name in introduction.bounds.get(definition.name, {}):
        if name not in definition.bounded:
            known = ", ".join(definition.bounded) or "none"
            return f"unsupported: the driver bounds {name!r}; what may be bounded is {known}"
    declared = introduction.profiles.get(definition.name)
    if declared is not None and not definition.has_profile(declared):
        known = ", ".join(definition.profiles)
        return f"unsupported: the driver declares the profile {declared!r}; there is {known}"
    return None
