"""The result of checking files, as text, as JSON and as checks for JUnit."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from wheelproof_spec.base.clause import promise_of
from wheelproof_spec.base.errors import printable
from wheelproof_spec.base.results.publishing import Result
from wheelproof_spec.base.results.run_verdict import Place, RunVerdict
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict, exit_code, overall
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.routing import FileResult

_MOST_GOOD_RUNS = 20


def code_of(results: Sequence[FileResult]) -> ExitCode:
    """Return the exit code: a violation outranks Ctrl-C, and both a line that was rejected."""
    verdict = overall(_verdicts(results))
    if verdict is Verdict.FAIL:
        return ExitCode.FAIL
    if _interrupted(results):
        return ExitCode.INTERRUPTED
    if any(result.rejections for result in results):
        return ExitCode.INPUT_REJECTED
    return exit_code(verdict)


def verdict_line(results: Sequence[FileResult]) -> str:
    """Return the outcome in one line."""
    runs = sum(len(result.verdicts) for result in results)
    lines = sum(result.lines for result in results)
    rejected = sum(result.rejected for result in results)
    word = {
        ExitCode.PASS: "PASS",
        ExitCode.FAIL: "FAIL",
        ExitCode.INPUT_REJECTED: "REJECTED",
        ExitCode.INTERRUPTED: "INTERRUPTED",
    }.get(code_of(results), "INCONCLUSIVE")
    return (
        f"{word}: {runs:,} runs in {len(results):,} files, {lines:,} lines: "
        f"{lines - rejected:,} judged, {rejected:,} rejected"
    )


def render(results: Sequence[FileResult]) -> str:
    """Return the whole report: each run, each violation with its place, the rejected lines.

    A note on runs that pass is printed once, at the first of them.
    """
    found: list[str] = []
    told: set[str] = set()
    for result in results:
        found += _rejections(result)
        good = 0
        for verdict in result.verdicts:
            good += verdict.verdict is Verdict.PASS
            if verdict.verdict is Verdict.PASS:
                if good <= _MOST_GOOD_RUNS:
                    title, *notes = _run(result.source, verdict)
                    found += [title, *(note for note in notes if note not in told)]
                    told.update(notes)
            else:
                found += _run(result.source, verdict)
        if good > _MOST_GOOD_RUNS:
            found.append(f"and {good - _MOST_GOOD_RUNS:,} more runs of {result.source} that pass")
    return "\n".join([*found, verdict_line(results)])


def check_result(results: Sequence[FileResult], options: CheckOptions, seconds: float) -> Result:
    """Return the check of some files as the result of the verb."""
    return Result(
        verb="check",
        verdict=overall(_verdicts(results)),
        checks=check_results(results, seconds),
        line=verdict_line(results),
        text=render(results),
        given={"files": [result.source for result in results], **asdict(options)},
        document={"files": [asdict(result) for result in results]},
        code=code_of(results),
    )


def check_results(results: Sequence[FileResult], seconds: float) -> tuple[CheckResult, ...]:
    """Return one check for each run and one for each file with rejected lines."""
    checks: list[CheckResult] = []
    for result in results:
        checks += [_check(result.source, verdict) for verdict in result.verdicts]
        if result.rejections:
            checks.append(
                CheckResult(
                    name=f"{result.source}: input",
                    group="input",
                    verdict=Verdict.ERROR,
                    seconds=seconds,
                    summary=f"{result.rejected:,} of {result.lines:,} lines were rejected",
                    details="\n".join(_rejections(result)),
                )
            )
    return tuple(checks)


def _check(source: str, verdict: RunVerdict) -> CheckResult:
    return CheckResult(
        name=f"{source}: {verdict.run}",
        group=verdict.format,
        verdict=verdict.verdict,
        summary=_summary(verdict),
        details="\n".join(_run(source, verdict)),
    )


def _verdicts(results: Sequence[FileResult]) -> Iterable[Verdict]:
    return (verdict.verdict for result in results for verdict in result.verdicts)


def _interrupted(results: Sequence[FileResult]) -> bool:
    return any(result.interrupted for result in results)


def _summary(verdict: RunVerdict) -> str:
    if verdict.violation is None:
        why = verdict.notes[:1] if verdict.verdict is Verdict.INCONCLUSIVE else ()
        return "; ".join((f"{verdict.events:,} events", *why))
    others = ", ".join(broken.violation.rule for broken in verdict.also_broken)
    also = f"; so is {others}" if others else ""
    return f"{verdict.violation.rule} is broken: {verdict.violation.reason}{also}"


def _run(source: str, verdict: RunVerdict) -> Iterable[str]:
    title = f"{verdict.component} of {verdict.implementation}, profile {verdict.profile}"
    tested = [times for times in verdict.checked.values() if times]
    told = f"{verdict.events:,} events, {sum(tested):,} tests of {len(tested)} clauses"
    run = f"{source}: {verdict.format} {verdict.run}"
    yield printable(f"{verdict.verdict.upper()}  {run}: {title}, {told}")
    if verdict.violation is not None:
        yield from _violation(source, verdict.violation, verdict.place)
        yield f"    the first {verdict.good_prefix:,} events have an explanation"
    for broken in verdict.also_broken:
        yield from _violation(source, broken.violation, broken.place)
    for clause, times in verdict.skipped.items():
        yield f"  skipped as a known limit: {clause}, tested {times:,} times"
    untested = [clause for clause, times in verdict.checked.items() if not times]
    if untested and verdict.violation is None:
        yield f"  not tested, checked 0 times: {', '.join(untested)}"
    for note in verdict.notes:
        yield printable(f"  note: {note}")


def _violation(source: str, violation: Violation, place: Place | None) -> Iterable[str]:
    where = "" if place is None else f"{source}:{place.line}: "
    yield printable(f"  {where}{violation.rule} is broken: {violation.reason}")
    promise = promise_of(violation)
    if promise is not None:
        yield f"    promise:  {promise}"
    yield printable(f"    expected: {violation.expected}")
    yield printable(f"    observed: {violation.observed}")


def _rejections(result: FileResult) -> Iterable[str]:
    for rejection in result.rejections:
        place = f"{result.source}:{rejection.line}"
        followed = f"; rejected for that too: {rejection.followed:,} lines"
        yield printable(
            f"{place}: the line {rejection.problem}{followed if rejection.followed else ''}"
        )
    unnamed = result.rejected - sum(1 + rejection.followed for rejection in result.rejections)
    if unnamed > 0:
        yield f"{result.source}: and {unnamed:,} more rejected lines"
