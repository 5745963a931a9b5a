"""The whole timer: add, cancel, advance and close at the same time, with an overflow wheel.

The clock stands still while the threads run; tasks are submitted to an executor that keeps them
until the end. Then everything that was not cancelled has to run exactly once. TLA+: SystemTimer.
"""

from collections.abc import Callable, Mapping
from functools import partial

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.errors import TimerClosedError
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimingWheel
from wheelproof.units import Millis
from wheelproof_spec.components.timer.programs.entry_migration import IdleTask
from wheelproof_spec.engines.explore.program import Body, PlainField, Program, Scenario
from wheelproof_spec.engines.explore.programs.making import discarding, program

_LATER_MS = 1_000
_TICK_MS = 1
_WHEEL_SIZE = 2


class StandingClock:
    """A clock that shows one time until it is told another, outside the threads.

    Reading it is no step, so that it adds no interleavings; `ManualClock` reads under a lock.
    """

    def __init__(self) -> None:
        self.now_ms = Millis(0)

    def hi_res_clock_ms(self) -> Millis:
        """Return the time."""
        return self.now_ms

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """Wait to be notified: the time does not change."""
        del lock, deadline_ms
        condition.wait()


class Bench:
    """A timer of two buckets a level, its clock and executor, and what was done with it."""

    def __init__(self, timer_class: type[SystemTimer]) -> None:
        self.clock = StandingClock()
        clock: Clock = self.clock
        self.executor = DeferredExecutor()
        self.timer = timer_class(
            "explored",
            tick_ms=_TICK_MS,
            wheel_size=_WHEEL_SIZE,
            start_ms=0,
            clock=clock,
            executor=self.executor,
        )
        self.added: list[IdleTask] = []
        self.rejected: list[IdleTask] = []

    def task(self, delay_ms: int) -> IdleTask:
        """Return a task that has been added."""
        task = IdleTask(delay_ms)
        self.add(task)
        return task

    def add(self, task: IdleTask) -> None:
        """Add a task; a closed timer may refuse it."""
        try:
            self.timer.add(task)
        except TimerClosedError:
            self.rejected.append(task)
        else:
            self.added.append(task)

    def advance(self) -> None:
        """Advance, and see to it that what was due before has been submitted."""
        due = [task for task in self.added if task.delay_ms <= self.clock.now_ms]
        try:
            self.timer.advance_clock(Millis(0))
        except TimerClosedError:
            return
        for task in due:
            entry = task.get_timer_task_entry()
            # Bound but unlinked is a task that is being cancelled.
            left = entry is not None and entry.list.get() is not None
            assert not left, f"due at {task.delay_ms} ms, and left behind by an advance"

    def close(self) -> None:
        """Close the timer."""
        self.timer.close()

    def check(self) -> None:
        """Raise unless every task ran once or was cancelled, and nothing is left."""
        self.clock.now_ms = Millis(_LATER_MS)
        self.timer.advance_clock(Millis(0))
        self.executor.run_pending()
        for task in self.added:
            assert task.runs + task.cancels == 1, (
                f"a task of {task.delay_ms} ms ran {task.runs} times "
                f"and was cancelled {task.cancels} times"
            )
        assert self.timer.size() == 0, f"{self.timer.size()} tasks are left"

    def check_closed(self) -> None:
        """Raise unless the timer is closed and no task ran more than once."""
        self.executor.run_pending()
        for task in self.added:
            assert task.runs + task.cancels <= 1, f"ran {task.runs}, cancelled {task.cancels}"
        for task in self.rejected:
            assert task.runs == 0, "a rejected task ran"

    def at(self, time_ms: int) -> None:
        """Set the clock, in set-up."""
        self.clock.now_ms = Millis(time_ms)


def add_against_advance(timer_class: type[SystemTimer]) -> Scenario:
    """A task is added to a bucket that is due while the clock is advanced."""
    bench = Bench(timer_class)
    bench.task(1)
    bench.at(1)
    return _scenario(bench, {"add": partial(bench.add, IdleTask(0)), "advance": bench.advance})


def add_then_advance(timer_class: type[SystemTimer]) -> Scenario:
    """One thread adds and advances while another one advances: what it added is not left behind."""
    bench = Bench(timer_class)
    bench.task(1)
    bench.at(1)

    add_and_advance = [discarding(partial(bench.task, 0)), bench.advance]
    return _scenario(bench, {"advance": [bench.advance], "add and advance": add_and_advance})


def two_adds_and_advance(timer_class: type[SystemTimer]) -> Scenario:
    """One adder shares a bucket with another, which has not yet offered it, and then advances."""
    bench = Bench(timer_class)
    bench.at(1)

    add_and_advance = [discarding(partial(bench.task, 0)), bench.advance]
    return _scenario(
        bench, {"add": [partial(bench.add, IdleTask(0))], "add and advance": add_and_advance}
    )


def cancel_against_advance(timer_class: type[SystemTimer]) -> Scenario:
    """A due task is cancelled while the clock is advanced."""
    bench = Bench(timer_class)
    task = bench.task(1)
    bench.at(1)
    return _scenario(bench, {"cancel": task.cancel_and_count, "advance": bench.advance})


def cancel_against_cascade(timer_class: type[SystemTimer]) -> Scenario:
    """A task comes down from the overflow wheel while it is cancelled."""
    bench = Bench(timer_class)
    task = bench.task(3)
    bench.at(2)
    return _scenario(bench, {"cancel": task.cancel_and_count, "advance": bench.advance})


def add_again_against_cascade(timer_class: type[SystemTimer]) -> Scenario:
    """A task comes down from the overflow wheel while it is added again."""
    bench = Bench(timer_class)
    task = bench.task(3)
    bench.at(2)
    return _scenario(bench, {"add": partial(bench.timer.add, task), "advance": bench.advance})


def same_task_twice(timer_class: type[SystemTimer]) -> Scenario:
    """Two threads add the same task."""
    bench = Bench(timer_class)
    task = IdleTask(1)
    bench.added.append(task)
    add = partial(bench.timer.add, task)
    return _scenario(bench, {"add 1": add, "add 2": add})


def two_overflowing_adds(timer_class: type[SystemTimer]) -> Scenario:
    """Two threads add tasks that lie beyond the lowest wheel when there is no other yet."""
    bench = Bench(timer_class)
    return _scenario(
        bench,
        {"add 1": partial(bench.add, IdleTask(2)), "add 2": partial(bench.add, IdleTask(3))},
    )


def cancel_against_add(timer_class: type[SystemTimer]) -> Scenario:
    """A task that is due at once is cancelled while it is being added."""
    bench = Bench(timer_class)
    task = IdleTask(0)
    bench.added.append(task)
    bench.task(1)

    def cancel_until_told() -> None:
        task.cancel_and_count()

    return _scenario(bench, {"add": partial(bench.timer.add, task), "cancel": cancel_until_told})


def two_advances(timer_class: type[SystemTimer]) -> Scenario:
    """Two threads advance a timer in which two buckets are due."""
    bench = Bench(timer_class)
    bench.task(1)
    bench.task(3)
    bench.at(3)
    return _scenario(bench, {"advance 1": bench.advance, "advance 2": bench.advance})


def close_against_add(timer_class: type[SystemTimer]) -> Scenario:
    """A timer is closed while one thread adds and another one advances."""
    bench = Bench(timer_class)
    bench.task(1)
    bench.at(1)
    return Scenario(
        threads={
            "add": partial(bench.add, IdleTask(0)),
            "advance": bench.advance,
            "close": bench.close,
        },
        check=bench.check_closed,
    )


def size_against_advance(timer_class: type[SystemTimer]) -> Scenario:
    """The size is read while a task is added and the clock is advanced: 0, 1 or 2."""
    bench = Bench(timer_class)
    bench.task(1)
    bench.at(1)

    def look() -> None:
        size = bench.timer.size()
        assert 0 <= size <= 2, f"size() = {size}"

    return _scenario(
        bench,
        {"add": partial(bench.add, IdleTask(1)), "advance": bench.advance, "size": look},
    )


def _scenario(bench: Bench, threads: Mapping[str, Body]) -> Scenario:
    return Scenario(threads=threads, check=bench.check)


TimerScenario = Callable[[type[SystemTimer]], Scenario]

TIMER_BUILDERS: Mapping[str, TimerScenario] = {
    "timer-add-advance": add_against_advance,
    "timer-add-then-advance": add_then_advance,
    "timer-two-adds-advance": two_adds_and_advance,
    "timer-cancel-advance": cancel_against_advance,
    "timer-cancel-cascade": cancel_against_cascade,
    "timer-add-again-cascade": add_again_against_cascade,
    "timer-same-task-twice": same_task_twice,
    "timer-overflow-adds": two_overflowing_adds,
    "timer-cancel-add": cancel_against_add,
    "timer-two-advances": two_advances,
    "timer-close": close_against_add,
    "timer-size": size_against_advance,
}

CLOCK_OF_A_WHEEL = (PlainField(owner=TimingWheel, name="_current_time_ms"),)
"""What the timer's read-write lock guards."""


def timer_program(name: str, build: TimerScenario, timer: type[SystemTimer]) -> Program:
    """Return the program in which `timer` is the class of the timer."""
    return program(name, partial(build, timer), plain_fields=CLOCK_OF_A_WHEEL)


SYSTEM_TIMER: tuple[Program, ...] = tuple(
    timer_program(name, build, SystemTimer) for name, build in TIMER_BUILDERS.items()
)
