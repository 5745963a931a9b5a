"""Theorems about clock advances and the re-insertion of bucket entries (standard 1.4 - 1.8).

Each function is a theorem: if its preconditions hold, its postcondition holds. A level has the tick
`tick_ms`; the level above it has the tick `tick_ms * wheel_size`. All times are in milliseconds.
"""

from wheelproof.timer.arithmetic import (
    advanced_clock,
    already_expired,
    truncate_to_tick,
    virtual_id,
    wheel_interval,
    within_interval,
)


def flushed_entry_expires_on_the_lowest_level(expiration_ms: int, tick_ms: int) -> bool:
    """Tell whether an entry of level 0 has expired once the clock stands at its bucket: always.

    pre: tick_ms > 0
    post: _
    """
    return already_expired(expiration_ms, virtual_id(expiration_ms, tick_ms) * tick_ms, tick_ms)


def flushed_entry_fits_the_level_below(expiration_ms: int, upper_tick_ms: int) -> bool:
    """Tell whether an entry fits the level below once the clock stands at its bucket: always.

    That level spans one tick of this one, so no entry goes back up and each flush ends.

    pre: upper_tick_ms > 0
    post: _
    """
    clock_ms = truncate_to_tick(expiration_ms, upper_tick_ms)
    return within_interval(expiration_ms, clock_ms, upper_tick_ms)


def reinsertion_is_not_late(expiration_ms: int, tick_ms: int, wheel_size: int) -> int:
    """Return the number of the tick of level 0 at which the level above hands an entry down.

    It is not after the tick in which the entry is due.

    pre: tick_ms > 0
    pre: wheel_size > 0
    pre: expiration_ms >= 0
    post: _ <= virtual_id(expiration_ms, tick_ms)
    """
    return virtual_id(expiration_ms, wheel_interval(tick_ms, wheel_size)) * wheel_size


def reinsertion_is_not_early(
    expiration_ms: int, clock_number: int, tick_ms: int, wheel_size: int
) -> bool:
    """Tell whether an entry handed down is submitted: only in the tick in which it is due.

    `clock_number` is the tick of the level above that the entry's bucket stood for.

    pre: tick_ms > 0
    pre: wheel_size > 0
    pre: clock_number == virtual_id(expiration_ms, tick_ms * wheel_size)
    post: _ == (virtual_id(expiration_ms, tick_ms) <= clock_number * wheel_size)
    """
    clock_ms = clock_number * wheel_interval(tick_ms, wheel_size)
    return already_expired(expiration_ms, clock_ms, tick_ms)


def bucket_stands_on_a_tick_of_each_level_below(number: int, tick_ms: int, wheel_size: int) -> int:
    """Return the clock of a level that is advanced to the expiration of a bucket one level above.

    It stands there exactly: nothing is lost to truncation.

    pre: tick_ms > 0
    pre: wheel_size > 0
    post: _ == number * (tick_ms * wheel_size)
    """
    return truncate_to_tick(number * wheel_interval(tick_ms, wheel_size), tick_ms)


def truncated_clock_stands_on_a_tick(time_ms: int, tick_ms: int) -> int:
    """Return a truncated clock, which is a multiple of the tick.

    pre: tick_ms > 0
    pre: time_ms >= 0
    post: _ % tick_ms == 0
    """
    return truncate_to_tick(time_ms, tick_ms)


def clocks_of_two_levels_agree(time_ms: int, tick_ms: int, wheel_size: int) -> int:
    """Return the clock of the level above, which is given this level's truncated clock.

    Truncating twice is truncating once, hence
    current_time_l = floor(current_time_0 / tick_l) * tick_l (standard 1.18).

    pre: tick_ms > 0
    pre: wheel_size > 0
    post: _ == truncate_to_tick(time_ms, tick_ms * wheel_size)
    """
    return truncate_to_tick(truncate_to_tick(time_ms, tick_ms), wheel_interval(tick_ms, wheel_size))


def clock_goes_to_the_later_tick(clock_number: int, time_ms: int, tick_ms: int) -> int:
    """Return a clock after an advance: it stands on its old tick or on a later one.

    pre: tick_ms > 0
    post: _ == max(clock_number, virtual_id(time_ms, tick_ms)) * tick_ms
    """
    return advanced_clock(clock_number * tick_ms, time_ms, tick_ms)
