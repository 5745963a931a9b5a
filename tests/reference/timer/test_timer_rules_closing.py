"""Rule 1.16: what close stops, what it waits for, and what is refused afterwards."""

import threading

import pytest

from support.reference.interleaving import Interleaving, Step
from support.reference.timer import NO_WAIT, Bench, CallingTask, NamedTask, await_event
from wheelproof.clock import ManualClock
from wheelproof.errors import RejectedExecutionError, TimerClosedError
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis


@pytest.mark.repeats("timer-close")
def test_rule_1_16_tasks_still_in_the_wheel_never_run() -> None:
    bench = Bench()
    bench.add("waiting", 5)
    bench.timer.close()
    bench.clock.advance_to(5)
    assert bench.run_submitted() == []
    assert bench.timer.size() == 1


def test_rule_1_16_tasks_submitted_before_still_run() -> None:
    bench = Bench()
    bench.add("due", 0)
    bench.timer.close()
    assert bench.run_submitted() == ["due"]


@pytest.mark.parametrize("delay_ms", [-1, 0, 5, 10**9])
def test_rule_1_16_an_add_after_close_is_refused_whatever_the_delay(delay_ms: int) -> None:
    bench = Bench()
    task = bench.task("late", delay_ms)
    bench.timer.close()
    with pytest.raises(TimerClosedError, match="has been closed; make a new one"):
        bench.timer.add(task)
    assert task.get_timer_task_entry() is None
    assert bench.timer.size() == 0


def test_rule_1_16_an_advance_after_close_is_refused_without_waiting() -> None:
    bench = Bench()
    bench.timer.close()
    with pytest.raises(TimerClosedError):
        bench.timer.advance_clock(Millis(10**9))


def test_rule_1_16_a_refused_use_is_a_rejected_execution() -> None:
    assert issubclass(TimerClosedError, RejectedExecutionError)


def test_rule_1_16_the_second_close_has_no_effect() -> None:
    bench = Bench()
    bench.timer.close()
    bench.timer.close()
    with pytest.raises(TimerClosedError):
        bench.add("late", 0)


def test_rule_1_16_a_waiting_task_can_be_cancelled_after_close() -> None:
    bench = Bench()
    task = bench.add("waiting", 5)
    bench.timer.close()
    assert task.cancel()
    assert bench.timer.size() == 0


def test_rule_1_16_close_ends_an_advance_that_waits() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        bench.add("later", 50)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(Millis(100)))
        assert reaper.until(Step("DelayQueue.available", "wait"))
        reaper.resume()
        bench.timer.close()
        with pytest.raises(TimerClosedError):
            reaper.join()


def test_rule_1_16_close_lets_an_add_under_way_finish_first() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        adder = interleaving.run(lambda: bench.add("under way", 0))
        assert adder.until(Step("TimerTask.monitor", "__enter__"))
        closer = interleaving.run(bench.timer.close)
        assert closer.until(Step("SystemTimer.lock", "__enter__"))
        closer.resume()
        adder.finish()
        closer.join()
    assert bench.run_submitted() == ["under way"]


def test_rule_1_16_close_waits_for_the_task_under_way_and_for_those_behind_it() -> None:
    order: list[str] = []
    begun, released = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        await_event(released)
        order.append("slow")

    with Interleaving() as interleaving:
        timer = SystemTimer("slow", clock=ManualClock())
        timer.add(CallingTask(0, slow))
        timer.add(NamedTask("behind", 0, order))
        await_event(begun)

        def close() -> None:
            timer.close()
            order.append("closed")

        closer = interleaving.run(close)
        assert closer.until(Step("executor-slow.changed", "wait"))
        closer.resume()
        released.set()
        closer.join()
    assert order == ["slow", "behind", "closed"]


def test_rule_1_16_close_from_inside_a_task_does_not_wait_for_that_task() -> None:
    order: list[str] = []
    done = threading.Event()
    timer = SystemTimer("closing", clock=ManualClock())

    def close() -> None:
        timer.close()
        order.append("closed")

    timer.add(CallingTask(0, close))
    timer.add(CallingTask(0, done.set))
    await_event(done)
    assert order == ["closed"]


def test_rule_1_16_a_task_that_adds_another_while_the_timer_closes_is_told_so() -> None:
    bench = Bench()
    late = bench.task("late", 0)
    bench.timer.add(CallingTask(0, lambda: bench.timer.add(late)))
    bench.timer.close()
    with pytest.raises(TimerClosedError):
        bench.run_submitted()
    assert late.get_timer_task_entry() is None


def test_rule_1_16_an_advance_and_a_close_at_once_leave_no_bucket_half_flushed() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        bench.add("first", 1)
        bench.add("second", 1)
        bench.clock.advance_to(1)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(NO_WAIT))
        assert reaper.until(Step("SystemTimer.task_counter", "add_and_get"))
        closer = interleaving.run(bench.timer.close)
        assert closer.until(Step("SystemTimer.lock", "__enter__"))
        closer.resume()
        reaper.finish()
        closer.join()
    assert bench.run_submitted() == ["first", "second"]
