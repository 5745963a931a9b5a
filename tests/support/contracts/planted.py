"""Planted mistakes: wrong versions of the arithmetic, and the contracts that each breaks."""

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """`function` in the place of `replaces`: CrossHair has to refute each contract in `breaks`."""

    name: str
    replaces: str
    function: Callable[..., object]
    breaks: tuple[str, ...]


PLANTED: list[Planted] = []


def _planted(replaces: str, *breaks: str) -> Callable[[Callable[..., object]], None]:
    def register(function: Callable[..., object]) -> None:
        assert isinstance(function, FunctionType)
        PLANTED.append(
            Planted(name=function.__name__, replaces=replaces, function=function, breaks=breaks)
        )

    return register


@_planted(
    "truncate_to_tick",
    "arithmetic.truncate_to_tick/1",
    "arithmetic.truncate_to_tick/2",
    "arithmetic.advanced_clock/1",
    "cascading.clocks_of_two_levels_agree/1",
)
def truncate_rounds_up(time_ms: int, tick_ms: int) -> int:
    return -(-time_ms // tick_ms) * tick_ms


@_planted(
    "truncate_to_tick",
    "arithmetic.truncate_to_tick/1",
    "arithmetic.truncate_to_tick/2",
    "cascading.clocks_of_two_levels_agree/1",
    "levels.overflow_is_not_expired_above/1",
)
def truncate_to_the_nearest_tick(time_ms: int, tick_ms: int) -> int:
    return (time_ms + tick_ms // 2) // tick_ms * tick_ms


@_planted(
    "truncate_to_tick",
    "arithmetic.truncate_to_tick/2",
    "cascading.truncated_clock_stands_on_a_tick/1",
    "cascading.clocks_of_two_levels_agree/1",
)
def truncate_not_at_all(time_ms: int, tick_ms: int) -> int:
    del tick_ms
    return time_ms


@_planted(
    "truncate_to_tick",
    "arithmetic.truncate_to_tick/1",
    "arithmetic.truncate_to_tick/2",
    "cascading.flushed_entry_fits_the_level_below/1",
    "cascading.bucket_stands_on_a_tick_of_each_level_below/1",
)
def truncate_a_tick_too_far(time_ms: int, tick_ms: int) -> int:
    return (time_ms // tick_ms - 1) * tick_ms


@_planted(
    "wheel_interval",
    "arithmetic.wheel_interval/1",
    "arithmetic.wheel_interval/2",
    "placing.taken_within_one_turn/1",
    "levels.interval_doubles_at_least/1",
)
def interval_without_the_tick(tick_ms: int, wheel_size: int) -> int:
    del tick_ms
    return wheel_size


@_planted(
    "wheel_interval",
    "arithmetic.wheel_interval/1",
    "arithmetic.wheel_interval/2",
    "placing.taken_within_one_turn/1",
    "cascading.reinsertion_is_not_early/1",
)
def interval_a_tick_short(tick_ms: int, wheel_size: int) -> int:
    return tick_ms * (wheel_size - 1)


@_planted(
    "wheel_interval",
    "arithmetic.wheel_interval/1",
    "arithmetic.wheel_interval/2",
    "placing.one_bucket_holds_nothing/1",
    "cascading.reinsertion_is_not_early/1",
)
def interval_a_tick_long(tick_ms: int, wheel_size: int) -> int:
    return tick_ms * (wheel_size + 1)


@_planted(
    "advanced_clock",
    "cascading.clock_goes_to_the_later_tick/1",
)
def advance_without_truncation(current_time_ms: int, time_ms: int, tick_ms: int) -> int:
    return current_time_ms if time_ms < current_time_ms + tick_ms else time_ms


@_planted(
    "advanced_clock",
    "arithmetic.advanced_clock/1",
    "cascading.clock_goes_to_the_later_tick/1",
)
def advance_whenever_asked(current_time_ms: int, time_ms: int, tick_ms: int) -> int:
    del current_time_ms
    return time_ms // tick_ms * tick_ms


@_planted(
    "advanced_clock",
    "arithmetic.advanced_clock/2",
    "cascading.clock_goes_to_the_later_tick/1",
)
def advance_a_tick_late(current_time_ms: int, time_ms: int, tick_ms: int) -> int:
    if time_ms <= current_time_ms + tick_ms:
        return current_time_ms
    return time_ms // tick_ms * tick_ms


@_planted(
    "virtual_id",
    "arithmetic.virtual_id/1",
    "cascading.reinsertion_is_not_late/1",
)
def virtual_id_rounds_up(expiration_ms: int, tick_ms: int) -> int:
    return -(-expiration_ms // tick_ms)


@_planted(
    "virtual_id",
    "arithmetic.virtual_id/1",
    "cascading.reinsertion_is_not_late/1",
)
def virtual_id_off_by_one(expiration_ms: int, tick_ms: int) -> int:
    return expiration_ms // tick_ms + 1


@_planted(
    "virtual_id",
    "arithmetic.virtual_id/1",
    "placing.bucket_is_ahead_of_the_clock/1",
    "cascading.flushed_entry_expires_on_the_lowest_level/1",
)
def virtual_id_of_the_millisecond_before(expiration_ms: int, tick_ms: int) -> int:
    return (expiration_ms - 1) // tick_ms


@_planted(
    "bucket_index",
    "arithmetic.bucket_index/2",
    "placing.queued_bucket_keeps_its_key/1",
    "placing.bucket_under_the_clock_stays_empty/1",
)
def index_off_by_one(number: int, wheel_size: int) -> int:
    return (number + 1) % wheel_size


@_planted(
    "bucket_index",
    "arithmetic.bucket_index/1",
    "arithmetic.bucket_index/2",
    "placing.queued_bucket_keeps_its_key/1",
    "placing.bucket_under_the_clock_stays_empty/1",
)
def index_from_one(number: int, wheel_size: int) -> int:
    return number % wheel_size + 1


@_planted(
    "bucket_index",
    "arithmetic.bucket_index/2",
    "placing.queued_bucket_keeps_its_key/1",
    "placing.bucket_under_the_clock_stays_empty/1",
)
def index_of_a_smaller_wheel(number: int, wheel_size: int) -> int:
    return number % (wheel_size - 1) if wheel_size > 1 else 0


@_planted(
    "already_expired",
    "arithmetic.already_expired/1",
    "placing.expired_once_its_tick_is_reached/1",
    "cascading.reinsertion_is_not_early/1",
    "levels.overflow_is_not_expired_above/1",
)
def expired_a_millisecond_early(expiration_ms: int, current_time_ms: int, tick_ms: int) -> bool:
    return expiration_ms <= current_time_ms + tick_ms


@_planted(
    "already_expired",
    "arithmetic.already_expired/1",
    "placing.expired_once_its_tick_is_reached/1",
    "placing.one_bucket_holds_nothing/1",
    "cascading.flushed_entry_expires_on_the_lowest_level/1",
)
def expired_without_the_tick(expiration_ms: int, current_time_ms: int, tick_ms: int) -> bool:
    del tick_ms
    return expiration_ms < current_time_ms


@_planted(
    "already_expired",
    "arithmetic.already_expired/1",
    "placing.expired_once_its_tick_is_reached/1",
    "placing.taken_within_one_turn/1",
    "cascading.flushed_entry_expires_on_the_lowest_level/1",
)
def expired_only_after_the_clock(expiration_ms: int, current_time_ms: int, tick_ms: int) -> bool:
    del tick_ms
    return expiration_ms <= current_time_ms


@_planted(
    "within_interval",
    "arithmetic.within_interval/1",
    "placing.taken_within_one_turn/1",
    "placing.one_bucket_holds_nothing/1",
    "levels.too_far_for_a_level/1",
)
def within_the_interval_and_its_end(
    expiration_ms: int, current_time_ms: int, interval_ms: int
) -> bool:
    return expiration_ms <= current_time_ms + interval_ms


@_planted(
    "within_interval",
    "arithmetic.within_interval/1",
    "placing.taken_within_one_turn/1",
    "cascading.flushed_entry_fits_the_level_below/1",
    "levels.near_enough_for_a_level/1",
)
def within_all_but_the_last_millisecond(
    expiration_ms: int, current_time_ms: int, interval_ms: int
) -> bool:
    return expiration_ms < current_time_ms + interval_ms - 1
