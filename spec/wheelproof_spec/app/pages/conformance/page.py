"""The page of a conformance run: one HTML file in which failing cases can be stepped through.

Without JavaScript all steps of a case are shown below each other. A link opens a failing case in
docs/site/step.html, which moves it step by step. The page of a run has that page inside, so one
click works without a network, a server or a clone. The fragment holds the case itself: it names the
same state wherever the page is.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass

from wheelproof_spec.app.pages.conformance.stages import Stage, stages_of
from wheelproof_spec.app.pages.environment import html
from wheelproof_spec.base.errors import printable
from wheelproof_spec.base.resources import step_page
from wheelproof_spec.drive.result import ClauseCount, ConformanceFailure, ConformanceResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseRow:
    """A clause with its verdict: `kind` is the class that colours `word`, `why` a reason."""

    count: ClauseCount
    kind: str
    word: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFailure:
    """A failure with its steps; no steps if the case cannot be drawn.

    `link` opens the case in the page that moves it step by step; empty if that cannot be.
    """

    failure: ConformanceFailure
    stages: tuple[Stage, ...]
    link: str


def render_conformance(result: ConformanceResult) -> str:
    """Return the page as HTML; the shortest failing case comes first."""
    failures = [
        ShownFailure(
            failure=failure,
            stages=stages_of(result.component, result.profile, failure),
            link=step_link(result.component, failure),
        )
        for failure in sorted(result.failures, key=lambda one: len(one.lines))
    ]
    return html(
        "conformance",
        result=result,
        subject=printable(result.subject),
        repeat=result.repeat,
        failures=failures,
        step_page=step_page() if any(failure.link for failure in failures) else "",
        clauses=list(clause_rows(result)),
    )


def clause_rows(result: ConformanceResult) -> Iterator[ClauseRow]:
    """Yield the clauses of the profile, each with its outcome."""
    broken = {failure.violation.rule: failure.violation.reason for failure in result.failures}
    for count in result.clauses:
        if count.clause in broken:
            yield ClauseRow(count=count, kind="fail", word="fail", why=broken[count.clause])
        elif count.why:
            yield ClauseRow(count=count, kind="inconclusive", word="skipped", why=count.why)
        elif count.checked:
            yield ClauseRow(count=count, kind="pass", word="pass", why="")
        else:
            why = "never seen: nothing that was answered tells of it"
            yield ClauseRow(count=count, kind="soft", word="not seen", why=why)


MOST_LINES = 300
"""The most calls that the page moves: the failing one is the last."""
_MOVES = frozenset(("timer", "purgatory", "buffer_pool"))


def step_link(component: str, failure: ConformanceFailure) -> str:
    """Return the link, or nothing for a case that the page cannot move up to its end."""
    answers = [*failure.answers, *["{}"] * (len(failure.lines) - len(failure.answers))]
    # A line that is no request says which vector the case comes from.
    asked = [
        (line, answer or "{}")
        for line, answer in zip(failure.lines, answers, strict=True)
        if line.startswith("{")
    ]
    resets = [line for line, _ in asked if json.loads(line).get("op") == "reset"]
    if component not in _MOVES or len(resets) != 1 or len(asked) > MOST_LINES:
        return ""
    case = {
        "case": failure.case,
        "violation": {"rule": failure.violation.rule, "reason": failure.violation.reason},
        "lines": [line for line, _ in asked],
        "answers": [answer for _, answer in asked],
    }
    text = json.dumps({"failures": [case]}, separators=(",", ":"))
    packed = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"#step=0&case={packed}"
