"""Bursts of real threads on a component, each judged when all its threads have ended."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.fuzz.engine import Recorder, run_machine
from wheelproof_spec.fuzz.threaded_case import Burst, Setup, ThreadedCase

_MAX_THREADS = 4
_MAX_CALLS = 4
_PREEMPT_ONE_IN = (2, 4, 16)
_BURSTS_OF_A_CASE = 6


class Subject(Protocol):
    """The object under test, judged after each burst."""

    def run(self, burst: Burst) -> Violation | None:
        """Run one burst and return the violation that it shows, if any."""
        ...


@runtime_checkable
class FinishedSubject(Protocol):
    """A subject that is also judged at the end of a case, and then ends what it has started."""

    def finish(self) -> Violation | None:
        """Return the violation at the end of the case, unless a burst has shown it already."""
        ...


SubjectT = TypeVar("SubjectT", bound=Subject)


def run_burst_fuzz(
    name: str,
    make_subject: Callable[[ThreadedCase], SubjectT],
    setups: st.SearchStrategy[Setup],
    bursts: Callable[[SubjectT], st.SearchStrategy[Burst]],
    plan: FuzzPlan,
    steps_per_case: int = _BURSTS_OF_A_CASE,
) -> FuzzReport:
    """Run drawn bursts on the subjects that `make_subject` makes; see `run_machine`."""
    return run_machine(
        name,
        lambda recorder: _burst_machine(make_subject, setups, bursts, recorder),
        plan,
        run_threaded_case=partial(_run_case, make_subject),
        steps_per_case=steps_per_case,
    )


def bursts_of(calls: st.SearchStrategy[str]) -> Callable[[object], st.SearchStrategy[Burst]]:
    """Return a function that returns the strategy of bursts: a few threads, a few calls each."""
    programs = st.lists(calls, min_size=1, max_size=_MAX_CALLS).map(tuple)
    bursts = st.lists(programs, min_size=1, max_size=_MAX_THREADS).map(tuple)
    return lambda _: bursts


def _run_case(
    make_subject: Callable[[ThreadedCase], Subject], case: ThreadedCase
) -> Violation | None:
    subject = make_subject(case)
    violations = (subject.run(burst) for burst in case.bursts)
    found = next((violation for violation in violations if violation is not None), None)
    at_the_end = _finish(subject)
    return found or at_the_end


def _finish(subject: Subject | None) -> Violation | None:
    return subject.finish() if isinstance(subject, FinishedSubject) else None


def _burst_machine(
    make_subject: Callable[[ThreadedCase], SubjectT],
    setups: st.SearchStrategy[Setup],
    bursts: Callable[[SubjectT], st.SearchStrategy[Burst]],
    recorder: Recorder,
) -> type[RuleBasedStateMachine]:
    class BurstMachine(RuleBasedStateMachine):
        """Bursts of calls, each judged when all its threads have ended."""

        def __init__(self) -> None:
            super().__init__()
            self._subject: SubjectT | None = None

        @initialize(
            setup=setups,
            preemption_seed=st.integers(0, 1_000),
            one_in=st.sampled_from(_PREEMPT_ONE_IN),
        )
        def reset(self, setup: Setup, preemption_seed: int, one_in: int) -> None:
            recorder.begin_case()
            self._case = ThreadedCase(
                setup=setup, preemption_seed=preemption_seed, preempt_one_in=one_in
            )
            self._subject = make_subject(self._case)

        @rule(data=st.data())
        def burst(self, data: st.DataObject) -> None:
            assert self._subject is not None
            burst = data.draw(bursts(self._subject))
            if burst:
                self._case = replace(self._case, bursts=(*self._case.bursts, burst))
                recorder.judge_threaded(self._case, self._subject.run(burst))

        def teardown(self) -> None:
            """Judge the end of the case."""
            violation = _finish(self._subject)
            if violation is not None:
                recorder.judge_threaded(self._case, violation)

    return BurstMachine
