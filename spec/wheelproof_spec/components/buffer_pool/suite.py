"""The buffer pool as a component to be judged."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from wheelproof_spec.base.known_limits import KnownLimit, skips
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.base.suite import Account, FuzzPlan, Scenario, Suite
from wheelproof_spec.components.buffer_pool.calls import (
    BUFFER_POOL,
    Advance,
    Close,
    Interrupt,
    PoolCall,
    PoolObservation,
    PoolPort,
    Reset,
    parse_pool_answer,
)
from wheelproof_spec.components.buffer_pool.clauses import PoolLimit
from wheelproof_spec.components.buffer_pool.judge import PoolJudge
from wheelproof_spec.components.buffer_pool.oracle import (
    KAFKA_POOL,
    LONGEST_WAITING_FIRST,
    PoolClause,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.scenarios import pool_scenarios
from wheelproof_spec.engines.drive.driver.messages import VIRTUAL_TIME

if TYPE_CHECKING:
    from wheelproof_spec.base.fuzz_report import FuzzReport

_CONTRACTS = {contract.name: contract for contract in (LONGEST_WAITING_FIRST, KAFKA_POOL)}
_GAUGES = (PoolClause.MEMORY_IS_CONSERVED, PoolClause.WAITERS_ARE_LIVE)


class BufferPoolSuite(Suite[PoolCall, PoolObservation]):
    """Judges buffer pools by the oracle's ledger (semantics.md 3)."""

    component: ClassVar[str] = BUFFER_POOL
    capabilities: ClassVar[tuple[str, ...]] = (VIRTUAL_TIME,)
    profiles: ClassVar[tuple[str, ...]] = tuple(_CONTRACTS)
    clauses: ClassVar[tuple[str, ...]] = tuple(PoolClause)
    limits: ClassVar[tuple[str, ...]] = tuple(PoolLimit)
    # Without the other clauses it would not be a pool any more.
    skippable: ClassVar[tuple[str, ...]] = (*_GAUGES, *PoolLimit)

    def parse_answer(self, fields: JsonObject, call: PoolCall) -> PoolObservation:
        """Return what an answer shows; see `Suite.parse_answer`."""
        return parse_pool_answer(fields, call)

    def judge(self, profile: str, known_limits: Sequence[KnownLimit]) -> PoolJudge:
        """Return a judge; see `Suite.judge`."""
        del known_limits
        return PoolJudge(_CONTRACTS[profile])

    def account(
        self, call: PoolCall, seen: PoolObservation, known_limits: Sequence[KnownLimit]
    ) -> Account[PoolObservation]:
        """Count an end for each allocation that ended; see `Suite.account`."""
        served = sum(outcome is PoolOutcome.BUFFER for outcome in seen.ended.values())
        judged: Counter[str] = Counter(
            {
                PoolClause.KEEPS_TO_ITS_DOMAIN: 1,
                PoolClause.ENDS_ONCE: len(seen.ended),
                PoolClause.ENDS_FOR_A_REASON: len(seen.ended),
                PoolClause.LONGEST_WAITING_FIRST: served,
                PoolClause.NO_MORE_THAN_TOTAL: served,
            }
        )
        if not isinstance(call, Reset):
            judged[PoolClause.NO_LOST_WAKE_UP] = 1
            judged[PoolClause.WAIT_IS_BOUNDED] = isinstance(call, Advance)
            judged[PoolClause.CLOSE_RELEASES] = isinstance(call, Close)
            judged[PoolClause.INTERRUPTION_ENDS_THE_WAIT] = isinstance(call, Interrupt)
        if seen.available is not None:
            judged[PoolClause.MEMORY_IS_CONSERVED] = 1
        if seen.queued is not None:
            judged[PoolClause.WAITERS_ARE_LIVE] = 1
        judged = +judged
        skipped = {
            clause: judged.pop(clause) for clause in list(judged) if skips(known_limits, clause)
        }
        told = PoolClause.MEMORY_IS_CONSERVED not in skipped
        return Account(
            seen=PoolObservation(
                ended=seen.ended,
                available=seen.available if told else None,
                unallocated=seen.unallocated if told else None,
                queued=None if PoolClause.WAITERS_ARE_LIVE in skipped else seen.queued,
            ),
            checked=judged,
            skipped=skipped,
        )

    def scenarios(self) -> Sequence[Scenario[PoolCall]]:
        """Return the named cases; see `Suite.scenarios`."""
        return pool_scenarios()

    def fuzz(
        self,
        port: PoolPort,
        profile: str,
        known_limits: Sequence[KnownLimit],
        plan: FuzzPlan,
    ) -> "FuzzReport":
        """Drive the sequential machine; see `Suite.fuzz`."""
        from wheelproof_spec.components.buffer_pool.fuzz.domain import PoolDomain
        from wheelproof_spec.components.buffer_pool.fuzz.sequential import run_pool_fuzz

        return run_pool_fuzz(
            port,
            contract=_CONTRACTS[profile],
            cases=plan.cases,
            seed=plan.seed,
            limits=PoolDomain(
                wide=not skips(known_limits, PoolLimit.TWO_GIB),
                outside=not skips(known_limits, PoolLimit.SIZE_OUTSIDE),
                twice=not skips(known_limits, PoolLimit.GIVEN_BACK_TWICE),
            ),
            repeat=plan.repeat,
        )
