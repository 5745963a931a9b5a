"""Bursts of real threads on a component, each judged when all its threads have ended.

The steps of the threads come from the alphabet of the component's work, drawn by Hypothesis.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from wheelproof_spec.base.component import Call
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.drive.work import Draw, Kind, SetupT, StepT, Work
from wheelproof_spec.fuzz.engine import Recorder, run_machine
from wheelproof_spec.fuzz.threaded_case import Burst, Run, ThreadedCase, shrink

_MAX_THREADS = 4
_MAX_CALLS = 4
_PREEMPT_ONE_IN = (2, 4, 16)
_BURSTS_OF_A_CASE = 6


StepT_contra = TypeVar("StepT_contra", bound=Call, contravariant=True)


class HypothesisDraw(Draw):
    """Draws from Hypothesis, which shrinks what is drawn."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def between(self, least: int, most: int, often_to: int | None = None) -> int:
        """Return a number; see `Draw.between`."""
        numbers = st.integers(least, most)
        if often_to is not None:
            numbers = st.integers(least, min(most, often_to)) | numbers
        return self._draw(numbers)


class Subject(Protocol[StepT_contra]):
    """The object under test, judged after each burst."""

    def run(self, burst: Burst[StepT_contra]) -> Violation | None:
        """Run one burst and return the violation that it shows, if any."""
        ...


@runtime_checkable
class FinishedSubject(Protocol):
    """A subject that is also judged at the end of a case, and then ends what it has started."""

    def finish(self) -> Violation | None:
        """Return the violation at the end of the case, unless a burst has shown it already."""
        ...


def run_burst_fuzz(
    name: str,
    make_subject: Callable[[ThreadedCase[SetupT, StepT]], Subject[StepT]],
    setups: st.SearchStrategy[SetupT],
    bursts: Callable[[SetupT], st.SearchStrategy[Burst[StepT]]],
    plan: FuzzPlan,
    steps_per_case: int = _BURSTS_OF_A_CASE,
) -> FuzzReport:
    """Run drawn bursts on the subjects that `make_subject` makes; see `run_machine`."""
    return run_machine(
        name,
        lambda recorder: _burst_machine(make_subject, setups, bursts, recorder),
        plan,
        steps_per_case=steps_per_case,
    )


def setups_of(work: Work[SetupT, StepT]) -> st.SearchStrategy[SetupT]:
    """Return the strategy of set-ups."""

    @st.composite
    def setup(draw: st.DrawFn) -> SetupT:
        return work.setup(HypothesisDraw(draw))

    return setup()


def steps_of(kind: Kind[SetupT, StepT], setup: SetupT) -> st.SearchStrategy[StepT]:
    """Return the strategy of the steps of one kind."""

    @st.composite
    def step(draw: st.DrawFn) -> StepT:
        return kind.in_a_burst(HypothesisDraw(draw), setup)

    return step()


def bursts_of(
    work: Work[SetupT, StepT],
) -> Callable[[SetupT], st.SearchStrategy[Burst[StepT]]]:
    """Return a function that returns the strategy of bursts: a few threads, a few steps each."""

    def bursts(setup: SetupT) -> st.SearchStrategy[Burst[StepT]]:
        kinds = work.kinds().values()
        steps = st.one_of([steps_of(kind, setup) for kind in kinds for _ in range(kind.weight)])
        programs = st.lists(steps, min_size=1, max_size=_MAX_CALLS).map(tuple)
        return st.lists(programs, min_size=1, max_size=_MAX_THREADS).map(tuple)

    return bursts


def _run_case(
    make_subject: Callable[[ThreadedCase[SetupT, StepT]], Subject[StepT]],
    case: ThreadedCase[SetupT, StepT],
) -> Violation | None:
    subject = make_subject(case)
    violations = (subject.run(burst) for burst in case.bursts)
    found = next((violation for violation in violations if violation is not None), None)
    at_the_end = _finish(subject)
    return found or at_the_end


def _shrunk(
    case: ThreadedCase[SetupT, StepT], run: Run[SetupT, StepT], goes_on: Callable[[], bool]
) -> tuple[tuple[str, ...], Violation | None]:
    """Return the lines of the smallest case that fails, and its violation; see `shrink`."""
    smallest, violation = shrink(case, run, goes_on)
    return smallest.lines(), violation


def _finish(subject: object) -> Violation | None:
    return subject.finish() if isinstance(subject, FinishedSubject) else None


def _burst_machine(
    make_subject: Callable[[ThreadedCase[SetupT, StepT]], Subject[StepT]],
    setups: st.SearchStrategy[SetupT],
    bursts: Callable[[SetupT], st.SearchStrategy[Burst[StepT]]],
    recorder: Recorder,
) -> type[RuleBasedStateMachine]:
    run = partial(_run_case, make_subject)

    class BurstMachine(RuleBasedStateMachine):
        """Bursts of calls, each judged when all its threads have ended."""

        def __init__(self) -> None:
            super().__init__()
            self._subject: Subject[StepT] | None = None

        @initialize(
            setup=setups,
            preemption_seed=st.integers(0, 1_000),
            one_in=st.sampled_from(_PREEMPT_ONE_IN),
        )
        def reset(self, setup: SetupT, preemption_seed: int, one_in: int) -> None:
            recorder.begin_case()
            self._case: ThreadedCase[SetupT, StepT] = ThreadedCase(
                setup=setup, preemption_seed=preemption_seed, preempt_one_in=one_in
            )
            self._drawn = bursts(setup)
            self._subject = make_subject(self._case)

        @rule(data=st.data())
        def burst(self, data: st.DataObject) -> None:
            assert self._subject is not None
            burst = data.draw(self._drawn)
            if burst:
                self._case = replace(self._case, bursts=(*self._case.bursts, burst))
                self._judge(burst, self._subject.run(burst))

        def teardown(self) -> None:
            """Judge the end of the case."""
            violation = _finish(self._subject)
            if violation is not None:
                self._judge((), violation)

        def _judge(self, burst: Burst[StepT], violation: Violation | None) -> None:
            case = self._case
            recorder.judge(burst, violation, case.lines, partial(_shrunk, case, run))

    return BurstMachine
