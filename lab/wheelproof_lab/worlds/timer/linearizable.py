"""Overlapping public operations: of a register, and of the timer."""

from collections.abc import Callable
from functools import partial

from wheelproof import sync
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_explore.program import (
    Action,
    Body,
    Program,
    PublicOperations,
    Scenario,
)
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.timer.system_timer import StandingClock
from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.components.timer.component import Add, Cancel, Run, Size
from wheelproof_spec.components.timer.history.search import TimerModel, TimerOperation
from wheelproof_spec.components.timer.model import HeapTimer
from wheelproof_spec.history.linearizability.models import GetAndSet, Registers
from wheelproof_spec.history.linearizability.told import linearizable

_TimerHistory = PublicOperations[TimerOperation, int | None]


class _Task(TimerTask):
    """A task that records in the history when the timer submits it."""

    __slots__ = ("_history", "name")

    def __init__(self, name: str, delay_ms: int, history: _TimerHistory) -> None:
        super().__init__(delay_ms)
        self.name = name
        self._history = history

    def hand_over(self) -> None:
        """Record that the task has been submitted."""
        self._history.inside(Run(task=self.name), None)

    def run(self) -> None:
        """Do nothing: only the submission counts."""


class _HandingOver:
    """An executor that records a submission at once, as part of the call that submits."""

    def submit(self, task: Callable[[], None]) -> None:
        owner: object = getattr(task, "__self__", None)
        assert isinstance(owner, _Task), "something else than a task's run was submitted"
        owner.hand_over()

    def shutdown(self) -> None:
        return

    def await_termination(self, timeout_ms: Millis) -> bool:
        del timeout_ms
        return True


class _PublicTimer:
    """A timer with two buckets per level, whose public operations a history records.

    Between advances its clock stands still, so the model's clock need not be told of more.
    """

    def __init__(self, timer_class: type[SystemTimer], model: type[HeapTimer], now_ms: int) -> None:
        self.clock = StandingClock()
        self.clock.now_ms = Millis(now_ms)
        empty = model(tick_ms=1, start_ms=now_ms, contract=KAFKA)
        self.history: _TimerHistory = PublicOperations(linearizable(TimerModel(empty)))
        self._timer = timer_class(
            "explored",
            tick_ms=1,
            wheel_size=2,
            start_ms=0,
            clock=self.clock,
            executor=_HandingOver(),
        )

    def task(self, name: str, delay_ms: int) -> _Task:
        return _Task(name, delay_ms, self.history)

    def add(self, task: _Task) -> None:
        asked = Add(task=task.name, delay_ms=task.delay_ms)
        self.history.call(asked, partial(self._timer.add, task))

    def cancel(self, task: _Task) -> None:
        self.history.call(Cancel(task=task.name), task.cancel)

    def advance(self) -> None:
        self.history.call(Advance(to_ms=self.clock.now_ms), self._advance)

    def size(self) -> None:
        self.history.call(Size(), self._timer.size)

    def _advance(self) -> None:
        self._timer.advance_clock(Millis(0))


def register_get_and_set() -> Scenario:
    """Three threads exchange the value of a register, which is atomic."""
    cell = sync.atomic_integer(0, "register")
    return _exchanges(cell.get_and_set)


def register_get_then_set() -> Scenario:
    """Three threads exchange the value of a register in two steps, which is not atomic."""
    cell = sync.atomic_integer(0, "register")

    def get_then_set(value: int) -> int:
        before = cell.get()
        cell.set(value)
        return before

    return _exchanges(get_then_set)


def _exchanges(exchange: Callable[[int], int]) -> Scenario:
    history = PublicOperations(linearizable(Registers(0)))

    def call(value: int) -> None:
        history.call(GetAndSet(value), partial(exchange, value))

    threads: dict[str, Body] = {
        "a": [partial(call, 1)],
        "b": [partial(call, 2)],
        "c": [partial(call, 3)],
    }
    return Scenario(threads=threads, history=history)


def add_against_cancel_and_size(
    timer_class: type[SystemTimer] = SystemTimer, model: type[HeapTimer] = HeapTimer
) -> Scenario:
    """A task is added while another thread cancels it and asks for the size."""
    timer = _PublicTimer(timer_class, model, 0)
    task = timer.task("t", 1)
    cancel_and_ask: list[Action] = [partial(timer.cancel, task), timer.size]
    threads: dict[str, Body] = {"add": partial(timer.add, task), "cancel": cancel_and_ask}
    return Scenario(threads=threads, history=timer.history)


def advance_against_cancel_and_size(
    timer_class: type[SystemTimer] = SystemTimer, model: type[HeapTimer] = HeapTimer
) -> Scenario:
    """A task moves down a level while another thread asks for the size and cancels it."""
    timer = _PublicTimer(timer_class, model, 0)

    def add_and_advance() -> None:
        timer.add(task)
        timer.clock.now_ms = Millis(2)
        timer.advance()

    task = timer.task("t", 3)
    threads: dict[str, Body] = {
        "advance": add_and_advance,
        "other": [timer.size, partial(timer.cancel, task)],
    }
    return Scenario(threads=threads, history=timer.history)


def advance_against_add_and_cancel(
    timer_class: type[SystemTimer] = SystemTimer, model: type[HeapTimer] = HeapTimer
) -> Scenario:
    """A task is fired while it is cancelled and another one is added."""
    timer = _PublicTimer(timer_class, model, 1)
    first, second = timer.task("first", 0), timer.task("second", 0)

    def add_and_advance() -> None:
        timer.add(first)
        timer.advance()
        timer.size()

    cancel_and_add = [partial(timer.cancel, first), partial(timer.add, second)]
    threads: dict[str, Body] = {"advance": add_and_advance, "other": cancel_and_add}
    return Scenario(threads=threads, history=timer.history)


LINEARIZABLE: tuple[Program, ...] = (
    program("linearizable-get-and-set", register_get_and_set),
    program("linearizable-timer-add", add_against_cancel_and_size),
    program("linearizable-timer-advance", advance_against_cancel_and_size),
    program("linearizable-timer-fire", advance_against_add_and_cancel),
)
NOT_LINEARIZABLE: tuple[Program, ...] = (
    program("not-linearizable-get-then-set", register_get_then_set),
)
