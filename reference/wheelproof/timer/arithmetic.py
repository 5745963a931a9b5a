"""The arithmetic of timing wheels, as pure functions with contracts.

The contracts (PEP 316: ``pre`` and ``post`` lines in the docstrings) are proved over all paths by
CrossHair in the test suite. All times are in milliseconds; `tick_ms` and `wheel_size` are positive.

    >>> from wheelproof.timer.arithmetic import bucket_index, truncate_to_tick, virtual_id
    >>> truncate_to_tick(1_234, 100)
    1200
    >>> virtual_id(1_234, 100), bucket_index(virtual_id(1_234, 100), 8)
    (12, 4)
"""


def truncate_to_tick(time_ms: int, tick_ms: int) -> int:
    """Return the last multiple of the tick that is not after `time_ms` (standard 1.4, 1.8).

    pre: tick_ms > 0
    post: _ <= time_ms < _ + tick_ms
    post: _ == virtual_id(time_ms, tick_ms) * tick_ms
    """
    return time_ms // tick_ms * tick_ms


def wheel_interval(tick_ms: int, wheel_size: int) -> int:
    """Return how much time a wheel spans, which is the tick of the wheel above it.

    pre: tick_ms > 0
    pre: wheel_size > 0
    post: virtual_id(_ - 1, tick_ms) == wheel_size - 1
    post: virtual_id(_, tick_ms) == wheel_size
    """
    return tick_ms * wheel_size


def advanced_clock(current_time_ms: int, time_ms: int, tick_ms: int) -> int:
    """Return where a wheel's clock stands after it was advanced to `time_ms` (standard 1.4).

    It moves only once the next tick has begun, and never back.

    pre: tick_ms > 0
    post: current_time_ms <= _ <= max(current_time_ms, time_ms)
    post: time_ms < _ + tick_ms
    """
    if time_ms < current_time_ms + tick_ms:
        return current_time_ms
    return truncate_to_tick(time_ms, tick_ms)


def virtual_id(expiration_ms: int, tick_ms: int) -> int:
    """Return the number of the tick that `expiration_ms` falls into (standard 1.3).

    pre: tick_ms > 0
    post: _ * tick_ms <= expiration_ms < (_ + 1) * tick_ms
    """
    return expiration_ms // tick_ms


def bucket_index(number: int, wheel_size: int) -> int:
    """Return the bucket that holds the tick with this virtual id (standard 1.3).

    pre: wheel_size > 0
    post: 0 <= _ < wheel_size
    post: (number - _) % wheel_size == 0
    """
    return number % wheel_size


def already_expired(expiration_ms: int, current_time_ms: int, tick_ms: int) -> bool:
    """Tell whether the wheel's clock has reached the tick of `expiration_ms` (standard 1.3).

    post: _ == (expiration_ms - current_time_ms < tick_ms)
    """
    return expiration_ms < current_time_ms + tick_ms


def within_interval(expiration_ms: int, current_time_ms: int, interval_ms: int) -> bool:
    """Tell whether a wheel that spans `interval_ms` reaches `expiration_ms` (standard 1.3).

    post: _ == (expiration_ms - current_time_ms < interval_ms)
    """
    return expiration_ms < current_time_ms + interval_ms
