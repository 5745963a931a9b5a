"""The suite of `wheelproof conform`: named cases, random cases, and their judge.

The sources of the named cases are standard 7 and known defects of such timers: an overflow task
that runs early, a bucket at the cursor that is a full turn late, a clock that stands still.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.bounds import Bound, Bounds
from wheelproof_spec.base.contract import contract_of
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import BurstCases, CaseSpace, Suite, any_suite
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    TimerCall,
    TimerLimit,
    TimerObservation,
)
from wheelproof_spec.components.timer.model import TimerOracle
from wheelproof_spec.drive.case_table import read_cases

_LEVELS_OF_SHORT_JUMPS = 2


def _drawn(profile: str, tally: Tally) -> tuple[CaseSpace[TimerCall], TimerOracle]:
    from wheelproof_spec.components.timer.work import TimerWork, driven_work

    work = TimerWork(
        min_wheel_size=2 if tally.skips(TimerLimit.ONE_BUCKET) else 1,
        negative_delays=not tally.skips(TimerLimit.NEGATIVE_DELAY),
        max_level=_LEVELS_OF_SHORT_JUMPS
        if tally.skips(TimerLimit.LONG_JUMP)
        else TimerWork().max_level,
        bounds=tally.bounds,
    )
    return driven_work(work, contract_of(profile)), TimerOracle(profile, tally)


def scaled(calls: Sequence[TimerCall], bounds: Bounds) -> Sequence[TimerCall]:
    """Return a case for a timer with a fixed tick: all its times, multiplied by one number.

    If the tick of the timer is no multiple of the tick of the case, times stay as they are. A wheel
    whose size has to be a power of two is smaller.
    """
    tick_ms = next(call.config.tick_ms for call in calls if isinstance(call, Reset))
    by, rest = divmod(bounds.get("tick_ms", Bound()).nearest(tick_ms), tick_ms)
    sizes = bounds.get("wheel_size", Bound())
    return [_scaled(call, 1 if rest else by, sizes) for call in calls]


def _scaled(call: TimerCall, by: int, sizes: Bound) -> TimerCall:
    match call:
        case Reset(config=config):
            size = config.wheel_size
            scaled = replace(
                config,
                tick_ms=config.tick_ms * by,
                start_ms=config.start_ms * by,
                wheel_size=sizes.nearest(size) if sizes.power_of_two else size,
            )
            return Reset(config=scaled)
        case Add():
            return replace(call, delay_ms=call.delay_ms * by)
        case Advance():
            return replace(call, to_ms=call.to_ms * by)
        case _:
            return call


def _bursts(profile: str, tally: Tally) -> BurstCases[TimerCall, TimerObservation]:
    from wheelproof_spec.components.timer.bursts import bursts

    return bursts(profile, tally)


TIMER = Suite(
    definition=DEFINITION,
    judge=TimerOracle,
    scenarios=partial(read_cases, __file__, DEFINITION),
    drawn=_drawn,
    scaled=scaled,
    bursts=_bursts,
)
SUITE = any_suite(TIMER)
