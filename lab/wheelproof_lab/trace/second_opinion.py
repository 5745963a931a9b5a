"""`check --tlc`: asks TLC about each trace, and compares its answer with the replay's."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from wheelproof_lab.trace.run import TraceOrder
from wheelproof_lab.trace.search import Step
from wheelproof_lab.trace.tlc_module import RecordedTrace
from wheelproof_lab.trace.tlc_opinion import (
    TlcOpinion,
    TlcTraceError,
    judge_with_tlc,
)
from wheelproof_spec.app.recorded import parse_line
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.history.lines import TraceEnd, TraceEvent, TraceHeader
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.history.reader import STANDARD_INPUT, read_lines
from wheelproof_spec.history.routing import FileResult
from wheelproof_spec.tlc.running.launch import Toolchain, find_toolchain

MOST_EVENTS = 20_000
"""The most events of a trace that TLC is asked about."""


class _Recorded:
    """A trace that is read again for TLC."""

    def __init__(self, header: TraceHeader[object]) -> None:
        self.header = header
        self._order = TraceOrder(header)
        self._steps: list[Step] = []

    def take(self, event: TraceEvent[object, object]) -> None:
        """Take the next event."""
        earliest, latest = self._order.admit(event)
        self._steps.append(Step(event, earliest, latest, len(self._steps), 0))

    def trace(self) -> RecordedTrace:
        """Return the trace."""
        return RecordedTrace(
            steps=tuple(self._steps[:MOST_EVENTS]),
            in_order=bool(self._order.in_order),
            silent=self._order.silent,
        )


def ask_tlc(
    files: Sequence[Path], results: Sequence[FileResult], *, jar: Path | None, java: Path | None
) -> None:
    """Add TLC's opinion to the verdicts on traces; if it differs, the verdict is an error.

    Raises UsageError for standard input, which cannot be read twice.
    """
    if STANDARD_INPUT in files:
        raise UsageError("--tlc reads the traces a second time, so it needs files")
    toolchain = find_toolchain(jar, java)
    for path, result in zip(files, results, strict=True):
        recorded = _read(path)
        result.verdicts[:] = [
            _with_opinion(toolchain, verdict, recorded.get(verdict.run))
            if verdict.format == "trace"
            else verdict
            for verdict in result.verdicts
        ]


def compare(verdict: RunVerdict, opinion: TlcOpinion) -> RunVerdict:
    """Return the verdict with TLC's opinion as a note, or an error if they differ."""
    asked = opinion.events
    words = f"TLC explains {opinion.good:,} of {asked:,} events"
    # TLC is asked about the beginning of a long trace: there the replay may have found nothing yet.
    passed = verdict.verdict is Verdict.PASS or asked <= verdict.good_prefix < verdict.events
    good = min(verdict.good_prefix, asked)
    if verdict.verdict is Verdict.INCONCLUSIVE:
        return replace(verdict, notes=(*verdict.notes, words))
    if opinion.accepts is passed and opinion.good == good:
        return replace(verdict, notes=(*verdict.notes, f"second opinion: {words}, as the replay"))
    return replace(
        verdict,
        verdict=Verdict.ERROR,
        notes=(
            *verdict.notes,
            f"{words}, the replay {good:,}: one of them is wrong",
        ),
    )


def _with_opinion(
    toolchain: Toolchain, verdict: RunVerdict, recorded: _Recorded | None
) -> RunVerdict:
    if recorded is None or not isinstance(recorded.header.config, TimerConfig):
        return verdict
    try:
        opinions = judge_with_tlc(toolchain, recorded.header.config, [recorded.trace()])
    except (UsageError, TlcTraceError) as error:
        return replace(verdict, notes=(*verdict.notes, f"no second opinion: {error}"))
    return compare(verdict, opinions[0])


def _read(path: Path) -> dict[str, _Recorded]:
    found: dict[str, _Recorded] = {}
    for event in _events(path):
        if isinstance(event, TraceHeader):
            found.setdefault(event.trace, _Recorded(event))
        elif event.trace in found:
            _take(found, event)
    return found


def _take(found: dict[str, _Recorded], event: TraceEvent[object, object]) -> None:
    """Take an event; drop a malformed trace, which has no verdict and needs no opinion."""
    try:
        found[event.trace].take(event)
    except MalformedError:
        del found[event.trace]


def _events(path: Path) -> Iterable[TraceHeader[object] | TraceEvent[object, object]]:
    ended: set[str] = set()
    for line in read_lines(path):
        event = parse_line(line) if isinstance(line, bytes) else line
        match event:
            case TraceEnd():
                ended.add(event.trace)
            case TraceHeader() | TraceEvent() if event.trace not in ended:
                yield event
            case _:
                continue
