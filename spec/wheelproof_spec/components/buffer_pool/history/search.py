"""The search for a linearization of a pool's calls, by its sequential specification `LedgerPool`.

An allocation asks and ends at two moments of its call; what it gets may go back from then on. A
history shows neither the order of asking nor when a wait was out of time. So the order of service
is left out, and time is out at any moment: only the ledger, and who else has asked, forbid an end.
"""

from collections.abc import Iterable

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.history.judging import Searched, WholeHistory
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolClause,
    PoolConfig,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.model import LedgerPool, Request
from wheelproof_spec.history.linearizability.calls import UNKNOWN, Call, Unknown
from wheelproof_spec.history.linearizability.interleaved import Interleaved
from wheelproof_spec.history.orders import Question, is_answered

_Operation = Allocate | Deallocate
_Answer = object

_EXHAUSTED = "Exhausted"
_UNNAMED = "?"
"""The prefix of a buffer's name if no recorded answer names the buffer."""


class _RecordedPool(Interleaved[LedgerPool, _Operation, _Answer]):
    def waits(self, operation: _Operation) -> bool:
        return isinstance(operation, Allocate)

    def first_effect(
        self, spec: LedgerPool, operation: _Operation, ticket: int
    ) -> Iterable[LedgerPool]:
        assert isinstance(operation, Allocate)
        spec.ask(str(ticket), Request(operation.size))
        return (spec,)

    def last_effect(
        self, spec: LedgerPool, operation: _Operation, ticket: int, result: _Answer | Unknown
    ) -> Iterable[LedgerPool]:
        del operation
        call = str(ticket)
        if result is UNKNOWN:
            # It has got memory, or none.
            lent = spec.copy()
            spec.leave(call)
            return (spec,) if lent.lend(call, _UNNAMED + call) else (spec, lent)
        if isinstance(result, Allocated):
            is_lent = result.buffer in spec.lent
            return () if is_lent or spec.lend(call, result.buffer) else (spec,)
        if spec.forbids_end(call, PoolOutcome.EXHAUSTED):
            return ()
        spec.leave(call)
        return (spec,)

    def effect(
        self, spec: LedgerPool, operation: _Operation, result: _Answer | Unknown
    ) -> Iterable[LedgerPool]:
        del result
        assert isinstance(operation, Deallocate)
        if spec.give_back(operation.buffer):
            return (spec,)
        # It is unknown which buffer an open call has got.
        return [
            other
            for buffer in spec.lent
            if buffer.startswith(_UNNAMED) and (other := spec.copy()).give_back(buffer)
        ]


def _clause_of(call: Call[_Operation, _Answer]) -> Clause:
    if isinstance(call.operation, Deallocate):
        return PoolClause.TAKES_BACK_ONLY_LOANS
    lends = isinstance(call.result, Allocated)
    return PoolClause.NO_MORE_THAN_TOTAL if lends else PoolClause.ENDS_FOR_A_REASON


def search(history: WholeHistory) -> Searched | None:
    """Search a history; see `RecordedComponent.search`."""
    config = history.header.config
    assert isinstance(config, PoolConfig)
    question: Question[_Operation, _Answer] = Question()
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
    pool = LedgerPool(config, history.profile, Tally(limits=(PoolClause.LONGEST_WAITING_FIRST,)))
    return question.ask(_RecordedPool(pool), _clause_of)
