"""The purgatory as a component to be judged."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from wheelproof_spec.base.known_limits import KnownLimit, skips
from wheelproof_spec.base.port import Port
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.base.suite import Account, FuzzPlan, Scenario, Suite
from wheelproof_spec.components.purgatory.calls import (
    PURGATORY,
    Advance,
    PurgatoryCall,
    PurgatoryObservation,
    parse_purgatory_answer,
)
from wheelproof_spec.components.purgatory.contract import (
    KAFKA_PURGATORY,
    STRICT_PURGATORY,
    Gauges,
    PurgatoryClause,
)
from wheelproof_spec.components.purgatory.judge import PurgatoryJudge
from wheelproof_spec.components.purgatory.scenarios import purgatory_scenarios
from wheelproof_spec.engines.drive.driver.messages import VIRTUAL_TIME

if TYPE_CHECKING:
    from wheelproof_spec.base.fuzz_report import FuzzReport

_CONTRACTS = {contract.name: contract for contract in (KAFKA_PURGATORY, STRICT_PURGATORY)}
_GAUGES = {
    PurgatoryClause.WATCHED_COUNTS: "watched",
    PurgatoryClause.DELAYED_COUNTS: "delayed",
    PurgatoryClause.NO_EMPTY_KEY: "keys",
}


class PurgatorySuite(Suite[PurgatoryCall, PurgatoryObservation]):
    """Judges purgatories by the oracle (semantics.md 2.1 - 2.10)."""

    component: ClassVar[str] = PURGATORY
    capabilities: ClassVar[tuple[str, ...]] = (VIRTUAL_TIME,)
    profiles: ClassVar[tuple[str, ...]] = tuple(_CONTRACTS)
    clauses: ClassVar[tuple[str, ...]] = tuple(PurgatoryClause)
    limits: ClassVar[tuple[str, ...]] = ()
    skippable: ClassVar[tuple[str, ...]] = tuple(_GAUGES)

    def parse_answer(self, fields: JsonObject, call: PurgatoryCall) -> PurgatoryObservation:
        """Return what an answer shows; see `Suite.parse_answer`."""
        return parse_purgatory_answer(fields, call)

    def judge(self, profile: str, known_limits: Sequence[KnownLimit]) -> PurgatoryJudge:
        """Return a judge; see `Suite.judge`."""
        del known_limits
        return PurgatoryJudge(_CONTRACTS[profile])

    def account(
        self,
        call: PurgatoryCall,
        seen: PurgatoryObservation,
        known_limits: Sequence[KnownLimit],
    ) -> Account[PurgatoryObservation]:
        """Count each callback, answer and gauge that was seen; see `Suite.account`."""
        judged: Counter[str] = Counter({PurgatoryClause.ACCEPTS_ITS_DOMAIN: 1})
        completed = len(seen.callbacks.completed)
        if completed:
            judged[PurgatoryClause.COMPLETES_AT_MOST_ONCE] = completed
            judged[PurgatoryClause.COMPLETES_FOR_A_REASON] = completed
        if isinstance(call, Advance):
            judged[PurgatoryClause.EXPIRES_IN_TIME] = 1
        if seen.done is not None:
            judged[PurgatoryClause.ANSWERS_TRULY] = 1
        if seen.count is not None:
            judged[PurgatoryClause.COUNTS_COMPLETED] = 1
            judged[PurgatoryClause.TRIGGER_COMPLETES] = 1
            judged[PurgatoryClause.TRIES_IN_WATCH_ORDER] = 1
        if seen.cancelled is not None:
            judged[PurgatoryClause.CANCELS_WHO_WAITS] = 1
        observed = _gauges(seen.gauges)
        judged.update(clause for clause in _GAUGES if observed[clause] is not None)
        skipped = {
            clause: judged.pop(clause) for clause in list(judged) if skips(known_limits, clause)
        }
        hidden: dict[str, None] = {_GAUGES[clause]: None for clause in _GAUGES if clause in skipped}
        return Account(
            seen=replace(seen, gauges=replace(seen.gauges, **hidden)),
            checked=judged,
            skipped=skipped,
        )

    def scenarios(self) -> Sequence[Scenario[PurgatoryCall]]:
        """Return the named cases; see `Suite.scenarios`."""
        return purgatory_scenarios()

    def fuzz(
        self,
        port: Port[PurgatoryCall, PurgatoryObservation],
        profile: str,
        known_limits: Sequence[KnownLimit],
        plan: FuzzPlan,
    ) -> "FuzzReport":
        """Drive the sequential machine; see `Suite.fuzz`."""
        del known_limits
        from wheelproof_spec.components.purgatory.fuzz.sequential import run_purgatory_fuzz

        return run_purgatory_fuzz(
            port,
            contract=_CONTRACTS[profile],
            cases=plan.cases,
            seed=plan.seed,
            repeat=plan.repeat,
        )


def _gauges(seen: Gauges) -> dict[PurgatoryClause, int | None]:
    return {
        PurgatoryClause.WATCHED_COUNTS: seen.watched,
        PurgatoryClause.DELAYED_COUNTS: seen.delayed,
        PurgatoryClause.NO_EMPTY_KEY: seen.keys,
    }
