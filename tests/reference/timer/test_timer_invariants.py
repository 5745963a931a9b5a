"""Rule 1.18: what holds whenever no call is under way, and at every advance."""

from dataclasses import dataclass
from enum import Enum

from hypothesis import given, settings
from hypothesis import strategies as st

from support.reference.open_timer import OpenTimer
from support.reference.timer import Bench
from wheelproof.timer.arithmetic import truncate_to_tick, virtual_id

_IDLE = -1
_NAMES = "abcd"


class _Do(Enum):
    ADD = "add"
    CANCEL = "cancel"
    ADVANCE = "advance"


@dataclass(frozen=True, slots=True)
class _Call:
    do: _Do
    name: str
    span_ms: int


_programs = st.lists(
    st.builds(_Call, st.sampled_from(_Do), st.sampled_from(_NAMES), st.integers(0, 200)),
    max_size=40,
)


def _open(bench: Bench) -> OpenTimer:
    timer = bench.timer
    assert isinstance(timer, OpenTimer)
    return timer


def _entries_are_in_one_list_each(timer: OpenTimer) -> None:
    for bucket in timer.buckets():
        for entry in bucket.entries():
            assert entry.list.get() is bucket


def _counter_is_the_sum_of_list_sizes(timer: OpenTimer) -> None:
    assert timer.size() == sum(len(bucket.entries()) for bucket in timer.buckets())


def _non_empty_buckets_are_queued(timer: OpenTimer) -> None:
    expirations = [bucket.get_expiration() for bucket in timer.buckets()]
    assert timer.queued() == sum(expiration != _IDLE for expiration in expirations)
    for bucket in timer.buckets():
        if bucket.entries():
            assert bucket.get_expiration() != _IDLE


def _entries_of_a_bucket_share_one_virtual_id(timer: OpenTimer) -> None:
    for wheel in timer.levels():
        for bucket in wheel.open_buckets():
            for entry in bucket.entries():
                number = virtual_id(entry.expiration_ms, wheel.tick_ms)
                assert bucket.get_expiration() == number * wheel.tick_ms


def _every_clock_is_the_lowest_one_truncated(timer: OpenTimer) -> None:
    for wheel in timer.levels():
        expected_ms = truncate_to_tick(timer.wheel_clock_ms(), wheel.tick_ms)
        assert wheel.current_time_ms == expected_ms


_INVARIANTS = (
    _entries_are_in_one_list_each,
    _counter_is_the_sum_of_list_sizes,
    _non_empty_buckets_are_queued,
    _entries_of_a_bucket_share_one_virtual_id,
    _every_clock_is_the_lowest_one_truncated,
)


@settings(deadline=None)
@given(tick_ms=st.integers(1, 7), wheel_size=st.integers(1, 5), program=_programs)
def test_rule_1_18_the_invariants_hold_after_every_call(
    tick_ms: int, wheel_size: int, program: list[_Call]
) -> None:
    bench = Bench(OpenTimer, tick_ms=tick_ms, wheel_size=wheel_size)
    timer = _open(bench)
    tasks = {name: bench.task(name, 30 * number) for number, name in enumerate(_NAMES)}
    wheel_clock_ms = timer.wheel_clock_ms()
    for call in program:
        match call.do:
            case _Do.ADD:
                tasks[call.name] = bench.add(call.name, call.span_ms)
            case _Do.CANCEL:
                tasks[call.name].cancel()
            case _Do.ADVANCE:
                bench.advance_to(bench.clock.hi_res_clock_ms() + call.span_ms)
        for invariant in _INVARIANTS:
            invariant(timer)
        assert timer.wheel_clock_ms() >= wheel_clock_ms
        wheel_clock_ms = timer.wheel_clock_ms()


@settings(deadline=None)
@given(
    tick_ms=st.integers(1, 7),
    wheel_size=st.integers(1, 5),
    delays_ms=st.lists(st.integers(-5, 300)),
    jump_ms=st.integers(1, 50),
)
def test_rule_1_18_each_add_ends_in_one_submission_by_the_first_advance_at_its_due_time(
    tick_ms: int, wheel_size: int, delays_ms: list[int], jump_ms: int
) -> None:
    bench = Bench(tick_ms=tick_ms, wheel_size=wheel_size)
    due_ms = [truncate_to_tick(delay_ms, tick_ms) for delay_ms in delays_ms]
    for number, delay_ms in enumerate(delays_ms):
        bench.add(str(number), delay_ms)
    ran = set(bench.run_submitted())
    for time_ms in range(0, 300 + jump_ms, jump_ms):
        for name in bench.advance_to(time_ms):
            assert name not in ran
            ran.add(name)
        assert ran == {str(number) for number, due in enumerate(due_ms) if due <= time_ms}
