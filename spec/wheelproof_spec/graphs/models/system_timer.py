"""SystemTimer.tla against the reference's SystemTimer: threads that add while time goes on.

The module's steps are coarser than the code's. Each has one operation of the code at which it takes
effect; what lies between is stuttering:

==============  ===========================================================
LockRead        taking the read side
ReadClock       reading the clock
Bind            the task's entry is exchanged
Insert          the entry's `list` is set
SetExpiration   the bucket's expiration is exchanged
Offer           taking the lock of the delay queue: the bucket goes in with it
Submit          the claim
UnlockRead      giving the read side back
Tick            the clock's own step
==============  ===========================================================

Compared are the clock, what each bucket holds and its key, the queue, who reads, and what has
become of each task. Left out are `pc` and the registers, levels in which no bucket has been used
(the code makes a level in steps of its own), and the deadline of a task that does not wait.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MethodType

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask, TimerTaskEntry, TimerTaskList, TimingWheel
from wheelproof.timer.delay_queue import DelayQueue
from wheelproof.units import Millis
from wheelproof_spec.explore.program import Action, Scenario
from wheelproof_spec.explore.read_write_lock import ModelReadWriteLock
from wheelproof_spec.explore.settings import Settings
from wheelproof_spec.graphs.models.system_timer_module import IDLE
from wheelproof_spec.graphs.names import attributes, members
from wheelproof_spec.graphs.observed_runtime import forget
from wheelproof_spec.graphs.subject import GraphProgram, Moment, Step, Subject
from wheelproof_spec.tlc.values import ModelValue, State, Value, make_function

NONE = ModelValue(name="None")
_CLOCK = "clock"

_ACTIONS: Mapping[tuple[str, str], str] = {
    ("add", "_AcquireRead"): "LockRead",
    ("hi_res_clock_ms", "Get"): "ReadClock",
    ("set_timer_task_entry", "Exchange"): "Bind",
    ("_link", "Set"): "Insert",
    ("set_expiration", "Exchange"): "SetExpiration",
    ("offer", "Acquire"): "Offer",
    ("claim", "CompareAndSet"): "Submit",
    ("add", "_ReleaseRead"): "UnlockRead",
    ("tick", "Add"): "Tick",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Adding:
    """Who adds which tasks one after the other, with which delays, and when time stops.

    Times in milliseconds; time goes on until `max_time_ms` and until the last task is due.
    """

    delays_ms: Mapping[str, int]
    programs: Mapping[str, tuple[str, ...]]
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
            "Cancellers": frozenset(),
            "Victim": (),
            "Advancers": frozenset(),
            "Closers": frozenset(),
            "PollUnderLock": True,
            "LockOrder": "phases",
            "Reach": frozenset(),
            "MaxTime": self.max_time_ms,
            "None": NONE,
        }


class _Task(TimerTask):
    __slots__ = ()

    def run(self) -> None:
        """Do nothing: what counts is that it was submitted."""


class _SharedClock:
    """A clock in a cell: reading it is a step, and so is its going on."""

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
        """Go on by a millisecond, for ever."""
        while True:
            forget()
            self.cell.add_and_get(1)


class _Bench:
    """The objects of one run, what the threads do with them, and how they are seen."""

    def __init__(self, adding: Adding, timer_class: type[SystemTimer]) -> None:
        self._adding = adding
        self._clock = _SharedClock()
        clock: Clock = self._clock
        self._executor = DeferredExecutor()
        self._timer = timer_class(
            "compared",
            tick_ms=adding.tick_ms,
            wheel_size=adding.wheel_size,
            start_ms=0,
            clock=clock,
            executor=self._executor,
        )
        self._tasks = {name: _Task(delay) for name, delay in adding.delays_ms.items()}
        self._names = {id(task): name for name, task in self._tasks.items()}
        self._returned: set[str] = set()

    def threads(self) -> dict[str, Action]:
        """Return what each thread does."""
        threads: dict[str, Action] = {
            name: partial(self._add, tasks) for name, tasks in self._adding.programs.items()
        }
        threads[_CLOCK] = self._clock.tick
        return threads

    def _add(self, tasks: tuple[str, ...]) -> None:
        for name in tasks:
            self._timer.add(self._tasks[name])
            self._returned.add(name)

    def state(self, moment: Moment) -> State:
        """Return the variables of SystemTimer, as far as they are compared."""
        held = attributes(self._timer)
        lock = held["_lock"]
        assert isinstance(lock, ModelReadWriteLock)
        bound = {name: task.get_timer_task_entry() for name, task in self._tasks.items()}
        submitted = self._submitted()
        return {
            "now": self._clock.cell.get(),
            "readers": frozenset(moment.threads[number] for number in lock.readers),
            "returned": frozenset(self._returned),
            "state": _function(
                {
                    name: "submitted" if name in submitted else "waiting" if entry else "idle"
                    for name, entry in bound.items()
                }
            ),
            "deadline": _function(
                {name: entry.expiration_ms if entry else 0 for name, entry in bound.items()}
            ),
            "wheel": self._wheel(held["_timing_wheel"]),
            "queue": self._queue(held["_delay_queue"], held["_timing_wheel"]),
        }

    def label(self, step: Step) -> str | None:
        """Return the action that takes effect with a step, with its thread."""
        action = _ACTIONS.get((step.site, step.operation))
        return (
            None if action is None else action if action == "Tick" else f"{step.thread}: {action}"
        )

    def permits(self, step: Step, moment: Moment) -> bool:
        """Let time go on as MCLater does."""
        del moment
        if step.thread != _CLOCK:
            return True
        now = self._clock.cell.get()
        bound = (task.get_timer_task_entry() for task in self._tasks.values())
        return now < self._adding.max_time_ms or any(
            entry is not None and entry.expiration_ms > now for entry in bound
        )

    def _submitted(self) -> set[str]:
        tasks = members(attributes(self._executor)["_tasks"], MethodType)
        return {self._names[id(task.__self__)] for task in tasks}

    def _levels(self, wheel: object) -> list[TimingWheel]:
        levels: list[TimingWheel] = []
        while isinstance(wheel, TimingWheel):
            levels.append(wheel)
            wheel = wheel.overflow_wheel
        return levels

    def _wheel(self, wheel: object) -> Value:
        used: dict[Value, Value] = {}
        for number, level in enumerate(self._levels(wheel)):
            for index, bucket in enumerate(_buckets(level)):
                tasks = self._content(bucket)
                if tasks or bucket.get_expiration() != IDLE:
                    used[number, index] = (bucket.get_expiration(), level.current_time_ms, tasks)
        return make_function(used.items())

    def _content(self, bucket: TimerTaskList) -> tuple[Value, ...]:
        """Return the tasks whose entry names the bucket, in the order of the links."""
        tasks: list[Value] = []
        root = attributes(bucket)["_root"]
        entry: object = getattr(root, "next", root)
        while isinstance(entry, TimerTaskEntry) and entry is not root:
            tasks.append(self._names[id(entry.timer_task)])
            entry = entry.next
        return tuple(tasks)

    def _queue(self, queue: object, wheel: object) -> Value:
        places = {
            id(bucket): (number, index)
            for number, level in enumerate(self._levels(wheel))
            for index, bucket in enumerate(_buckets(level))
        }
        queued = members(attributes(queue)["_heap"], TimerTaskList)
        return frozenset((bucket.get_expiration(), *places[id(bucket)]) for bucket in queued)


def system_timer(adding: Adding, timer_class: type[SystemTimer] = SystemTimer) -> GraphProgram:
    """Return the program of a configuration, with another class of timers if need be."""

    def build() -> Subject:
        bench = _Bench(adding, timer_class)
        return Subject(scenario=Scenario(threads=bench.threads()), view=bench)

    return GraphProgram(
        name="SystemTimer",
        build=build,
        watched=(TimerTaskEntry, TimerTaskList, TimingWheel),
        watched_fields=((DelayQueue, "_heap"),),
        settings=Settings(may_wait=frozenset({_CLOCK})),
    )


def _buckets(level: TimingWheel) -> list[TimerTaskList]:
    return members(attributes(level)["_buckets"], TimerTaskList)


def _function(values: Mapping[str, Value]) -> Value:
    return make_function(values.items())
