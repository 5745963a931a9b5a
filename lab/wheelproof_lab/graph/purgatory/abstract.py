"""Comparison of the abstract operations of DelayedOperation.tla with the model, by effects.

The model changes by its effects only, and an effect that a guard forbids is no edge. The driver
counts the callbacks that the model allows, so a wrong guard shows as a wrong state. Each operation
has a key of its own. No clock is compared: an operation may expire at any moment.
"""

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from wheelproof_lab.graph.comparing.driven import driven_graph
from wheelproof_lab.graph.comparing.projected import ProjectedGraph, changes_of
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.purgatory.component import (
    CheckAndComplete,
    OperationId,
    PurgatoryClause,
)
from wheelproof_spec.components.purgatory.model import LedgerPurgatory, Pending
from wheelproof_spec.tlc.states.values import State, Value, make_function

_CALL = 0
_MOST = 2
"""How often a callback is tried: a second time is wrong already, and the graph stays finite."""
_ACTIONS = {
    "pending": "Submit",
    "completed": "Complete",
    "expired": "Expire",
    "cancelled": "Cancel",
}

MakeModel = Callable[[Tally], LedgerPurgatory]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The names of the operations."""

    names: tuple[OperationId, ...]

    def constants(self) -> dict[str, Value]:
        """Return the constants of DelayedOperation."""
        return {"Operations": frozenset(self.names)}


def right_model(tally: Tally) -> LedgerPurgatory:
    """Return the model without operations."""
    return LedgerPurgatory(tally=tally)


@dataclass(slots=True, kw_only=True)
class _Driver:
    """A model, and how often callbacks have run."""

    purgatory: LedgerPurgatory
    answers: Counter[OperationId] = field(default_factory=Counter[OperationId])
    expirations: Counter[OperationId] = field(default_factory=Counter[OperationId])

    def fork(self) -> "_Driver":
        return copy.deepcopy(self)

    def state(self, names: tuple[OperationId, ...]) -> State:
        """Return the variables of DelayedOperation."""
        return {
            "outcome": make_function((name, self._outcome(name)) for name in names),
            "holds": frozenset(self.purgatory.true),
            "answers": make_function((name, self.answers[name]) for name in names),
            "expirations": make_function((name, self.expirations[name]) for name in names),
        }

    def _outcome(self, name: OperationId) -> str:
        if name in self.purgatory.pending:
            return "pending"
        outcome = self.purgatory.outcome(name)
        return "idle" if outcome is None else outcome.value

    def submit(self, name: OperationId) -> bool:
        purgatory = self.purgatory
        if name in purgatory.pending or purgatory.outcome(name) is not None:
            return False
        purgatory.hand_in(name, Pending(keys=(name,), conditions=(name,)))
        purgatory.watch(name)
        return True

    def make_true(self, name: OperationId) -> bool:
        if name in self.purgatory.true:
            return False
        self.purgatory.make_true(name)
        return True

    def complete(self, name: OperationId) -> bool:
        self.purgatory.begin(_CALL, CheckAndComplete(key=name))
        done = self.purgatory.complete(name, _CALL) is None
        return done and self.purgatory.end(_CALL, None) is None

    def expire(self, name: OperationId) -> bool:
        return self.purgatory.expire(name) is None

    def cancel(self, name: OperationId) -> bool:
        return self.purgatory.cancel(name) is None

    def answer(self, name: OperationId) -> bool:
        self.answers[name] += 1
        return self.answers[name] <= _MOST and self.purgatory.answer(name) is None

    def notify(self, name: OperationId) -> bool:
        self.expirations[name] += 1
        return self.expirations[name] <= _MOST and self.purgatory.notify(name)


_EFFECTS: dict[str, Callable[[_Driver, OperationId], bool]] = {
    "Submit": _Driver.submit,
    "MakeTrue": _Driver.make_true,
    "Complete": _Driver.complete,
    "Expire": _Driver.expire,
    "Cancel": _Driver.cancel,
    "Answer": _Driver.answer,
    "Notify": _Driver.notify,
}


def model_graph(operations: Operations, make_model: MakeModel = right_model) -> ProjectedGraph:
    """Return the graph of all states of the model that effects can reach.

    An operation may be there from the beginning: before anything else it is submitted or not.
    """
    tally = Tally(limits=(PurgatoryClause.EXPIRES_IN_TIME,))
    graph = driven_graph(
        _Driver(purgatory=make_model(tally)),
        lambda driver: driver.state(operations.names),
        lambda driver: _effects(driver, operations),
    )
    first = set(graph.initial)
    left = list(first)
    while left:
        submitted = {there for label, there in graph.moves[left.pop()] if label == "Submit"}
        left += submitted - first
        first |= submitted
    return replace(graph, initial=frozenset(first))


def label_of_effect(action: str, before: State, after: State) -> str | None:
    """Return the action, by its outcome: TLC names some actions by an operator they share."""
    for _, _, outcome in changes_of("outcome", before, after):
        assert isinstance(outcome, str)
        return _ACTIONS[outcome]
    return None if before == after else action


def _effects(here: _Driver, operations: Operations) -> Iterator[tuple[str, _Driver]]:
    for name in operations.names:
        for action, effect in _EFFECTS.items():
            there = here.fork()
            if effect(there, name):
                yield action, there
