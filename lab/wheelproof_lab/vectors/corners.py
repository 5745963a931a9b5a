"""Seeded cases at the corners of the timer's domain: boundaries of ticks, buckets and levels."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wheelproof_spec.base.calls import Advance
from wheelproof_spec.components.timer.component import Add, Cancel, Size, TimerCall, TimerConfig

_CONFIGS = tuple(
    TimerConfig(tick_ms=tick_ms, wheel_size=wheel_size, start_ms=start_ms)
    for tick_ms, wheel_size, start_ms in (
        (1, 2, 0),
        (1, 20, 0),
        (1, 20, 19),
        (1, 3, 7),
        (2, 2, 1),
        (3, 4, 0),
        (10, 4, 25),
        (1, 512, 10**12),
        (1_000, 64, 999),
    )
)
_TASKS = "abcd"
_LEVELS = 3
_STEPS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Corner:
    """A case: the configuration of its timer, and its calls."""

    config: TimerConfig
    calls: tuple[TimerCall, ...]


def timer_corners(seed: int) -> Iterator[Corner]:
    """Yield cases without end; the same seed gives the same cases."""
    chance = random.Random(seed)
    while True:
        for config in _CONFIGS:
            yield Corner(config=config, calls=tuple(_calls(config, chance)))


def _calls(config: TimerConfig, chance: random.Random) -> Iterator[TimerCall]:
    now_ms = config.start_ms
    deadlines = [now_ms]
    for _ in range(_STEPS):
        kind = chance.random()
        if kind < 0.45:
            delay_ms = _span(config, chance) + chance.choice((-1, 0, 0, 1))
            deadlines.append(now_ms + delay_ms)
            yield Add(task=chance.choice(_TASKS), delay_ms=delay_ms)
        elif kind < 0.6:
            yield Cancel(task=chance.choice(_TASKS))
        elif kind < 0.95:
            now_ms = max(now_ms, _moment(config, deadlines, chance))
            yield Advance(to_ms=now_ms)
        else:
            yield Size()
    now_ms = max(now_ms, *deadlines) + config.tick_ms
    yield Advance(to_ms=now_ms)
    yield Size()


def _span(config: TimerConfig, chance: random.Random) -> int:
    """Return a few ticks of a level, plus or minus up to one tick of the lowest level."""
    level_tick_ms: int = config.tick_ms * config.wheel_size ** chance.randrange(_LEVELS)
    return level_tick_ms * chance.randrange(4) + config.tick_ms * chance.choice((-1, 0, 0, 1))


def _moment(config: TimerConfig, deadlines: Sequence[int], chance: random.Random) -> int:
    """Return a moment just before, at, or just after a deadline."""
    return chance.choice(deadlines) + chance.choice((-config.tick_ms, -1, 0, 0, 1, config.tick_ms))
