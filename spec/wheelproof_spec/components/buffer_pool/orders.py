"""The model of a buffer pool for the general search of small histories: loans and waiting calls.

The order of service and the lengths of waits are left out (standard 3.2, 3.9).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.history.judging import Orders, Searched, WholeHistory
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolClause,
    PoolConfig,
)
from wheelproof_spec.history.linearizability.calls import UNKNOWN, Call, Unknown
from wheelproof_spec.history.linearizability.check import Model
from wheelproof_spec.history.orders import Question, is_answered

Operation = Allocate | Deallocate
Answer = object

_EXHAUSTED = "Exhausted"
_UNNAMED = "?"
"""The prefix of a buffer's name if no recorded answer names the buffer."""


@dataclass(frozen=True, slots=True)
class PoolState:
    """The lent buffers with their sizes in bytes, and the waiting calls."""

    lent: frozenset[tuple[str, int]] = frozenset()
    waiting: frozenset[int] = frozenset()


class PoolModel(Model[PoolState, Operation, Answer]):
    """A pool in which an allocation queues; it may fail if memory is short or others wait."""

    def __init__(self, total: int) -> None:
        """Make the model of a pool of `total` bytes."""
        self._total = total

    def initial_state(self) -> PoolState:
        """Return the state without loans."""
        return PoolState()

    def waits(self, operation: Operation) -> bool:
        """Tell whether the operation is an allocation, which first enters the queue."""
        return isinstance(operation, Allocate)

    def request(self, state: PoolState, operation: Operation, ticket: int) -> Iterable[PoolState]:
        """Return the states after an allocation has entered the queue."""
        del operation
        return (replace(state, waiting=state.waiting | {ticket}),)

    def follow_up(
        self, state: PoolState, operation: Operation, ticket: int, result: Answer | Unknown
    ) -> Iterable[PoolState]:
        """Return the states after an allocation has got memory, or has given up."""
        assert isinstance(operation, Allocate)
        free = self._total - sum(size for _, size in state.lent)
        others = state.waiting - {ticket}
        left = replace(state, waiting=others)
        if isinstance(result, Allocated):
            lent = state.lent | {(result.buffer, operation.size)}
            return (replace(left, lent=lent),) if operation.size <= free else ()
        if result is UNKNOWN:
            lent = state.lent | {(f"{_UNNAMED}{ticket}", operation.size)}
            return (left, replace(left, lent=lent)) if operation.size <= free else (left,)
        return (left,) if others or operation.size > free else ()

    def step(
        self, state: PoolState, operation: Operation, result: Answer | Unknown
    ) -> Iterable[PoolState]:
        """Return the states after a buffer was given back."""
        del result
        assert isinstance(operation, Deallocate)
        named = [loan for loan in state.lent if loan[0] == operation.buffer]
        # It is unknown which buffer an open call has got.
        unnamed = [loan for loan in state.lent if loan[0].startswith(_UNNAMED)]
        return [replace(state, lent=state.lent - {loan}) for loan in named or unnamed]


def _clause_of(call: Call[Operation, Answer]) -> Clause:
    if isinstance(call.operation, Deallocate):
        return PoolClause.TAKES_BACK_ONLY_LOANS
    lends = isinstance(call.result, Allocated)
    return PoolClause.NO_MORE_THAN_TOTAL if lends else PoolClause.ENDS_FOR_A_REASON


def _search(history: WholeHistory) -> Searched | None:
    config = history.header.config
    assert isinstance(config, PoolConfig)
    question: Question[Operation, Answer] = Question()
    if not is_answered(history.ops, _EXHAUSTED):
        return None
    for op in history.ops:
        question.index = op.index
        if op.f not in ("allocate", "deallocate"):
            return None
        if isinstance(op.value, Allocate | Deallocate):
            question.begin(op.process, op.value)
        else:
            question.end(op.process, op.value if op.type == "ok" else _EXHAUSTED)
    return question.ask(PoolModel(config.total_memory), _clause_of)


ORDERS: Orders = _search
