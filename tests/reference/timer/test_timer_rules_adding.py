"""Rules 1.1 - 1.3, 1.7, 1.8 and 1.12: from an add to a bucket or to the executor."""

import time

import pytest

from support.reference.interleaving import Interleaving, Step
from support.reference.open_timer import OpenTimer
from support.reference.timer import NO_WAIT, Bench, NamedTask
from wheelproof.clock import ManualClock, SystemClock
from wheelproof.sync import atomic_integer
from wheelproof.timer import DelayQueue, TimerTaskEntry, TimerTaskList, TimingWheel
from wheelproof.units import Millis

_BIND = Step("TimerTask.monitor", "__enter__")
_TAKE_TIMER = Step("SystemTimer.lock", "__enter__")
_TAKE_LIST = Step("TimerTaskList.monitor", "__enter__")


class _WheelBench:
    """A wheel with its queue, on a clock that can be moved to look into the queue."""

    def __init__(self, *, tick_ms: int, wheel_size: int, start_ms: int = 0) -> None:
        self.clock = ManualClock()
        self.queue = DelayQueue(self.clock)
        self.counter = atomic_integer(0, "counter")
        self.wheel = TimingWheel(
            tick_ms=tick_ms,
            wheel_size=wheel_size,
            start_ms=start_ms,
            task_counter=self.counter,
            queue=self.queue,
        )

    def entry(self, expiration_ms: int) -> TimerTaskEntry:
        task = NamedTask("task", 0, [])
        entry = TimerTaskEntry(task, Millis(expiration_ms))
        task.set_timer_task_entry(entry)
        return entry

    def add(self, expiration_ms: int) -> bool:
        return self.wheel.add(self.entry(expiration_ms))

    def expirations(self) -> list[int]:
        self.clock.advance_to(10**9)
        expirations: list[int] = []
        while (bucket := self.queue.poll()) is not None:
            expirations.append(bucket.get_expiration())
        return expirations


def test_rule_1_1_the_clock_is_monotonic_nanoseconds_truncated_to_milliseconds() -> None:
    clock = SystemClock()
    before_ns = time.monotonic_ns()
    now_ms = clock.hi_res_clock_ms()
    after_ns = time.monotonic_ns()
    assert before_ns // 1_000_000 <= now_ms <= after_ns // 1_000_000


@pytest.mark.repeats("timer-add")
def test_rule_1_1_the_deadline_counts_from_the_add_not_from_the_making_of_the_task() -> None:
    bench = Bench()
    task = bench.task("task", 3)
    bench.clock.advance_to(5)
    bench.timer.add(task)
    assert bench.advance_to(7) == []
    assert bench.advance_to(8) == ["task"]


@pytest.mark.repeats("wheel-adders")
def test_rule_1_2_adders_run_concurrently() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        slow = interleaving.run(lambda: bench.add("slow", 1))
        assert slow.until(_BIND)
        interleaving.run(lambda: bench.add("fast", 1)).finish()
        slow.finish()
    assert bench.advance_to(1) == ["fast", "slow"]


@pytest.mark.repeats("wheel-no-add-in-advance")
def test_rule_1_2_an_add_does_not_interleave_with_an_advance() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        bench.add("due", 1)
        bench.clock.advance_to(1)
        adder = interleaving.run(lambda: bench.add("slow", 0))
        assert adder.until(_BIND)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(NO_WAIT))
        assert reaper.until(_TAKE_TIMER)
        reaper.resume()
        adder.finish()
        reaper.join()
    assert bench.run_submitted() == ["due", "slow"]


def test_rule_1_2_the_clock_is_read_before_the_task_is_bound() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        adder = interleaving.run(lambda: bench.add("task", 3))
        assert adder.until(_BIND)
        bench.clock.advance_to(2)
        adder.finish()
    assert bench.advance_to(3) == ["task"]


@pytest.mark.repeats("timer-reinsert")
def test_rule_1_2_a_task_cancelled_before_its_submission_is_not_submitted() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        task = bench.task("task", 0)
        adder = interleaving.run(lambda: bench.timer.add(task))
        assert adder.until(Step("TimerTask.entry", "compare_and_set"))
        assert task.cancel()
        adder.finish()
    assert bench.advance() == []


@pytest.mark.repeats("vl-wheel-slot", "wheel-ranges")
@pytest.mark.parametrize(
    ("expiration_ms", "bucket_ms"), [(10, 10), (19, 10), (20, 20), (39, 30), (40, 40), (79, 40)]
)
def test_rule_1_3_an_entry_goes_to_the_bucket_of_its_tick(
    expiration_ms: int, bucket_ms: int
) -> None:
    bench = _WheelBench(tick_ms=10, wheel_size=4)
    assert bench.add(expiration_ms)
    assert bench.expirations() == [bucket_ms]
    assert bench.counter.get() == 1


@pytest.mark.repeats("wheel-not-current")
@pytest.mark.parametrize("expiration_ms", [-5, 0, 9])
def test_rule_1_3_an_entry_within_the_current_tick_has_expired_already(expiration_ms: int) -> None:
    bench = _WheelBench(tick_ms=10, wheel_size=4)
    assert not bench.add(expiration_ms)
    assert bench.expirations() == []
    assert bench.counter.get() == 0


@pytest.mark.repeats("wheel-cancelled-not-taken")
def test_rule_1_3_a_cancelled_entry_is_not_taken() -> None:
    bench = _WheelBench(tick_ms=10, wheel_size=4)
    entry = bench.entry(20)
    entry.timer_task.cancel()
    assert not bench.wheel.add(entry)
    assert bench.counter.get() == 0


@pytest.mark.repeats("wheel-circular", "list-set-expiration", "c-buckets-not-tasks")
def test_rule_1_3_a_bucket_is_offered_once_a_round() -> None:
    bench = _WheelBench(tick_ms=10, wheel_size=4)
    assert bench.add(20)
    assert bench.add(29)
    assert len(bench.queue) == 1
    assert bench.expirations() == [20]


@pytest.mark.repeats("wheel-reach", "wheel-overflow", "wheel-on-demand")
def test_rule_1_3_the_overflow_wheel_is_made_on_demand_from_the_current_time() -> None:
    bench = _WheelBench(tick_ms=10, wheel_size=4)
    bench.wheel.advance_clock(Millis(50))
    assert bench.add(89)
    assert bench.wheel.overflow_wheel is None
    assert bench.add(90)
    overflow_wheel = bench.wheel.overflow_wheel
    assert overflow_wheel is not None
    assert (overflow_wheel.tick_ms, overflow_wheel.interval_ms) == (40, 160)
    assert overflow_wheel.current_time_ms == 40
    assert bench.expirations() == [80, 80]


@pytest.mark.repeats("wheel-unit-of-level")
def test_rule_1_3_wheels_are_made_level_by_level_and_never_removed() -> None:
    bench = _WheelBench(tick_ms=1, wheel_size=2)
    assert bench.add(7)
    bench.wheel.advance_clock(Millis(1_000))
    ticks: list[int] = []
    wheel: TimingWheel | None = bench.wheel
    while wheel is not None:
        ticks.append(wheel.tick_ms)
        wheel = wheel.overflow_wheel
    assert ticks == [1, 2, 4]


@pytest.mark.repeats("wheel-runs-expired")
def test_rule_1_7_a_delay_of_zero_on_a_fresh_wheel_is_submitted_at_once() -> None:
    bench = Bench()
    bench.add("task", 0)
    assert bench.run_submitted() == ["task"]


@pytest.mark.parametrize("delay_ms", [0, -3])
def test_rule_1_7_a_task_due_now_on_a_lagging_wheel_runs_at_the_next_advance(delay_ms: int) -> None:
    bench = Bench()
    bench.clock.advance_to(5)
    bench.add("task", delay_ms)
    assert bench.run_submitted() == []
    assert bench.timer.size() == 1
    assert bench.advance() == ["task"]


def test_rule_1_7_a_negative_delay_on_a_fresh_wheel_is_submitted_at_once() -> None:
    bench = Bench(start_ms=10)
    bench.add("task", -10)
    assert bench.run_submitted() == ["task"]


@pytest.mark.repeats("x-hand-every-tick")
def test_rule_1_7_the_wheel_clock_moves_only_to_the_buckets_that_were_taken() -> None:
    bench = Bench(OpenTimer)
    timer = bench.timer
    assert isinstance(timer, OpenTimer)
    bench.add("task", 7)
    bench.advance_to(6)
    assert timer.wheel_clock_ms() == 0
    bench.advance_to(100)
    assert timer.wheel_clock_ms() == 7


@pytest.mark.parametrize(
    ("tick_ms", "delay_ms", "due_ms"), [(1, 29, 29), (10, 29, 20), (10, 30, 30), (7, 20, 14)]
)
def test_rule_1_8_a_task_is_due_at_the_start_of_its_tick(
    tick_ms: int, delay_ms: int, due_ms: int
) -> None:
    bench = Bench(tick_ms=tick_ms)
    bench.add("task", delay_ms)
    assert bench.advance_to(due_ms - 1) == []
    assert bench.advance_to(due_ms) == ["task"]


@pytest.mark.repeats("vl-expires-exactly")
def test_rule_1_8_rounding_is_the_same_from_whichever_level_a_task_comes() -> None:
    bench = Bench(tick_ms=10, wheel_size=2)
    bench.add("far", 10_009)
    assert bench.advance_to(9_999) == []
    assert bench.advance_to(10_000) == ["far"]


@pytest.mark.repeats("entry-rebinding")
@pytest.mark.parametrize("moved_to_ms", [1, 3, 50])
def test_rule_1_12_of_a_task_added_again_only_the_new_entry_fires(moved_to_ms: int) -> None:
    bench = Bench()
    task = bench.add("task", 10)
    bench.clock.advance_to(moved_to_ms)
    bench.timer.add(task)
    assert bench.timer.size() == 1
    assert bench.advance_to(moved_to_ms + 9) == []
    assert bench.advance_to(moved_to_ms + 10) == ["task"]
    assert bench.advance_to(1_000) == []


def test_rule_1_12_a_task_that_has_run_can_be_added_again() -> None:
    bench = Bench()
    task = bench.add("task", 1)
    assert bench.advance_to(1) == ["task"]
    bench.timer.add(task)
    assert bench.advance_to(2) == ["task"]


def test_rule_1_12_a_slow_adder_loses_to_a_later_add_of_the_same_task() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        task = bench.task("task", 3)
        slow = interleaving.run(lambda: bench.timer.add(task))
        assert slow.until(Step("TimerTask.entry", "get"))
        bench.clock.advance_to(2)
        bench.timer.add(task)
        slow.finish()
    assert bench.timer.size() == 1
    assert bench.advance_to(4) == []
    assert bench.advance_to(5) == ["task"]


def test_rule_1_12_a_later_add_that_meets_the_slow_adder_before_its_link_leaves_one_run() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        task = bench.task("task", 3)
        slow = interleaving.run(lambda: bench.timer.add(task))
        assert slow.until(_TAKE_LIST)
        bench.clock.advance_to(2)
        bench.timer.add(task)
        slow.finish()
    assert bench.advance_to(4) == []
    assert bench.advance_to(5) == ["task"]
    assert bench.timer.size() == 0


def test_rule_1_12_binding_a_task_to_the_entry_that_it_has_leaves_it_in_its_list() -> None:
    bucket = TimerTaskList(atomic_integer(0, "counter"))
    task = NamedTask("task", 5, [])
    entry = TimerTaskEntry(task, Millis(5))
    task.set_timer_task_entry(entry)
    bucket.add(entry)
    task.set_timer_task_entry(entry)
    assert (entry.list.get(), task.get_timer_task_entry()) == (bucket, entry)
    assert task.cancel()
