"""The cases of the purgatory: what Kafka's own tests and the rules ask, and drawn ones.

The sources are semantics.md 5 and 2.
"""

from collections.abc import Sequence

from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Scenario, Suite, any_suite
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    CancelForKey,
    PurgatoryCall,
    PurgatoryCapability,
    PurgatoryObservation,
)
from wheelproof_spec.components.purgatory.oracle import OraclePurgatory
from wheelproof_spec.engines.drive.case_table import read_cases


def purgatory_scenarios() -> tuple[Scenario[PurgatoryCall], ...]:
    """Return all named cases of the purgatory."""
    return read_cases(__file__, DEFINITION)


def _asks_for(calls: Sequence[PurgatoryCall]) -> frozenset[str]:
    cancels = any(isinstance(call, CancelForKey) for call in calls)
    return frozenset({PurgatoryCapability.CANCEL_FOR_KEY} if cancels else ())


def _fuzz(
    port: SendingPort[PurgatoryCall, PurgatoryObservation],
    profile: str,
    tally: Tally,
    plan: FuzzPlan,
) -> FuzzReport:
    from wheelproof_spec.components.purgatory.drawn import PurgatoryCases
    from wheelproof_spec.engines.drive.drawn_cases import run_drawn_cases

    judge = OraclePurgatory(profile, tally)
    return run_drawn_cases("purgatory, driven", PurgatoryCases(tally), port, judge, plan)


PURGATORY = Suite(
    definition=DEFINITION,
    judge=OraclePurgatory,
    scenarios=purgatory_scenarios,
    fuzz=_fuzz,
    asks_for=_asks_for,
)
SUITE = any_suite(PURGATORY)
