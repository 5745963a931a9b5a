"""The report of a comparison: one line if equal, else each edge that only one side has."""

from wheelproof_lab.graph.comparing.compare import Difference, Side
from wheelproof_lab.graph.comparing.comparisons import GraphOutcome
from wheelproof_lab.graph.states.state_graph import Observation
from wheelproof_spec.base.results.verdicts import CheckResult
from wheelproof_spec.tlc.states.values import Value, entries, show

_SHOWN = 5


def check_result(outcome: GraphOutcome) -> CheckResult:
    """Return the outcome as the result of a check."""
    return CheckResult(
        name=outcome.model.name,
        group="graph",
        verdict=outcome.verdict,
        seconds=outcome.code_seconds + outcome.tlc_seconds,
        summary=summary(outcome),
        details="\n".join(_details(outcome)),
    )


def summary(outcome: GraphOutcome) -> str:
    """Return the result and the sizes in one line."""
    comparison = outcome.comparison
    code, spec = comparison.code, comparison.spec
    if not outcome.complete:
        return f"the bound on states was reached after {code.states} states"
    explored = (
        f"explored: {code.states} states and {code.edges} edges of the code, "
        f"{spec.states} and {spec.edges} of the module"
    )
    if comparison.equal:
        wrong = f", but {len(outcome.failures)} failures of the code" if outcome.failures else ""
        return f"equal: {code.seen_states} states, {code.seen_edges} edges{wrong} ({explored})"
    only = {
        side: sum(difference.side is side for difference in comparison.differences) for side in Side
    }
    return f"{only[Side.CODE]} code-only, {only[Side.SPEC]} spec-only edges ({explored})"


def document(outcome: GraphOutcome) -> dict[str, object]:
    """Return the outcome as plain JSON values."""
    comparison = outcome.comparison
    sides = {"code": comparison.code, "spec": comparison.spec}
    return {
        "name": outcome.model.name,
        "summary": outcome.model.summary,
        "verdict": outcome.verdict.value,
        "result": summary(outcome),
        "module": outcome.model.configuration.module,
        "code_seconds": round(outcome.code_seconds, 3),
        "tlc_seconds": round(outcome.tlc_seconds, 3),
        "sides": {
            name: {
                "states": sizes.states,
                "edges": sizes.edges,
                "compared_states": sizes.seen_states,
                "compared_edges": sizes.seen_edges,
            }
            for name, sizes in sides.items()
        },
        "failures": list(outcome.failures),
        "differences": [_difference_document(difference) for difference in comparison.differences],
    }


def _difference_document(difference: Difference) -> dict[str, object]:
    return {
        "only": difference.side.value,
        "action": difference.action,
        "changes": changes(difference.before, difference.after),
        "path": [label for label, _ in difference.path],
    }


def _details(outcome: GraphOutcome) -> list[str]:
    lines = [f"  the code fails: {failure}" for failure in outcome.failures[:_SHOWN]]
    differences = outcome.comparison.differences
    for difference in differences[:_SHOWN]:
        lines += difference_lines(difference)
    if len(differences) > _SHOWN:
        lines.append(f"  and {len(differences) - _SHOWN} more; --json has them all")
    return lines


def difference_lines(difference: Difference) -> list[str]:
    """Return the lines for an edge that only one side has, with the path to it."""
    what = difference.action or "can end here"
    lines = [f"  {difference.side.value} only: {what}"]
    lines += [f"      {change}" for change in changes(difference.before, difference.after)]
    lines.append(f"    after {len(difference.path)} steps:")
    before: Observation | None = None
    for number, (label, after) in enumerate(difference.path, start=1):
        lines.append(f"      {number:3}  {label}{_told(before, after)}")
        before = after
    return lines


def changes(before: Observation, after: Observation | None) -> list[str]:
    """Return the changes from one state to the next, one line for each element of a function."""
    if after is None:
        return []
    old = dict(before)
    lines: list[str] = []
    for name, value in after:
        if name not in old:
            lines.append(f"{name} = {show(value)}")
        elif old[name] != value:
            lines += _changed(name, old[name], value)
    return lines or ["nothing changes"]


def _told(before: Observation | None, after: Observation) -> str:
    told = (
        [change for change in changes(before, after) if not change.startswith("pc")]
        if before
        else []
    )
    return f"   {'; '.join(told)}" if told and told != ["nothing changes"] else ""


def _changed(name: str, old: Value, new: Value) -> list[str]:
    before, after = entries(old), entries(new)
    if before is None or after is None or [key for key, _ in before] != [key for key, _ in after]:
        return [f"{name}: {show(old)} -> {show(new)}"]
    return [
        f"{name}[{show(key)}]: {show(was)} -> {show(now)}"
        for (key, was), (_, now) in zip(before, after, strict=True)
        if was != now
    ]
