"""The cases of the timer: what Kafka's own tests ask, where others have gone wrong, and drawn ones.

The sources of the named cases are semantics.md 5 and the defects that such timers have had: an
overflow that runs early, a bucket at the cursor that is a whole turn late, a clock that stands
still.
"""

from wheelproof_spec.base.contract import CONTRACTS
from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Scenario, Suite, any_suite
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    TimerCall,
    TimerLimit,
    TimerObservation,
)
from wheelproof_spec.components.timer.oracle import TimerOracle
from wheelproof_spec.engines.drive.case_table import read_cases

_LEVELS_OF_SHORT_JUMPS = 2


def timer_scenarios() -> tuple[Scenario[TimerCall], ...]:
    """Return all named cases of the timer."""
    return read_cases(__file__, DEFINITION)


def _fuzz(
    port: SendingPort[TimerCall, TimerObservation], profile: str, tally: Tally, plan: FuzzPlan
) -> FuzzReport:
    from wheelproof_spec.components.timer.drawn import TimerCases, TimerDomain
    from wheelproof_spec.engines.drive.drawn_cases import run_drawn_cases

    domain = TimerDomain(
        min_wheel_size=2 if tally.skips(TimerLimit.ONE_BUCKET) else 1,
        negative_delays=not tally.skips(TimerLimit.NEGATIVE_DELAY),
        max_level=_LEVELS_OF_SHORT_JUMPS
        if tally.skips(TimerLimit.LONG_JUMP)
        else TimerDomain().max_level,
    )
    cases = TimerCases(domain, CONTRACTS[profile], tally.bounds)
    return run_drawn_cases("timer, driven", cases, port, TimerOracle(profile, tally), plan)


TIMER = Suite(
    definition=DEFINITION,
    judge=TimerOracle,
    scenarios=timer_scenarios,
    fuzz=_fuzz,
)
SUITE = any_suite(TIMER)
