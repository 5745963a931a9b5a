"""A timer that is written in Python, as the machine calls it: its methods, and its recorded calls.

>>> from wheelproof_spec.base.contract import KAFKA
>>> from wheelproof_spec.components.timer.component import Add, TimerConfig
>>> class Eager:
...     '''It runs a task at once.'''
...     def __init__(self, tick_ms, wheel_size, start_ms, run): self.run = run
...     def add(self, task, delay_ms): self.run(task)
>>> calls = TimerCalls(Eager, TimerConfig(), KAFKA.name)
>>> calls.perform(Add(task="a", delay_ms=7)).fired
('a',)
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Protocol

from wheelproof_spec.base.calls import Advance, AdvanceClock, Tick
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TaskId,
    TimerClause,
    TimerConfig,
    TimerLimit,
    TimerObservation,
    WaitingTasks,
)
from wheelproof_spec.components.timer.history import RECORDED
from wheelproof_spec.components.timer.history.search import search
from wheelproof_spec.components.timer.model import TimerOperation
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.history.recording.load_recorder import NOTHING

_CLOCK, _RUNS = "clock", "runs"
"""The processes of a history that move the clock, inside `advance`, and that run tasks."""


class PythonTimer(Protocol):
    """A timer as the machine calls it: also from several threads, but `advance` from one at a time.

    Times are whole milliseconds, and only `advance` lets time pass. A task that a call submits has
    run when the call returns.
    """

    def add(self, task: TaskId, delay_ms: int) -> None:
        """Take in a task that is due after `delay_ms`; an earlier add of the name is void."""
        ...

    def cancel(self, task: TaskId) -> bool:
        """Cancel a task, and return whether this prevented its run."""
        ...

    def advance(self, to_ms: int) -> None:
        """Set the clock to `to_ms` and run what is due."""
        ...

    def size(self) -> int:
        """Return the number of tasks that wait."""
        ...

    def close(self) -> None:
        """End what the timer has started; the machine makes no further call."""
        ...


class MakeTimer(Protocol):
    """A class or a function that makes the timer under test."""

    def __call__(
        self, *, tick_ms: int, wheel_size: int, start_ms: int, run: Callable[[TaskId], None]
    ) -> PythonTimer:
        """Return an empty timer whose clock shows `start_ms`; it calls `run` to run a task."""
        ...


class TimerCalls:
    """Makes the calls of the contract on a timer, also from several threads, and records them."""

    def __init__(
        self,
        make: MakeTimer,
        config: TimerConfig,
        profile: str,
        skip: Collection[TimerClause | TimerLimit] = (),
    ) -> None:
        """Make the timer; `profile` and `skip` are for the judge of its history."""
        # What runs in which order while calls overlap is up to the threads.
        self._config = replace(config, runs="inline", run_order="open")
        self._profile, self._skip = profile, skip
        self._ran: list[TaskId] = []
        self.begin_history(config.start_ms)
        self.timer = make(
            tick_ms=config.tick_ms,
            wheel_size=config.wheel_size,
            start_ms=config.start_ms,
            run=self._run,
        )

    def begin_history(self, now_ms: int) -> None:
        """Begin a history: no task waits, and the clock shows `now_ms`."""
        self.history = JudgedBursts(
            RECORDED,
            replace(self._config, start_ms=now_ms),
            clock="virtual",
            profile=self._profile,
            skip=self._skip,
            search=search,
        )
        self._recorder = self.history.recorder
        self._ran.clear()

    def perform(self, call: TimerOperation) -> TimerObservation:
        """Make a call that no other overlaps, and return its answer and what ran."""
        cancelled = size = None
        answer = self.answer(call)
        if isinstance(call, Cancel):
            cancelled = bool(answer)
        elif isinstance(call, Size):
            size = answer
        ran = tuple(self._ran)
        self._ran.clear()
        return TimerObservation(fired=ran, cancelled=cancelled, size=size)

    def answer(self, call: TimerOperation) -> int | None:
        """Make a call, also beside others, and return its answer. Raises what the call raises."""
        match call:
            case Add(task=task, delay_ms=delay_ms):

                def add() -> Nothing:
                    self.timer.add(task, delay_ms)
                    return NOTHING

                self._recorder.answer(call, add)
                return None
            case Cancel(task=task):
                cancelled = self._recorder.answer(
                    call, lambda: Cancelled(cancelled=bool(self.timer.cancel(task)))
                )
                return cancelled.cancelled is True
            case Advance(to_ms=to_ms):
                self._advance(to_ms)
                return None
            case Size():
                return self._recorder.answer(
                    call, lambda: WaitingTasks(size=self.timer.size())
                ).size

    def _advance(self, to_ms: int) -> None:
        """Record that the clock moves at some moment of the advance: nobody else knows when."""
        tick = Tick(to_ms=to_ms)

        def advance() -> Nothing:
            self.timer.advance(to_ms)
            return NOTHING

        self._recorder.begins(tick, _CLOCK)
        try:
            self._recorder.answer(AdvanceClock(timeout_ms=0), advance)
        finally:
            self._recorder.ends(tick, _CLOCK)

    def _run(self, task: TaskId) -> None:
        self._recorder.begins(Run(task=task), _RUNS)
        self._ran.append(task)
