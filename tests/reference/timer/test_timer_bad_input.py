"""Rule 1.17: input outside the domain is refused in one clear sentence, and changes nothing."""

from collections.abc import Callable
from typing import cast

import pytest

from support.reference.timer import Bench, NamedTask
from wheelproof.clock import ManualClock
from wheelproof.errors import IllegalArgumentError, WheelproofError
from wheelproof.sync import DeferredExecutor, atomic_integer
from wheelproof.timer import DelayQueue, SystemTimer, TimingWheel
from wheelproof.units import MAX_MILLIS, Millis

_NO_INTEGERS = ["1", 1.0, None, True]
_NOW_MS = 100


def _timer(*, tick_ms: int = 1, wheel_size: int = 20, start_ms: int = 0) -> SystemTimer:
    return SystemTimer(
        "refused",
        tick_ms=tick_ms,
        wheel_size=wheel_size,
        start_ms=start_ms,
        clock=ManualClock(_NOW_MS),
        executor=DeferredExecutor(),
    )


_USES_OF_ARGUMENT: dict[str, Callable[[int], object]] = {
    "tick_ms": lambda number: _timer(tick_ms=number),
    "wheel_size": lambda number: _timer(wheel_size=number),
    "delay_ms": lambda number: NamedTask("refused", number, []),
    "the clock": ManualClock,
    "duration_ms": lambda number: ManualClock().advance(number),
    "time_ms": lambda number: ManualClock().advance_to(number),
}


def test_rule_1_17_a_negative_time_out_is_refused() -> None:
    with pytest.raises(IllegalArgumentError, match="timeout_ms has to lie within 0 and"):
        _timer().advance_clock(Millis(-1))


@pytest.mark.parametrize("tick_ms", [0, -1, 2 * MAX_MILLIS + 1])
def test_rule_1_17_a_tick_outside_the_domain_is_refused(tick_ms: int) -> None:
    with pytest.raises(IllegalArgumentError, match=f"tick_ms has to lie within 1 and .*{tick_ms}"):
        _timer(tick_ms=tick_ms)


@pytest.mark.parametrize("wheel_size", [0, -1])
def test_rule_1_17_a_size_outside_the_domain_is_refused(wheel_size: int) -> None:
    with pytest.raises(IllegalArgumentError, match="wheel_size has to lie within 1 and"):
        _timer(wheel_size=wheel_size)


@pytest.mark.parametrize("start_ms", [-1, _NOW_MS + 1])
def test_rule_1_17_a_start_below_zero_or_in_the_future_is_refused(start_ms: int) -> None:
    with pytest.raises(IllegalArgumentError, match=f"start_ms has to lie within 0 and {_NOW_MS}"):
        _timer(start_ms=start_ms)


def test_rule_1_17_the_domain_includes_its_ends() -> None:
    _timer(tick_ms=1, wheel_size=1, start_ms=_NOW_MS)
    _timer(tick_ms=MAX_MILLIS, wheel_size=1, start_ms=0)
    NamedTask("longest", MAX_MILLIS, [])
    NamedTask("shortest", -MAX_MILLIS, [])


@pytest.mark.parametrize(
    "delay_ms", [MAX_MILLIS + 1, -MAX_MILLIS - 1, 2**63 - 1, -(2**63), 10**100]
)
def test_rule_1_17_a_delay_beyond_the_domain_is_refused(delay_ms: int) -> None:
    with pytest.raises(IllegalArgumentError, match="delay_ms has to lie within"):
        NamedTask("refused", delay_ms, [])


@pytest.mark.parametrize("value", _NO_INTEGERS)
@pytest.mark.parametrize("argument", sorted(_USES_OF_ARGUMENT))
def test_rule_1_17_what_is_no_integer_is_refused(argument: str, value: object) -> None:
    with pytest.raises(IllegalArgumentError, match=f"{argument} has to be an integer, not"):
        _USES_OF_ARGUMENT[argument](cast("int", value))


@pytest.mark.parametrize("value", ["1", 1.0, True])
def test_rule_1_17_a_start_that_is_no_integer_is_refused(value: object) -> None:
    with pytest.raises(IllegalArgumentError, match="start_ms has to be an integer, not"):
        _timer(start_ms=cast("int", value))


@pytest.mark.parametrize("start_ms", [-1, MAX_MILLIS + 1])
def test_rule_1_17_a_clock_outside_the_domain_is_refused(start_ms: int) -> None:
    with pytest.raises(IllegalArgumentError, match="the clock has to lie within 0 and"):
        ManualClock(start_ms)


def test_rule_1_17_a_wheel_of_its_own_checks_what_it_is_given() -> None:
    queue = DelayQueue(ManualClock())
    for tick_ms, wheel_size, start_ms in ((0, 20, 0), (1, 0, 0), (1, 20, -1)):
        with pytest.raises(IllegalArgumentError):
            TimingWheel(
                tick_ms=tick_ms,
                wheel_size=wheel_size,
                start_ms=start_ms,
                task_counter=atomic_integer(0, "counter"),
                queue=queue,
            )


def test_rule_1_17_no_sum_of_a_clock_and_a_delay_overflows_a_signed_64_bit_integer() -> None:
    assert MAX_MILLIS + MAX_MILLIS <= 2**63 - 1


@pytest.mark.parametrize("wheel_size", [1, 2, 3, 5, 20, 64])
@pytest.mark.parametrize("tick_ms", [1, 10**18, MAX_MILLIS])
def test_rule_1_17_the_longest_delay_is_taken_at_any_time(tick_ms: int, wheel_size: int) -> None:
    bench = Bench(tick_ms=tick_ms, wheel_size=wheel_size)
    bench.clock.advance_to(MAX_MILLIS)
    bench.add("longest", MAX_MILLIS)
    assert bench.timer.size() == 1


def test_rule_1_17_a_refused_task_leaves_the_timer_as_it_was() -> None:
    bench = Bench()
    with pytest.raises(IllegalArgumentError):
        bench.add("refused", MAX_MILLIS + 1)
    assert bench.timer.size() == 0
    bench.add("taken", 3)
    assert bench.advance_to(3) == ["taken"]


def test_a_refusal_can_be_caught_as_the_projects_error_and_as_a_value_error() -> None:
    assert issubclass(IllegalArgumentError, WheelproofError)
    assert issubclass(IllegalArgumentError, ValueError)
