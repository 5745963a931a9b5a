"""What is drawn for a timer: configurations, delays, jumps of the clock."""

from dataclasses import dataclass

from hypothesis import strategies as st

from wheelproof_spec.conformance.timer_calls import TimerConfig

TASKS = tuple("abcdefgh")
"""The names of the tasks of a case; few, so that they are cancelled and added again often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerDomain:
    """The bounds within which cases are drawn; times in milliseconds, both ends included."""

    min_wheel_size: int = 1
    max_wheel_size: int = 64
    min_tick_ms: int = 1
    max_tick_ms: int = 1_000
    max_start_ms: int = 10**12
    max_level: int = 5
    negative_delays: bool = True


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


def configs(domain: TimerDomain) -> st.SearchStrategy[TimerConfig]:
    """Draw a configuration; small wheels and ticks are as likely as all others together."""
    smallest = domain.min_wheel_size
    return st.builds(
        TimerConfig,
        tick_ms=st.integers(domain.min_tick_ms, domain.min_tick_ms + 3)
        | st.integers(domain.min_tick_ms, domain.max_tick_ms),
        wheel_size=st.integers(smallest, smallest + 3)
        | st.integers(smallest, domain.max_wheel_size),
        start_ms=st.integers(0, 50) | st.integers(0, domain.max_start_ms),
    )


def delays(domain: TimerDomain) -> st.SearchStrategy[Span]:
    """Draw a delay, from before now to many levels up."""
    least = -3 if domain.negative_delays else 0
    return st.builds(
        Span,
        level=st.integers(0, domain.max_level),
        buckets=st.integers(0, 3),
        ticks=st.integers(least, 3),
        rest_ms=st.integers(least, 3),
    )


def jumps(domain: TimerDomain) -> st.SearchStrategy[Span]:
    """Draw how far the clock moves, from not at all to over several levels."""
    return st.builds(
        Span,
        level=st.integers(0, domain.max_level),
        buckets=st.integers(0, 3),
        ticks=st.integers(0, 3),
        rest_ms=st.integers(0, 3),
    )
