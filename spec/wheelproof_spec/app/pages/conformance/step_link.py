"""The link that opens a failing case in docs/site/step.html, which moves it step by step.

The page of a run has that page inside, so one click works without a network, a server or a clone.
The fragment holds the case itself: it names the same state wherever the page is.
"""

import base64
import json

from wheelproof_spec.drive.result import ConformanceFailure

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
