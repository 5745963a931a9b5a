"""Which checker judges a run, by the format and the component that its header names."""

from collections.abc import Callable
from dataclasses import dataclass

from wheelproof_spec.base.history.lines import (
    HistoryEnd,
    HistoryHeader,
    HistoryOp,
    TraceEnd,
    TraceEvent,
)
from wheelproof_spec.base.run_verdict import RunVerdict
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.timer.trace.run import TraceChecker
from wheelproof_spec.engines.history.routing import Body, Checker, Header
from wheelproof_spec.engines.history.run import HistoryChecker

MAX_STATES = 200_000
"""After how many states the search for an order gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How runs are judged: `profile` replaces the one that a history names."""

    profile: str | None = None
    max_states: int = MAX_STATES


def open_run(options: CheckOptions) -> Callable[[Header, int], Checker]:
    """Return what makes the checker of a run."""

    def make(header: Header, line: int) -> Checker:
        if isinstance(header, HistoryHeader):
            return _HistoryRun(HistoryChecker(header, options.profile, line))
        return _TraceRun(TraceChecker(header, options.max_states))

    return make


class _HistoryRun(Checker):
    def __init__(self, checker: HistoryChecker) -> None:
        self._checker = checker

    def feed(self, event: Body, line: int) -> None:
        # A type in a match costs a third of a union in isinstance, and this is every line.
        match event:
            case HistoryOp() | HistoryEnd():
                self._checker.feed(event, line)
            case _:
                raise MalformedError("is a line of a trace in a history")

    def finish(self, *, cut_off: bool) -> RunVerdict:
        del cut_off
        return self._checker.finish()


class _TraceRun(Checker):
    def __init__(self, checker: TraceChecker) -> None:
        self._checker = checker

    def feed(self, event: Body, line: int) -> None:
        match event:
            case TraceEvent() | TraceEnd():
                self._checker.feed(event, line)
            case _:
                raise MalformedError("is a line of a history in a trace")

    def finish(self, *, cut_off: bool) -> RunVerdict:
        if cut_off:
            raise MalformedError("has no end: it was cut off")
        return self._checker.finish()
