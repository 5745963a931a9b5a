"""The timer in its environment: moving clocks, waits, the reaper, and the executor's thread."""

from asyncio import CancelledError
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.errors import RejectedExecutionError, TimerClosedError
from wheelproof.sync import DeferredExecutor
from wheelproof.sync.single_thread_executor import SingleThreadExecutor
from wheelproof.timer import SystemTimer, SystemTimerReaper, Timer, TimerTask
from wheelproof.units import Millis
from wheelproof_explore.program import (
    Action,
    Faults,
    Program,
    Scenario,
    Settings,
    TimeMode,
)
from wheelproof_lab.bugs.timer import BUGS, OneWokenTimer
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


def close_against_two_waits(timer_class: type[SystemTimer]) -> Scenario:
    """A timer is closed while two threads wait in an advance: both waits end."""
    _, _, timer = _manual(timer_class)

    def advance() -> None:
        with suppress(TimerClosedError):
            timer.advance_clock(Millis(_LATER_MS))

    threads = {"advance": advance, "advance too": advance, "close": timer.close}
    return Scenario(threads=threads)


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

    def advance_clock(self, timeout_ms: int) -> bool:
        """Make one pass."""
        del timeout_ms
        if self._passes:
            sync.await_until(self._closed, bool)
            self.refused += 1
            raise TimerClosedError("closed")
        self._passes += 1
        self.under_way.set(True)
        try:
            self.in_a_pass()
        finally:
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


def closed_in_a_pass(
    reaping: Callable[[Timer], Action], in_a_pass: Action | None = None
) -> Scenario:
    """A reaper is closed while its thread makes a pass: the pass is over when close returns.

    `reaping` makes a reaper for a timer, and returns the action that closes the reaper; `in_a_pass`
    is what the first pass does, if that is not nothing.
    """
    timer = _OnePass()
    if in_a_pass is not None:
        timer.in_a_pass = in_a_pass
    close_reaper = reaping(timer)

    def close() -> None:
        close_reaper()
        assert not timer.under_way.get(), "closed, and a pass is under way"
        assert timer.refused == 1, "it stopped before the timer was closed, or went on after that"

    return Scenario(threads={"close": close, "look": timer.look})


def failed_in_a_pass(reaping: Callable[[Timer], Action]) -> Scenario:
    """A pass of a reaper raises: the reaper makes the next one, and ends once it is closed."""
    fail = partial(Faults().may_fail, "advance_clock", RejectedExecutionError, CancelledError)
    return closed_in_a_pass(reaping, fail)


def closed_by_a_task(reaping: Callable[[Timer], Action]) -> Scenario:
    """A task closes its reaper on the reaper's own thread, which does not wait for itself."""
    timer = _OnePass()
    timer.in_a_pass = reaping(timer)
    return Scenario(threads={"look": timer.look})


def _reaping(timer: Timer, reaper_class: type[SystemTimerReaper] = SystemTimerReaper) -> Action:
    return reaper_class("reaper", timer).close


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


class _RaisingTask(_ExecutorTask):
    """A task that raises now and then, once it has run."""

    __slots__ = ("_faults",)

    def __init__(self, faults: Faults) -> None:
        super().__init__(0)
        self._faults = faults

    def run(self) -> None:
        super().run()
        self._faults.may_fail("run", ValueError, SystemExit, CancelledError)


class _ThreadThatMayFail:
    """A thread that cannot be started now and then."""

    def __init__(self, thread: sync.Thread, faults: Faults) -> None:
        self.start = faults.wrap(thread.start, RuntimeError, name="start")
        self.join = thread.join
        self.interrupt = thread.interrupt
        self.is_current = thread.is_current


class _ShortOfThreads:
    """A runtime whose threads cannot be started now and then."""

    def __init__(self, runtime: sync.Runtime, faults: Faults) -> None:
        self._threads = runtime.thread
        self._faults = faults
        self.monitor = runtime.monitor
        self.lock = runtime.lock
        self.condition = runtime.condition
        self.read_write_lock = runtime.read_write_lock
        self.volatile = runtime.volatile
        self.atomic_reference = runtime.atomic_reference
        self.atomic_integer = runtime.atomic_integer
        self.monotonic_ms = runtime.monotonic_ms

    def thread(self, target: Action, name: str) -> sync.Thread:
        """Return a new thread."""
        return _ThreadThatMayFail(self._threads(target, name), self._faults)


def executor_with_faults(executor_class: type[SingleThreadExecutor]) -> Scenario:
    """A task raises, or the executor's thread does not start: what the timer accepted runs."""
    faults = Faults()
    runtime = _ShortOfThreads(sync.current_runtime(), faults)
    timer = SystemTimer(
        "explored",
        tick_ms=1,
        wheel_size=2,
        start_ms=0,
        executor=executor_class(runtime, "executor"),
    )
    tasks = [_RaisingTask(faults), _RaisingTask(faults)]
    accepted: list[_RaisingTask] = []

    def add_both_and_close() -> None:
        for task in tasks:
            try:
                timer.add(task)
            except RuntimeError:
                continue
            accepted.append(task)
        timer.close()

    def check() -> None:
        for task in tasks:
            runs = task.runs.get()
            assert runs == accepted.count(task), f"ran {runs} times, accepted is {task in accepted}"

    return Scenario(threads={"add and close": add_both_and_close}, check=check)


def close_by_a_task() -> Scenario:
    """A task closes its own timer on the executor's thread, which does not wait for itself."""
    timer = SystemTimer("explored", tick_ms=1, wheel_size=2, start_ms=0)
    return Scenario(threads={"add": partial(timer.add, _Closer(timer))})


def _manual(
    timer_class: type[SystemTimer] = SystemTimer,
) -> tuple[ManualClock, DeferredExecutor, SystemTimer]:
    clock, executor = ManualClock(0), DeferredExecutor()
    timer = timer_class(
        "explored", tick_ms=1, wheel_size=2, start_ms=0, clock=clock, executor=executor
    )
    return clock, executor, timer


TIMER_WORLD: tuple[Program, ...] = (
    program("timer-cancel-advance-add", cancel_advance_and_add),
    program("timer-two-adds-against-advance", two_adds_against_advance),
    program("timer-wait-clock", wait_for_the_clock),
    program("timer-wait-add", wait_for_an_add),
    program("timer-wait-close", close_against_wait),
    program("timer-two-waits-close", partial(close_against_two_waits, SystemTimer)),
    program("timer-reaper", reaper),
    program("timer-reaper-pass", partial(closed_in_a_pass, _reaping)),
    program("timer-reaper-own", partial(closed_by_a_task, _reaping)),
    # The executor has five seconds to end, which pass only if no other step is possible.
    program("timer-executor-close", executor_against_close, _LAZY),
    program("timer-close-by-task", close_by_a_task),
)

WORLD_FAULTS: tuple[Program, ...] = (
    program("fault/timer-reaper-pass", partial(failed_in_a_pass, _reaping)),
    program("fault/timer-executor", partial(executor_with_faults, SingleThreadExecutor), _LAZY),
)
"""Programs in an environment of which one call may fail; they have to pass."""
FAILING_WORLD: tuple[Program, ...] = (
    program("bug/close-wakes-one", partial(close_against_two_waits, OneWokenTimer)),
    *(
        program(
            f"bug/{bug.id}",
            partial(failed_in_a_pass, partial(_reaping, reaper_class=bug.reaper_class)),
        )
        for bug in BUGS
        if bug.reaper_class is not SystemTimerReaper
    ),
    *(
        program(f"bug/{bug.id}", partial(executor_with_faults, bug.executor_class), _LAZY)
        for bug in BUGS
        if bug.executor_class is not SingleThreadExecutor
    ),
)
"""Programs that show known bugs of a close, of a reaper and of an executor."""
