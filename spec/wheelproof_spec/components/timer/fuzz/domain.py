"""Hypothesis strategies for a timer: configurations, delays, jumps of the clock."""

from hypothesis import strategies as st

from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.components.timer.drawn import Span, TimerDomain


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
    return _spans(domain, domain.least_delay)


def jumps(domain: TimerDomain) -> st.SearchStrategy[Span]:
    """Draw how far the clock moves, from not at all to over several levels."""
    return _spans(domain, 0)


def _spans(domain: TimerDomain, least: int) -> st.SearchStrategy[Span]:
    return st.builds(
        Span,
        level=st.integers(0, domain.max_level),
        buckets=st.integers(0, domain.max_buckets),
        ticks=st.integers(least, domain.most),
        rest_ms=st.integers(least, domain.most),
    )
