"""Theorems about the choice of the level and the number of levels (standard 1.3).

Each function is a theorem: if its preconditions hold, its postcondition holds. All times are in
milliseconds; every level's clock is the clock of level 0, truncated to the level's own tick.
"""

from wheelproof.timer.arithmetic import (
    already_expired,
    truncate_to_tick,
    wheel_interval,
    within_interval,
)


def overflow_is_not_expired_above(
    expiration_ms: int, current_time_ms: int, interval_ms: int
) -> bool:
    """Tell whether the level above rejects an entry that lies beyond this level: never.

    The level above has this level's interval as its tick.

    pre: interval_ms > 0
    pre: not within_interval(expiration_ms, current_time_ms, interval_ms)
    post: not _
    """
    upper_clock_ms = truncate_to_tick(current_time_ms, interval_ms)
    return already_expired(expiration_ms, upper_clock_ms, interval_ms)


def near_enough_for_a_level(
    expiration_ms: int, current_time_ms: int, tick_ms: int, wheel_size: int
) -> bool:
    """Tell whether a level reaches an entry that is at most size - 1 of its ticks away: always.

    The number of levels that a delay needs follows: level l is high enough if
    delay <= tick * n^l * (n - 1).

    pre: tick_ms > 0
    pre: wheel_size > 0
    pre: expiration_ms - current_time_ms <= tick_ms * (wheel_size - 1)
    post: _
    """
    clock_ms = truncate_to_tick(current_time_ms, tick_ms)
    return within_interval(expiration_ms, clock_ms, wheel_interval(tick_ms, wheel_size))


def too_far_for_a_level(
    expiration_ms: int, current_time_ms: int, tick_ms: int, wheel_size: int
) -> bool:
    """Tell whether a level reaches an entry that is its whole interval away: never.

    pre: tick_ms > 0
    pre: wheel_size > 0
    pre: expiration_ms - current_time_ms >= tick_ms * wheel_size
    post: not _
    """
    clock_ms = truncate_to_tick(current_time_ms, tick_ms)
    return within_interval(expiration_ms, clock_ms, wheel_interval(tick_ms, wheel_size))


def interval_doubles_at_least(interval_ms: int, wheel_size: int) -> int:
    """Return the interval of the level above a level with this interval.

    So the number of levels is at most the binary logarithm of the longest delay, in ticks, plus
    two: `near_enough_for_a_level` says where the recursion of `TimingWheel.add` ends.

    pre: interval_ms > 0
    pre: wheel_size > 1
    post: _ >= 2 * interval_ms
    """
    return wheel_interval(interval_ms, wheel_size)
