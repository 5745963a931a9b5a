"""The suite of `wheelproof conform`: named cases, random cases, and their judge.

The named cases, in `cases.toml`, are from Kafka's own tests (standard 7) and from the rules (2).
"""

from collections.abc import Sequence
from functools import partial

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import BurstCases, CaseSpace, Suite, any_suite
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    CancelForKey,
    PurgatoryCall,
    PurgatoryCapability,
    PurgatoryObservation,
)
from wheelproof_spec.components.purgatory.oracle import PurgatoryOracle
from wheelproof_spec.drive.case_table import read_cases


def _asks_for(calls: Sequence[PurgatoryCall]) -> frozenset[str]:
    cancels = any(isinstance(call, CancelForKey) for call in calls)
    return frozenset({PurgatoryCapability.CANCEL_FOR_KEY} if cancels else ())


def _drawn(profile: str, tally: Tally) -> tuple[CaseSpace[PurgatoryCall], PurgatoryOracle]:
    from wheelproof_spec.components.purgatory.work import driven_work

    return driven_work(tally), PurgatoryOracle(profile, tally)


def _bursts(profile: str, tally: Tally) -> BurstCases[PurgatoryCall, PurgatoryObservation]:
    from wheelproof_spec.components.purgatory.bursts import bursts

    return bursts(profile, tally)


PURGATORY = Suite(
    definition=DEFINITION,
    judge=PurgatoryOracle,
    scenarios=partial(read_cases, __file__, DEFINITION),
    drawn=_drawn,
    asks_for=_asks_for,
    bursts=_bursts,
)
SUITE = any_suite(PURGATORY)
