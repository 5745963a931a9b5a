"""Makes the checker of a run, by the format and the component that its header names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from wheelproof_spec.base.history.judging import (
    MakeTraceChecker,
    RecordedComponent,
    TraceRunChecker,
)
from wheelproof_spec.base.history.lines import HistoryHeader, TraceEnd, TraceEvent
from wheelproof_spec.base.results.known_limits import KnownLimit
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.history.routing import Body, Checker, Header
from wheelproof_spec.history.run import HistoryChecker

MAX_STATES = 200_000
"""After how many states the search for a linearization of a trace gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """The options of a check.

    `profile` replaces the profile that a history names. `skip` has the known limits whose clauses
    are not judged in histories.
    """

    profile: str | None = None
    max_states: int = MAX_STATES
    skip: tuple[KnownLimit, ...] = ()


class Components(Protocol):
    """The judges that each component brings."""

    def recorded(self, component: str) -> RecordedComponent:
        """Return how its histories are judged."""
        ...


def run_opener(
    components: Components,
    trace_checker: Callable[[str], MakeTraceChecker | None],
    options: CheckOptions,
) -> Callable[[Header], Checker]:
    """Return a function that makes the checker of a run.

    `trace_checker` returns how the traces of a component are judged, if they can be.
    """

    skip = frozenset(limit.clause for limit in options.skip)

    def make(header: Header) -> Checker:
        if isinstance(header, HistoryHeader):
            component = components.recorded(header.component)
            return HistoryChecker(header, component, options.profile, skip, component.search)
        make_checker = trace_checker(header.component)
        if make_checker is None:
            raise MalformedError(
                f"has the component {header.component!r}, of which no trace can be judged yet"
            )
        return _TraceRun(make_checker(header, options.max_states))

    return make


class _TraceRun:
    def __init__(self, checker: TraceRunChecker) -> None:
        self._checker = checker

    def feed(self, event: Body, line: int) -> None:
        assert isinstance(event, TraceEvent | TraceEnd)
        self._checker.feed(event, line)

    def finish(self, *, cut_off: bool = False) -> RunVerdict:
        if cut_off:
            raise MalformedError("has no end: it was cut off")
        return self._checker.finish()
