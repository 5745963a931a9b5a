"""How a component's recorded history is judged: the judge, and what can be counted in any order."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from wheelproof_spec.base.clause import Clause
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


class HistoryJudge(Protocol):
    """Judges the calls of one component, in the order in which they were recorded.

    Each method returns the first clause that is broken by its event, if one is.
    """

    @property
    def goes_on_after(self) -> Collection[str]:
        """The clauses after whose violation it still knows enough to judge all others.

        After a violation of another one it is asked no more: what it would say could be wrong.
        """
        ...

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """A call begins."""
        ...

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Something that happened, and was no call, is over."""
        ...

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call returned with an answer."""
        ...

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call was refused and has had no effect."""
        ...

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Nobody knows what becomes of a call."""
        ...

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """The history ends."""
        ...

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """An event that counts for what a field names: at the beginning of a call, or at its end.

    With `if_true` it counts only if that field of the answer is true.
    """

    operation: str
    field: str
    at: Literal["invoke", "ok"] = "invoke"
    of: Literal["call", "answer"] = "call"
    if_true: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Something that may happen at most as often as something else makes room for it.

    That holds in any order, so it is what can be judged where only the order within each process is
    known. `what` and `room` say it in words.
    """

    clause: Clause
    what: str
    room: str
    makes_room: Counted
    uses: tuple[Counted, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedComponent:
    """A component whose histories can be judged.

    `judge` makes the judge of a history by the contract of a profile, which counts in a tally.
    """

    definition: AnyDefinition
    judge: Callable[[HistoryHeader[object], str, Tally], HistoryJudge]
    balances: tuple[Balance, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeHistory:
    """A history with its end; it is `quiet` if nothing is under way any more."""

    header: HistoryHeader[object]
    profile: str
    ops: tuple[HistoryOp[object], ...]
    quiet: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What the search has found: PASS, FAIL with a violation, INCONCLUSIVE if it gave up."""

    verdict: Verdict
    violation: Violation | None = None
    index: int = 0
    """The event that no order explains."""


Orders = Callable[[WholeHistory], Searched | None]
"""How a component's small histories are searched; None for one that its model does not know."""


class TraceRunChecker(Protocol):
    """Replays one trace, an event at a time."""

    def feed(self, event: TraceEvent[object, object] | TraceEnd, line: int = 0) -> None:
        """Take the next event; raises MalformedError if it cannot come here."""
        ...

    def finish(self) -> RunVerdict:
        """Return the verdict."""
        ...


MakeTraceChecker = Callable[[TraceHeader[object], int], TraceRunChecker]
"""Makes what replays a trace, with how many states its search may visit."""
