"""Adders, cancellers and an advancing thread on a real SystemTimer: the machine `timer`.

Each burst of concurrent calls is recorded; then the history judge decides whether the contract
allows it (standard 1.2, 1.5, 1.10 - 1.13, 1.18). With real threads the machine also fuzzes the
timer's lists, under more contention. It can also run under the controlled runtime.
"""

from hypothesis import strategies as st

from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.components.timer.drawn import TASKS, Span, TimerDomain
from wheelproof_spec.components.timer.fuzz.bounded_reference import BoundedReferencePort
from wheelproof_spec.components.timer.fuzz.controlled import run_controlled_timer_fuzz
from wheelproof_spec.components.timer.fuzz.domain import configs, delays, jumps
from wheelproof_spec.components.timer.fuzz.lists import run_list_fuzz
from wheelproof_spec.components.timer.fuzz.stages import RealThreads
from wheelproof_spec.components.timer.fuzz.under_test import TimerUnderTest, setup_of
from wheelproof_spec.components.timer.reference import TimerVariant
from wheelproof_spec.fuzz.bursts import run_burst_fuzz
from wheelproof_spec.fuzz.engine import STEPS_PER_CASE
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.threaded_case import Burst, Setup

_MAX_THREADS = 3
_FEW_TASKS = TASKS[:4]
_DOMAIN = TimerDomain(max_level=3, max_wheel_size=8, max_tick_ms=4, max_start_ms=50)


def run_threaded_timer_fuzz(variant: TimerVariant, plan: FuzzPlan) -> FuzzReport:
    """Run bursts of threads on the timer of `variant`; see `run_burst_fuzz`."""
    return run_burst_fuzz(
        "timer, real threads",
        lambda case: TimerUnderTest(
            variant.timer_class, case.setup, RealThreads(case.preemption()), plan.keep
        ),
        st.builds(_setup, configs(_DOMAIN), st.tuples(*[delays(_DOMAIN) for _ in _FEW_TASKS])),
        _bursts,
        plan,
        STEPS_PER_CASE,
    )


def _setup(config: TimerConfig, spans: tuple[Span, ...]) -> Setup:
    # One delay per task and case, so that a second add uses the same task object.
    delay_ms = {task: span.millis(config) for task, span in zip(_FEW_TASKS, spans, strict=True)}
    return setup_of(config, delay_ms)


def _bursts(timer: TimerUnderTest) -> st.SearchStrategy[Burst]:
    calls = st.builds(
        "{} {}".format, st.sampled_from(("add", "cancel")), st.sampled_from(_FEW_TASKS)
    )
    programs = st.lists(calls, min_size=1, max_size=3).map(tuple)
    adders = st.lists(programs, max_size=_MAX_THREADS).map(tuple)
    advancing = st.lists(jumps(_DOMAIN), max_size=3).map(timer.advancing)
    return st.tuples(adders, advancing).map(lambda burst: (*burst[0], *burst[1]))


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
