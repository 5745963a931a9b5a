"""The replay of a white-box trace beside TLC's validation of the same trace."""

from dataclasses import dataclass
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time

from recorded_runs import trace_lines
from wheelproof_spec.app.recorded import parse_line
from wheelproof_spec.base.history.lines import TraceEvent, TraceHeader
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.components.timer.trace.run import TraceChecker, TraceOrder
from wheelproof_spec.components.timer.trace.search import Step
from wheelproof_spec.components.timer.trace.tlc_module import RecordedTrace
from wheelproof_spec.components.timer.trace.tlc_opinion import judge_with_tlc
from wheelproof_spec.engines.tlc.running.launch import Toolchain, find_toolchain

_FEW = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Seconds of processor time; `tlc_start` is what TLC takes for a trace of a few events."""

    events: int
    replay: float
    tlc: float
    tlc_start: float

    @property
    def ratio(self) -> float:
        """How many times faster the replay is, TLC's start not counted."""
        return (self.tlc - self.tlc_start) / self.replay

    @property
    def ratio_with_start(self) -> float:
        """How many times faster the replay is than TLC with its start."""
        return self.tlc / self.replay


def race(events: int, seed: int) -> Race:
    """Judge one trace in both ways; both have to accept it."""
    toolchain = find_toolchain()
    header, body = _trace(events, seed)
    started = process_time()
    checker = TraceChecker(header)
    for event in body:
        checker.feed(event)
    verdict = checker.finish()
    replayed = process_time() - started
    if verdict.verdict is not Verdict.PASS:
        raise SystemExit(f"the trace does not pass: {verdict}")
    return Race(
        events=len(body),
        replay=replayed,
        tlc=_tlc_seconds(toolchain, header, body),
        tlc_start=_tlc_seconds(toolchain, *_trace(_FEW, seed)),
    )


def _trace(events: int, seed: int) -> tuple[TraceHeader[object], list[TraceEvent[object, object]]]:
    parsed = [parse_line(line) for line in trace_lines(events, seed)]
    header = parsed[0]
    assert isinstance(header, TraceHeader)
    return header, [one for one in parsed if isinstance(one, TraceEvent)]


def _tlc_seconds(
    toolchain: Toolchain, header: TraceHeader[object], body: list[TraceEvent[object, object]]
) -> float:
    order = TraceOrder(header)
    steps = [Step(event, *order.admit(event), at, 0) for at, event in enumerate(body)]
    trace = RecordedTrace(steps=tuple(steps), in_order=True, silent=order.silent)
    config = header.config
    assert isinstance(config, TimerConfig)
    started = _children_seconds()
    (opinion,) = judge_with_tlc(toolchain, config, [trace])
    seconds = _children_seconds() - started
    if not opinion.accepts:
        raise SystemExit(f"TLC explains {opinion.good} of {opinion.events} events")
    return seconds


def _children_seconds() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
