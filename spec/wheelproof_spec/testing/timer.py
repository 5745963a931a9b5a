'''The test of a timer that is written in Python: a state machine that Hypothesis runs.

    class TestMine(TimerTests):
        make = MyTimer
        profile = "kafka"

That is a whole test for pytest. The machine makes timers, calls them, and compares each answer
with the oracle's heap of due times. In a step `together` two or three real threads call at once;
then some order of their calls has to explain the answers. Hypothesis makes a failure small and
prints it as code. Every run draws the same cases; `seed` and `settings` choose others.

>>> class Forgetful:
...     """It drops every task."""
...     def __init__(self, tick_ms, wheel_size, start_ms, run): pass
...     def add(self, task, delay_ms): pass
...     def cancel(self, task): return False
...     def advance(self, to_ms): pass
...     def size(self): return 0
...     def close(self): pass
>>> class TestForgetful(TimerTests):
...     make = Forgetful
>>> from wheelproof_spec.base.results.fuzz_report import ContractViolationError
>>> try:
...     TestForgetful().test_it_keeps_its_contract()
... except ContractViolationError as error:
...     print(error.violation.rule)
Timer.SizeCountsWaitingTasks
'''

from collections.abc import Callable, Collection
from functools import partial
from typing import ClassVar, Protocol

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.contract import KAFKA, contract_of
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    Cancel,
    Size,
    TaskId,
    TimerClause,
    TimerObservation,
)
from wheelproof_spec.components.timer.model import HeapTimer
from wheelproof_spec.fuzz.burst import BurstError, run_burst
from wheelproof_spec.testing.outcome import Answered, Asked, Outcome
from wheelproof_spec.testing.running import (
    AdvanceBy,
    ContractMachine,
    ContractTests,
    require_choice,
)

_TITLE = DEFINITION.title()
_WHAT = "timer"
_TASKS = "abcdef"
_MS = st.integers(0, 6) | st.integers(0, 40)
"""Delays and jumps in milliseconds: up to three levels of the wheels that are drawn.

Short ones are frequent, so that the clock often stops when a task is due, or just before.
"""


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
    """Calls a timer and compares it with the oracle; a subclass may add rules of its own.

    `make`, `profile` and `skip` are as in `TimerTests`. Without `threads` no step has threads. The
    machine raises ContractViolationError.
    """

    make: ClassVar[MakeTimer]
    profile: ClassVar[str] = KAFKA.name
    skip: ClassVar[Collection[TimerClause]] = ()

    def __init__(self) -> None:
        """Raise NothingToTestError if the class does not say what to test."""
        super().__init__()
        require_choice(type(self), _WHAT, self.profile, DEFINITION)
        self._contract = contract_of(self.profile)
        self._tally = Tally(limits=self.skip)
        self._ran: list[TaskId] = []
        self._timer: PythonTimer | None = None
        self._worlds: list[HeapTimer] = []
        self._now_ms = 0

    @initialize(tick_ms=st.integers(1, 4), wheel_size=st.integers(2, 4), start_ms=st.integers(0, 9))
    def new_timer(self, tick_ms: int, wheel_size: int, start_ms: int) -> None:
        """Make the timer."""
        self._tell(f"new_timer(tick_ms={tick_ms}, wheel_size={wheel_size}, start_ms={start_ms})")
        self._now_ms = start_ms
        self._timer = type(self).make(
            tick_ms=tick_ms, wheel_size=wheel_size, start_ms=start_ms, run=self._ran.append
        )
        heap = HeapTimer(
            tick_ms=tick_ms, start_ms=start_ms, contract=self._contract, tally=self._tally
        )
        self._worlds = [heap]

    @rule(task=st.sampled_from(_TASKS), delay_ms=_MS)
    def add(self, task: TaskId, delay_ms: int) -> None:
        """Add a task, again if it waits or was added before."""
        self._tell(f"add(task={task!r}, delay_ms={delay_ms})")
        self._call(Add(task=task, delay_ms=delay_ms))

    @rule(task=st.sampled_from(_TASKS))
    def cancel(self, task: TaskId) -> None:
        """Cancel a task."""
        self._tell(f"cancel(task={task!r})")
        self._call(Cancel(task=task))

    @rule(by_ms=_MS)
    def advance(self, by_ms: int) -> None:
        """Advance the clock."""
        self._tell(f"advance(by_ms={by_ms})")
        self._call(Advance(to_ms=self._now_ms + by_ms))

    @rule()
    def size(self) -> None:
        """Ask how many tasks wait."""
        self._tell("size()")
        self._call(Size())

    @precondition(lambda self: self.threads)
    @rule(
        first=_program("ab", advances=True),
        second=_program("cd"),
        third=st.just(()) | _program("ef"),
    )
    def together(self, first: Program, second: Program, third: Program) -> None:
        """Let each program run on its own thread, all at once; then ask for the size.

        First it cancels the tasks that the threads will add, one at a time: whether an adapter
        that keeps handles by name can add a waiting task from two threads is no question here.
        The threads are joined. Only who is stuck is given up, after `burst.STUCK_AFTER_S` seconds.
        """
        self._tell(f"together(first={first!r}, second={second!r}, third={third!r})")
        programs = [program for program in (first, second, third) if program]
        for program in programs:
            for call in program:
                if isinstance(call, Add):
                    self._call(Cancel(task=call.task))
        threads = self._answers([[self._asked(call) for call in own] for own in programs])
        ran = tuple(self._ran)
        self._ran.clear()
        outcome = Outcome(threads=threads, ran=ran, skip=self.skip)
        explained = outcome.explained_from(self._worlds)
        if isinstance(explained, Violation):
            self._fail(explained)
        self._worlds = explained
        self._call(Size())

    def teardown(self) -> None:
        """Close the timer."""
        if self._timer is not None:
            self._timer.close()

    def _asked(self, call: Add | Cancel | Size | AdvanceBy) -> Asked:
        if not isinstance(call, AdvanceBy):
            return call
        self._now_ms += call.by_ms
        return Advance(to_ms=self._now_ms)

    def _answers(self, threads: list[list[Asked]]) -> list[list[Answered]]:
        answers: list[list[Answered]] = [[] for _ in threads]

        def make(call: Asked, into: list[Answered]) -> None:
            into.append(Answered(call, self._answer(call)))

        programs = [
            [partial(make, call, into) for call in calls]
            for calls, into in zip(threads, answers, strict=True)
        ]
        try:
            run_burst(programs, _TITLE)
        except BurstError as error:
            # A thread may have left a lock taken, on which `close` would wait for ever.
            self._timer = None
            self._fail(error.violation, stuck=error.stuck)
        return answers

    def _answer(self, call: Asked) -> bool | int | None:
        timer = self._timer
        assert timer is not None
        match call:
            case Add(task=task, delay_ms=delay_ms):
                timer.add(task, delay_ms)
                return None
            case Cancel(task=task):
                return timer.cancel(task)
            case Advance(to_ms=to_ms):
                timer.advance(to_ms)
                return None
            case Size():
                return timer.size()

    def _call(self, call: Asked) -> None:
        """Make one call; keep the worlds that explain its outcome."""
        answer = self._answer(call)
        seen = TimerObservation(
            fired=tuple(self._ran),
            cancelled=None if answer is None or not isinstance(call, Cancel) else bool(answer),
            size=answer if isinstance(call, Size) else None,
        )
        self._ran.clear()
        if isinstance(call, Advance):
            self._now_ms = call.to_ms
        after = [world.copy(self._tally) for world in self._worlds]
        broken = [world.judge(call, seen) for world in after]
        kept = {
            world.key(): world
            for world, violation in zip(after, broken, strict=True)
            if violation is None
        }
        if not kept:
            self._fail(next(violation for violation in broken if violation is not None))
        self._worlds = list(kept.values())


class TimerTests(ContractTests):
    """The test of a timer, for pytest: a subclass says what `make` is, and by which `profile`.

    `make` is called with `tick_ms`, `wheel_size`, `start_ms` and `run`; see `MakeTimer`. `profile`
    is a name of `CONTRACTS`, and may have parameters: ``exact,late_ticks=2``. `skip` has the
    clauses that are known limits and are not judged: those of the order of runs, of the answer of
    cancel, of the size. See `ContractTests` for `seed` and `settings`.
    """

    make: ClassVar[MakeTimer]
    profile: ClassVar[str] = KAFKA.name
    skip: ClassVar[Collection[TimerClause]] = ()

    @classmethod
    def _machine(cls) -> type[ContractMachine]:
        require_choice(cls, _WHAT, cls.profile, DEFINITION)

        class Machine(TimerMachine):
            """The machine of one test."""

            make = cls.make
            profile = cls.profile
            skip = cls.skip

        return Machine
