"""A conformance run in words, for a terminal."""

from collections.abc import Iterable

from wheelproof_spec.base.clause import promise_of
from wheelproof_spec.base.errors import printable
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.drive.result import (
    ConformanceFailure,
    ConformanceResult,
    DriverTrouble,
    Inferred,
)


def verdict_line(result: ConformanceResult) -> str:
    """Return the verdict in one line."""
    left_out = len(result.not_applicable)
    return (
        f"{result.verdict.upper()}: {result.component} of {printable(result.subject)}, "
        f"profile {result.profile}: {result.cases:,} cases, {result.steps:,} steps, "
        f"{result.seconds:.1f} s, seed {result.seed}"
        + (f", {left_out:,} named cases not applicable" if left_out else "")
    )


def render(result: ConformanceResult) -> str:
    """Return the whole run: errors, cases, clauses, known limits, failures, the verdict."""
    lines: list[str] = []
    for trouble in result.troubles:
        lines += [*_trouble(trouble), ""]
    if result.implementation is not None:
        lines += [*_cases(result), "", *_clauses(result)]
    for failure in result.failures:
        lines += ["", *_failure(failure)]
    if result.passes_as is not None:
        profile = result.passes_as
        lines += ["", f"the same cases pass by the profile {profile}: --profile {profile}"]
    if result.inferred is not None:
        lines += ["", *_inferred(result.inferred)]
    if result.open_question is not None:
        lines += ["", result.open_question] if lines[-1:] != [""] else [result.open_question]
    return "\n".join([*lines, "", verdict_line(result)])


def _cases(result: ConformanceResult) -> Iterable[str]:
    for case in result.results:
        mark = "ok  " if case.verdict is Verdict.PASS else case.verdict.upper()
        yield f"{mark}  {case.name}  ({case.summary})"
    for left_out in result.not_applicable:
        yield f"n/a   {left_out.case}  (not applicable: needs {', '.join(left_out.needs)})"


def _clauses(result: ConformanceResult) -> Iterable[str]:
    width = max(len(count.clause) for count in result.clauses)
    yield f"{'clause':<{width}}  {'checked':>9}  {'skipped':>9}"
    for count in result.clauses:
        row = f"{count.clause:<{width}}  {count.checked:>9,}  {count.skipped:>9,}"
        yield f"{row}  {count.why}".rstrip()


def _failure(failure: ConformanceFailure) -> Iterable[str]:
    violation = failure.violation
    yield f"{failure.case}: {violation.rule} is broken: {violation.reason}"
    promise = promise_of(violation)
    if promise is not None:
        yield f"  promise:  {promise}"
    yield f"  expected: {violation.expected}"
    yield f"  observed: {violation.observed}"
    yield "  the case, whose last line fails:"
    yield from (f"    {line}" for line in failure.lines)
    if failure.last_lines:
        yield "  it refused; the last lines of its standard error:"
        yield from (f"    {line}" for line in failure.last_lines)
    yield f"  repeat it: {failure.repeat}"


def _inferred(inferred: Inferred) -> Iterable[str]:
    if inferred.profile is None:
        yield "no profile was found that all cases pass by; each one is broken:"
    else:
        yield f"the strongest profile by which all cases pass is {inferred.profile}"
        if inferred.stronger:
            yield "each stronger one is broken; --profile NAME shows its smallest case:"
    # Of the profiles with one name that break one clause, the weakest says most.
    weakest = {
        (broken.profile.partition(",")[0], broken.violation.rule): broken
        for broken in inferred.stronger
    }
    width = max((len(broken.profile) for broken in weakest.values()), default=0)
    for broken in weakest.values():
        why = f"{broken.violation.rule}: {broken.violation.reason}"
        yield f"  {broken.profile:<{width}}  {why}"


def _trouble(trouble: DriverTrouble) -> Iterable[str]:
    where = f", in {trouble.case}" if trouble.case else ""
    yield f"error: {trouble.problem}{where}"
    if trouble.lines:
        yield "  it happened at the last line of this case:"
        yield from (f"    {line}" for line in trouble.lines)
    if trouble.last_lines:
        yield "  the last lines of its standard error:"
        yield from (f"    {line}" for line in trouble.last_lines)
