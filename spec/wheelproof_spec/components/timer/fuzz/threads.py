"""The threaded machine: adders, cancellers and an advancing thread on a real SystemTimer.

Each rule runs a burst of calls at the same time, which record themselves; then the history judge
says whether the timer may have done so (semantics.md 1.2, 1.5, 1.10 - 1.13, 1.18).
"""

import itertools
from dataclasses import replace
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof.timer import SystemTimer
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.timer.bugs import TimerBug
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.components.timer.drawn import TASKS, Span, TimerDomain
from wheelproof_spec.components.timer.fuzz.domain import configs, delays, jumps
from wheelproof_spec.components.timer.fuzz.stages import RealThreads
from wheelproof_spec.components.timer.fuzz.under_test import (
    TimerUnderTest,
    programs_of_clock,
    run_case,
    setup_of,
)
from wheelproof_spec.engines.fuzz.engine import Recorder, run_machine
from wheelproof_spec.engines.fuzz.order import Batch
from wheelproof_spec.engines.fuzz.threaded_case import Burst, ThreadedCase

_MAX_THREADS = 3
_PREEMPT_ONE_IN = (2, 4, 16)
"""How rarely threads give way: once in so many steps."""

_FEW_TASKS = TASKS[:4]
_DOMAIN = TimerDomain(max_level=3, max_wheel_size=8, max_tick_ms=4, max_start_ms=50)


def run_threaded_timer_fuzz(bug: TimerBug, batch: Batch) -> FuzzReport:
    """Run bursts of threads on the timer of `bug`; see `run_machine`."""
    return run_machine(
        "timer, real threads",
        partial(_machine, bug.timer_class),
        run_threaded_case=partial(run_case, bug.timer_class),
        **batch,
    )


def _machine(timer_class: type[SystemTimer], recorder: Recorder) -> type[RuleBasedStateMachine]:
    calls = st.builds(
        "{} {}".format, st.sampled_from(("add", "cancel")), st.sampled_from(_FEW_TASKS)
    )
    programs = st.lists(
        st.lists(calls, min_size=1, max_size=3).map(tuple), max_size=_MAX_THREADS
    ).map(tuple)

    class ThreadedTimerMachine(RuleBasedStateMachine):
        """Bursts of calls, judged together."""

        def __init__(self) -> None:
            super().__init__()
            self._timer: TimerUnderTest | None = None
            self._failed = False

        @initialize(
            config=configs(_DOMAIN),
            spans=st.tuples(*[delays(_DOMAIN) for _ in _FEW_TASKS]),
            preemption_seed=st.integers(0, 1_000),
            one_in=st.sampled_from(_PREEMPT_ONE_IN),
        )
        def reset(
            self, config: TimerConfig, spans: tuple[Span, ...], preemption_seed: int, one_in: int
        ) -> None:
            recorder.begin_case()
            self._config = config
            # One delay a task and case, so that adding again means the same task object.
            delay_ms = {
                task: span.millis(config) for task, span in zip(_FEW_TASKS, spans, strict=True)
            }
            self._case = ThreadedCase(
                setup=setup_of(config, delay_ms),
                preemption_seed=preemption_seed,
                preempt_one_in=one_in,
            )
            stage = RealThreads(self._case.preemption())
            self._timer = TimerUnderTest(timer_class, self._case.setup, stage)

        @precondition(lambda self: self._timer is not None)
        @rule(adders=programs, advancing=st.lists(jumps(_DOMAIN), max_size=3))
        def burst(self, adders: Burst, advancing: list[Span]) -> None:
            if self._timer is not None:
                jumps_ms = (jump.millis(self._config) for jump in advancing)
                times_ms = list(itertools.accumulate(jumps_ms, initial=self._timer.now_ms))[1:]
                self._run(self._timer, (*adders, *programs_of_clock(times_ms)))

        def teardown(self) -> None:
            """Let everything expire: no task is left behind, no entry stays linked."""
            if self._timer is None:
                return
            try:
                if not self._failed:
                    self._run(self._timer, self._timer.drain(), last=True)
            finally:
                self._timer.close()

        def _run(self, timer: TimerUnderTest, burst: Burst, *, last: bool = False) -> None:
            if burst:
                self._case = replace(self._case, bursts=(*self._case.bursts, burst))
                violation = timer.run(burst, last=last)
                self._failed = violation is not None
                recorder.judge_threaded(self._case, violation)

    return ThreadedTimerMachine
