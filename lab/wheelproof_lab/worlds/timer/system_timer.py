"""The whole timer: add, cancel, advance and close at the same time, with an overflow wheel.

The clock stands still while the threads run; tasks are submitted to an executor that keeps them
until the end. Then every task that was not cancelled must run exactly once. TLA+: SystemTimer.
"""

from collections.abc import Iterable
from functools import partial

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.errors import IllegalArgumentError, TimerClosedError
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimingWheel
from wheelproof.units import Millis
from wheelproof_explore.program import PlainField, Program, Scenario
from wheelproof_lab.bugs.timer import BUGS, TimerBug
from wheelproof_lab.worlds.tables import (
    WRONG_NUMBERS,
    Bench,
    pairs_of,
    programs_of,
    scenario_of,
)
from wheelproof_lab.worlds.timer.entry_migration import IdleTask
from wheelproof_spec.base.codec.tables import Row

_LATER_MS = 1_000
_TICK_MS = 1
_WHEEL_SIZE = 2


class StandingClock:
    """A clock whose time changes only outside the threads.

    A reading is not a step, so it adds no interleavings; `ManualClock` reads under a lock.
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


class TimerBench(Bench):
    """A timer with two buckets per level, its clock, its executor, and the tasks of the run."""

    def __init__(self, timer_class: type[SystemTimer]) -> None:
        super().__init__()
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
        self._tasks: list[IdleTask] = []
        self.added: list[IdleTask] = []
        self.rejected: list[IdleTask] = []

    def make(self, delay_ms: int) -> IdleTask:
        """Return a new task."""
        task = IdleTask(delay_ms)
        self._tasks.append(task)
        return task

    def counted(self, delay_ms: int) -> None:
        """Make a task that counts as added, since several threads will add it."""
        self.added.append(self.make(delay_ms))

    def task(self, delay_ms: int) -> IdleTask:
        """Return a task that has been added."""
        task = self.make(delay_ms)
        self.add(task)
        return task

    def hand_in(self, number: int) -> None:
        """Add one of the tasks that were made."""
        self.add(self._tasks[number])

    def add_again(self, number: int) -> None:
        """Add one of the tasks that count as added already."""
        self.timer.add(self._tasks[number])

    def cancel(self, number: int) -> None:
        """Cancel one of the tasks that were made."""
        self._tasks[number].cancel_and_count()

    def look(self, most: int) -> None:
        """Raise unless the size lies between 0 and `most`."""
        size = self.timer.size()
        assert 0 <= size <= most, f"size() = {size}"

    def add(self, task: IdleTask) -> None:
        """Add a task; a closed timer may refuse it."""
        try:
            self.timer.add(task)
        except TimerClosedError:
            self.rejected.append(task)
        else:
            self.added.append(task)

    def advance(self) -> None:
        """Advance, and raise unless every task that was due before has been submitted."""
        due = [task for task in self.added if task.delay_ms <= self.clock.now_ms]
        try:
            self.timer.advance_clock(Millis(0))
        except TimerClosedError:
            return
        for task in due:
            entry = task.get_timer_task_entry()
            # A task that is bound but not linked is being cancelled.
            left = entry is not None and entry.list.get() is not None
            assert not left, f"due at {task.delay_ms} ms, and left behind by an advance"

    def close(self) -> None:
        """Close the timer."""
        self.timer.close()

    def check(self) -> None:
        """Raise unless every task ran once or was cancelled, and nothing is left."""
        self._check_arguments()
        self.clock.now_ms = Millis(_LATER_MS)
        self.timer.advance_clock(Millis(0))
        self.executor.run_pending()
        for task in self.added:
            assert task.runs + task.cancels == 1, (
                f"a task of {task.delay_ms} ms ran {task.runs} times "
                f"and was cancelled {task.cancels} times"
            )
        assert self.timer.size() == 0, f"{self.timer.size()} tasks are left"

    def _check_arguments(self) -> None:
        """Raise unless invalid times, ticks and sizes are refused."""
        made = partial(SystemTimer, "refused", clock=self.clock, executor=self.executor)
        for wrong in WRONG_NUMBERS:
            self.refuses(
                IllegalArgumentError,
                partial(self.timer.advance_clock, wrong),
                partial(made, tick_ms=wrong),
                partial(made, wheel_size=wrong),
                partial(made, start_ms=wrong),
            )

    def check_closed(self) -> None:
        """Raise if an added task ended more than once, or a rejected task ran."""
        self.executor.run_pending()
        for task in self.added:
            assert task.runs + task.cancels <= 1, f"ran {task.runs}, cancelled {task.cancels}"
        for task in self.rejected:
            assert task.runs == 0, "a rejected task ran"

    def at(self, time_ms: int) -> None:
        """Set the clock during the set-up."""
        self.clock.now_ms = Millis(time_ms)


CLOCK_OF_A_WHEEL = (PlainField(owner=TimingWheel, name="_current_time_ms"),)
"""The fields that the timer's read-write lock guards."""


def _build(row: Row, timer_class: type[SystemTimer]) -> Scenario:
    return scenario_of(row, TimerBench(timer_class))


def timer_programs(
    timer_class: type[SystemTimer], bugs: Iterable[TimerBug] = ()
) -> tuple[tuple[Program, ...], tuple[Program, ...]]:
    """Return the programs for a class of timer, and the programs that show the bugs."""
    return programs_of(
        __file__,
        _build,
        timer_class,
        [(bug, bug.timer_class) for bug in bugs],
        table="system_timer.toml",
        plain_fields=CLOCK_OF_A_WHEEL,
    )


SYSTEM_TIMER, FAILING_SYSTEM_TIMER = timer_programs(SystemTimer, BUGS)
PAIRS = pairs_of(__file__, _build, SystemTimer, plain_fields=CLOCK_OF_A_WHEEL)
