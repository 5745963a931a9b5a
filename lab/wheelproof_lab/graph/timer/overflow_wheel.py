"""Comparison of a wheel, whose adders all need its overflow wheel, with OverflowWheel.tla.

One step of the module is one operation of the code on the reference or the monitor. Making a wheel
is not an operation of the code, since no other thread sees the wheel before it is published. So
the wheel here counts complete wheels in a cell: that is the step Make. The step Use reads the cell.

Compared are the reference, the complete wheels, the monitor and the next step of each adder. Both
readings of the reference are one step there; the holder of the monitor distinguishes them. Left out
are the register `found`, since a wrong step would show it, and `made`: a wheel that is made but not
complete is visible only if it is published, and then `overflow` names no complete wheel.
"""

from dataclasses import dataclass
from functools import partial
from typing import Self

from wheelproof import sync
from wheelproof.timer import TimerTask, TimerTaskEntry, TimingWheel
from wheelproof.timer.delay_queue import DelayQueue
from wheelproof.units import Millis
from wheelproof_explore.program import Scenario
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_lab.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_lab.graph.states.names import attributes
from wheelproof_lab.graph.states.views import (
    GraphProgram,
    NextStep,
    Surroundings,
    View,
    ViewedRun,
)
from wheelproof_spec.tlc.states.values import ModelValue, State, Value, make_function

_NONE = ModelValue(name="None")
_OVERFLOW, _MONITOR, _COMPLETE = "TimingWheel.overflow_wheel", "TimingWheel.monitor", "complete"
_FAR_MS = 1_000
_COMPARED = ("overflow", "complete", "monitor")
_ACTIONS = {
    f"Get {_OVERFLOW}": "Read",
    f"Acquire {_MONITOR}": "Lock",
    f"AddAndGet {_COMPLETE}": "Make",
    f"Set {_OVERFLOW}": "Publish",
    f"Release {_MONITOR}": "Unlock",
    f"Get {_COMPLETE}": "Use",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelAdders:
    """The threads that need the overflow wheel of one wheel."""

    adders: tuple[str, ...]

    def constants(self) -> dict[str, Value]:
        """Return the constants of OverflowWheel."""
        return {"Adders": frozenset(self.adders), "None": _NONE}


class _Task(TimerTask):
    __slots__ = ()

    def run(self) -> None:
        """Do nothing: the task never runs."""


class _NoClock:
    def hi_res_clock_ms(self) -> Millis:
        """Return 0, the start time."""
        return Millis(0)

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """Return at once."""


class Makers(DelayQueue):
    """The queue that the wheels of a run share; it has the maker of each overflow wheel."""

    def __init__(self) -> None:
        super().__init__(_NoClock())
        self.names: dict[int, str] = {}
        self.complete = sync.atomic_integer(0, _COMPLETE)
        self._runtime = sync.current_runtime()

    def note(self, wheel: TimingWheel) -> None:
        """Record that the calling thread has made a wheel, and that the wheel is complete."""
        assert isinstance(self._runtime, ControlledRuntime)
        self.names[id(wheel)] = self._runtime.caller().name
        self.complete.add_and_get(1)


class NotedWheel(TimingWheel):
    """A wheel that records the wheels that it makes; an add on an overflow wheel reads a cell."""

    __slots__ = ()

    def makers(self) -> Makers:
        """Return the queue that the wheels of a run share."""
        assert isinstance(self._queue, Makers)
        return self._queue

    def add(self, entry: TimerTaskEntry) -> bool:
        """Add an entry; on an overflow wheel only read the number of complete wheels."""
        return super().add(entry) if self.tick_ms == 1 else self.makers().complete.get() > 0

    def _new_overflow_wheel(self) -> Self:
        made = super()._new_overflow_wheel()
        self.makers().note(made)
        return made


class _Bench(View):
    """The objects of one run, the actions of its threads, and the view of its states."""

    def __init__(self, wheel_adders: WheelAdders, wheel_class: type[NotedWheel]) -> None:
        self._adders = wheel_adders.adders
        self._wheel = wheel_class(
            tick_ms=1,
            wheel_size=2,
            start_ms=0,
            task_counter=sync.atomic_integer(0, "task_counter"),
            queue=Makers(),
        )
        self._monitor = attributes(self._wheel)["_monitor"]

    def scenario(self) -> Scenario:
        """Return the threads: each of them adds a task that is due far beyond the wheel."""
        entries = {name: TimerTaskEntry(_Task(0), Millis(_FAR_MS)) for name in self._adders}
        return Scenario(
            threads={name: partial(self._add, entry) for name, entry in entries.items()}
        )

    def _add(self, entry: TimerTaskEntry) -> None:
        entry.timer_task.set_timer_task_entry(entry)
        self._wheel.add(entry)

    def state(self, surroundings: Surroundings) -> State:
        """Return the compared variables of OverflowWheel."""
        overflow = self._wheel.overflow_wheel
        holder = surroundings.holder(self._monitor)
        makers = self._wheel.makers()
        return {
            "overflow": _NONE if overflow is None else makers.names.get(id(overflow), "?"),
            "complete": frozenset(list(makers.names.values())[: makers.complete.get()]),
            "monitor": _NONE if holder is None else holder,
            "pc": make_function((name, self._pc(name, surroundings)) for name in self._adders),
        }

    def label(self, step: NextStep) -> str | None:
        """Return thread and action, None for no action."""
        action = _ACTIONS.get(f"{step.operation} {step.subject}")
        return None if action is None else f"{step.thread}: {action}"

    def _pc(self, name: str, surroundings: Surroundings) -> str:
        step = surroundings.pending.get(name)
        if step is None or step.operation == "Finish":
            return "Done"
        # The operations before the first action bind the entry.
        return _ACTIONS.get(f"{step.operation} {step.subject}", "Read")


def overflow_wheel(adders: WheelAdders, wheel_class: type[NotedWheel] = NotedWheel) -> GraphProgram:
    """Return the program of a configuration for a class of wheels."""

    def build() -> ViewedRun:
        bench = _Bench(adders, wheel_class)
        return ViewedRun(scenario=bench.scenario(), view=bench)

    return GraphProgram(name="OverflowWheel", build=build)


def project_overflow_wheel(state: State) -> State:
    """Return the compared part of a state of the module; both reads are one step."""
    steps = ((adder, _step_of(step)) for adder, step in pairs_of(state["pc"]))
    return {**only(state, _COMPARED), "pc": make_function(steps)}


def label_of_overflow_wheel(action: str, before: State, after: State) -> str | None:
    """Return thread and action; the thread is the one whose `pc` changes."""
    for adder, _, _ in changes_of("pc", before, after):
        return f"{adder}: {_step_of(action)}"
    return None


def _step_of(step: Value) -> Value:
    return "Read" if step == "ReadAgain" else step
