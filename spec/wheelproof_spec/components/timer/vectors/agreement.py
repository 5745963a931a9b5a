"""Whether vectors still say what the contracts say: the answers are worked out once more."""

from typing import cast

from wheelproof_spec.base.codec.vocabulary import Absent
from wheelproof_spec.base.contract import CONTRACTS
from wheelproof_spec.base.history.lines import Vector
from wheelproof_spec.components.timer.component import Size, TimerConfig
from wheelproof_spec.components.timer.vectors.answers import TimerStep, timer_steps


def disagreement(vector: Vector[object, object]) -> str | None:
    """Return why a vector of the timer is not what its contracts say, if that is so."""
    config = vector.config
    if not isinstance(config, TimerConfig):
        return f"the component {vector.component!r} has no contracts here"
    for name in vector.profiles:
        if name not in CONTRACTS:
            return f"there is no profile {name!r}"
        steps = cast(tuple[TimerStep, ...], vector.steps)
        calls = [Size() if isinstance(step.args, Absent) else step.args for step in steps]
        if timer_steps(CONTRACTS[name], config, calls) != steps:
            return f"the profile {name!r} says something else"
    return None
