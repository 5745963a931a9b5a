"""Whether vectors still say what the contracts say: the answers are worked out once more."""

from wheelproof_spec.base.contract import HASHED_WHEEL, KAFKA, NEVER_EARLY
from wheelproof_spec.base.history.lines import Vector
from wheelproof_spec.components.timer.calls import (
    Add,
    Advance,
    Cancel,
    Size,
    TimerCall,
    TimerConfig,
)
from wheelproof_spec.components.timer.events import AddStep, AdvanceStep, CancelStep, TimerSettings
from wheelproof_spec.components.timer.vectors.answers import timer_steps

CONTRACTS = (KAFKA, NEVER_EARLY, HASHED_WHEEL)


def disagreement(vector: Vector[object, object]) -> str | None:
    """Return why a vector of the timer is not what its contracts say, if that is so."""
    settings = vector.config
    if not isinstance(settings, TimerSettings):
        return f"the component {vector.component!r} has no contracts here"
    contracts = {contract.name: contract for contract in CONTRACTS}
    config = TimerConfig(
        tick_ms=settings.tick_ms,
        wheel_size=_integer(settings.wheel_size, TimerConfig().wheel_size),
        start_ms=_integer(settings.start_ms, 0),
    )
    for name in vector.profiles:
        if name not in contracts:
            return f"there is no profile {name!r}"
        steps = timer_steps(contracts[name], config, [_call(step) for step in vector.steps])
        if steps != vector.steps:
            return f"the profile {name!r} says something else"
    return None


def _call(step: object) -> TimerCall:
    match step:
        case AddStep(task=task, delay_ms=delay_ms):
            return Add(task=task, delay_ms=delay_ms)
        case CancelStep(task=task):
            return Cancel(task=task)
        case AdvanceStep(to_ms=to_ms):
            return Advance(to_ms=to_ms)
        case _:
            return Size()


def _integer(value: object, default: int) -> int:
    return value if isinstance(value, int) else default
