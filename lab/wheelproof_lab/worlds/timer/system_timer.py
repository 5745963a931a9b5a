"""The whole timer: add, cancel, advance and close at the same time, with an overflow wheel.

The clock stands still while the threads run; tasks are submitted to an executor that keeps them
until the end. Then every task that was not cancelled must run exactly once. TLA+: SystemTimer.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.errors import (
    IllegalArgumentError,
    RejectedExecutionError,
    TimerClosedError,
)
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimingWheel
from wheelproof.timer.delay_queue import DelayQueue
from wheelproof.units import MAX_MILLIS, Millis
from wheelproof_explore.program import Faults, PlainField, Program, Scenario
from wheelproof_lab.bugs.timer import BUGS, TimerBug
from wheelproof_lab.worlds.tables import (
    WRONG_NUMBERS,
    Bench,
    Pairs,
    ProgramRow,
    act,
    failing_with_faults,
    faults_of,
    pairs_of,
    programs_of,
    scenario_of,
)
from wheelproof_lab.worlds.timer.entry_migration import IdleTask

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


class _FaultyExecutor(DeferredExecutor):
    """An executor that refuses a task now and then."""

    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    def submit(self, task: Callable[[], None]) -> None:
        """Queue `task`, or refuse it."""
        self._faults.may_fail("submit", RejectedExecutionError)
        super().submit(task)


class TimerBench(Bench):
    """A timer with two buckets per level, its clock, its executor, and the tasks of the run."""

    def __init__(self, timer_class: type[SystemTimer], faults: Faults | None = None) -> None:
        super().__init__()
        self.clock = StandingClock()
        clock: Clock = self.clock
        self.executor = DeferredExecutor() if faults is None else _FaultyExecutor(faults)
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
        self.refused: list[IdleTask] = []
        """Tasks of which one of several adds was refused: they need not run."""

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
        try:
            self.timer.add(self._tasks[number])
        except RejectedExecutionError:
            self.refused.append(self._tasks[number])

    def cancel(self, number: int) -> None:
        """Cancel one of the tasks that were made."""
        self._tasks[number].cancel_and_count()

    def look(self, most: int) -> None:
        """Raise unless the size lies between 0 and `most`."""
        size = self.timer.size()
        assert 0 <= size <= most, f"size() = {size}"

    def add(self, task: IdleTask) -> None:
        """Add a task; a closed timer may refuse it, and its executor."""
        try:
            self.timer.add(task)
        except RejectedExecutionError:
            self.rejected.append(task)
        else:
            self.added.append(task)

    def advance(self) -> None:
        """Advance, and raise unless every task that was due before has been submitted."""
        due = [task for task in self.added if task.delay_ms <= self.clock.now_ms]
        try:
            self._advance_over_a_refusal()
        except TimerClosedError:
            return
        for task in due:
            entry = task.get_timer_task_entry()
            # A task that is bound but not linked is being cancelled.
            left = entry is not None and entry.list.get() is not None
            assert not left, f"due at {task.delay_ms} ms, and left behind by an advance"

    def _advance_over_a_refusal(self) -> None:
        """Advance; what the executor has refused is the first task of the next advance."""
        try:
            self.timer.advance_clock(Millis(0))
        except TimerClosedError:
            raise
        except RejectedExecutionError:
            self.timer.advance_clock(Millis(0))

    def close(self) -> None:
        """Close the timer; raise unless it is of no use afterwards."""
        self.timer.close()
        late = partial(self.timer.add, IdleTask(0)), partial(self.timer.advance_clock, 0)
        self.refuses(TimerClosedError, *late)

    def check(self) -> None:
        """Raise unless every task ran once or was cancelled, and nothing is left."""
        self.misuse_alone()
        self.clock.now_ms = Millis(_LATER_MS)
        self.timer.advance_clock(Millis(0))
        self.executor.run_pending()
        for task in self.added:
            ends = task.runs + task.cancels
            assert ends == 1 or (ends == 0 and task in self.refused), (
                f"a task of {task.delay_ms} ms ran {task.runs} times "
                f"and was cancelled {task.cancels} times"
            )
        for task in self.rejected:
            assert task.runs == 0, "a rejected task ran"
        assert self.timer.size() == 0, f"{self.timer.size()} tasks are left"

    def misuse(self) -> None:
        """Raise unless invalid times, ticks, sizes and delays are refused."""
        made = partial(SystemTimer, "refused", clock=self.clock, executor=self.executor)
        early = partial(made, start_ms=self.clock.now_ms + 1)
        not_numbers = (partial(IdleTask, wrong) for wrong in WRONG_NUMBERS[1:])
        too_long = (partial(IdleTask, sign * (MAX_MILLIS + 1)) for sign in (1, -1))
        self.refuses(IllegalArgumentError, early, *not_numbers, *too_long)
        wheel = partial(
            TimingWheel,
            tick_ms=_TICK_MS,
            wheel_size=_WHEEL_SIZE,
            start_ms=0,
            task_counter=sync.atomic_integer(0, "no tasks"),
            queue=DelayQueue(self.clock),
        )
        for wrong in WRONG_NUMBERS:
            self.refuses(
                IllegalArgumentError,
                partial(self.timer.advance_clock, wrong),
                partial(made, tick_ms=wrong),
                partial(made, wheel_size=wrong),
                partial(made, start_ms=wrong),
                partial(wheel, tick_ms=wrong),
                partial(wheel, wheel_size=wrong),
                partial(wheel, start_ms=wrong),
            )
        nothing = {"tick_ms": 0}, {"wheel_size": 0}
        self.refuses(IllegalArgumentError, *(partial(wheel, **one) for one in nothing))

    def state(self) -> object:
        """Return how many tasks wait."""
        return self.timer.size()

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


# A timer of two buckets a level. Tasks are known by the order in which they were made.
_ROWS: Mapping[str, ProgramRow[TimerBench]] = {
    "timer-add-advance": ProgramRow(
        summary="A task is added to a bucket that is due while the clock is advanced.",
        before=(act(TimerBench.task, 1), act(TimerBench.at, 1), act(TimerBench.make, 0)),
        threads={"add": act(TimerBench.hand_in, 1), "advance": act(TimerBench.advance)},
    ),
    "timer-add-then-advance": ProgramRow(
        summary=(
            "One thread adds and advances while another one advances: what it added is not "
            "left behind."
        ),
        before=(act(TimerBench.task, 1), act(TimerBench.at, 1)),
        threads={
            "advance": (act(TimerBench.advance),),
            "add and advance": (
                act(TimerBench.task, 0),
                act(TimerBench.advance),
            ),
        },
    ),
    "timer-two-adds-advance": ProgramRow(
        summary=(
            "One adder shares a bucket with another, which has not yet offered it, and then "
            "advances."
        ),
        before=(act(TimerBench.at, 1), act(TimerBench.make, 0)),
        threads={
            "add": (act(TimerBench.hand_in, 0),),
            "add and advance": (
                act(TimerBench.task, 0),
                act(TimerBench.advance),
            ),
        },
        bugs=("poll-outside-lock",),
    ),
    "timer-cancel-advance": ProgramRow(
        summary="A due task is cancelled while the clock is advanced.",
        before=(act(TimerBench.task, 1), act(TimerBench.at, 1)),
        threads={"cancel": act(TimerBench.cancel, 0), "advance": act(TimerBench.advance)},
        bugs=("test-then-submit",),
    ),
    "timer-cancel-cascade": ProgramRow(
        summary="A task comes down from the overflow wheel while it is cancelled.",
        before=(act(TimerBench.task, 3), act(TimerBench.at, 2)),
        threads={"cancel": act(TimerBench.cancel, 0), "advance": act(TimerBench.advance)},
        bugs=("KAFKA-2226/no-cancelled-test", "advance-after-flush"),
    ),
    "timer-add-again-cascade": ProgramRow(
        summary="A task comes down from the overflow wheel while it is added again.",
        before=(act(TimerBench.task, 3), act(TimerBench.at, 2)),
        threads={"add": act(TimerBench.add_again, 0), "advance": act(TimerBench.advance)},
    ),
    "timer-same-task-twice": ProgramRow(
        summary="Two threads add the same task.",
        before=(act(TimerBench.counted, 1),),
        threads={"add 1": act(TimerBench.add_again, 0), "add 2": act(TimerBench.add_again, 0)},
    ),
    "timer-overflow-adds": ProgramRow(
        summary=(
            "Two threads add tasks that lie beyond the lowest wheel when there is no other yet."
        ),
        before=(act(TimerBench.make, 2), act(TimerBench.make, 3)),
        threads={"add 1": act(TimerBench.hand_in, 0), "add 2": act(TimerBench.hand_in, 1)},
        bugs=("KAFKA-2112",),
    ),
    "timer-cancel-add": ProgramRow(
        summary="A task that is due at once is cancelled while it is being added.",
        before=(act(TimerBench.counted, 0), act(TimerBench.task, 1)),
        threads={"add": act(TimerBench.add_again, 0), "cancel": act(TimerBench.cancel, 0)},
    ),
    "timer-two-advances": ProgramRow(
        summary="Two threads advance a timer in which two buckets are due.",
        fault_bugs=("refused-task-lost",),
        before=(act(TimerBench.task, 1), act(TimerBench.task, 3), act(TimerBench.at, 3)),
        threads={"advance 1": act(TimerBench.advance), "advance 2": act(TimerBench.advance)},
    ),
    "timer-close": ProgramRow(
        summary="A timer is closed while one thread adds and another one advances.",
        before=(act(TimerBench.task, 1), act(TimerBench.at, 1), act(TimerBench.make, 0)),
        threads={
            "add": act(TimerBench.hand_in, 1),
            "advance": act(TimerBench.advance),
            "close": act(TimerBench.close),
        },
        check=TimerBench.check_closed,
    ),
    "timer-size": ProgramRow(
        summary="The size is read while a task is added and the clock is advanced: 0, 1 or 2.",
        before=(act(TimerBench.task, 1), act(TimerBench.at, 1), act(TimerBench.make, 1)),
        threads={
            "add": act(TimerBench.hand_in, 1),
            "advance": act(TimerBench.advance),
            "size": act(TimerBench.look, 2),
        },
    ),
}

# Every two public methods of the timer against each other; `each` is what a thread may do.
_PAIRS: Mapping[str, Pairs[ProgramRow[TimerBench], TimerBench]] = {
    "timer": Pairs(
        row=ProgramRow(
            summary="A task that is due, one on the upper level, and one that is not added yet",
            before=(
                act(TimerBench.task, 1),
                act(TimerBench.task, 3),
                act(TimerBench.at, 1),
                act(TimerBench.make, 0),
                act(TimerBench.make, 3),
            ),
            check=TimerBench.check_closed,
        ),
        each={
            "add": act(TimerBench.hand_in, 2),
            "add-above": act(TimerBench.hand_in, 3),
            "advance": act(TimerBench.advance),
            "cancel": act(TimerBench.cancel, 0),
            "cancel-above": act(TimerBench.cancel, 1),
            "close": act(TimerBench.close),
            "size": act(TimerBench.look, 4),
            "misuse": act(TimerBench.misuse),
        },
    ),
}

CLOCK_OF_A_WHEEL = (PlainField(owner=TimingWheel, name="_current_time_ms"),)
"""The fields that the timer's read-write lock guards."""


def _build(row: ProgramRow[TimerBench], timer_class: type[SystemTimer]) -> Scenario:
    return scenario_of(row, TimerBench(timer_class))


def _build_with_faults(row: ProgramRow[TimerBench], timer_class: type[SystemTimer]) -> Scenario:
    return scenario_of(row, TimerBench(timer_class, Faults()))


def timer_programs(
    timer_class: type[SystemTimer], bugs: Iterable[TimerBug] = ()
) -> tuple[tuple[Program, ...], tuple[Program, ...]]:
    """Return the programs for a class of timer, and the programs that show the bugs."""
    return programs_of(
        _ROWS,
        _build,
        timer_class,
        [(bug, bug.timer_class) for bug in bugs],
        plain_fields=CLOCK_OF_A_WHEEL,
    )


SYSTEM_TIMER, _FAILING_SYSTEM_TIMER = timer_programs(SystemTimer, BUGS)
FAILING_SYSTEM_TIMER = (
    *_FAILING_SYSTEM_TIMER,
    *failing_with_faults(
        _ROWS,
        _build_with_faults,
        [(bug, bug.timer_class) for bug in BUGS],
        plain_fields=CLOCK_OF_A_WHEEL,
    ),
)
PAIRS = pairs_of(_PAIRS, _build, SystemTimer, plain_fields=CLOCK_OF_A_WHEEL)


def faults_with(timer_class: type[SystemTimer]) -> tuple[Program, ...]:
    """Return the programs and the pairs with an executor that refuses now and then."""
    return faults_of(_ROWS, _PAIRS, _build_with_faults, timer_class, plain_fields=CLOCK_OF_A_WHEEL)
