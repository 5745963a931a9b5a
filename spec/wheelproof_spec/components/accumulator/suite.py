"""The record accumulator as a component to be judged."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from wheelproof_spec.base.known_limits import KnownLimit, skips
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.base.suite import Account, FuzzPlan, Scenario, Suite
from wheelproof_spec.components.accumulator.calls import (
    ACCUMULATOR,
    AccumulatorCall,
    AccumulatorObservation,
    AccumulatorPort,
    Drain,
    Expire,
    Ready,
    Reset,
    Split,
)
from wheelproof_spec.components.accumulator.clauses import AccumulatorLimit
from wheelproof_spec.components.accumulator.judge import AccumulatorJudge
from wheelproof_spec.components.accumulator.messages import parse_accumulator_answer
from wheelproof_spec.components.accumulator.oracle import (
    KAFKA_ACCUMULATOR,
    WHEELPROOF_ACCUMULATOR,
    AccumulatorClause,
    AppendOutcome,
)
from wheelproof_spec.components.accumulator.scenarios import accumulator_scenarios
from wheelproof_spec.engines.drive.driver.messages import VIRTUAL_TIME

if TYPE_CHECKING:
    from wheelproof_spec.base.fuzz_report import FuzzReport

_CONTRACTS = {contract.name: contract for contract in (WHEELPROOF_ACCUMULATOR, KAFKA_ACCUMULATOR)}
_GAUGES = (
    AccumulatorClause.NOTHING_IS_LEFT,
    AccumulatorClause.MEMORY_IS_CONSERVED,
    AccumulatorClause.NOT_OVERWRITTEN,
)


class AccumulatorSuite(Suite[AccumulatorCall, AccumulatorObservation]):
    """Judges accumulators by the oracle's ledger of batches (semantics.md 4)."""

    component: ClassVar[str] = ACCUMULATOR
    capabilities: ClassVar[tuple[str, ...]] = (VIRTUAL_TIME,)
    profiles: ClassVar[tuple[str, ...]] = tuple(_CONTRACTS)
    clauses: ClassVar[tuple[str, ...]] = tuple(AccumulatorClause)
    limits: ClassVar[tuple[str, ...]] = tuple(AccumulatorLimit)
    # Without the other clauses it would not be an accumulator any more.
    skippable: ClassVar[tuple[str, ...]] = (*_GAUGES, *AccumulatorLimit)

    def parse_answer(self, fields: JsonObject, call: AccumulatorCall) -> AccumulatorObservation:
        """Return what an answer shows; see `Suite.parse_answer`."""
        return parse_accumulator_answer(fields, call)

    def judge(self, profile: str, known_limits: Sequence[KnownLimit]) -> AccumulatorJudge:
        """Return a judge; see `Suite.judge`."""
        del known_limits
        return AccumulatorJudge(_CONTRACTS[profile])

    def account(
        self,
        call: AccumulatorCall,
        seen: AccumulatorObservation,
        known_limits: Sequence[KnownLimit],
    ) -> Account[AccumulatorObservation]:
        """Count each callback, append, flush and gauge that was seen; see `Suite.account`."""
        judged = _judged_by(call, seen)
        skipped = {
            clause: judged.pop(clause) for clause in list(judged) if skips(known_limits, clause)
        }
        left = AccumulatorClause.NOTHING_IS_LEFT not in skipped
        memory = AccumulatorClause.MEMORY_IS_CONSERVED not in skipped
        requests = AccumulatorClause.NOT_OVERWRITTEN not in skipped
        return Account(
            seen=replace(
                seen,
                undrained=seen.undrained if left else None,
                incomplete=seen.incomplete if left else None,
                in_flight_ended=seen.in_flight_ended if left else None,
                available=seen.available if memory else None,
                overwritten=seen.overwritten if requests else None,
            ),
            checked=judged,
            skipped=skipped,
        )

    def scenarios(self) -> Sequence[Scenario[AccumulatorCall]]:
        """Return the named cases; see `Suite.scenarios`."""
        return accumulator_scenarios()

    def fuzz(
        self,
        port: AccumulatorPort,
        profile: str,
        known_limits: Sequence[KnownLimit],
        plan: FuzzPlan,
    ) -> "FuzzReport":
        """Drive the sequential machine; see `Suite.fuzz`."""
        from wheelproof_spec.components.accumulator.fuzz.domain import AccumulatorDomain
        from wheelproof_spec.components.accumulator.fuzz.sequential import run_accumulator_fuzz

        return run_accumulator_fuzz(
            port,
            contract=_CONTRACTS[profile],
            cases=plan.cases,
            seed=plan.seed,
            domain=AccumulatorDomain(
                faults=not skips(known_limits, AccumulatorLimit.MEMORY_FAULTS),
                splits=not skips(known_limits, AccumulatorLimit.SPLIT),
                growing_backoff=not skips(known_limits, AccumulatorLimit.GROWING_BACKOFF),
            ),
            repeat=plan.repeat,
        )


def _judged_by(call: AccumulatorCall, seen: AccumulatorObservation) -> Counter[str]:
    left = (seen.undrained, seen.incomplete, seen.in_flight_ended)
    accepted = sum(one.outcome is AppendOutcome.ACCEPTED for one in seen.appended)
    judged: Counter[str] = Counter(
        {
            AccumulatorClause.KEEPS_TO_ITS_DOMAIN: 1,
            AccumulatorClause.COMPLETES_ONCE: len(seen.told),
            AccumulatorClause.RIGHT_OUTCOME: len(seen.told),
            AccumulatorClause.IN_ORDER: len(seen.told),
            AccumulatorClause.APPEND_ENDS_FOR_A_REASON: len(seen.appended),
            AccumulatorClause.APPEND_FINDS_ROOM: accepted,
            AccumulatorClause.FLUSH_WAITS: len(seen.flushed),
            AccumulatorClause.READY_TELLS_THE_TRUTH: isinstance(call, Ready),
            AccumulatorClause.DRAINS_THE_HEADS: isinstance(call, Drain),
            AccumulatorClause.DRAIN_IS_FAIR: isinstance(call, Drain),
            AccumulatorClause.SPLITS_BY_SIZE: isinstance(call, Split),
            AccumulatorClause.EXPIRES_IN_TIME: isinstance(call, Expire),
            AccumulatorClause.NO_APPEND_WAITS_IN_VAIN: not isinstance(call, Reset),
            AccumulatorClause.FLUSH_ENDS: not isinstance(call, Reset),
            AccumulatorClause.NOTHING_IS_LEFT: any(gauge is not None for gauge in left),
            AccumulatorClause.MEMORY_IS_CONSERVED: seen.available is not None,
            AccumulatorClause.NOT_OVERWRITTEN: seen.overwritten is not None,
        }
    )
    return +judged
