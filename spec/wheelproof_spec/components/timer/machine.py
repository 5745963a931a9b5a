"""Adders, cancellers and an advancing thread on a real SystemTimer: the machine `timer`.

Each burst of concurrent calls is recorded; then the history judge decides whether the contract
allows it (standard 1.2, 1.5, 1.10 - 1.13, 1.18). With real threads the machine also fuzzes the
timer's lists, under more contention. Under the controlled runtime Hypothesis draws the calls and
the schedule: what it finds repeats itself, so it shrinks to few calls and few switches.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import SystemTimer
from wheelproof_explore.strategies.drawn import Draw, keep_running
from wheelproof_spec.base.calls import AdvanceClock
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.port import BrokenDownError
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.component import TimerCall, TimerObservation
from wheelproof_spec.components.timer.lists import run_list_fuzz
from wheelproof_spec.components.timer.reference import ReferenceTimerPort, TimerVariant
from wheelproof_spec.components.timer.under_test import TimerUnderTest
from wheelproof_spec.components.timer.work import (
    TASKS,
    MoveClockBy,
    TimerBursts,
    TimerSetup,
    TimerStep,
    TimerWork,
)
from wheelproof_spec.fuzz.bursts import run_burst_fuzz, setups_of, steps_of
from wheelproof_spec.fuzz.controlled_threads import burst_line, drawn_schedule
from wheelproof_spec.fuzz.engine import STEPS_PER_CASE, Recorder, run_machine
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime, StepLimit, StepLimitExceededError
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.stage import DrawnThreads, RealThreads
from wheelproof_spec.fuzz.threaded_case import Burst, Program, setup_line

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

T = TypeVar("T")


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

        def _run(self, burst: Burst[TimerStep], schedule: Draw, *, last: bool = False) -> None:
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
