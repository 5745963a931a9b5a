"""The cases of the replica manager: named conversations with a broker, and drawn ones."""

from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Scenario, Suite, any_suite
from wheelproof_spec.components.replication.component import (
    DEFINITION,
    ReplicationCall,
    ReplicationObservation,
)
from wheelproof_spec.components.replication.oracle.ledger import ReplicationLedger
from wheelproof_spec.engines.drive.case_table import read_cases


def replication_scenarios() -> tuple[Scenario[ReplicationCall], ...]:
    """Return all named cases of the replica manager."""
    return read_cases(__file__, DEFINITION)


def _fuzz(
    port: SendingPort[ReplicationCall, ReplicationObservation],
    profile: str,
    tally: Tally,
    plan: FuzzPlan,
) -> FuzzReport:
    from wheelproof_spec.components.replication.drawn import ReplicationCases
    from wheelproof_spec.engines.drive.drawn_cases import run_drawn_cases

    cases = ReplicationCases(tally, ReplicationLedger(profile, tally))
    judge = ReplicationLedger(profile, tally)
    return run_drawn_cases("replication, driven", cases, port, judge, plan)


REPLICATION = Suite(
    definition=DEFINITION,
    judge=ReplicationLedger,
    scenarios=replication_scenarios,
    fuzz=_fuzz,
)
SUITE = any_suite(REPLICATION)
