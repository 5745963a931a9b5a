"""Theorems about putting an entry into a bucket (standard 1.3, 1.8, 1.18).

Each function is a theorem: if its preconditions hold, its postcondition holds. All times are in
milliseconds; tick and wheel size are any positive integers. A clock that has to stand on a tick is
given as the number of that tick.
"""

from wheelproof.timer.arithmetic import (
    already_expired,
    bucket_index,
    virtual_id,
    wheel_interval,
    within_interval,
)


def expired_once_its_tick_is_reached(expiration_ms: int, clock_number: int, tick_ms: int) -> bool:
    """Tell whether an entry has expired: exactly if the clock stands on its tick or a later one.

    pre: tick_ms > 0
    post: _ == (virtual_id(expiration_ms, tick_ms) <= clock_number)
    """
    return already_expired(expiration_ms, clock_number * tick_ms, tick_ms)


def bucket_is_ahead_of_the_clock(expiration_ms: int, clock_number: int, tick_ms: int) -> int:
    """Return how far the bucket of an unexpired entry is ahead of the clock.

    It is at least one tick, so advancing the clock to a bucket never moves it back.

    pre: tick_ms > 0
    pre: not already_expired(expiration_ms, clock_number * tick_ms, tick_ms)
    post: _ >= tick_ms
    """
    return virtual_id(expiration_ms, tick_ms) * tick_ms - clock_number * tick_ms


def taken_within_one_turn(
    expiration_ms: int, clock_number: int, tick_ms: int, wheel_size: int
) -> bool:
    """Tell whether a wheel takes an entry itself: exactly if its tick is less than a turn ahead.

    pre: tick_ms > 0
    pre: wheel_size > 0
    post: _ == (clock_number < virtual_id(expiration_ms, tick_ms) < clock_number + wheel_size)
    """
    clock_ms = clock_number * tick_ms
    return not already_expired(expiration_ms, clock_ms, tick_ms) and within_interval(
        expiration_ms, clock_ms, wheel_interval(tick_ms, wheel_size)
    )


def queued_bucket_keeps_its_key(
    turn: int, position: int, left: int, ahead: int, wheel_size: int
) -> int:
    """Return the bucket of an entry that is added while a bucket still waits in the queue.

    The waiting bucket stands for tick turn * size + position and is `left` ticks ahead of the
    clock: less than a turn when it was queued, and less since then. The new entry's tick is `ahead`
    ticks ahead of the clock. If both use the same bucket, both have the same virtual id: the key of
    a queued bucket never changes (standard 1.18).

    pre: 0 <= position < wheel_size
    pre: 0 < left < wheel_size
    pre: 0 < ahead < wheel_size
    post: (_ == position) == (ahead == left)
    """
    return bucket_index(turn * wheel_size + position - left + ahead, wheel_size)


def bucket_under_the_clock_stays_empty(
    turn: int, position: int, ahead: int, wheel_size: int
) -> int:
    """Return the bucket of an entry whose tick is `ahead` of the clock's, within one turn.

    It is never the bucket of the tick that the clock stands on. So a bucket whose entries are put
    back into the wheel gets none of them again, and its flush ends (standard 1.6).

    pre: 0 <= position < wheel_size
    pre: 0 < ahead < wheel_size
    post: _ != position
    """
    return bucket_index(turn * wheel_size + position + ahead, wheel_size)


def one_bucket_holds_nothing(expiration_ms: int, current_time_ms: int, tick_ms: int) -> bool:
    """Tell whether a wheel of one bucket takes an entry: never, since it spans one tick.

    This is why a wheel has at least two buckets.

    pre: tick_ms > 0
    post: not _
    """
    return not already_expired(expiration_ms, current_time_ms, tick_ms) and within_interval(
        expiration_ms, current_time_ms, wheel_interval(tick_ms, 1)
    )
