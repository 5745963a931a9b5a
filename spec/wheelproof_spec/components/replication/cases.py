"""The suite of `wheelproof conform`: named cases, random cases, and their judge."""

from functools import partial

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import CaseSpace, Suite, any_suite
from wheelproof_spec.components.replication.component import DEFINITION, ReplicationCall
from wheelproof_spec.components.replication.oracle import ReplicationLedger
from wheelproof_spec.drive.case_table import read_cases


def _drawn(profile: str, tally: Tally) -> tuple[CaseSpace[ReplicationCall], ReplicationLedger]:
    from wheelproof_spec.components.replication.driven import driven_work

    cases = driven_work(tally, ReplicationLedger(profile, tally))
    return cases, ReplicationLedger(profile, tally)


REPLICATION = Suite(
    definition=DEFINITION,
    judge=ReplicationLedger,
    scenarios=partial(read_cases, __file__, DEFINITION),
    drawn=_drawn,
)
SUITE = any_suite(REPLICATION)
