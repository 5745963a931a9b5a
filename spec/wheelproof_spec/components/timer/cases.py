"""The cases of the timer: what Kafka's own tests ask, where others have gone wrong, and drawn ones.

The sources of the named cases are semantics.md 5 and the defects that such timers have had: an
overflow that runs early, a bucket at the cursor that is a whole turn late, a clock that stands
still.
"""

from collections.abc import Iterable

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.contract import CONTRACTS
from wheelproof_spec.base.fuzz_report import FuzzReport
from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.suite import FuzzPlan, Scenario, Suite, any_suite
from wheelproof_spec.base.tally import Tally
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    Cancel,
    Size,
    TimerCall,
    TimerConfig,
    TimerLimit,
    TimerObservation,
)
from wheelproof_spec.components.timer.oracle import TimerOracle

_LONGEST_DELAY_MS = 2**62 - 1
_LEVELS_OF_SHORT_JUMPS = 2


def timer_scenarios() -> tuple[Scenario[TimerCall], ...]:
    """Return all named cases of the timer."""
    return (*_scenarios_of_kafka(), *_scenarios_of_others())


def _scenarios_of_kafka() -> Iterable[Scenario[TimerCall]]:
    yield Scenario(
        name="delays of -5 to -1 ms run at once",
        limit=TimerLimit.NEGATIVE_DELAY,
        calls=(
            _reset(wheel_size=3, start_ms=1_000),
            *(Add(task=f"t{delay_ms}", delay_ms=delay_ms) for delay_ms in range(-5, 0)),
            Advance(to_ms=1_000),
            Size(),
        ),
    )
    yield Scenario(
        name="delays of 0-4, 10-99 (twice) and 100-499 ms run once",
        calls=(
            _reset(wheel_size=3),
            *(Add(task=f"t{delay_ms}", delay_ms=delay_ms) for delay_ms in _various_delays()),
            *(Add(task=f"twin{delay_ms}", delay_ms=delay_ms) for delay_ms in range(10, 100)),
            *(Advance(to_ms=to_ms) for to_ms in range(501)),
            Size(),
        ),
    )
    yield Scenario(
        name="adding again moves a task and keeps the size",
        calls=(
            _reset(),
            Add(task="a", delay_ms=5),
            Add(task="b", delay_ms=5),
            Size(),
            Add(task="a", delay_ms=5),
            Size(),
            Advance(to_ms=3),
            Add(task="a", delay_ms=50),
            Size(),
            Advance(to_ms=5),
            Advance(to_ms=52),
            Size(),
            Advance(to_ms=53),
            Size(),
        ),
    )
    yield Scenario(
        name="cancelling every task empties the timer",
        calls=(
            _reset(),
            *(Add(task=f"t{number}", delay_ms=number * 37) for number in range(1, 21)),
            Size(),
            *(Cancel(task=f"t{number}") for number in range(1, 21)),
            Size(),
            Advance(to_ms=1_000),
            Size(),
        ),
    )
    yield Scenario(
        name="what is due in 10 s has 5 s left after 5 s",
        calls=(
            _reset(),
            Add(task="a", delay_ms=10_000),
            Advance(to_ms=5_000),
            Size(),
            Advance(to_ms=9_999),
            Advance(to_ms=10_000),
            Size(),
        ),
    )


def _scenarios_of_others() -> Iterable[Scenario[TimerCall]]:
    yield Scenario(
        name="deadlines inside a tick are rounded as declared",
        calls=(
            _reset(tick_ms=10, wheel_size=4),
            *(Add(task=f"t{delay_ms}", delay_ms=delay_ms) for delay_ms in range(11, 40, 3)),
            *(Advance(to_ms=to_ms) for to_ms in range(51)),
            Size(),
        ),
    )
    yield Scenario(
        name="a bucket at the cursor is not a turn late",
        calls=(
            _reset(wheel_size=4),
            *_at_each_boundary(1, 4, 16, 64),
            Size(),
        ),
    )
    yield Scenario(
        name="a delay of 0 on a clock that has moved on without tasks",
        calls=(
            _reset(),
            Advance(to_ms=399),
            Add(task="a", delay_ms=0),
            Advance(to_ms=399),
            Size(),
        ),
    )
    yield Scenario(
        name="one jump over several levels runs all, in order",
        calls=(
            _reset(wheel_size=3),
            *(Add(task=f"t{power}", delay_ms=3**power) for power in reversed(range(8))),
            *(Add(task=f"u{power}", delay_ms=3**power - 1) for power in range(1, 8)),
            Advance(to_ms=3**7 - 1),
            Advance(to_ms=3**9),
            Size(),
        ),
    )
    yield Scenario(
        name="a task can be cancelled, added and run again",
        calls=(
            _reset(wheel_size=4),
            Cancel(task="a"),
            Add(task="a", delay_ms=9),
            Advance(to_ms=8),
            Cancel(task="a"),
            Cancel(task="a"),
            Advance(to_ms=9),
            Add(task="a", delay_ms=9),
            Advance(to_ms=18),
            Cancel(task="a"),
            Add(task="a", delay_ms=9),
            Advance(to_ms=27),
            Size(),
        ),
    )
    yield Scenario(
        name="a wheel of one bucket",
        limit=TimerLimit.ONE_BUCKET,
        calls=(
            _reset(wheel_size=1),
            *(Add(task=f"t{delay_ms}", delay_ms=delay_ms) for delay_ms in (0, 1, 2, 7)),
            *(Advance(to_ms=to_ms) for to_ms in range(9)),
            Size(),
        ),
    )
    for tick_ms, wheel_size in ((1, 2), (1, 20), (1_000, 64)):
        yield Scenario(
            name=f"the longest delay, 2^62 - 1 ms, tick {tick_ms}, {wheel_size} buckets",
            limit=TimerLimit.LONGEST_DELAY,
            calls=(
                _reset(tick_ms=tick_ms, wheel_size=wheel_size),
                Add(task="a", delay_ms=_LONGEST_DELAY_MS),
                Size(),
                Advance(to_ms=2**61),
                Size(),
                Cancel(task="a"),
                Advance(to_ms=_LONGEST_DELAY_MS),
                Size(),
            ),
        )


def _at_each_boundary(*periods_ms: int) -> Iterable[TimerCall]:
    now_ms = 0
    for period_ms in periods_ms:
        for _ in range(3):
            now_ms += period_ms
            yield Add(task="due", delay_ms=period_ms)
            yield Add(task="after", delay_ms=period_ms + 1)
            yield Advance(to_ms=now_ms - 1)
            yield Advance(to_ms=now_ms)


def _various_delays() -> tuple[int, ...]:
    return (*range(5), *range(10, 100), *range(100, 500))


def _reset(tick_ms: int = 1, wheel_size: int = 20, start_ms: int = 0) -> Reset[TimerConfig]:
    return Reset(config=TimerConfig(tick_ms=tick_ms, wheel_size=wheel_size, start_ms=start_ms))


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
    cases = TimerCases(domain, CONTRACTS[profile])
    return run_drawn_cases("timer, driven", cases, port, TimerOracle(profile, tally), plan)


SUITE = any_suite(
    Suite(
        definition=DEFINITION,
        judge=TimerOracle,
        scenarios=timer_scenarios,
        fuzz=_fuzz,
        needs=(),
    )
)
