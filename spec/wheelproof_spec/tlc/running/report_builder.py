"""Builds the report of a run from TLC's messages, one by one."""

import re
from collections.abc import Callable, Iterable

from wheelproof_spec.tlc.running.frames import PRINTED, Frame, Severity
from wheelproof_spec.tlc.running.report import (
    ActionCoverage,
    Counterexample,
    ProgressCallback,
    Statistics,
    Step,
    TlcReport,
    Violation,
    ViolationKind,
)
from wheelproof_spec.tlc.running.witnesses import read_reached
from wheelproof_spec.tlc.states.value_parser import ValueSyntaxError, parse_state

TRACE_LIMIT = 10_000
"""The most states of a counterexample that are kept; a longer one is cut, with an error."""

_VERSION = 2262
_PROGRESS = 2200
_SUCCESS = 2193
_DEPTH = 2194
_STATISTICS = 2199
_FINISHED = 2186
_SIMULATED = 2209
_TEMPORAL_BEGUN = 2192
_TEMPORAL_DONE = 2267
_COVERAGE_BEGIN = 2201
_COVERAGE_ACTION = 2772
_STATE = 2217
_STUTTERING = 2218
_BACK_TO_STATE = 2122
_HEADINGS = frozenset({2121, 2264})
_ERRORS_KEPT = 20

_STATISTICS_TEXT = re.compile(
    r"([\d,]+) states generated.*?, ([\d,]+) distinct states found.*?, ([\d,]+) states left"
)
_PROGRESS_DEPTH = re.compile(r"Progress\((\d+)\)")
_SIMULATED_TEXT = re.compile(r"([\d,]+) states generated")
_DEPTH_TEXT = re.compile(r"search is ([\d,]+)\.")
_ACTION_TEXT = re.compile(
    r"<(?P<name>[^\s(>]+)(?P<arguments>\(.*\))? (?P<place>line \d+, .*? of module "
    r"(?P<module>\w+)(?: \([\d ]+\))?)>(?:: (?P<distinct>[\d,]+):(?P<generated>[\d,]+))?",
    re.DOTALL,
)
_STATE_TEXT = re.compile(r"(?P<number>\d+): (?P<head><.*?>)\s*\n(?P<state>.*)", re.DOTALL)
_BACK_TEXT = re.compile(r"(?P<number>\d+): Back to state(?:: (?P<head><.*>))?", re.DOTALL)
_VIOLATED = re.compile(
    r"(?:Invariant|Action property|Property|Assumption) (?P<name>.+?) is (?:violated|false)"
    r"(?: by the initial state:\s*\n(?P<state>.*))?",
    re.DOTALL,
)
_INITIAL = "Initial predicate"


_VIOLATIONS = {
    2104: ViolationKind.ASSUMPTION,
    2114: ViolationKind.DEADLOCK,
    2107: ViolationKind.INVARIANT,
    2110: ViolationKind.INVARIANT,
    2108: ViolationKind.ACTION_PROPERTY,
    2112: ViolationKind.ACTION_PROPERTY,
    2116: ViolationKind.LIVENESS,
}


class ReportBuilder:
    """Builds a `TlcReport` from messages; `on_progress` gets TLC's counts while it runs."""

    def __init__(self, on_progress: ProgressCallback | None = None) -> None:
        self.report = TlcReport()
        self._on_progress = on_progress
        self._steps: list[Step] = []
        self._back_to: int | None = None
        self._back_action: str | None = None
        self._stutters = False
        self._handlers: dict[int, Callable[[str], None]] = {
            _VERSION: self._version,
            _PROGRESS: self._progress,
            _STATISTICS: self._statistics,
            _DEPTH: self._depth,
            _COVERAGE_BEGIN: lambda _text: self.report.coverage.clear(),
            _COVERAGE_ACTION: self._coverage,
            _STATE: self._state,
            _STUTTERING: self._stuttering,
            _BACK_TO_STATE: self._back,
            _SIMULATED: self._simulated,
            PRINTED: self._reached,
        }

    def consume(self, frames: Iterable[Frame]) -> None:
        """Add `frames` as they arrive."""
        for frame in frames:
            self.add(frame)

    def add(self, frame: Frame) -> None:
        """Add one message to the report."""
        report = self.report
        report.completed |= frame.code == _SUCCESS
        report.finished |= frame.code == _FINISHED
        report.temporal_begun += frame.code == _TEMPORAL_BEGUN
        report.temporal_done += frame.code == _TEMPORAL_DONE
        kind = _VIOLATIONS.get(frame.code)
        handler = self._handlers.get(frame.code)
        if kind is not None:
            self._violation(kind, frame.text)
        elif handler is not None:
            try:
                handler(frame.text)
            except ValueSyntaxError as error:
                self._error(f"a state that TLC printed is unreadable: {error}")
        elif _is_error(frame):
            self._error(frame.text)
        if frame.truncated:
            self._error(f"message {frame.code} of TLC is too long to be kept")

    def finish(self, tail: Iterable[str]) -> TlcReport:
        """Return the report; `tail` are the last lines that belong to no message."""
        self.report.output_tail = list(tail)
        if self._steps:
            self.report.counterexample = Counterexample(
                steps=tuple(self._steps),
                back_to=self._back_to,
                back_action=self._back_action,
                stutters=self._stutters,
            )
        return self.report

    def _error(self, text: str) -> None:
        errors = self.report.errors
        if len(errors) < _ERRORS_KEPT and text not in errors:
            errors.append(text)

    def _version(self, text: str) -> None:
        self.report.version = text.strip()

    def _progress(self, text: str) -> None:
        depth = _PROGRESS_DEPTH.search(text)
        statistics = _parse_statistics(text)
        self.report.progress = statistics
        if depth and statistics and self._on_progress:
            self._on_progress(statistics, int(depth[1]))

    def _statistics(self, text: str) -> None:
        self.report.statistics = _parse_statistics(text)

    def _depth(self, text: str) -> None:
        match = _DEPTH_TEXT.search(text)
        self.report.depth = None if match is None else _number(match[1])

    def _simulated(self, text: str) -> None:
        match = _SIMULATED_TEXT.search(text)
        self.report.simulated = None if match is None else _number(match[1])

    def _reached(self, text: str) -> None:
        witness, length = read_reached(text)
        self.report.reached.setdefault(witness, length)

    def _coverage(self, text: str) -> None:
        match = _ACTION_TEXT.search(text)
        if match is None or match["distinct"] is None:
            self._error(f"a coverage line of TLC is unreadable: {text.strip()}")
            return
        self.report.coverage.append(
            ActionCoverage(
                name=match["name"],
                module=match["module"],
                place=match["place"],
                distinct=_number(match["distinct"]),
                generated=_number(match["generated"]),
            )
        )

    def _violation(self, kind: ViolationKind, text: str) -> None:
        match = _VIOLATED.search(text)
        self.report.violations.append(
            Violation(kind=kind, name=None if match is None else match["name"])
        )
        if match is not None and match["state"]:
            self._add_step(None, "", match["state"])

    def _state(self, text: str) -> None:
        match = _STATE_TEXT.match(text)
        if match is None:
            raise ValueSyntaxError(f"no state: {text[:60]!r}")
        action, arguments = _action(match["head"])
        self._add_step(action, arguments, match["state"])

    def _add_step(self, action: str | None, arguments: str, state: str) -> None:
        if len(self._steps) < TRACE_LIMIT:
            self._steps.append(Step(action=action, arguments=arguments, state=parse_state(state)))
        else:
            self._error(f"the counterexample has more than {TRACE_LIMIT} states")

    def _stuttering(self, _text: str) -> None:
        self._stutters = True

    def _back(self, text: str) -> None:
        match = _BACK_TEXT.search(text)
        if match is None:
            raise ValueSyntaxError(f"no return to a state: {text[:60]!r}")
        self._back_to = int(match["number"])
        if match["head"]:
            self._back_action = _action(match["head"])[0]


def _is_error(frame: Frame) -> bool:
    severe = frame.severity in (Severity.ERROR, Severity.BUG)
    return severe and frame.code not in _HEADINGS and bool(frame.text)


def _action(head: str) -> tuple[str | None, str]:
    if _INITIAL in head:
        return None, ""
    match = _ACTION_TEXT.match(head)
    if match is None:
        return head.strip("<>"), ""
    return match["name"], match["arguments"] or ""


def _parse_statistics(text: str) -> Statistics | None:
    match = _STATISTICS_TEXT.search(text)
    if match is None:
        return None
    return Statistics(
        generated=_number(match[1]), distinct=_number(match[2]), queued=_number(match[3])
    )


def _number(text: str) -> int:
    return int(text.replace(",", ""))
