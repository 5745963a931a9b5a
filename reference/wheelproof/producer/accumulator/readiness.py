"""When a batch may be sent, as pure functions with contracts (standard 4.2).

The sender looks at many batches and sleeps until the first of them may go. A sum that is one off
makes it sleep too long, or spin.

All times are in milliseconds and not negative.

    >>> from wheelproof.producer.accumulator.readiness import retry_backoff_ms, time_left_ms
    >>> [retry_backoff_ms(attempts, 100, 1_000) for attempts in range(6)]
    [0, 100, 200, 400, 800, 1000]
    >>> time_left_ms(30, 100)
    70
"""


def retry_backoff_ms(attempts: int, initial_ms: int, most_ms: int) -> int:
    """Return how long a batch waits after its last attempt: twice as long after each one.

    Kafka varies it by a fifth at random; the reference does not, so that a run can be repeated.

    pre: attempts >= 0
    pre: 0 <= initial_ms <= most_ms
    post: _ <= most_ms
    post: (_ == 0) == (attempts == 0 or initial_ms == 0)
    """
    if attempts == 0:
        return 0
    # Beyond 62 doublings every backoff of the domain is at its limit.
    return min(initial_ms << min(attempts - 1, 62), most_ms)


def backing_off(attempts: int, waited_ms: int, backoff_ms: int) -> bool:
    """Tell whether a batch waits for its next attempt.

    post: _ == (attempts > 0 and backoff_ms - waited_ms > 0)
    """
    return attempts > 0 and waited_ms < backoff_ms


def time_to_wait_ms(backing_off: bool, backoff_ms: int, linger_ms: int) -> int:
    """Return how long a batch waits for its next attempt, or for more records.

    post: _ == backoff_ms if backing_off else _ == linger_ms
    """
    return backoff_ms if backing_off else linger_ms


def time_left_ms(waited_ms: int, to_wait_ms: int) -> int:
    """Return in how many milliseconds to look at a batch again.

    post: _ >= 0
    post: _ == 0 if waited_ms >= to_wait_ms else waited_ms + _ == to_wait_ms
    """
    return max(to_wait_ms - waited_ms, 0)
