"""The search of a small history for a linearization: an order of effects that explains all answers.

A judge of histories keeps bounds, in time linear in the length, so it may miss a contradiction
between several answers. If a history is small, and the model of its component covers all of its
calls, the general search runs as well. A model leaves out what it does not cover: it may allow too
much, but never too little.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.history.judging import Searched
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.history.linearizability.calls import Call, Event, Invoked, Returned
from wheelproof_spec.history.linearizability.check import Explanation, Model, check_history

MOST_EVENTS = 40
"""The longest history that is searched, in lines between its header and its end."""
MOST_CONFIGURATIONS = 20_000
"""After how many configurations the search gives up."""

GAVE_UP = (
    f"the search for a linearization gave up after {MOST_CONFIGURATIONS:,} configurations: "
    "each answer is possible by itself"
)

State = TypeVar("State", bound=Hashable)
Op = TypeVar("Op")
Res = TypeVar("Res")


@dataclass(slots=True)
class Effects(Generic[Op, Res]):
    """The input of the search: the effects of a history, each between a first and a last moment.

    `index` is the current event of the history; effects without an event belong to it as well.
    """

    events: list[Event[Op, Res]] = field(default_factory=list[Event[Op, Res]])
    index: int = 0
    _indexes: list[int] = field(default_factory=list[int])

    def begin(self, process: str, operation: Op) -> int:
        """Add an operation that may take effect from now on; return its ticket."""
        self.events.append(Invoked(process, operation))
        self._indexes.append(self.index)
        return len(self.events) - 1

    def end(self, process: str, result: Res) -> None:
        """Record that the last operation of `process` has taken effect."""
        self.events.append(Returned(process, result))
        self._indexes.append(self.index)

    def now(self, process: str, operation: Op, result: Res) -> None:
        """Add an operation that takes effect at this moment."""
        self.begin(process, operation)
        self.end(process, result)

    def linearize(
        self, model: Model[State, Op, Res], clause_of: Callable[[Call[Op, Res]], Clause]
    ) -> Searched:
        """Search; `clause_of` returns the clause that a call without an explanation breaks."""
        found = check_history(model, self.events, max_configurations=MOST_CONFIGURATIONS)
        if found.explanation is None:
            return Searched(verdict=found.verdict)
        return self._violation(found.explanation, clause_of)

    def _violation(
        self, explanation: Explanation[Op, Res], clause_of: Callable[[Call[Op, Res]], Clause]
    ) -> Searched:
        indexes = self._indexes
        index = indexes[explanation.prefix]
        order = ", ".join(
            f"{moment.effect.value}{indexes[moment.call.invoked]}" for moment in explanation.order
        )
        violation = Violation(
            rule=clause_of(explanation.call),
            expected="some order of the effects explains every answer",
            observed=f"no order explains event {index}",
            reason="the events before it allow one, for example by the events in which they begin: "
            + (order or "none"),
        )
        return Searched(verdict=Verdict.FAIL, violation=violation, index=index)


def is_answered(ops: Sequence[HistoryOp[object]], *but: str) -> bool:
    """Tell whether no call was lost, and none refused except with one of the errors `but`."""
    return all(op.type != "info" and (op.type != "fail" or op.error in but) for op in ops)
