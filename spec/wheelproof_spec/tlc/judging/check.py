"""Judges a run of TLC against the manifest's expectation; reads no file, runs no program."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.tlc.judging.parse_errors import parse_errors
from wheelproof_spec.tlc.manifest.model import Expectation, Model
from wheelproof_spec.tlc.running.launch import TlcRun
from wheelproof_spec.tlc.running.process import Ending
from wheelproof_spec.tlc.running.report import (
    ActionCoverage,
    TlcReport,
    Violation,
    ViolationKind,
)

_EXIT_CODES = {
    ViolationKind.ASSUMPTION: frozenset({10}),
    ViolationKind.DEADLOCK: frozenset({11}),
    ViolationKind.INVARIANT: frozenset({12}),
    ViolationKind.ACTION_PROPERTY: frozenset({12, 13}),
    ViolationKind.LIVENESS: frozenset({13}),
}
_OUT_OF_MEMORY = ("OutOfMemoryError", "ran out of memory", "Java heap space")
_EXIT_CODE_OF_PARSER = 150
_TAIL_SHOWN = 16
_SIGNS_OF_LIFE = ("Parsing file ", "Semantic processing of module ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict with the sentences that give its reasons; none for a pass."""

    verdict: Verdict
    problems: tuple[str, ...] = ()


def judge(model: Model, run: TlcRun) -> Judgement:
    """Compare a run on the model's own cfg with its expectation."""
    unusable = _unusable(run)
    if unusable is not None:
        return unusable
    violation = first_violation(run.report)
    if run.simulation is not None and violation is None and model.expect is not Expectation.PASS:
        return _inconclusive(f"{model.expected_text()} was expected, and no behaviour came to it")
    if violation is None and not (model.listed or _checks_something(model)):
        return _inconclusive(f"{model.cfg.name} names nothing to check, and deadlocks are allowed")
    problems = tuple(_problems(model, run, violation))
    return Judgement(verdict=Verdict.FAIL if problems else Verdict.PASS, problems=problems)


def _checks_something(model: Model) -> bool:
    return bool(model.cfg.invariants or model.cfg.properties or model.check_deadlock)


def first_violation(report: TlcReport) -> Violation | None:
    """Return what TLC found wrong, or None."""
    return report.violations[0] if report.violations else None


def describe(violation: Violation) -> str:
    """Return a violation in words."""
    match violation.kind:
        case ViolationKind.DEADLOCK:
            return "a deadlock"
        case ViolationKind.LIVENESS:
            return "a liveness property violated"
        case ViolationKind.ASSUMPTION:
            return f"a false assumption ({violation.name or 'unnamed'})"
        case ViolationKind.INVARIANT:
            return f"the invariant {violation.name} violated"
        case ViolationKind.ACTION_PROPERTY:
            return f"the action property {violation.name} violated"


def _unusable(run: TlcRun) -> Judgement | None:
    """Return the judgement of a run that shows nothing about the model, else None."""
    report = run.report
    if run.ending is Ending.INTERRUPTED:
        return _inconclusive(f"interrupted; {_so_far(report)}")
    if run.ending is Ending.OUT_OF_TIME:
        return _inconclusive(f"not finished within the limit of time; {_so_far(report)}")
    if run.ending is Ending.STALLED:
        return _inconclusive(f"TLC stood still each time; {_so_far(report)}")
    if _ran_out_of_memory(report):
        return _inconclusive(f"Java ran out of memory; {_so_far(report)}")
    if report.errors:
        is_unread = run.exit_code == _EXIT_CODE_OF_PARSER
        places = parse_errors(report.output_tail) if is_unread else []
        if places:
            return Judgement(verdict=Verdict.ERROR, problems=tuple(places))
        words = _last_words(report) if is_unread else []
        return _error(" / ".join(_one_line(error) for error in (*report.errors, *words)))
    violation = first_violation(report)
    if violation is not None:
        if run.exit_code in _EXIT_CODES[violation.kind]:
            return None
        return _error(f"TLC reported {describe(violation)} with exit code {run.exit_code}")
    if run.exit_code != 0:
        tail = " / ".join(_last_words(report)) or "nothing"
        return _error(f"TLC ended with exit code {run.exit_code}; its last words: {tail}")
    signs = _signs_of_incompleteness if run.simulation is None else _signs_of_a_broken_simulation
    incomplete = "; ".join(signs(report))
    return _inconclusive(f"TLC claims success, but {incomplete}") if incomplete else None


def _signs_of_incompleteness(report: TlcReport) -> Iterator[str]:
    """Yield what the end of a run lacks: liveness without enough memory looks like success."""
    if not (report.completed and report.finished):
        yield "its closing message is missing"
    if report.statistics is None or report.depth is None:
        yield "its statistics are missing"
    elif report.statistics.queued:
        yield f"{report.statistics.queued} states are left on its queue"
    if report.temporal_done < report.temporal_begun:
        yield "it did not finish checking the temporal properties"


def _signs_of_a_broken_simulation(report: TlcReport) -> Iterator[str]:
    if not report.finished:
        yield "its closing message is missing"
    if not report.simulated:
        yield "it has not said that it generated states"


def _problems(model: Model, run: TlcRun, violation: Violation | None) -> Iterator[str]:
    report = run.report
    if model.expect is Expectation.PASS and violation is None:
        if run.simulation is None and model.listed:
            yield from _count_problems(model, report)
            yield from _coverage_problems(model, report.coverage)
            yield from _witness_problems(model, report)
    elif violation is None:
        yield f"{model.expected_text()} was expected, but TLC found no error"
    elif not is_expected(model, violation):
        expected = f"{model.expected_text()} was expected, but " if model.listed else ""
        yield f"{expected}TLC found {describe(violation)}"
    elif model.expect is not Expectation.ASSUMPTION and run.simulation is None:
        yield from _differences("trace_length", model.trace_length, trace_length(report))


def is_expected(model: Model, violation: Violation | None) -> bool:
    """Tell whether TLC ended with the error, or without one, that the manifest names."""
    if violation is None:
        return model.expect is Expectation.PASS
    if violation.kind.value != model.expect.value:
        return False
    if violation.kind is ViolationKind.INVARIANT:
        return violation.name == model.property
    if violation.kind is ViolationKind.ACTION_PROPERTY and violation.name is not None:
        return violation.name == model.property or violation.name.startswith("line ")
    return True


def trace_length(report: TlcReport) -> int | None:
    """Return the number of states of the counterexample, None without one."""
    return None if report.counterexample is None else len(report.counterexample.steps)


def _count_problems(model: Model, report: TlcReport) -> Iterator[str]:
    statistics = report.statistics
    yield from _differences(
        "distinct", model.distinct, None if statistics is None else statistics.distinct
    )
    yield from _differences(
        "generated", model.generated, None if statistics is None else statistics.generated
    )
    yield from _differences("depth", model.depth, report.depth)


def _differences(key: str, expected: int | None, measured: int | None) -> Iterator[str]:
    if expected is not None and expected != measured:
        yield f"{key}: {expected} expected, {measured} measured"


def _coverage_problems(model: Model, coverage: Iterable[ActionCoverage]) -> Iterator[str]:
    actions = list(coverage)
    if not any(action.module == model.specifies for action in actions):
        yield f"TLC saw no action of the module {model.specifies}"
    for action in actions:
        listed = action.name in model.unreached_actions
        if not action.generated and not listed:
            yield f"the action {action.name} of {action.module} was never taken ({action.place})"
        if action.generated and listed:
            yield (
                f"the action {action.name} is listed as unreached, "
                f"but was taken {action.generated} times"
            )
    names = {action.name for action in actions}
    for name in model.unreached_actions:
        if name not in names:
            yield f"{name} is listed as unreached, but TLC knows no such action"


def _witness_problems(model: Model, report: TlcReport) -> Iterator[str]:
    for witness in model.witnesses:
        if witness not in report.reached:
            yield f"the witness {witness} was never reached"


def _ran_out_of_memory(report: TlcReport) -> bool:
    return any(
        sign in text for text in (*report.errors, *report.output_tail) for sign in _OUT_OF_MEMORY
    )


def _last_words(report: TlcReport) -> list[str]:
    """Return the last lines printed outside messages, where the parser prints its errors."""
    lines = [line for line in report.output_tail if not line.startswith(_SIGNS_OF_LIFE)]
    return lines[-_TAIL_SHOWN:]


def _so_far(report: TlcReport) -> str:
    counts = report.statistics or report.progress
    if counts is None:
        return "no states were counted yet"
    return (
        f"{counts.distinct} distinct states were found so far, {counts.queued} of them not explored"
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _inconclusive(problem: str) -> Judgement:
    return Judgement(verdict=Verdict.INCONCLUSIVE, problems=(problem,))


def _error(problem: str) -> Judgement:
    return Judgement(verdict=Verdict.ERROR, problems=(problem,))
