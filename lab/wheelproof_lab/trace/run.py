"""Judges one white-box trace: replays it through the detailed specification.

A trace with all its steps in order is replayed event by event, in memory that does not grow with
it. If the order is open, or some steps are never recorded, its events are kept until the end, and a
bounded search looks for an order.
"""

from wheelproof_lab.trace.actions import NO_LIMIT, TimerActions
from wheelproof_lab.trace.search import Outcome, Step, TraceSearch, take
from wheelproof_lab.trace.state import (
    Level,
    SeveralError,
    TimerState,
    UnexplainedError,
    UnobservedError,
)
from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.base.history.judging import MOST_KEPT
from wheelproof_spec.base.history.lines import TraceEnd, TraceEvent, TraceHeader
from wheelproof_spec.base.results.run_verdict import Place, RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.timer.component import DEFINITION, TimerConfig

NEVER_SILENT = frozenset({"ReadClock", "Bind", "CancelRemove"})
"""Actions that have to be recorded, since no other event tells their task or time."""

_MODULE = "SystemTimer"


class TraceOrder:
    """The check that the events of a trace can follow one another, and their bounds of the clock.

    Raises MalformedError for an impossible header or event.
    """

    def __init__(self, header: TraceHeader[object]) -> None:
        """Begin with the header."""
        self.silent = _silent_of(header)
        self.in_order: bool | None = None
        """Whether the events have numbers; None before the first event."""
        self.events = 0
        self._virtual = header.clock == "virtual"
        self._tseq: dict[str, int] = {}
        self._last_ms: dict[str, int] = {}
        self._ended = False

    def admit(self, event: TraceEvent[object, object]) -> tuple[int, int]:
        """Take the next event; return the least and the greatest time that the clock can show."""
        self._require_place(event)
        self._tseq[event.thread] = event.tseq + 1
        self.events += 1
        time = event.t_ms
        if isinstance(time, Absent):
            return -NO_LIMIT, NO_LIMIT
        if self._virtual:
            return time, time
        # A real clock is read after each step: this step came after the thread's last reading.
        earliest = self._last_ms.get(event.thread, -NO_LIMIT)
        self._last_ms[event.thread] = time
        return min(earliest, time), time

    def end(self, end: TraceEnd) -> None:
        """Take the end line."""
        if self._ended:
            raise MalformedError("ends a trace that has ended")
        if end.events != self.events:
            raise MalformedError(f"says that there are {end.events} events, but {self.events} came")
        self._ended = True

    def _require_place(self, event: TraceEvent[object, object]) -> None:
        if self._ended:
            raise MalformedError("comes after the end of its trace")
        if self.in_order is None:
            self.in_order = event.seq is not ABSENT
        if self.in_order:
            if event.seq != self.events:
                seq = "none" if event.seq is ABSENT else event.seq
                raise MalformedError(f"has the seq {seq} where {self.events} is next")
        elif event.seq is not ABSENT:
            raise MalformedError("has a seq, but the first event of the trace had none")
        following = self._tseq.get(event.thread, 0)
        if event.tseq != following:
            raise MalformedError(
                f"has the tseq {event.tseq} where {following} is next of {event.thread!r}"
            )
        if event.action in self.silent:
            raise MalformedError(f"has the action {event.action!r}, which the header calls silent")


class TraceChecker:
    """The check that a trace is well-formed, and that the specification allows it."""

    def __init__(self, header: TraceHeader[object], max_states: int = 200_000) -> None:
        """Begin with the header; raises MalformedError if its component has no replay."""
        config = header.config
        if not isinstance(config, TimerConfig):
            raise MalformedError(
                f"has the component {header.component!r}, of which no trace can be judged yet"
            )
        self._header = header
        self._max_states = max_states
        self._order = TraceOrder(header)
        self._actions = TimerActions(
            initial_state(config), poll_under_lock=config.design != "kafka"
        )
        self._kept: list[Step] = []
        self._kept_from = 0
        self._keeps = bool(self._order.silent)
        self._violation: Violation | None = None
        self._place: Place | None = None
        self._good = 0
        self._question: str | None = None

    def feed(self, event: TraceEvent[object, object] | TraceEnd, line: int = 0) -> None:
        """Take the next line; see `HistoryChecker.feed`."""
        if isinstance(event, TraceEnd):
            self._order.end(event)
            return
        bounds = self._order.admit(event)
        if self._violation is None and self._question is None:
            self._replay(event, line, bounds)

    def finish(self) -> RunVerdict:
        """Return the verdict."""
        if self._kept and self._violation is None and self._question is None:
            self._search()
        return RunVerdict(
            run=self._header.trace,
            format="trace",
            component=self._header.component,
            implementation=f"{self._header.impl.name} {self._header.impl.version}",
            profile=_MODULE,
            verdict=self._verdict(),
            events=self._order.events,
            good_prefix=self._order.events if self._verdict() is Verdict.PASS else self._good,
            violation=self._violation,
            place=self._place,
            notes=() if self._question is None else (self._question,),
        )

    def _verdict(self) -> Verdict:
        if self._violation is not None:
            return Verdict.FAIL
        if self._question is not None or not self._order.events:
            return Verdict.INCONCLUSIVE
        return Verdict.PASS

    def _replay(
        self, event: TraceEvent[object, object], line: int, bounds: tuple[int, int]
    ) -> None:
        earliest, latest = bounds
        index = self._order.events - 1
        if self._keeps or not self._order.in_order:
            self._keep(Step(event, earliest, latest, index, line))
            return
        try:
            take(
                self._actions,
                event.thread,
                event.action,
                (event.args, event.obs),
                earliest,
                latest,
            )
            self._good += 1
        except UnexplainedError as error:
            self._blame(event, error, line)
        except SeveralError:
            self._kept_from = index
            self._keeps = True
            self._keep(Step(event, earliest, latest, index, line))
        except UnobservedError as error:
            self._question = f"event {index}, line {line}: {error}"

    def _keep(self, step: Step) -> None:
        if len(self._kept) >= MOST_KEPT:
            self._question = f"the order of more than {MOST_KEPT:,} events is open"
            self._kept.clear()
            return
        self._kept.append(step)

    def _search(self) -> None:
        search = TraceSearch(
            self._kept,
            in_order=bool(self._order.in_order),
            silent=self._order.silent,
            poll_under_lock=self._actions.poll_under_lock,
            max_states=self._max_states,
        )
        try:
            outcome = search.run(self._actions.state)
        except UnobservedError as error:
            self._question = str(error)
            return
        self._good = self._kept_from + outcome.good
        if outcome.gave_up:
            self._question = (
                f"no order was found within {self._max_states:,} states; "
                "record more actions, or seq, or give more with --max-states"
            )
        elif not outcome.explained:
            self._blame_search(outcome)

    def _blame_search(self, outcome: Outcome) -> None:
        if outcome.stuck is None:
            step = self._kept[min(outcome.good, len(self._kept) - 1)]
            error = UnexplainedError(
                "an order that the specification allows", "none", "there is none"
            )
        else:
            step, error = outcome.stuck
        self._blame(step.event, error, step.line)
        self._place = Place(index=step.index, line=step.line)

    def _blame(self, event: TraceEvent[object, object], error: UnexplainedError, line: int) -> None:
        self._violation = Violation(
            rule=f"{_MODULE}.{event.action}",
            expected=error.expected,
            observed=error.observed,
            reason=f"{event.thread!r} cannot take this step: {error.reason}",
        )
        self._place = Place(index=self._order.events - 1, line=line)


def initial_state(config: TimerConfig) -> TimerState:
    """Return the state before the first step (Init of the module)."""
    clock = config.start_ms - config.start_ms % config.tick_ms
    return TimerState(
        tick_ms=config.tick_ms,
        wheel_size=max(config.wheel_size, 2),
        now=config.start_ms,
        levels=[Level(clock)],
    )


def _silent_of(header: TraceHeader[object]) -> frozenset[str]:
    names = () if isinstance(header.silent, Absent) else header.silent
    known = {action.action for action in DEFINITION.actions}
    for name in names:
        if name not in known:
            raise MalformedError(f"calls {name!r} silent, which is no action")
        if name in NEVER_SILENT:
            raise MalformedError(f"calls {name!r} silent, which has to be recorded")
    return frozenset(names)
