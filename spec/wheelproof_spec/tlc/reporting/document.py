"""The complete outcome of a run as JSON, and its numbers as lines of the manifest."""

from collections.abc import Sequence
from dataclasses import asdict

from wheelproof_spec.tlc.judging.check import describe, first_violation, is_expected
from wheelproof_spec.tlc.judging.explain import explain
from wheelproof_spec.tlc.judging.outcome import ModelOutcome
from wheelproof_spec.tlc.running.launch import Toolchain
from wheelproof_spec.tlc.running.report import Counterexample, ViolationKind
from wheelproof_spec.tlc.states.values import show

_OF_THE_MODEL = (
    *("name", "module", "specifies", "tier", "kind"),
    *("bug", "summary", "expect", "property"),
)
_NUMBERS = ("distinct", "generated", "depth", "trace_length")


def run_document(toolchain: Toolchain, outcomes: Sequence[ModelOutcome]) -> dict[str, object]:
    """Return the whole run as plain JSON values."""
    return {
        "tlc": {
            "announced": announced_version(outcomes),
            "jar": toolchain.jar.path.name,
            "sha256": toolchain.jar.sha256,
            "known": toolchain.jar.known is not None,
        },
        "java": toolchain.java.version,
        "models": [model_document(outcome) for outcome in outcomes],
    }


def announced_version(outcomes: Sequence[ModelOutcome]) -> str | None:
    """Return the version that TLC announced, from the first run that has one."""
    versions = (outcome.run.report.version for outcome in outcomes)
    return next((version for version in versions if version), None)


def model_document(outcome: ModelOutcome) -> dict[str, object]:
    """Return one model's outcome as plain JSON values."""
    model, report = outcome.model, outcome.run.report
    violation = first_violation(report)
    return {
        **{name: getattr(model, name) for name in _OF_THE_MODEL},
        "verdict": outcome.verdict.value,
        "problems": list(outcome.problems),
        "seconds": round(outcome.seconds, 3),
        "exit_code": outcome.run.exit_code,
        "ending": outcome.run.ending.value,
        "found": None if violation is None else describe(violation),
        **{name: getattr(outcome, name) for name in _NUMBERS},
        "witnesses": [asdict(witness) for witness in outcome.witnesses],
        "coverage": [
            {"action": counts.pop("name"), **counts} for counts in map(asdict, report.coverage)
        ],
        "graph": outcome.graph_summary or None,
        "counterexample": (
            None
            if report.counterexample is None
            else counterexample_document(report.counterexample)
        ),
    }


def counterexample_document(counterexample: Counterexample) -> dict[str, object]:
    """Return a counterexample, with each value of its states as TLA+."""
    explained = {step.number: step for step in explain(counterexample)}
    steps: list[dict[str, object]] = []
    for number, step in enumerate(counterexample.steps, start=1):
        words = explained.get(number)
        steps.append(
            {
                "number": number,
                "action": step.action,
                "actor": None if words is None else words.actor,
                "changes": [] if words is None else list(words.changes),
                "state": {name: show(value) for name, value in sorted(step.state.items())},
            }
        )
    return {
        "steps": steps,
        "back_to": counterexample.back_to,
        "stutters": counterexample.stutters,
    }


def pin_lines(outcome: ModelOutcome) -> list[str]:
    """Return the measured numbers of a model as TOML; comments say what a person must check."""
    model, violation = outcome.model, first_violation(outcome.run.report)
    lines = [f"# {model.name}, expects {model.expected_text()}"]
    lines += [f"# {problem}" for problem in outcome.problems]
    if not is_expected(model, violation):
        return [*lines, "# nothing to pin"]
    if violation is None:
        lines += _number("distinct", outcome.distinct)
        lines += _number("generated", outcome.generated)
        lines += _number("depth", outcome.depth)
    elif violation.kind is not ViolationKind.ASSUMPTION:
        lines += _number("trace_length", outcome.trace_length)
    return lines


def _number(key: str, value: int | None) -> list[str]:
    return [] if value is None else [f"{key} = {value}"]
