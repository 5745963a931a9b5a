"""Bursts of threads that count, recorded and judged."""

from dataclasses import dataclass
from functools import partial

from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof_lab.bugs.known_bug import Finder, KnownBug
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz, setups_of
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.threaded_case import Burst, ThreadedCase

from .cases import COUNTER
from .component import DEFINITION, CounterConfig, Increment, Incremented, Look, Value
from .history import RECORDED
from .reference import BoundedCounter, CounterPort, RacyCounter
from .work import CounterStep, CounterWork


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterBug(KnownBug):
    counter_class: type[BoundedCounter] = BoundedCounter

    def variant(self) -> type[BoundedCounter]:
        return self.counter_class


RACY = CounterBug(
    id="racy",
    component="counter",
    trigger="two increments at once",
    broken="one of them is lost",
    source="",
    finders=(Finder.THREADS,),
    counter_class=RacyCounter,
)


class CounterUnderTest:
    def __init__(
        self, counter_class: type[BoundedCounter], case: ThreadedCase[CounterConfig, CounterStep]
    ) -> None:
        config = case.setup
        self._bursts = JudgedBursts(RECORDED, config)
        with use_runtime(InstrumentedRuntime(ThreadsRuntime(), case.preemption())):
            self._counter = counter_class(config.bound)

    def run(self, burst: Burst[CounterStep]) -> Violation | None:
        programs = [[partial(self._call, step) for step in program] for program in burst]
        return self._bursts.run(programs, partial(self._call, Look()))

    def _call(self, step: CounterStep) -> None:
        recorder, counter = self._bursts.recorder, self._counter
        if isinstance(step, Increment):
            recorder.call(step, lambda: Incremented(counted=counter.increment()))
        else:
            recorder.call(step, lambda: Value(value=counter.value()))


def _run(counter_class: type[BoundedCounter], plan: FuzzPlan) -> FuzzReport:
    return run_burst_fuzz(
        "counter, real threads",
        partial(CounterUnderTest, counter_class),
        setups_of(CounterWork()),
        bursts_of(CounterWork()),
        plan,
    )


MACHINE = Machine(
    suite=COUNTER,
    profile=DEFINITION.profiles[0],
    sound=BoundedCounter,
    port=CounterPort,
    parts={"real": (_run,)},
)
