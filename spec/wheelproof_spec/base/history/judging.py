"""How a component's recorded history is judged: judges, balances and searches."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.component import AnyDefinition
from wheelproof_spec.base.history.lines import (
    HistoryEnd,
    HistoryHeader,
    HistoryOp,
    TraceEnd,
    TraceEvent,
    TraceHeader,
)
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation

MOST_KEPT = 100_000
"""The maximum number of events of a trace whose order is open."""

CLOSED = "Closed"
"""The error of a call that comes after the component was closed or shut down."""
EXHAUSTED = "Exhausted"
"""The error of a call that has waited for memory in vain."""
ILLEGAL = "IllegalArgument"
"""The error of a call that lies outside the domain."""
INTERRUPTED = "Interrupted"
"""The error of a call whose thread was interrupted."""


class HistoryJudge(Protocol):
    """Judges the calls of one component, in the order in which they were recorded.

    Each method returns the first clause that its event breaks, if any.
    """

    @property
    def goes_on_after(self) -> Collection[str]:
        """The clauses after whose violation the judge can still judge all others.

        After a violation of another clause it is not called again: its judgements could be wrong.
        """
        ...

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """Record that a call began."""
        ...

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Record that a callback, which is no call, ended."""
        ...

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call returned with an answer."""
        ...

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call was refused and had no effect."""
        ...

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Record that the outcome of a call is unknown."""
        ...

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """Record that the history ended."""
        ...

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """An event that counts for the name in a field: at the beginning of a call, or at its end.

    With `if_true` it counts only if that field of the answer is true.
    """

    operation: str
    field: str
    at: Literal["invoke", "ok"] = "invoke"
    of: Literal["call", "answer"] = "call"
    if_true: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """An event that may happen at most as often as another event makes room for it.

    That holds in any order, so it can be judged if only the order within each process is known.
    `what` and `room` describe the two events.
    """

    clause: Clause
    what: str
    room: str
    makes_room: Counted
    uses: tuple[Counted, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedComponent:
    """A component whose histories can be judged.

    `judge` makes the judge of a history, by the contract of a profile; it counts in a tally.
    `search` looks for a linearization of a small history; None if there is no such search.
    `happens` has its recorded operations: whether each happens, as a callback, and is no call.
    """

    definition: AnyDefinition
    judge: Callable[[HistoryHeader[object], str, Tally], HistoryJudge]
    balances: tuple[Balance, ...]
    search: "LinearizationSearch | None" = None
    happens: Mapping[str, bool] = field(init=False)

    def __post_init__(self) -> None:
        recorded = self.definition.operations_on(Wire.RECORDED)
        happens = {operation.name: operation.happens for operation in recorded}
        object.__setattr__(self, "happens", happens)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeHistory:
    """A history with its end; it is `quiet` if no call is in progress at its end.

    `ops` lacks the `ok` lines of callbacks. So an event's index is not always its place in `ops`.
    """

    header: HistoryHeader[object]
    profile: str
    ops: tuple[HistoryOp[object], ...]
    quiet: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """The result of a search: PASS, FAIL with a violation, INCONCLUSIVE if it gave up."""

    verdict: Verdict
    violation: Violation | None = None
    index: int = 0
    """The index of the first event that no linearization explains."""


LinearizationSearch = Callable[[WholeHistory], Searched | None]
"""Searches a small history of a component; returns None if its model does not cover it."""


def ends_quietly(end: HistoryEnd | None) -> bool:
    """Tell whether a history has an end at which no call is in progress, and nothing is to come."""
    return end is not None and end.quiet


NOT_QUIET = "the history does not end quietly: events that are missing at its end were not judged"
"""The note on a history that does not end quietly, of a judge that looks at its end."""


class TraceRunChecker(Protocol):
    """Replays one trace, an event at a time."""

    def feed(self, event: TraceEvent[object, object] | TraceEnd, line: int = 0) -> None:
        """Check the next event; raises MalformedError if it is not allowed here."""
        ...

    def finish(self) -> RunVerdict:
        """Return the verdict."""
        ...


MakeTraceChecker = Callable[[TraceHeader[object], int], TraceRunChecker]
"""Makes the checker of a trace; the number is the most states that its search may visit."""
