"""The cases of the timer: from Kafka's own tests, from known defects of timers, and random ones.

The sources of the named cases are standard 7 and known defects of such timers: an overflow task
that runs early, a bucket at the cursor that is a full turn late, a clock that stands still.
"""

from functools import partial

from wheelproof_spec.base.contract import CONTRACTS
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import CaseSpace, Suite, any_suite
from wheelproof_spec.components.timer.component import DEFINITION, TimerCall, TimerLimit
from wheelproof_spec.components.timer.model import TimerOracle
from wheelproof_spec.drive.case_table import read_cases

_LEVELS_OF_SHORT_JUMPS = 2


def _drawn(profile: str, tally: Tally) -> tuple[CaseSpace[TimerCall], TimerOracle]:
    from wheelproof_spec.components.timer.drawn import TimerCases, TimerDomain

    domain = TimerDomain(
        min_wheel_size=2 if tally.skips(TimerLimit.ONE_BUCKET) else 1,
        negative_delays=not tally.skips(TimerLimit.NEGATIVE_DELAY),
        max_level=_LEVELS_OF_SHORT_JUMPS
        if tally.skips(TimerLimit.LONG_JUMP)
        else TimerDomain().max_level,
    )
    cases = TimerCases(domain, CONTRACTS[profile], tally.bounds)
    return cases, TimerOracle(profile, tally)


TIMER = Suite(
    definition=DEFINITION,
    judge=TimerOracle,
    scenarios=partial(read_cases, __file__, DEFINITION),
    drawn=_drawn,
)
SUITE = any_suite(TIMER)
