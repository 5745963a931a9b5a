"""Bursts of calls under the controlled runtime: the schedule is drawn, and repeatable.

A machine makes its object under test inside `alone`, runs each burst with `run`, and shows a
failure with `story`. This module does not depend on the object under test.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TypeVar

from hypothesis import strategies as st

from wheelproof.sync import use_runtime
from wheelproof_explore.counterexamples.counterexample import (
    Deviation,
    ShownStep,
    chosen_name,
    column_names,
    schedule_line,
    table_of,
)
from wheelproof_explore.failures.failure import Failure, FailureKind
from wheelproof_explore.fields.plain_fields import PlainField, watched
from wheelproof_explore.program import (
    DEFAULT_SETTINGS,
    Action,
    Program,
    Scenario,
    Settings,
)
from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runtime.numbers import thread_of
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.thread_steps import invocation
from wheelproof_explore.strategies.drawn import Draw, DrawnStrategy
from wheelproof_explore.strategies.strategy import run
from wheelproof_explore.substrates.substrate import SubstrateKind, open_substrate
from wheelproof_spec.base.component import Call
from wheelproof_spec.drive.work import shown
from wheelproof_spec.fuzz.burst import BurstError
from wheelproof_spec.fuzz.threaded_case import shown_burst

Answer = TypeVar("Answer")
Made = tuple[Call, Callable[[], Answer]]
"""A step of a thread, and the function that makes it."""

_NAME = "burst"


def drawn_schedule(data: st.DataObject, one_in: int) -> Draw:
    """Return the schedule that Hypothesis draws: about one choice in `one_in` is a switch.

    Each choice is one integer, 0 for the running thread, so that operations and schedule shrink
    together and come back from Hypothesis's database.
    """
    strategies: dict[int, st.SearchStrategy[int]] = {}

    def draw(choices: int) -> int:
        strategy = strategies.get(choices)
        if strategy is None:
            strategy = strategies[choices] = st.integers(0, (choices - 1) * one_in)
        drawn = data.draw(strategy)
        return drawn if drawn < choices else 0

    return draw


class ControlledThreads:
    """Threads of one object under test, burst after burst.

    `deviations` are the switches of the last burst: the step, counted from 1, the thread that would
    have continued, and the thread that did.
    """

    def __init__(
        self,
        component: str,
        settings: Settings = DEFAULT_SETTINGS,
        plain_fields: Sequence[PlainField] = (),
    ) -> None:
        """Make a runtime without threads; every access of the `plain_fields` is a step.

        `component` is the first part of the names of rules that are broken: "Timer".
        """
        self._component = component
        self.deviations: tuple[Deviation, ...] = ()
        self._settings = settings
        self._substrate = open_substrate(SubstrateKind.GREENLET)
        self._runtime = ControlledRuntime(_NAME, settings, self._substrate, {}, logging=True)
        self._last: _BurstExecution | None = None
        self._table = ""
        self._broken: BaseException | None = None
        self._stack = ExitStack()
        self._stack.enter_context(watched(plain_fields))

    def thread_name(self) -> str:
        """Return the name of the thread that runs: the same in every run of a schedule."""
        return self._runtime.caller().name

    @contextmanager
    def alone(self) -> Generator[None]:
        """Use the runtime for objects and calls inside the block; no other thread runs."""
        with use_runtime(self._runtime):
            yield

    def run(self, programs: Sequence[Iterable[Made[Answer]]], draw: Draw) -> list[Answer]:
        """Run each program on its own thread and return the results of the calls.

        A program yields its next call only when its thread reaches it. So a call is drawn next to
        the scheduling choices that are made while it runs, and Hypothesis removes them together
        when it shrinks. Raises BurstError if the programs do not end or if a call raises.
        """
        self._broken = None

        def drawn(choices: int) -> int:
            if self._broken is not None:
                raise self._broken
            return draw(choices)

        answers: list[Answer] = []
        threads: dict[str, Action] = {
            f"thread {number}": partial(self._make_calls, program, answers)
            for number, program in enumerate(programs)
        }
        program = Program(
            name=_NAME,
            summary="",
            build=lambda: Scenario(threads=threads),
            settings=self._settings,
        )
        execution = _BurstExecution(World(program, self._substrate), self._runtime)
        self._last = execution
        strategy = DrawnStrategy(drawn)
        try:
            run(execution, strategy)
            failure = execution.judge()
        finally:
            execution.leave()
        if self._broken is not None:
            raise self._broken
        self._note(execution, strategy)
        if failure is None and (unended := execution.unended()):
            failure = Failure(kind=FailureKind.NEVER_ENDS, thread=None, message=unended)
        if failure is not None:
            raise self._error(failure)
        return answers

    def story(self) -> tuple[str, ...]:
        """Return the last burst as a table with a column for each thread, and its schedule."""
        return (*self._table.splitlines(), schedule_line(self.deviations))

    def close(self) -> None:
        """End the threads that have not ended."""
        if self._last is not None:
            self._last.unwind()
            self._last.seal()
        self._stack.close()
        self._substrate.close()

    def _error(self, failure: Failure) -> BurstError:
        if failure.kind is FailureKind.EXCEPTION:
            rule, expected = "NoCallFails", "no call raises"
        else:
            rule, expected = "EveryCallReturns", "every call returns"
        return BurstError(f"{self._component}.{rule}", expected, failure.sentence())

    def _make_calls(self, program: Iterable[Made[Answer]], answers: list[Answer]) -> None:
        calls = iter(program)
        while True:
            # Before this step the call has not begun: other calls may run to their end first.
            self._runtime.perform(invocation("next"))
            call = self._next(calls)
            if self._runtime.log:
                self._runtime.log[-1] = "end" if call is None else f"call {shown(call[0])}"
            if call is None:
                return
            answers.append(call[1]())

    def _next(self, calls: Iterator[Made[Answer]]) -> Made[Answer] | None:
        try:
            return next(calls, None)
        except BaseException as error:
            # Hypothesis ends the case with its own exception: that is no violation.
            self._broken = error
            raise

    def _note(self, execution: "_BurstExecution", strategy: DrawnStrategy) -> None:
        names = column_names(execution.threads)
        log = self._runtime.log
        assert log is not None
        steps = [
            ShownStep(actor=actor, thread=names[thread_of(actor)], text=text)
            for actor, text in zip(execution.actors, log, strict=True)
        ]
        log.clear()
        self.deviations = tuple(
            (place + 1, names[thread_of(usual)], chosen_name(actor, names))
            for place, usual, actor in strategy.deviations
        )
        columns = list(dict.fromkeys(step.thread for step in steps))
        for thread in list(execution.threads.values()):
            if thread.ended:
                del execution.threads[thread.number]
        self._table = table_of(sorted(columns), steps, [place for place, _, _ in self.deviations])


def burst_line(burst: Sequence[Sequence[Call]], deviations: Sequence[Deviation]) -> str:
    """Return a burst and its schedule as one line of JSON."""
    switches = [[place, chosen] for place, _, chosen in deviations]
    return json.dumps({"burst": shown_burst(burst), "switches": switches})


class _BurstExecution(Execution):
    """A run in a runtime that outlives it."""

    watches_cycles = False

    def __init__(self, world: World, runtime: ControlledRuntime) -> None:
        self._shared = runtime
        super().__init__(world, logging=True)

    def new_runtime(self, world: World, *, logging: bool) -> ControlledRuntime:
        """Return the runtime of the earlier bursts."""
        del world, logging
        return self._shared
