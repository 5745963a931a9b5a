"""Rules 1.4 - 1.6 and 1.9: what an advance takes, flushes and submits, and in which order."""

import pytest

from support.reference.interleaving import Interleaving, Step
from support.reference.open_timer import OpenBucket, OpenTimer
from support.reference.timer import NO_WAIT, Bench, CallingTask, NamedTask
from wheelproof.clock import ManualClock
from wheelproof.sync import atomic_integer, volatile
from wheelproof.timer import DelayQueue, SystemTimer, TimerTaskEntry, TimingWheel
from wheelproof.units import Millis

_TAKE_LIST = Step("TimerTaskList.monitor", "__enter__")
_IDLE = -1


def _wheel(*, tick_ms: int, wheel_size: int) -> TimingWheel:
    return TimingWheel(
        tick_ms=tick_ms,
        wheel_size=wheel_size,
        start_ms=0,
        task_counter=atomic_integer(0, "counter"),
        queue=DelayQueue(ManualClock()),
    )


@pytest.mark.repeats("z-pointer")
@pytest.mark.parametrize(("time_ms", "clock_ms"), [(0, 0), (9, 0), (10, 10), (19, 10), (57, 50)])
def test_rule_1_4_the_wheel_clock_moves_by_whole_ticks(time_ms: int, clock_ms: int) -> None:
    wheel = _wheel(tick_ms=10, wheel_size=4)
    wheel.advance_clock(Millis(time_ms))
    assert wheel.current_time_ms == clock_ms


def test_rule_1_4_the_wheel_clock_never_goes_back() -> None:
    wheel = _wheel(tick_ms=10, wheel_size=4)
    wheel.advance_clock(Millis(50))
    wheel.advance_clock(Millis(20))
    assert wheel.current_time_ms == 50


@pytest.mark.parametrize(("time_ms", "overflow_ms"), [(39, 0), (79, 40), (80, 80), (125, 120)])
def test_rule_1_4_the_overflow_wheel_moves_by_whole_ticks_of_its_own(
    time_ms: int, overflow_ms: int
) -> None:
    wheel = _wheel(tick_ms=10, wheel_size=4)
    task = NamedTask("task", 0, [])
    entry = TimerTaskEntry(task, Millis(100))
    task.set_timer_task_entry(entry)
    wheel.add(entry)
    wheel.advance_clock(Millis(time_ms))
    assert wheel.overflow_wheel is not None
    assert wheel.overflow_wheel.current_time_ms == overflow_ms


def test_rule_1_5_an_advance_that_takes_nothing_changes_nothing() -> None:
    bench = Bench(OpenTimer)
    timer = bench.timer
    assert isinstance(timer, OpenTimer)
    bench.add("task", 5)
    bench.clock.advance_to(4)
    assert not timer.advance_clock(NO_WAIT)
    assert timer.wheel_clock_ms() == 0
    assert timer.size() == 1


@pytest.mark.repeats("timer-advance-answer")
def test_rule_1_5_true_means_a_bucket_was_taken_even_if_all_in_it_was_cancelled() -> None:
    bench = Bench()
    assert bench.add("task", 5).cancel()
    bench.clock.advance_to(5)
    assert bench.timer.advance_clock(NO_WAIT)
    assert bench.run_submitted() == []
    assert not bench.timer.advance_clock(NO_WAIT)


@pytest.mark.repeats("timer-drains")
def test_rule_1_5_one_advance_takes_every_bucket_that_is_due() -> None:
    bench = Bench(wheel_size=4)
    for delay_ms in (1, 2, 7, 30, 31, 100):
        bench.add(str(delay_ms), delay_ms)
    assert bench.advance_to(30) == ["1", "2", "7", "30"]


@pytest.mark.repeats("timer-advance-within")
def test_rule_1_5_the_timeout_is_a_longest_wait_and_not_how_far_to_advance() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        bench.add("soon", 3)
        bench.add("later", 50)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(Millis(100)))
        assert reaper.until(Step("DelayQueue.available", "wait"))
        reaper.resume()
        bench.clock.advance_to(3)
        reaper.join()
    assert bench.run_submitted() == ["soon"]


def test_rule_1_5_the_wait_ends_for_a_bucket_that_is_offered_meanwhile() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        bench.add("later", 50)
        bench.clock.advance_to(10)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(Millis(30)))
        assert reaper.until(Step("DelayQueue.available", "wait"))
        reaper.resume()
        bench.add("now", 0)
        reaper.join()
    assert bench.run_submitted() == ["now"]


def test_rule_1_5_the_wait_ends_without_a_bucket_when_the_timeout_is_over() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        bench.add("later", 50)
        answers: list[bool] = []
        reaper = interleaving.run(lambda: answers.append(bench.timer.advance_clock(Millis(30))))
        wait = Step("DelayQueue.available", "wait")
        assert reaper.until(wait)
        reaper.resume(wait)
        bench.clock.advance_to(30)
        reaper.join()
    assert answers == [False]


@pytest.mark.repeats("list-flush-idle")
def test_rule_1_6_a_flush_holds_the_monitor_until_the_bucket_is_idle() -> None:
    with Interleaving() as interleaving:
        bucket = OpenBucket(atomic_integer(0, "counter"))
        bucket.set_expiration(Millis(7))
        pause = volatile(None, "pause")
        flushed: list[TimerTaskEntry] = []

        def action(entry: TimerTaskEntry) -> None:
            pause.get()
            flushed.append(entry)

        old, new = (TimerTaskEntry(NamedTask("task", 0, []), Millis(7)) for _ in range(2))
        bucket.add(old)
        flusher = interleaving.run(lambda: bucket.flush(action))
        assert flusher.until(Step("pause", "get"))
        adder = interleaving.run(lambda: bucket.add(new))
        assert adder.until(_TAKE_LIST)
        adder.resume()
        flusher.finish()
        adder.join()
    assert flushed == [old]
    assert bucket.entries() == [new]
    assert bucket.get_expiration() == _IDLE


@pytest.mark.repeats("list-flush")
def test_rule_1_6_a_flush_hands_each_entry_on_unlinked_from_the_head() -> None:
    counter = atomic_integer(0, "counter")
    bucket = OpenBucket(counter)
    entries = [TimerTaskEntry(NamedTask("task", 0, []), Millis(7)) for _ in range(3)]
    for entry in entries:
        bucket.add(entry)
    seen: list[tuple[TimerTaskEntry, object, int]] = []
    bucket.flush(lambda entry: seen.append((entry, entry.list.get(), counter.get())))
    assert seen == [(entry, None, left) for entry, left in zip(entries, (2, 1, 0), strict=True)]


@pytest.mark.repeats("vl-migrates", "wheel-reinserted")
def test_rule_1_6_an_advance_cascades_through_all_levels_at_once() -> None:
    bench = Bench(wheel_size=2)
    bench.add("far", 1_000)
    assert bench.advance_to(999) == []
    assert bench.advance_to(1_000) == ["far"]
    assert bench.timer.size() == 0


@pytest.mark.repeats("timer-one-queue")
def test_rule_1_9_buckets_are_taken_in_the_order_of_their_expirations() -> None:
    bench = Bench(wheel_size=4)
    for delay_ms in (70, 3, 12, 1, 13, 2):
        bench.add(str(delay_ms), delay_ms)
    assert bench.advance_to(100) == ["1", "2", "3", "12", "13", "70"]


@pytest.mark.repeats("vl-any-order")
def test_rule_1_9_a_bucket_runs_in_the_order_of_insertion_and_not_of_deadlines() -> None:
    bench = Bench(tick_ms=10)
    bench.add("29", 29)
    bench.add("21", 21)
    assert bench.advance_to(20) == ["29", "21"]


def test_rule_1_9_what_comes_from_above_lands_behind_what_was_added_directly() -> None:
    bench = Bench(wheel_size=4)
    bench.add("from above", 5)
    bench.add("two", 2)
    bench.advance_to(2)
    bench.add("direct", 3)
    assert bench.advance_to(5) == ["direct", "from above"]


def test_rule_1_9_an_exception_in_a_task_does_not_keep_the_next_one_from_running() -> None:
    clock = ManualClock(5)
    timer = SystemTimer("failing", clock=clock)
    fired: list[str] = []

    def fail() -> None:
        raise ArithmeticError("the task fails on purpose")

    timer.add(CallingTask(0, fail))
    timer.add(NamedTask("next", 0, fired))
    timer.close()
    assert fired == ["next"]
