"""Comparison of the reference's timer with TimingWheel.tla, by the calls of one thread.

Compared are all variables of the module that have a meaning between two calls: the wheels' clocks,
the entries and the expiration of each bucket, the queue, the counter, and the tasks' fates. A call
that has begun in the module is finished first, without a tick; the comparison with SystemTimer
covers ticks during a call. The queue is compared without its order, since the order of equal keys
is not promised. A state of the code is rebuilt for each call, from the calls that led to it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from wheelproof.clock import ManualClock
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask, TimerTaskEntry, TimerTaskList, TimingWheel
from wheelproof.timer.timer_task_list import IDLE
from wheelproof.units import Millis
from wheelproof_lab.graph.comparing.driven import driven_graph
from wheelproof_lab.graph.comparing.projected import ProjectedGraph, pairs_of
from wheelproof_lab.graph.states.names import attributes, members, numbered
from wheelproof_lab.graph.timer.abstract import TimerBounds
from wheelproof_spec.tlc.states.values import State, Value, make_function, show

Call = tuple[str, str, int]
"""An action of the module, the task that it is about and the delay; "" and 0 if there is none."""

_NAMES = {"MCAdd": "Add", "MCTick": "Tick", "AwaitDue": "Advance"}
_COMPARED = ("now", "current", "expiration", "entries", "counter", "deadline", "fate", "adds")


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelBounds(TimerBounds):
    """Small bounds, as those of MCTimingWheel; every task may be cancelled."""

    wheel_size: int

    def constants(self) -> dict[str, Value]:
        """Return the constants of MCTimingWheel."""
        more: dict[str, Value] = {
            "WheelSize": self.wheel_size,
            "Cancellable": frozenset(self.tasks),
        }
        return TimerBounds.constants(self) | more


class _Task(TimerTask):
    """A task that records its run."""

    __slots__ = ("_fates", "_name")

    def __init__(self, name: str, fates: dict[str, str]) -> None:
        super().__init__(0)
        self._name = name
        self._fates = fates

    def run(self) -> None:
        """Record the submission."""
        self._fates[self._name] = "submitted"


class _Run:
    """A timer of the reference, and what its only caller knows: the tasks' fates and adds."""

    def __init__(self, bounds: WheelBounds, timer_class: type[SystemTimer]) -> None:
        self._bounds = bounds
        self._clock = ManualClock()
        self.fates = dict.fromkeys(bounds.tasks, "idle")
        self.adds = dict.fromkeys(bounds.tasks, 0)
        self._executor = DeferredExecutor()
        self._tasks = {name: _Task(name, self.fates) for name in bounds.tasks}
        self._names = {id(task): name for name, task in self._tasks.items()}
        self._timer = timer_class(
            "driven",
            tick_ms=bounds.tick_ms,
            wheel_size=bounds.wheel_size,
            clock=self._clock,
            executor=self._executor,
        )

    def make(self, call: Call) -> bool:
        """Make a call; return whether it had an effect."""
        action, name, delay_ms = call
        came = True
        match action:
            case "Add":
                self._tasks[name].delay_ms = Millis(delay_ms)
                self.fates[name] = "waiting"
                self.adds[name] += 1
                self._timer.add(self._tasks[name])
            case "Tick":
                self._clock.advance(1)
            case "Advance":
                came = self._timer.advance_clock(Millis(0))
            case _:
                came = self._tasks[name].cancel()
                if came:
                    self.fates[name] = "cancelled"
        self._executor.run_pending()
        return came

    def state(self) -> State:
        """Return the compared variables of TimingWheel."""
        held = attributes(self._timer)
        levels = list(_levels(held["_timing_wheel"]))
        heap = members(attributes(held["_delay_queue"])["_heap"], TimerTaskList)
        buckets = [_buckets(level) for level in levels]
        return {
            "now": self._clock.hi_res_clock_ms(),
            "current": _by_level([level.current_time_ms for level in levels]),
            "expiration": _by_level(
                [_by_level([_expiration_ms(bucket) for bucket in level]) for level in buckets]
            ),
            "entries": _by_level(
                [_by_level([self._content(bucket) for bucket in level]) for level in buckets]
            ),
            "queue": _in_order(
                (queued.get_expiration(), number, index)
                for number, level in enumerate(buckets)
                for index, bucket in enumerate(level)
                for queued in heap
                if queued is bucket
            ),
            "counter": self._timer.size(),
            "deadline": make_function((name, self._deadline_ms(name)) for name in self.fates),
            "fate": make_function(self.fates.items()),
            "adds": make_function(self.adds.items()),
        }

    def _deadline_ms(self, name: str) -> int:
        waits = self.fates[name] == "waiting"
        entry = self._tasks[name].get_timer_task_entry() if waits else None
        return 0 if entry is None else entry.expiration_ms

    def _content(self, bucket: TimerTaskList | None) -> Value:
        if bucket is None:
            return ()
        root = attributes(bucket)["_root"]
        assert isinstance(root, TimerTaskEntry)
        found: list[Value] = []
        entry = root.next
        while entry is not root:
            found.append((self._names[id(entry.timer_task)], entry.expiration_ms))
            entry = entry.next
        return tuple(found)


def _buckets(level: TimingWheel) -> list[TimerTaskList | None]:
    """Return the buckets of a level by their indices, None for one that is not made yet."""
    made = dict(numbered(attributes(level)["_buckets"], TimerTaskList))
    return [made.get(index) for index in range(level.wheel_size)]


def _expiration_ms(bucket: TimerTaskList | None) -> int:
    return IDLE if bucket is None else bucket.get_expiration()


def wheel_graph(
    bounds: WheelBounds, timer_class: type[SystemTimer] = SystemTimer
) -> ProjectedGraph:
    """Return the graph of all states of the timer that calls within the bounds can reach."""

    def run(calls: tuple[Call, ...]) -> _Run:
        made = _Run(bounds, timer_class)
        for call in calls:
            made.make(call)
        return made

    def following(calls: tuple[Call, ...]) -> Iterator[tuple[str, tuple[Call, ...]]]:
        here = run(calls)
        for call in _calls(here, bounds):
            came = run(calls).make(call)
            if call[0] == "Cancel":
                yield ("Cancel" if came else "CancelInVain"), (*calls, call)
            elif came:
                yield call[0], (*calls, call)

    none = tuple[Call, ...]()
    return driven_graph(none, lambda calls: run(calls).state(), following)


def _calls(here: _Run, bounds: WheelBounds) -> Iterator[Call]:
    now_ms = here.state()["now"]
    assert isinstance(now_ms, int)
    for name in bounds.tasks:
        for delay_ms in bounds.delays_ms:
            if now_ms + delay_ms <= bounds.horizon_ms and here.adds[name] < bounds.max_adds:
                yield "Add", name, delay_ms
        yield "Cancel", name, 0
    if now_ms < bounds.horizon_ms:
        yield "Tick", "", 0
    yield "Advance", "", 0


def project_timing_wheel(state: State) -> State:
    """Return the compared part of a state of the module: an entry is a task and its deadline."""
    values = {name: state[name] for name in _COMPARED}
    values["entries"] = _mapped(
        state["entries"],
        lambda level: _mapped(level, lambda entries: tuple(map(_entry, _items(entries)))),
    )
    values["queue"] = _in_order(
        (parts["key"], parts["level"], parts["index"])
        for parts in (dict(pairs_of(item)) for item in _items(state["queue"]))
    )
    return values


def label_of_timing_wheel(action: str, before: State, after: State) -> str | None:
    """Return the call that an action of the module begins."""
    del before, after
    return _NAMES.get(action, action)


def timing_wheel_under_way(state: State) -> Callable[[str], bool] | None:
    """Return which actions finish the thread's call: all but a tick; None outside a call."""
    return None if state["phase"] == "outside" else lambda action: action != "MCTick"


def _levels(wheel: object) -> Iterator[TimingWheel]:
    while isinstance(wheel, TimingWheel):
        yield wheel
        wheel = wheel.overflow_wheel


def _in_order(queued: Iterable[Value]) -> Value:
    return tuple(sorted(queued, key=show))


def _by_level(values: list[Value]) -> Value:
    return make_function(enumerate(values))


def _mapped(function: Value, change: Callable[[Value], Value]) -> Value:
    return make_function((key, change(value)) for key, value in pairs_of(function))


def _items(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, tuple)
    return value


def _entry(value: Value) -> Value:
    parts = dict(pairs_of(value))
    return parts["task"], parts["expiration"]
