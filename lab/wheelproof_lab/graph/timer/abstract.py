"""Comparison of the abstract timer of Timer.tla with the model, by states and effects.

The model changes by its effects only. The driver derives other data (how often a task was added,
how its last add ended) from the results of the effects, so a wrong result shows as a wrong state.
Calls that change nothing are edges too, such as a cancel of a task that does not wait.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from wheelproof_lab.graph.comparing.driven import driven_graph
from wheelproof_lab.graph.comparing.projected import ProjectedGraph
from wheelproof_spec.base.contract import KAFKA, FiringOrder
from wheelproof_spec.components.timer.model import HeapTimer
from wheelproof_spec.tlc.states.values import State, Value, make_function

ModelClass = Callable[[int], HeapTimer]
"""A function that makes a model with a resolution in milliseconds, whose clock shows 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerBounds:
    """Small bounds: the tasks, delays and clock values, and the number of adds of each task.

    Times in milliseconds; no add lies beyond `horizon_ms`.
    """

    tasks: tuple[str, ...]
    delays_ms: tuple[int, ...]
    tick_ms: int
    horizon_ms: int
    max_adds: int

    def constants(self) -> dict[str, Value]:
        """Return the constants of MCTimer."""
        return {
            "Tasks": frozenset(self.tasks),
            "Delays": frozenset(self.delays_ms),
            "TickMs": self.tick_ms,
            "Horizon": self.horizon_ms,
            "MaxAdds": self.max_adds,
        }


def kafka_model(tick_ms: int) -> HeapTimer:
    """Return the model of Kafka's timer, as Timer.tla has it: in any order."""
    contract = replace(KAFKA, order=FiringOrder.ANY)
    return HeapTimer(tick_ms=tick_ms, start_ms=0, contract=contract)


@dataclass(slots=True, kw_only=True)
class _Driver:
    """A model, and the data from the results of its effects."""

    timer: HeapTimer
    ended: dict[str, str] = field(default_factory=dict[str, str])
    adds: dict[str, int] = field(default_factory=dict[str, int])
    outcomes: dict[str, int] = field(default_factory=dict[str, int])

    def fork(self) -> "_Driver":
        return copy.deepcopy(self)

    def state(self, tasks: tuple[str, ...]) -> Mapping[str, Value]:
        due_ms = self.timer.due_times()
        return {
            "now": self.timer.now_ms,
            "due": make_function((task, due_ms.get(task, 0)) for task in tasks),
            "state": make_function(
                (task, "waiting" if task in due_ms else self.ended.get(task, "idle"))
                for task in tasks
            ),
            "adds": make_function((task, self.adds.get(task, 0)) for task in tasks),
            "outcomes": make_function((task, self.outcomes.get(task, 0)) for task in tasks),
        }

    def add(self, task: str, delay_ms: int) -> None:
        if task in self.timer.due_times():
            self._count_outcome(task)
        self.timer.add(task, delay_ms)
        self.adds[task] = self.adds.get(task, 0) + 1

    def end(self, task: str, outcome: str) -> None:
        self.ended[task] = outcome
        self._count_outcome(task)

    def _count_outcome(self, task: str) -> None:
        self.outcomes[task] = self.outcomes.get(task, 0) + 1


def model_graph(bounds: TimerBounds, model: ModelClass = kafka_model) -> ProjectedGraph:
    """Return the graph of all states of the model that calls within the bounds can reach."""
    return driven_graph(
        _Driver(timer=model(bounds.tick_ms)),
        lambda driver: driver.state(bounds.tasks),
        lambda driver: _calls(driver, bounds),
    )


def label_of_timer(action: str, before: State, after: State) -> str:
    """Return the label of a step of MCTimer: the action and the task that it changed."""
    del before, after
    return action.removeprefix("MC")


def _calls(here: _Driver, bounds: TimerBounds) -> list[tuple[str, _Driver]]:
    calls: list[tuple[str, _Driver]] = []
    now_ms = here.timer.now_ms
    for task in bounds.tasks:
        for delay_ms in bounds.delays_ms:
            if now_ms + delay_ms <= bounds.horizon_ms and here.adds.get(task, 0) < bounds.max_adds:
                there = here.fork()
                there.add(task, delay_ms)
                calls.append(("Add", there))
        there = here.fork()
        if there.timer.cancel(task):
            there.end(task, "cancelled")
            calls.append(("Cancel", there))
        else:
            calls.append(("CancelInVain", there))
        there = here.fork()
        if there.timer.submit(task) is None:
            there.end(task, "submitted")
            calls.append(("Fire", there))
    if now_ms < bounds.horizon_ms:
        there = here.fork()
        there.timer.move_clock(now_ms + 1)
        calls.append(("Tick", there))
    return calls
