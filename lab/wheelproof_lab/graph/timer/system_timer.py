"""The reference's SystemTimer as a program for graph mode: threads add, cancel, advance, close.

The comparison with SystemTimer.tla is in `system_timer_view`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.errors import TimerClosedError
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask, TimerTaskEntry, TimerTaskList, TimingWheel
from wheelproof.timer.delay_queue import DelayQueue
from wheelproof.units import Millis
from wheelproof_explore.program import Action, Scenario, Settings, forget
from wheelproof_lab.graph.states.views import GraphProgram, ViewedRun
from wheelproof_lab.graph.timer.system_timer_view import CLOCK, SystemTimerView
from wheelproof_lab.worlds.making import discarding
from wheelproof_spec.tlc.states.values import ModelValue, Value, make_function

NONE = ModelValue(name="None")
_AT_ONCE = Millis(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """The threads of a configuration, their calls on a timer, and when time stops.

    `delays_ms` maps tasks to delays, `programs` adders to the tasks that they add one after the
    other, `victims` cancellers to their task. Advancers advance until the timer is closed. A task
    that is added more than once must not be a victim. Times are in milliseconds; time advances
    until `max_time_ms` and until the last task is due.
    """

    delays_ms: Mapping[str, int]
    programs: Mapping[str, tuple[str, ...]]
    victims: Mapping[str, str] = field(default_factory=dict[str, str])
    advancers: tuple[str, ...] = ()
    closers: tuple[str, ...] = ()
    max_time_ms: int
    tick_ms: int = 1
    wheel_size: int = 2

    def constants(self) -> dict[str, Value]:
        """Return the constants of MCSystemTimer."""
        return {
            "TickMs": self.tick_ms,
            "WheelSize": self.wheel_size,
            "Tasks": frozenset(self.delays_ms),
            "Delay": make_function(self.delays_ms.items()),
            "Adders": frozenset(self.programs),
            "Program": make_function(self.programs.items()),
            "Restless": frozenset(),
            "Cancellers": frozenset(self.victims),
            "Victim": make_function(self.victims.items()),
            "Advancers": frozenset(self.advancers),
            "Closers": frozenset(self.closers),
            "PollUnderLock": True,
            "LockOrder": "phases",
            "Refusing": False,
            "Reach": frozenset(),
            "MaxTime": self.max_time_ms,
            "None": NONE,
        }


class _Task(TimerTask):
    __slots__ = ()

    def run(self) -> None:
        """Do nothing: only the submission counts."""


class _SharedClock:
    """A clock in a cell: each reading is a step, and each tick is a step."""

    def __init__(self) -> None:
        self.cell = sync.atomic_integer(0, "now")

    def hi_res_clock_ms(self) -> Millis:
        """Return the time."""
        return Millis(self.cell.get())

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """Wait to be notified."""
        del lock, deadline_ms
        condition.wait()

    def tick(self) -> None:
        """Tick by one millisecond, in an endless loop."""
        while True:
            forget()
            self.cell.add_and_get(1)


def system_timer(cast: Cast, timer_class: type[SystemTimer] = SystemTimer) -> GraphProgram:
    """Return the program of a configuration for a class of timers."""
    return GraphProgram(
        name="SystemTimer",
        build=partial(_build, cast, timer_class),
        watched=(SystemTimer, DelayQueue, TimerTaskEntry, TimerTaskList, TimingWheel),
        watched_fields=(
            (SystemTimer, "_closed"),
            (DelayQueue, "_heap"),
            (DelayQueue, "_closed"),
        ),
        settings=Settings(may_wait=frozenset({CLOCK})),
    )


def _build(cast: Cast, timer_class: type[SystemTimer]) -> ViewedRun:
    shared_clock = _SharedClock()
    clock: Clock = shared_clock
    executor = DeferredExecutor()
    timer = timer_class(
        "compared",
        tick_ms=cast.tick_ms,
        wheel_size=cast.wheel_size,
        start_ms=0,
        clock=clock,
        executor=executor,
    )
    tasks = {name: _Task(delay) for name, delay in cast.delays_ms.items()}
    threads: dict[str, Action] = {
        name: partial(_add, timer, [tasks[task] for task in added])
        for name, added in cast.programs.items()
    }
    threads |= {name: discarding(tasks[victim].cancel) for name, victim in cast.victims.items()}
    threads |= {name: partial(_advance, timer) for name in cast.advancers}
    threads |= dict.fromkeys(cast.closers, timer.close)
    threads[CLOCK] = shared_clock.tick
    view = SystemTimerView(
        timer=timer,
        executor=executor,
        clock=shared_clock.cell,
        tasks=tasks,
        cancellers=cast.victims.keys(),
        max_time_ms=cast.max_time_ms,
    )
    return ViewedRun(scenario=Scenario(threads=threads), view=view)


def _add(timer: SystemTimer, tasks: list[_Task]) -> None:
    try:
        for task in tasks:
            timer.add(task)
    except TimerClosedError:
        return


def _advance(timer: SystemTimer) -> None:
    try:
        while True:
            forget()
            timer.advance_clock(_AT_ONCE)
    except TimerClosedError:
        return
