"""Adders, cancellers and an advancing thread on a real SystemTimer: the machine `timer`.

Each burst of concurrent calls is recorded; then the history judge decides whether the contract
allows it (standard 1.2, 1.5, 1.10 - 1.13, 1.18). With real threads the machine also fuzzes the
timer's lists, under more contention. Under the controlled runtime Hypothesis draws the calls and
the schedule: what it finds repeats itself, so it shrinks to few calls and few switches.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.sync import DeferredExecutor, use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import SystemTimer
from wheelproof_explore.strategies.drawn import Draw, keep_running
from wheelproof_spec.base.calls import AdvanceClock, Close, Tick
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.history.judging import LinearizationSearch
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.port import BrokenDownError
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Run,
    Size,
    TaskId,
    TimerCall,
    TimerObservation,
)
from wheelproof_spec.components.timer.history import RECORDED
from wheelproof_spec.components.timer.lists import run_list_fuzz
from wheelproof_spec.components.timer.port import InlineExecutor, TimerPort
from wheelproof_spec.components.timer.reference import ReferenceTimerPort, TimerVariant
from wheelproof_spec.components.timer.work import (
    TASKS,
    MoveClockBy,
    TimerBursts,
    TimerSetup,
    TimerStep,
    TimerWork,
)
from wheelproof_spec.drive.work import AdvanceBy, AndCall, Raise
from wheelproof_spec.fuzz.burst import raise_it, run_submitted, surviving
from wheelproof_spec.fuzz.bursts import run_burst_fuzz, setups_of, steps_of
from wheelproof_spec.fuzz.controlled_threads import burst_line, drawn_schedule
from wheelproof_spec.fuzz.engine import STEPS_PER_CASE, Recorder, run_machine
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime, StepLimit, StepLimitExceededError
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.stage import DrawnThreads, Programs, RealThreads, Stage
from wheelproof_spec.fuzz.threaded_case import Burst, Program, setup_line
from wheelproof_spec.history.recording.load_recorder import RecordedPort

SWITCH_ONE_IN = (3, 10, 30)
"""The schedule switches threads at one in so many choices."""
BURSTS = 3
"""The maximum number of bursts of a controlled case, without the one that lets all expire."""

_MAX_THREADS = 3
_REAL = TimerBursts(
    within=TimerWork(max_level=3, max_wheel_size=8, max_tick_ms=4, max_start_ms=50),
    tasks=TASKS[:4],
)
_CONTROLLED = TimerBursts(
    within=TimerWork(max_level=2, max_wheel_size=4, max_tick_ms=3, max_start_ms=20),
    tasks=TASKS[:3],
    near=True,
)
_TITLE = TIMER.definition.title()
_NO_MOVE = MoveClockBy(jump_ms=0)

_EXECUTOR = "executor"

T = TypeVar("T")


class TimerUnderTest:
    """A timer and its tasks, whose calls and runs are recorded, on a stage that has the threads."""

    def __init__(
        self,
        timer_class: type[SystemTimer],
        setup: TimerSetup,
        stage: Stage,
        *,
        keep: Callable[[KeptHistory], object] | None = None,
        search: LinearizationSearch | None = None,
        executor: DeferredExecutor | None = None,
    ) -> None:
        """Make it; without an `executor`, whose tasks who advances runs, tasks run in `submit`."""
        config, delays_ms = setup.config, setup.delays_ms
        config = replace(
            config, runs="inline" if executor is None else "later", run_order="promised"
        )
        self._tick_ms = config.tick_ms
        self._longest_ms = max(0, *delays_ms.values())
        self._now_ms = config.start_ms
        self._stage = stage
        self._broken = False
        self._deferred = executor
        self._then: dict[TaskId, Callable[[], object]] = {}
        """What a task calls, the next time that it runs."""
        self._bursts = JudgedBursts(
            RECORDED,
            config,
            clock="virtual",
            profile=KAFKA.name,
            process=stage.process,
            search=search,
            keep=keep,
        )
        self._recorder = self._bursts.recorder
        with stage.alone():
            self._clock_moves = sync.lock("clock moves")
            self._port = TimerPort(
                config,
                self._ran,
                timer_class,
                clock=ManualClock(config.start_ms),
                executor=InlineExecutor() if executor is None else executor,
            )
            for name, delay_ms in delays_ms.items():
                self._port.prepare(name, delay_ms)
        self._timer = RecordedPort(self._port, self._recorder)

    def programs(self, burst: Burst[Call]) -> Programs:
        """Return the calls of a burst."""
        return [[(step, surviving(self._call(step))) for step in program] for program in burst]

    def run(self, burst: Burst[Call], *, last: bool = False) -> Violation | None:
        """Run one burst, ask for the size, and return the violation of the history, if any.

        The `last` burst ends the history: then every submitted task must have run.
        """
        programs = self.programs(burst)
        violation = self._bursts.judge(lambda: self._stage.run(programs), self._read_size)
        self._broken = violation is not None
        return self._bursts.finish() if last and violation is None else violation

    def drain(self) -> Burst[Call]:
        """Return the burst after which no task waits and no entry is linked."""
        beyond_ms = self._longest_ms + self._tick_ms
        return ((AdvanceBy(jump_ms=beyond_ms),),)

    def finish(self) -> Violation | None:
        """Let everything expire, unless a burst had a violation, and close the timer."""
        try:
            return None if self._broken else self.run(self.drain(), last=True)
        finally:
            self.close()

    def close(self) -> None:
        """Close the timer, unless a thread may be stuck in it, and end the stage's threads."""
        if not self._broken:
            with self._stage.alone():
                self._port.perform(Close())
        self._stage.close()

    def _call(self, step: Call) -> Callable[[], object]:
        match step:
            case MoveClockBy(jump_ms=jump_ms):
                return partial(self._move_clock, jump_ms)
            case Add() | Cancel():
                return partial(self._timer.perform, step)
            case AdvanceClock():
                return self._advance
            case AdvanceBy(jump_ms=jump_ms):
                return partial(self._move_and_advance, jump_ms)
            case AndCall(step=Add() as add, then=then):
                return partial(self._add_and_call, add, self._call(then))
            case Size():
                return self._read_size
            case Close():
                return lambda: self._recorder.do(step, self._close)
            case Raise():
                return raise_it
            case _:
                raise AssertionError(step)

    def _add_and_call(self, add: Add, then: Callable[[], object]) -> None:
        self._then[add.task] = then
        self._timer.perform(add)

    def _ran(self, task: TaskId) -> None:
        # One process has all runs, so that their order is judged.
        self._recorder.begins(Run(task=task), _EXECUTOR)
        then = self._then.pop(task, None)
        if then is not None:
            self._recorder.inside(then)

    def _move_and_advance(self, jump_ms: int) -> None:
        with self._clock_moves:
            self._move_clock(jump_ms)
        self._advance()

    def _advance(self) -> None:
        self._timer.perform(AdvanceClock(timeout_ms=0))
        self._run_submitted()

    def _close(self) -> None:
        """Close, and run what was submitted, as a close waits for it."""
        self._port.perform(Close())
        self._run_submitted()

    def _run_submitted(self) -> None:
        if self._deferred is not None:
            run_submitted(self._deferred)

    def _move_clock(self, jump_ms: int) -> None:
        # Only one thread at a time moves the clock.
        self._now_ms += jump_ms
        self._timer.perform(Tick(to_ms=self._now_ms))

    def _read_size(self) -> None:
        with self._stage.alone():
            self._timer.perform(Size())


def run_threaded_timer_fuzz(variant: TimerVariant, plan: FuzzPlan) -> FuzzReport:
    """Run bursts of threads on the timer of `variant`; see `run_burst_fuzz`."""
    return run_burst_fuzz(
        "timer, real threads",
        lambda case: TimerUnderTest(
            variant.timer_class,
            case.setup,
            RealThreads(_TITLE, case.preemption()),
            keep=plan.keep,
        ),
        setups_of(_REAL),
        _real_bursts,
        plan,
        STEPS_PER_CASE,
    )


def _real_bursts(setup: TimerSetup) -> st.SearchStrategy[Burst[TimerStep]]:
    kinds = _REAL.kinds()
    calls = steps_of(kinds["add"], setup) | steps_of(kinds["cancel"], setup)
    programs = st.lists(calls, min_size=1, max_size=3).map(tuple)
    adders = st.lists(programs, max_size=_MAX_THREADS).map(tuple)
    moves = st.lists(steps_of(kinds["move_clock"], setup), max_size=3)
    return st.tuples(adders, moves.map(_advancing)).map(lambda both: (*both[0], *both[1]))


def _advancing(moves: list[TimerStep]) -> Burst[TimerStep]:
    """Return the program of a thread that advances after each move; empty without moves."""
    advance = AdvanceClock(timeout_ms=0)
    program = tuple(step for move in moves for step in (move, advance))
    return (program,) if program else ()


def run_controlled_timer_fuzz(variant: TimerVariant, plan: FuzzPlan) -> FuzzReport:
    """Run drawn schedules of drawn calls on the timer of `variant`; see `run_machine`."""
    return run_machine(
        "timer, controlled threads",
        partial(_controlled_machine, variant.timer_class, plan.keep),
        plan,
        steps_per_case=BURSTS,
    )


def _controlled_machine(
    timer_class: type[SystemTimer], keep: Callable[[KeptHistory], object] | None, recorder: Recorder
) -> type[RuleBasedStateMachine]:
    class ControlledTimerMachine(RuleBasedStateMachine):
        """Bursts of calls under drawn schedules, judged together."""

        def __init__(self) -> None:
            super().__init__()
            self._stage: DrawnThreads | None = None
            self._failed = False

        @initialize(setup=setups_of(_CONTROLLED), one_in=st.sampled_from(SWITCH_ONE_IN))
        def reset(self, setup: TimerSetup, one_in: int) -> None:
            recorder.begin_case()
            self._one_in = one_in
            self._move = steps_of(_CONTROLLED.kinds()["move_clock"], setup)
            self._programs = _controlled_programs(setup)
            self._lines = [setup_line(setup)]
            self._stage = DrawnThreads(_TITLE)
            self._timer = TimerUnderTest(timer_class, setup, self._stage, keep=keep)

        @precondition(lambda self: self._stage is not None)
        @rule(data=st.data())
        def burst(self, data: st.DataObject) -> None:
            move, programs = data.draw(self._move), data.draw(self._programs)
            if move != _NO_MOVE:
                self._run(((move,),), keep_running)
            self._run(programs, drawn_schedule(data, self._one_in))

        def teardown(self) -> None:
            """Let everything expire: no task is left behind, no entry stays linked."""
            if self._stage is None:
                return
            try:
                if not self._failed:
                    self._run(self._timer.drain(), keep_running, last=True)
            finally:
                self._timer.close()

        def _run(self, burst: Burst[Call], schedule: Draw, *, last: bool = False) -> None:
            stage = self._stage
            if not burst or stage is None:
                return
            stage.schedule = schedule
            # A draw may end the case in the middle of a burst.
            self._failed = True
            violation = self._timer.run(burst, last=last)
            self._failed = violation is not None
            self._lines.append(burst_line(burst, stage.deviations))
            recorder.judge(burst, violation, lambda: (*self._lines, *stage.story()))

    return ControlledTimerMachine


def _controlled_programs(setup: TimerSetup) -> st.SearchStrategy[Burst[TimerStep]]:
    kinds = _CONTROLLED.kinds()
    add, cancel = steps_of(kinds["add"], setup), steps_of(kinds["cancel"], setup)
    advance: st.SearchStrategy[TimerStep] = st.just(AdvanceClock(timeout_ms=0))
    program: st.SearchStrategy[Program[TimerStep]] = st.one_of(
        st.tuples(add),
        st.tuples(advance),
        st.tuples(cancel),
        st.tuples(add, advance),
        st.tuples(add, cancel),
        st.tuples(add, add, cancel, advance),
    )
    # The second branch gives two programs, since a race needs two threads.
    return st.lists(program, max_size=1).map(tuple) | st.tuples(program, program)


STEPS_OF_A_CALL = 20_000
"""More than any call needs: an advance makes a few hundred steps for each level and task."""


class BoundedReferencePort:
    """A ReferenceTimerPort of `timer_class` that raises BrokenDownError if a call does not end."""

    def __init__(self, timer_class: type[SystemTimer] = SystemTimer) -> None:
        self._limit = StepLimit(STEPS_OF_A_CALL)
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), self._limit)
        self._port = self._bounded(lambda: ReferenceTimerPort(timer_class))

    def perform(self, call: TimerCall) -> TimerObservation:
        """Make `call`; see `Port.perform`."""
        return self._bounded(lambda: self._port.perform(call))

    def _bounded(self, call: Callable[[], T]) -> T:
        self._limit.restart()
        try:
            with use_runtime(self._runtime):
                return call()
        except (StepLimitExceededError, RecursionError) as error:
            raise BrokenDownError("Timer.EveryCallReturns", str(error)) from error


MACHINE = Machine(
    suite=TIMER,
    profile=KAFKA.name,
    sound=TimerVariant(),
    port=lambda variant: BoundedReferencePort(variant.timer_class),
    parts={
        "real": (run_threaded_timer_fuzz, run_list_fuzz),
        "controlled": (run_controlled_timer_fuzz,),
    },
)
