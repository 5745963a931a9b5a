"""What a timer is driven through: the bounds of configurations, delays, jumps of the clock."""

from dataclasses import dataclass

from wheelproof_spec.components.timer.calls import TimerConfig

TASKS = tuple("abcdefgh")
"""The names of the tasks of a case; few, so that they are cancelled and added again often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerDomain:
    """The bounds within which cases are drawn; times in milliseconds, both ends included.

    A duration has up to `max_buckets` intervals of a level, and from `least` (see `least_delay`)
    to `most` ticks and milliseconds beside.
    """

    min_wheel_size: int = 1
    max_wheel_size: int = 64
    min_tick_ms: int = 1
    max_tick_ms: int = 1_000
    max_start_ms: int = 10**12
    max_level: int = 5
    max_buckets: int = 3
    most: int = 3
    negative_delays: bool = True

    @property
    def least_delay(self) -> int:
        """The fewest ticks, and milliseconds, of a delay."""
        return -self.most if self.negative_delays else 0


@dataclass(frozen=True, slots=True)
class Span:
    """A duration in the wheel's own measure: some intervals of a level, some ticks, and a rest.

    Drawn this way a duration lands near the boundaries of buckets and levels whatever the
    configuration, and shrinks towards zero.
    """

    level: int
    buckets: int
    ticks: int
    rest_ms: int

    def millis(self, config: TimerConfig) -> int:
        """Return the span in milliseconds under `config`."""
        level_tick_ms: int = config.tick_ms * max(config.wheel_size, 2) ** self.level
        return level_tick_ms * self.buckets + config.tick_ms * self.ticks + self.rest_ms
