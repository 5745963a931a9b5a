"""Planted mistakes in the arithmetic of the producer's memory, and the contracts they break."""

from collections.abc import Callable

from support.contracts.planted import Planted


def _one_byte_short(free_count: int, poolable_size: int) -> int:
    return free_count * poolable_size - 1


def _more_than_enough(size: int, non_pooled: int, free_count: int, poolable_size: int) -> bool:
    return non_pooled + free_count * poolable_size > size


def _drop_more_than_there_are(
    wanted: int, non_pooled: int, free_count: int, poolable_size: int
) -> int:
    del free_count
    return -(-max(wanted - non_pooled, 0) // poolable_size)


def _drop_too_few(wanted: int, non_pooled: int, free_count: int, poolable_size: int) -> int:
    return min(max(wanted - non_pooled, 0) // poolable_size, free_count)


def _drop_all(wanted: int, non_pooled: int, free_count: int, poolable_size: int) -> int:
    del wanted, non_pooled, poolable_size
    return free_count


def _take_too_much(wanted: int, non_pooled: int) -> int:
    return max(wanted, non_pooled)


def _take_nothing(wanted: int, non_pooled: int) -> int:
    del wanted, non_pooled
    return 0


def _keep_what_has_grown(size: int, capacity: int, poolable_size: int) -> bool:
    del capacity
    return size == poolable_size


def _back_off_without_limit(attempts: int, initial_ms: int, most_ms: int) -> int:
    return initial_ms * attempts + most_ms * 0


def _back_off_at_once(attempts: int, initial_ms: int, most_ms: int) -> int:
    del attempts
    return min(initial_ms, most_ms)


def _back_off_too_long(attempts: int, waited_ms: int, backoff_ms: int) -> bool:
    return attempts > 0 and waited_ms <= backoff_ms


def _always_linger(backing_off: bool, backoff_ms: int, linger_ms: int) -> int:
    del backing_off, backoff_ms
    return linger_ms


def _look_in_the_past(waited_ms: int, to_wait_ms: int) -> int:
    return to_wait_ms - waited_ms


def _look_too_late(waited_ms: int, to_wait_ms: int) -> int:
    return max(to_wait_ms - waited_ms, 1)


def _planted(replaces: str, function: Callable[..., object], *breaks: str) -> Planted:
    name = getattr(function, "__name__", replaces).lstrip("_")
    return Planted(name=name, replaces=replaces, function=function, breaks=breaks)


PLANTED_PRODUCER = [
    _planted(
        "free_list_size",
        _one_byte_short,
        "pool_arithmetic.free_list_size/1",
        "pool_arithmetic.free_list_size/2",
        "pool_arithmetic.enough/1",
    ),
    _planted("enough", _more_than_enough, "pool_arithmetic.enough/1"),
    _planted("buffers_to_drop", _drop_more_than_there_are, "pool_arithmetic.buffers_to_drop/1"),
    _planted("buffers_to_drop", _drop_too_few, "pool_arithmetic.buffers_to_drop/2"),
    _planted("buffers_to_drop", _drop_all, "pool_arithmetic.buffers_to_drop/3"),
    _planted(
        "memory_taken",
        _take_too_much,
        "pool_arithmetic.memory_taken/1",
        "pool_arithmetic.memory_taken/2",
    ),
    _planted("memory_taken", _take_nothing, "pool_arithmetic.memory_taken/3"),
    _planted("goes_to_free_list", _keep_what_has_grown, "pool_arithmetic.goes_to_free_list/1"),
    _planted("retry_backoff_ms", _back_off_without_limit, "readiness.retry_backoff_ms/1"),
    _planted("retry_backoff_ms", _back_off_at_once, "readiness.retry_backoff_ms/2"),
    _planted("backing_off", _back_off_too_long, "readiness.backing_off/1"),
    _planted("time_to_wait_ms", _always_linger, "readiness.time_to_wait_ms/1"),
    _planted("time_left_ms", _look_in_the_past, "readiness.time_left_ms/1"),
    _planted("time_left_ms", _look_too_late, "readiness.time_left_ms/2"),
]
