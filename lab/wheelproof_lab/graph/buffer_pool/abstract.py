"""Comparison of the abstract pool of FifoAllocator.tla with the model, by states and effects.

The model changes by its effects only, and an effect that a guard forbids is no edge. The clock
stands still and no time-out is set, so an allocation may be out of time at any moment.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from wheelproof_lab.graph.buffer_pool.ledger import Askers, fifo_allocator_state
from wheelproof_lab.graph.comparing.driven import driven_graph
from wheelproof_lab.graph.comparing.projected import ProjectedGraph
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    LONGEST_WAITING_FIRST,
    CallId,
    PoolConfig,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.ledger import Request
from wheelproof_spec.components.buffer_pool.model import LedgerPool
from wheelproof_spec.tlc.states.values import State

MakeModel = Callable[[PoolConfig], LedgerPool]


def strict_model(config: PoolConfig) -> LedgerPool:
    """Return the model of a pool in which nobody overtakes."""
    return LedgerPool(config, LONGEST_WAITING_FIRST)


@dataclass(slots=True, kw_only=True)
class _Books:
    """A model, and its calls, each with its thread and its size in bytes."""

    pool: LedgerPool
    asked: dict[CallId, tuple[str, int]] = field(default_factory=dict[CallId, tuple[str, int]])

    def fork(self) -> "_Books":
        return copy.deepcopy(self)

    def state(self, askers: Askers) -> State:
        return fifo_allocator_state(
            askers,
            lent=[self.asked[name] for name in self.pool.lent],
            waiting=[self.asked[name] for name in self.pool.requests],
            closed=self.pool.closed,
        )

    def end(self, call: CallId, outcome: PoolOutcome) -> Violation | None:
        forbidden = self.pool.forbids_end(call, outcome)
        if forbidden is not None or outcome is PoolOutcome.BUFFER:
            return forbidden or self.pool.lend(call, call)
        self.pool.leave(call)
        return None


def model_graph(askers: Askers, make_model: MakeModel = strict_model) -> ProjectedGraph:
    """Return the graph of all states of the model that effects can reach."""
    config = PoolConfig(total_memory=askers.total, poolable_size=1)
    return driven_graph(
        _Books(pool=make_model(config)),
        lambda books: books.state(askers),
        lambda books: _effects(books, askers),
    )


def label_of_effect(action: str, before: State, after: State) -> str:
    """Return the label of a step of FifoAllocator: its action."""
    del before, after
    return action


def _effects(here: _Books, askers: Askers) -> Iterator[tuple[str, _Books]]:
    pool = here.pool
    busy = {here.asked[name][0] for name in (*pool.requests, *pool.lent)}
    for thread in askers.sizes.keys() - busy:
        for size in askers.sizes[thread]:
            call = f"{len(here.asked)}"
            asked = here.fork()
            asked.asked[call] = thread, size
            asked.pool.ask(call, Request(size))
            there = asked.fork()
            if there.end(call, PoolOutcome.BUFFER) is None:
                yield "LendAtOnce", there
            if asked.pool.enqueue(call) is None:
                yield "Enqueue", asked
    for call in pool.requests:
        there = here.fork()
        if there.end(call, PoolOutcome.BUFFER) is None:
            yield "LendToTheFirst", there
        there = here.fork()
        reason = PoolOutcome.CLOSED if pool.closed else PoolOutcome.EXHAUSTED
        if there.end(call, reason) is None:
            yield "Leave", there
    for call in pool.lent:
        there = here.fork()
        if there.pool.give_back(call):
            yield "GiveBack", there
    if not pool.closed:
        there = here.fork()
        there.pool.close()
        yield "Close", there
