"""The timer in its environment: moving clocks, waits, the reaper, and the executor's thread."""

from collections.abc import Callable
from functools import partial

from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.errors import RejectedExecutionError, TimerClosedError
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, SystemTimerReaper, Timer, TimerTask
from wheelproof.units import Millis
from wheelproof_explore.program import (
    Action,
    Program,
    Scenario,
    Settings,
    TimeMode,
)
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.timer.entry_migration import IdleTask
from wheelproof_lab.worlds.timer.system_timer import TimerBench

_LAZY = Settings(time=TimeMode.LAZY)
_LATER_MS = 10


class _ExecutorTask(TimerTask):
    """A task that counts its runs in a cell, since it runs on the executor's thread."""

    __slots__ = ("runs",)

    def __init__(self, delay_ms: int) -> None:
        super().__init__(delay_ms)
        self.runs = sync.atomic_integer(0, "runs")

    def run(self) -> None:
        self.runs.add_and_get(1)


class _Closer(TimerTask):
    """A task that closes its own timer."""

    __slots__ = ("_timer",)

    def __init__(self, timer: SystemTimer) -> None:
        super().__init__(0)
        self._timer = timer

    def run(self) -> None:
        self._timer.close()


def cancel_advance_and_add() -> Scenario:
    """A task comes down from the overflow wheel, is cancelled, and another one is added."""
    bench = TimerBench(SystemTimer)
    task = bench.task(3)
    bench.at(2)
    return Scenario(
        threads={
            "cancel": task.cancel_and_count,
            "advance": bench.advance,
            "add": partial(bench.add, IdleTask(1)),
        },
        check=bench.check,
    )


def two_adds_against_advance() -> Scenario:
    """Two tasks are added, one of them beyond the lowest wheel, while the clock is advanced."""
    bench = TimerBench(SystemTimer)
    bench.task(1)
    bench.at(1)
    return Scenario(
        threads={
            "add near": partial(bench.add, IdleTask(0)),
            "add far": partial(bench.add, IdleTask(2)),
            "advance": bench.advance,
        },
        check=bench.check,
    )


def wait_for_the_clock() -> Scenario:
    """An advance waits for a bucket while the clock moves: it wakes up, or sees the new time."""
    clock, executor, timer = _manual()
    task = IdleTask(1)
    timer.add(task)

    def advance() -> None:
        assert timer.advance_clock(Millis(1)), "nothing was due"

    def check() -> None:
        executor.run_pending()
        assert task.runs == 1, f"ran {task.runs} times"

    return Scenario(threads={"advance": advance, "clock": partial(clock.advance, 1)}, check=check)


def wait_for_an_add() -> Scenario:
    """An advance waits while a task is added and the clock is moved past its deadline."""
    clock, executor, timer = _manual()
    task = IdleTask(1)

    def check() -> None:
        clock.advance(_LATER_MS)
        timer.advance_clock(Millis(0))
        executor.run_pending()
        assert task.runs == 1, f"ran {task.runs} times"
        assert timer.size() == 0, f"{timer.size()} tasks are left"

    def advance() -> None:
        timer.advance_clock(Millis(2))

    return Scenario(
        threads={
            "advance": advance,
            "clock": [partial(clock.advance, 1)] * 2,
            "add": partial(timer.add, task),
        },
        check=check,
    )


def close_against_wait() -> Scenario:
    """A timer is closed while an advance waits: the wait ends."""
    _, _, timer = _manual()

    def advance() -> None:
        try:
            timer.advance_clock(Millis(_LATER_MS))
        except TimerClosedError:
            return

    return Scenario(threads={"advance": advance, "close": timer.close})


def reaper() -> Scenario:
    """A reaper's task becomes due, and the reaper is closed: the reaper's thread ends."""
    clock, executor, timer = _manual()
    task = IdleTask(1)
    reaped = SystemTimerReaper("reaper", timer)

    def use() -> None:
        reaped.add(task)
        clock.advance(1)
        reaped.close()

    def check() -> None:
        executor.run_pending()
        assert task.runs + timer.size() == 1, f"ran {task.runs} times, left {timer.size()}"

    return Scenario(threads={"use": use}, check=check)


class _OnePass(Timer):
    """A timer whose first pass calls `in_a_pass`; the second waits until the timer is closed."""

    def __init__(self) -> None:
        self._closed = sync.volatile(False, "closed")
        self._passes = 0
        self.refused = 0
        self.under_way = sync.volatile(False, "pass under way")
        self.in_a_pass: Callable[[], object] = self.size

    def add(self, timer_task: TimerTask) -> None:
        """Do nothing."""

    def advance_clock(self, timeout_ms: Millis) -> bool:
        """Make one pass."""
        del timeout_ms
        if self._passes:
            sync.await_until(self._closed, bool)
            self.refused += 1
            raise TimerClosedError("closed")
        self._passes += 1
        self.under_way.set(True)
        self.in_a_pass()
        self.under_way.set(False)
        return False

    def size(self) -> int:
        """Return 0."""
        return 0

    def close(self) -> None:
        """End the wait of the second pass."""
        self._closed.set(True)

    def look(self) -> None:
        """Read whether a pass is under way."""
        self.under_way.get()


def closed_in_a_pass(reaping: Callable[[Timer], Action]) -> Scenario:
    """A reaper is closed while its thread makes a pass: the pass is over when close returns.

    `reaping` makes a reaper for a timer, and returns the action that closes the reaper.
    """
    timer = _OnePass()
    close_reaper = reaping(timer)

    def close() -> None:
        close_reaper()
        assert not timer.under_way.get(), "closed, and a pass is under way"
        assert timer.refused == 1, "it stopped before the timer was closed, or went on after that"

    return Scenario(threads={"close": close, "look": timer.look})


def closed_by_a_task(reaping: Callable[[Timer], Action]) -> Scenario:
    """A task closes its reaper on the reaper's own thread, which does not wait for itself."""
    timer = _OnePass()
    timer.in_a_pass = reaping(timer)
    return Scenario(threads={"look": timer.look})


def _reaping(timer: Timer) -> Action:
    return SystemTimerReaper("reaper", timer).close


def executor_against_close() -> Scenario:
    """With the executor's thread: a task submitted before `close` has run when `close` returns."""
    timer = SystemTimer("explored", tick_ms=1, wheel_size=2, start_ms=0)
    first, second = _ExecutorTask(0), _ExecutorTask(0)
    accepted: list[_ExecutorTask] = []

    def add_and_close() -> None:
        timer.add(first)
        timer.close()
        assert first.runs.get() == 1, "closed before the task had run"

    def add() -> None:
        try:
            timer.add(second)
        except RejectedExecutionError:
            return
        accepted.append(second)

    def check() -> None:
        assert second.runs.get() == len(accepted), "accepted and not run, or run and refused"

    return Scenario(threads={"add and close": add_and_close, "add": add}, check=check)


def close_by_a_task() -> Scenario:
    """A task closes its own timer on the executor's thread, which does not wait for itself."""
    timer = SystemTimer("explored", tick_ms=1, wheel_size=2, start_ms=0)
    return Scenario(threads={"add": partial(timer.add, _Closer(timer))})


def _manual() -> tuple[ManualClock, DeferredExecutor, SystemTimer]:
    clock, executor = ManualClock(0), DeferredExecutor()
    timer = SystemTimer(
        "explored", tick_ms=1, wheel_size=2, start_ms=0, clock=clock, executor=executor
    )
    return clock, executor, timer


TIMER_WORLD: tuple[Program, ...] = (
    program("timer-cancel-advance-add", cancel_advance_and_add),
    program("timer-two-adds-against-advance", two_adds_against_advance),
    program("timer-wait-clock", wait_for_the_clock),
    program("timer-wait-add", wait_for_an_add),
    program("timer-wait-close", close_against_wait),
    program("timer-reaper", reaper),
    program("timer-reaper-pass", partial(closed_in_a_pass, _reaping)),
    program("timer-reaper-own", partial(closed_by_a_task, _reaping)),
    # The executor has five seconds to end, which pass only if no other step is possible.
    program("timer-executor-close", executor_against_close, _LAZY),
    program("timer-close-by-task", close_by_a_task),
)
