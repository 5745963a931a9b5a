"""Writes the lines of the manifest that TLC's measurements call for."""

from wheelproof_spec.engines.tlc.judging.check import first_violation, is_expected
from wheelproof_spec.engines.tlc.judging.outcome import ModelOutcome
from wheelproof_spec.engines.tlc.running.report import ViolationKind


def pin_lines(outcome: ModelOutcome) -> list[str]:
    """Return the measured numbers of a model as TOML; comments say what needs a human."""
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
