"""SystemTimerReaper: a timer that advances by itself, and how it ends.

The real clock runs here only where nothing has to be waited for by it.
"""

import asyncio
import logging
import subprocess
import sys
import threading

import pytest

from support.reference.interleaving import Interleaving, Step
from support.reference.timer import (
    NO_WAIT,
    Bench,
    CallingTask,
    FailingTimer,
    NamedTask,
    await_event,
)
from wheelproof.clock import ManualClock
from wheelproof.errors import (
    IllegalArgumentError,
    RejectedExecutionError,
    ThreadInterruptedError,
    TimerClosedError,
)
from wheelproof.timer import SystemTimer, SystemTimerReaper, Timer, TimerTask

_NAME = "reaper under test"


def _threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


def _reaper() -> SystemTimerReaper:
    return SystemTimerReaper(_NAME, SystemTimer("reaped"))


@pytest.mark.repeats("vl-four-routines", "z-wheel-thread")
def test_tasks_run_without_anybody_advancing() -> None:
    reaper = _reaper()
    done = threading.Event()
    reaper.add(CallingTask(0, done.set))
    await_event(done)
    reaper.close()


@pytest.mark.repeats("vl-expiry-is-a-call")
def test_tasks_run_when_a_manual_clock_comes_to_them() -> None:
    clock = ManualClock()
    reaper = SystemTimerReaper(_NAME, SystemTimer("reaped", clock=clock))
    done = threading.Event()
    reaper.add(CallingTask(10**9, done.set))
    assert reaper.size() == 1
    clock.advance(10**9)
    await_event(done)
    assert reaper.size() == 0
    reaper.close()


def test_close_ends_the_threads_of_the_reaper_and_of_its_timer() -> None:
    reaper = _reaper()
    done = threading.Event()
    reaper.add(CallingTask(0, done.set))
    await_event(done)
    assert _NAME in _threads()
    executor = next(one for one in threading.enumerate() if one.name == "executor-reaped")
    reaper.close()
    assert _NAME not in _threads()
    executor.join()


def test_close_leaves_what_waits_and_refuses_what_comes() -> None:
    reaper = _reaper()
    fired: list[str] = []
    reaper.add(NamedTask("waiting", 10**9, fired))
    reaper.close()
    assert reaper.size() == 1
    with pytest.raises(TimerClosedError):
        reaper.add(NamedTask("late", 0, fired))
    assert fired == []


def test_the_second_close_has_no_effect() -> None:
    reaper = _reaper()
    reaper.close()
    reaper.close()
    assert _NAME not in _threads()


def test_close_from_inside_a_task_ends_the_thread() -> None:
    reaper = _reaper()
    closed = threading.Event()

    def close() -> None:
        reaper.close()
        closed.set()

    reaper.add(CallingTask(0, close))
    await_event(closed)
    assert _NAME not in _threads()


def test_the_timer_closed_underneath_ends_the_thread() -> None:
    timer = SystemTimer("reaped")
    reaper = SystemTimerReaper(_NAME, timer)
    timer.close()
    reaper.close()
    assert _NAME not in _threads()
    with pytest.raises(TimerClosedError):
        reaper.add(NamedTask("late", 0, []))


@pytest.mark.repeats("reaper-alone")
def test_nobody_else_may_advance_the_clock() -> None:
    reaper = _reaper()
    with pytest.raises(IllegalArgumentError, match="advances its timer by itself"):
        reaper.advance_clock(NO_WAIT)
    reaper.close()


def test_close_waits_for_the_pass_under_way() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        bench.add("due", 1)
        bench.clock.advance_to(1)
        # The reaper's own thread is not stopped by the interleaving; whoever advances beside it is.
        passing = interleaving.run(lambda: bench.timer.advance_clock(NO_WAIT))
        assert passing.until(Step("SystemTimer.task_counter", "add_and_get"))
        reaper = SystemTimerReaper(_NAME, bench.timer)
        closer = interleaving.run(reaper.close)
        assert closer.until(Step("SystemTimer.lock", "__enter__"))
        closer.resume()
        passing.finish()
        closer.join()
    assert _NAME not in _threads()
    assert bench.run_submitted() == ["due"]


class _TellingTimer(Timer):
    """Tells whether the thread that advances it was there when it was closed."""

    def __init__(self) -> None:
        self._timer = SystemTimer("told")
        self.closed_beside: list[bool] = []

    def add(self, timer_task: TimerTask) -> None:
        self._timer.add(timer_task)

    def advance_clock(self, timeout_ms: int) -> bool:
        return self._timer.advance_clock(timeout_ms)

    def size(self) -> int:
        return self._timer.size()

    def close(self) -> None:
        self.closed_beside.append(_NAME in _threads())
        self._timer.close()


@pytest.mark.repeats("end-order")
def test_rule_2_11_the_timer_is_closed_which_ends_its_reaper() -> None:
    timer = _TellingTimer()
    reaper = SystemTimerReaper(_NAME, timer)
    reaper.close()
    assert timer.closed_beside == [True]
    assert _NAME not in _threads()


@pytest.mark.parametrize(
    "error",
    [
        RejectedExecutionError("refused"),
        ThreadInterruptedError(),
        MemoryError(),
        SystemExit(),
        asyncio.CancelledError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_error_of_an_advance_ends_the_reaper(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()
    with caplog.at_level(logging.ERROR, logger="wheelproof"):
        reaper = SystemTimerReaper(_NAME, FailingTimer(SystemTimer("reaped"), error))
        reaper.add(CallingTask(0, done.set))
        await_event(done)
    reaper.close()
    assert _NAME not in _threads()
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is error


_UNCLOSED = """
import threading
from wheelproof.timer import SystemTimer, SystemTimerReaper, TimerTask

ran = threading.Event()

class Task(TimerTask):
    def run(self):
        ran.set()

SystemTimerReaper("never closed", SystemTimer("neither")).add(Task(0))
assert ran.wait(120)
print(*sorted(one.name for one in threading.enumerate() if one.daemon), sep=", ")
"""


@pytest.mark.repeats("end-daemon")
def test_rule_1_16_a_process_ends_though_nobody_has_closed_its_timer() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _UNCLOSED], capture_output=True, text=True, timeout=250, check=True
    )
    assert ended.stdout == "executor-neither, never closed\n"
