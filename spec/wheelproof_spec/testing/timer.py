'''The test of a timer that is written in Python: a state machine that Hypothesis runs.

    class TestMine(TimerMachine):
        make = MyTimer
        profile = "kafka"

That is a whole test for pytest. The machine makes timers, calls them, and compares each answer
with the model, a heap of due times. In a step `together` two or three real threads call at once.
Their calls are recorded, and judged as every other history: some order of their effects on the heap
has to explain the answers. Then time passes, so that everything runs, and the heap is empty again.
Hypothesis makes a failure small and prints it as code.

>>> class Forgetful:
...     """It drops every task."""
...     def __init__(self, tick_ms, wheel_size, start_ms, run): pass
...     def add(self, task, delay_ms): pass
...     def cancel(self, task): return False
...     def advance(self, to_ms): pass
...     def size(self): return 0
...     def close(self): pass
>>> class TestForgetful(TimerMachine):
...     make = Forgetful
>>> from wheelproof_spec.base.results.fuzz_report import ContractViolationError
>>> try:
...     TestForgetful().test_it_keeps_its_contract()
... except ContractViolationError as error:
...     print(error.violation.rule)
Timer.SizeCountsWaitingTasks
'''

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.contract import KAFKA, contract_of
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    Cancel,
    Size,
    TaskId,
    TimerClause,
    TimerConfig,
    TimerLimit,
)
from wheelproof_spec.components.timer.model import HeapTimer, TimerOperation, timer_of
from wheelproof_spec.testing.machine import AdvanceBy, ContractMachine
from wheelproof_spec.testing.python_timer import MakeTimer, TimerCalls

_TASKS = "abcdef"
_MS = st.integers(0, 6) | st.integers(0, 40)
"""Delays and jumps in milliseconds: up to three levels of the wheels that are drawn.

Short ones are frequent, so that the clock often stops when a task is due, or just before.
"""
_UNTIL_ALL_HAVE_RUN_MS = 1, 2, 4, 8, 16, 32

Program = tuple[Add | Cancel | Size | AdvanceBy, ...]
"""The calls that one thread makes in `together`."""


def _program(tasks: str, *, advances: bool = False) -> st.SearchStrategy[Program]:
    """Draw the calls of a thread; only this thread adds these tasks."""

    def call(task: TaskId) -> st.SearchStrategy[Add | Cancel | Size | AdvanceBy]:
        add = st.builds(Add, task=st.just(task), delay_ms=_MS)
        others = st.builds(Cancel, task=st.sampled_from(_TASKS)) | st.builds(Size)
        return add | others | st.builds(AdvanceBy, by_ms=_MS) if advances else add | others

    first, second = map(call, tasks)
    return st.tuples(first) | st.tuples(first, second)


class TimerMachine(ContractMachine):
    """Calls a timer and compares it with a heap of due times; a subclass says what `make` is.

    `make` is called with `tick_ms`, `wheel_size`, `start_ms` and `run`; see `MakeTimer`. `profile`
    is a name of `CONTRACTS`, perhaps with parameters: ``exact,late_ticks=2``. `skip` has what is a
    known limit: the clauses of the order of runs, of the answer of cancel and of the size, and
    `TimerLimit.ONE_BUCKET`. A subclass may add rules. See `ContractMachine` for `seed`, `settings`
    and `threads`.
    """

    make: ClassVar[MakeTimer]
    component = any_definition(DEFINITION)
    profile: ClassVar[str] = KAFKA.name
    skip: ClassVar[Collection[TimerClause | TimerLimit]] = ()

    @initialize(tick_ms=st.integers(1, 4), wheel_size=st.integers(1, 4), start_ms=st.integers(0, 9))
    def new_timer(self, tick_ms: int, wheel_size: int, start_ms: int) -> None:
        """Make the timer, and the heap."""
        if TimerLimit.ONE_BUCKET in self.skip:
            wheel_size = max(wheel_size, 2)
        self._tell("new_timer", tick_ms=tick_ms, wheel_size=wheel_size, start_ms=start_ms)
        self._config = TimerConfig(tick_ms=tick_ms, wheel_size=wheel_size, start_ms=start_ms)
        self._calls = TimerCalls(type(self).make, self._config, self.profile, self.skip)
        self._under_test = self._calls.timer
        self._now_ms = start_ms
        self._heap = self._new_heap()

    @rule(task=st.sampled_from(_TASKS), delay_ms=_MS)
    def add(self, task: TaskId, delay_ms: int) -> None:
        """Add a task, again if it waits or was added before."""
        self._tell("add", task=task, delay_ms=delay_ms)
        self._call(Add(task=task, delay_ms=delay_ms))

    @rule(task=st.sampled_from(_TASKS))
    def cancel(self, task: TaskId) -> None:
        """Cancel a task."""
        self._tell("cancel", task=task)
        self._call(Cancel(task=task))

    @rule(by_ms=_MS)
    def advance(self, by_ms: int) -> None:
        """Advance the clock."""
        self._tell("advance", by_ms=by_ms)
        self._call(Advance(to_ms=self._now_ms + by_ms))

    @precondition(lambda self: self._heap.due_times())
    @rule(early=st.booleans())
    def advance_until_due(self, early: bool) -> None:
        """Advance to the time at which the next task is due, or to the millisecond before it."""
        self._tell("advance_until_due", early=early)
        due_ms = min(self._heap.due_times().values()) - early
        self._call(Advance(to_ms=max(due_ms, self._now_ms)))

    @rule()
    def size(self) -> None:
        """Ask how many tasks wait."""
        self._tell("size")
        self._call(Size())

    @precondition(lambda self: self.threads)
    @rule(
        first=_program("ab", advances=True),
        second=_program("cd"),
        third=st.just(()) | _program("ef"),
    )
    def together(self, first: Program, second: Program, third: Program) -> None:
        """Let each program run on its own thread, all at once; then let everything run.

        First it cancels the tasks that the threads will add, one at a time: whether an adapter
        that keeps handles by name can add a waiting task from two threads is no question here.
        The threads are joined. Only who is stuck is given up, after `burst.STUCK_AFTER_S` seconds.
        """
        self._tell("together", first=first, second=second, third=third)
        for call in (*first, *second, *third):
            if isinstance(call, Add):
                self._call(Cancel(task=call.task))
        self._burst([program for program in (first, second, third) if program])

    @precondition(lambda self: self.threads)
    @rule(delay_ms=_MS, cancels=st.integers(1, 2))
    def race(self, delay_ms: int, cancels: int) -> None:
        """Let one thread advance until a task is due, while others cancel it. See `together`."""
        self._tell("race", delay_ms=delay_ms, cancels=cancels)
        self._call(Add(task="a", delay_ms=delay_ms))
        # It is due then, however it is rounded.
        advance = AdvanceBy(by_ms=delay_ms + 2 * self._config.tick_ms)
        self._burst([(advance,), *[(Cancel(task="a"),)] * cancels])

    def _burst(self, drawn: Sequence[Program]) -> None:
        programs = [
            [partial(self._calls.answer, self._made(call)) for call in program] for program in drawn
        ]
        self._judge_burst(self._calls.history, programs)
        after_it: list[Size | AdvanceBy] = [Size(), Size()]
        after_it[1:1] = [AdvanceBy(by_ms=by_ms) for by_ms in _UNTIL_ALL_HAVE_RUN_MS]
        for after in after_it:
            made = partial(self._calls.answer, self._made(after))
            self._fail_if(self._calls.history.judge(partial(self._alone, made)))
        self._fail_if(self._calls.history.finish())
        self._calls.begin_history(self._now_ms)
        # The history has shown that each task has run or was cancelled.
        self._heap = self._new_heap()

    def _new_heap(self) -> HeapTimer:
        config = replace(self._config, start_ms=self._now_ms)
        return timer_of(config, contract_of(self.profile), Tally(limits=self.skip))

    def _made(self, call: Add | Cancel | Size | AdvanceBy) -> TimerOperation:
        if not isinstance(call, AdvanceBy):
            return call
        self._now_ms += call.by_ms
        return Advance(to_ms=self._now_ms)

    def _call(self, call: TimerOperation) -> None:
        """Make a call that no other overlaps, and compare its outcome with the heap's."""
        seen = self._alone(partial(self._calls.perform, call))
        self._now_ms = call.to_ms if isinstance(call, Advance) else self._now_ms
        self._fail_if(self._heap.judge(call, seen))
