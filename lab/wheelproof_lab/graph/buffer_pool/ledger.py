"""Comparison of the judge of a pool's driven cases with FifoAllocator.tla, call by call.

The judge closes the effects of the model after each call. It gets each call with each conceivable
outcome: which of the waiting calls end, and how. It must accept exactly what the module allows. The
module serves and releases waiting threads step by step, but the judge is told once no thread can
continue: these steps of the module are finished first.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from wheelproof_lab.graph.comparing.driven import driven_graph
from wheelproof_lab.graph.comparing.projected import ProjectedGraph
from wheelproof_spec.base.calls import Close, Interrupt, Reset
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.buffer_pool.component import (
    LONGEST_WAITING_FIRST,
    Allocate,
    CallId,
    Deallocate,
    PoolCall,
    PoolConfig,
    PoolObservation,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.oracle import PoolOracle
from wheelproof_spec.tlc.states.values import Record, State, Value, make_function

_FOREVER_MS = 1_000_000
_OUTCOMES = (None, PoolOutcome.BUFFER, PoolOutcome.CLOSED, PoolOutcome.INTERRUPTED)
_ACTIONS = {
    "LendAtOnce": "Allocate",
    "Enqueue": "Allocate",
    "Leave": "Interrupt",
    "GiveBack": "Deallocate",
    "Close": "Close",
}

MakeLedger = Callable[[Tally], PoolOracle]


@dataclass(frozen=True, slots=True, kw_only=True)
class Askers:
    """The threads and the sizes of `total` bytes that each asks for, any number of times."""

    total: int
    sizes: Mapping[str, tuple[int, ...]]

    def constants(self) -> dict[str, Value]:
        """Return the constants of FifoAllocator."""
        return {
            "Threads": frozenset(self.sizes),
            "Total": self.total,
            "Sizes": make_function(
                (thread, frozenset(sizes)) for thread, sizes in self.sizes.items()
            ),
        }


def fifo_allocator_state(
    askers: Askers,
    *,
    lent: Sequence[tuple[str, int]],
    waiting: Sequence[tuple[str, int]],
    closed: bool,
) -> State:
    """Return the variables of FifoAllocator: who holds, and waits for, how many bytes."""
    held = dict(lent)
    return {
        "available": askers.total - sum(held.values()),
        "queue": tuple(_request(thread, size) for thread, size in waiting),
        "held": make_function((thread, held.get(thread, 0)) for thread in askers.sizes),
        "closed": closed,
    }


@dataclass(slots=True, kw_only=True)
class _Books:
    """A judge, and its calls, each with its thread and its size in bytes."""

    ledger: PoolOracle
    asked: dict[CallId, tuple[str, int]] = field(default_factory=dict[CallId, tuple[str, int]])
    closed: bool = False

    def state(self, askers: Askers) -> State:
        return fifo_allocator_state(
            askers,
            lent=[self.asked[name] for name in self.ledger.lent()],
            waiting=[self.asked[name] for name in self.ledger.waiting()],
            closed=self.closed,
        )

    def accepted(self, call: PoolCall) -> "Iterator[_Books]":
        """Yield the books after `call`, once for each outcome of it that the ledger accepts."""
        waiting = (*self.ledger.waiting(), *((call.buffer,) if isinstance(call, Allocate) else ()))
        for outcomes in product(_OUTCOMES, repeat=len(waiting)):
            ended = {
                name: outcome
                for name, outcome in zip(waiting, outcomes, strict=True)
                if outcome is not None
            }
            there = copy.deepcopy(self)
            if there.ledger.judge(call, PoolObservation(ended=ended)) is None:
                yield there


def strict_ledger(tally: Tally) -> PoolOracle:
    """Return the ledger that judges by the contract without overtaking."""
    return PoolOracle(LONGEST_WAITING_FIRST, tally)


def ledger_graph(askers: Askers, make_ledger: MakeLedger = strict_ledger) -> ProjectedGraph:
    """Return the graph of all states of the ledger that accepted calls can reach."""
    ledger = make_ledger(Tally())
    config = PoolConfig(total_memory=askers.total, poolable_size=1)
    assert ledger.judge(Reset(config=config), PoolObservation(ended={})) is None
    return driven_graph(
        _Books(ledger=ledger),
        lambda books: books.state(askers),
        lambda books: _calls(books, askers),
    )


def _calls(here: _Books, askers: Askers) -> Iterator[tuple[str, _Books]]:
    waiting, lent = here.ledger.waiting(), here.ledger.lent()
    busy = {here.asked[name][0] for name in (*waiting, *lent)}
    for thread, sizes in askers.sizes.items():
        if thread not in busy:
            for size in sizes:
                name = f"{len(here.asked)}"
                asked = copy.deepcopy(here)
                asked.asked[name] = thread, size
                call = Allocate(buffer=name, size=size, max_time_to_block_ms=_FOREVER_MS)
                for there in asked.accepted(call):
                    # A refusal, as by a closed pool, changes nothing.
                    if there.ledger.lent() != lent or there.ledger.waiting() != waiting:
                        yield "Allocate", there
    for name in lent:
        yield from (("Deallocate", there) for there in here.accepted(Deallocate(buffer=name)))
    for name in waiting:
        yield from (("Interrupt", there) for there in here.accepted(Interrupt(name=name)))
    if not here.closed:
        closed = copy.deepcopy(here)
        closed.closed = True
        yield from (("Close", there) for there in closed.accepted(Close()))


def label_of_fifo_allocator(action: str, before: State, after: State) -> str | None:
    """Return the call that an action of the module stands for."""
    del before, after
    return _ACTIONS.get(action)


def fifo_allocator_under_way(state: State) -> Callable[[str], bool] | None:
    """Return which actions need no call: waiting threads leave, or the first one is served."""
    queue, available = state["queue"], state["available"]
    assert isinstance(queue, tuple)
    assert isinstance(available, int)
    if not queue:
        return None
    if state["closed"] is True:
        return lambda action: action == "Leave"
    first = queue[0]
    assert isinstance(first, Record)
    size = dict(first.pairs)["size"]
    assert isinstance(size, int)
    return (lambda action: action == "LendToTheFirst") if size <= available else None


def _request(thread: str, size: int) -> Value:
    return make_function((("thread", thread), ("size", size)))
