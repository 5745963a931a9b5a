"""The threaded machine under the controlled runtime: Hypothesis draws the calls and the schedule.

Its findings are reproducible, so Hypothesis shrinks them to few calls and few switches.
"""

import itertools
from collections.abc import Callable
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof.timer import SystemTimer
from wheelproof_explore.strategies.drawn import Draw, keep_running
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.components.timer.drawn import TASKS, Span, TimerDomain
from wheelproof_spec.components.timer.fuzz.domain import configs, delays, jumps
from wheelproof_spec.components.timer.fuzz.stages import DrawnThreads
from wheelproof_spec.components.timer.fuzz.under_test import TimerUnderTest, setup_of
from wheelproof_spec.components.timer.reference import TimerVariant
from wheelproof_spec.fuzz.controlled_threads import burst_line, drawn_schedule
from wheelproof_spec.fuzz.engine import Recorder, run_machine
from wheelproof_spec.fuzz.threaded_case import Burst, setup_line

SWITCH_ONE_IN = (3, 10, 30)
"""The schedule switches threads at one in so many choices."""
BURSTS = 3
"""The maximum number of bursts of a case, without the one that lets everything expire."""

_FEW_TASKS = TASKS[:3]
_DOMAIN = TimerDomain(max_level=2, max_wheel_size=4, max_tick_ms=3, max_start_ms=20)


def run_controlled_timer_fuzz(variant: TimerVariant, plan: FuzzPlan) -> FuzzReport:
    """Run drawn schedules of drawn calls on the timer of `variant`; see `run_machine`."""
    return run_machine(
        "timer, controlled threads",
        partial(_machine, variant.timer_class, plan.keep),
        plan,
        steps_per_case=BURSTS,
    )


def _machine(
    timer_class: type[SystemTimer], keep: Callable[[KeptHistory], object] | None, recorder: Recorder
) -> type[RuleBasedStateMachine]:
    task = st.sampled_from(_FEW_TASKS)
    add, cancel, advance = (
        st.tuples(task.map("add {}".format)),
        st.tuples(task.map("cancel {}".format)),
        st.just(("advance",)),
    )
    program = st.one_of(
        add,
        advance,
        cancel,
        st.tuples(add, advance).map(_joined),
        st.tuples(add, cancel).map(_joined),
        st.tuples(add, add, cancel, advance).map(_joined),
    )
    # The second branch gives two programs, since a race needs two threads.
    programs = st.lists(program, max_size=1).map(tuple) | st.tuples(program, program)
    # Half of all durations have one of two values: tasks share a bucket, and the clock reaches it.
    near = st.builds(Span, st.just(0), st.integers(0, 1), st.just(0), st.just(0))
    delay, jump = near | delays(_DOMAIN), near | jumps(_DOMAIN)
    tasks = len(_FEW_TASKS)
    several = near.map(lambda span: (span,) * tasks) | st.tuples(*[delay] * tasks)

    class ControlledTimerMachine(RuleBasedStateMachine):
        """Bursts of calls under drawn schedules, judged together."""

        def __init__(self) -> None:
            super().__init__()
            self._stage: DrawnThreads | None = None
            self._failed = False

        @initialize(
            config=configs(_DOMAIN),
            spans=several,
            one_in=st.sampled_from(SWITCH_ONE_IN),
        )
        def reset(self, config: TimerConfig, spans: tuple[Span, ...], one_in: int) -> None:
            recorder.begin_case()
            self._config = config
            self._one_in = one_in
            delay_ms = {
                task: span.millis(config) for task, span in zip(_FEW_TASKS, spans, strict=True)
            }
            setup = setup_of(config, delay_ms)
            self._lines = [setup_line(setup)]
            self._stage = DrawnThreads()
            self._timer = TimerUnderTest(timer_class, setup, self._stage, keep)

        @precondition(lambda self: self._stage is not None)
        @rule(move=jump, programs=programs, data=st.data())
        def burst(self, move: Span, programs: Burst, data: st.DataObject) -> None:
            jump_ms = move.millis(self._config)
            if jump_ms:
                self._run(((f"clock to {self._timer.now_ms + jump_ms}",),), keep_running)
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

        def _run(self, burst: Burst, schedule: Draw, *, last: bool = False) -> None:
            stage = self._stage
            if not burst or stage is None:
                return
            stage.schedule = schedule
            # A draw may end the case in the middle of a burst.
            self._failed = True
            violation = self._timer.run(burst, last=last)
            self._failed = violation is not None
            self._lines.append(burst_line(burst, stage.deviations))
            lines = (*self._lines, *stage.story()) if self._failed else ()
            recorder.judge_lines(lines, burst, violation)

    return ControlledTimerMachine


def _joined(parts: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(itertools.chain.from_iterable(parts))
