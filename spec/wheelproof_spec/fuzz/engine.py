"""Runs a Hypothesis state machine by seed, and keeps what it found."""

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine

from wheelproof_spec.base.results.fuzz_report import ContractViolationError, FuzzFailure, FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.fuzz.drawing import Drawing, drawing_of
from wheelproof_spec.fuzz.threaded_case import Burst, Run, ThreadedCase, shrink

STEPS_PER_CASE = 50


class EnoughError(BaseException):
    """Ends a batch between two cases; no defect, so Hypothesis and the machines let it through."""


def _do_nothing() -> None:
    pass


def _never() -> bool:
    return False


@dataclass(slots=True)
class Recorder:
    """The results of the machine's runs so far: counts, and the case that failed last.

    `found` is called at the first failure, before it is shrunk. `enough` is asked between two cases
    whether the batch ends.
    """

    found: Callable[[], None] = _do_nothing
    enough: Callable[[], bool] = _never
    cases: int = 0
    steps: int = 0
    violation: Violation | None = None
    failing_steps: tuple[str, ...] = ()
    failing_case: ThreadedCase | None = None
    calls: Counter[str] = field(default_factory=Counter[str])
    """How often each kind of call was made."""

    def begin_case(self) -> None:
        """Record that a case began; raises EnoughError if the batch ends."""
        if self.enough():
            raise EnoughError
        self.cases += 1

    def judge_lines(
        self, lines: tuple[str, ...], burst: Burst, violation: Violation | None
    ) -> None:
        """Count a burst; if it breaks the contract, keep the lines of the case and raise.

        The case that fails last is the smallest one: Hypothesis ends with it.
        """
        self._count(burst)
        if violation is not None:
            first = self.violation is None
            self.violation = violation
            self.failing_steps = lines
            self._raise(violation, first=first)

    def judge_threaded(self, case: ThreadedCase, violation: Violation | None) -> None:
        """Count a burst; if it breaks the contract, keep the case and raise."""
        self._count(case.bursts[-1])
        if violation is not None:
            first = self.violation is None
            self.violation = violation
            self.failing_case = case
            self._raise(violation, first=first)

    def _raise(self, violation: Violation, *, first: bool) -> NoReturn:
        if first:
            self.found()
        raise ContractViolationError(violation)

    def failure(self, repeat: str, *, shrunk: bool) -> FuzzFailure | None:
        """Return the failure that was found, if any; `repeat` is the command that repeats it."""
        if self.violation is None:
            return None
        case = self.failing_case
        steps = self.failing_steps if case is None else case.lines()
        return FuzzFailure(violation=self.violation, steps=steps, repeat=repeat, shrunk=shrunk)

    def _count(self, burst: Burst) -> None:
        self.steps += sum(map(len, burst))
        self.calls.update(_kind(words) for program in burst for words in program)


def run_machine(
    name: str,
    machine: Callable[[Recorder], type[RuleBasedStateMachine]],
    plan: FuzzPlan,
    *,
    run_threaded_case: Run | None = None,
    steps_per_case: int = STEPS_PER_CASE,
) -> FuzzReport:
    """Run a batch of cases of the machine, or as many batches as the plan has time for.

    The batch number is added to the seed, so `--seed` of a failure's own batch repeats it alone.
    A failure of a machine with real threads is shrunk by running
    smaller cases with `run_threaded_case`, since Hypothesis gives up on a failure that does not
    repeat.
    """
    started = time.monotonic()
    drawing = drawing_of(plan)
    total = Recorder()
    batch_seed = plan.seed

    def report(recorder: Recorder, *, shrunk: bool) -> FuzzReport:
        made = FuzzReport(
            machine=name,
            seed=plan.seed,
            cases=total.cases + recorder.cases,
            steps=total.steps + recorder.steps,
            seconds=time.monotonic() - started,
            failure=recorder.failure(plan.repeat.format(seed=batch_seed), shrunk=shrunk),
            calls=total.calls + recorder.calls,
            interrupted=plan.stopped(),
        )
        plan.tell(made)
        return made

    while True:
        batch = _Batch(
            plan,
            lambda recorder: report(recorder, shrunk=False),
            run_threaded_case if drawing.shrinks else None,
        )
        batch.run(drawing, machine(batch.recorder), batch_seed, plan.cases, steps_per_case)
        done = report(batch.recorder, shrunk=True)
        over = plan.seconds is None or done.seconds >= plan.seconds
        if done.failure is not None or done.interrupted or over:
            return done
        total.cases, total.steps, total.calls = done.cases, done.steps, Counter(done.calls)
        batch_seed += 1


class _Batch:
    """One batch; a failure is reported at once, then shrunk within the time limit."""

    def __init__(
        self,
        plan: FuzzPlan,
        report: Callable[[Recorder], object],
        run_threaded_case: Run | None,
    ) -> None:
        self.recorder = Recorder(found=self._found, enough=self._enough)
        self._plan = plan
        self._report = report
        self._run_threaded_case = run_threaded_case
        self._deadline = math.inf

    def run(
        self,
        drawing: Drawing,
        machine: type[RuleBasedStateMachine],
        seed: int,
        cases: int,
        steps_per_case: int,
    ) -> None:
        """Run the batch, and shrink a failure."""
        recorder = self.recorder
        try:
            drawing.run(machine, seed, cases, steps_per_case)
        except (ContractViolationError, EnoughError):
            pass
        except Flaky:
            # Real threads are not deterministic; the recorder has the last case that failed.
            if recorder.violation is None:
                raise
        case, run_case = recorder.failing_case, self._run_threaded_case
        if case is not None and run_case is not None:
            recorder.failing_case, again = shrink(case, run_case, self._goes_on)
            recorder.violation = again or recorder.violation

    def _found(self) -> None:
        self._report(self.recorder)
        self._deadline = time.monotonic() + self._plan.shrink_seconds

    def _goes_on(self) -> bool:
        return not self._plan.stopped() and time.monotonic() < self._deadline

    def _enough(self) -> bool:
        # Hypothesis does not shrink cases of real threads.
        threaded = self.recorder.failing_case is not None and self._run_threaded_case is not None
        return threaded or not self._goes_on()


def _kind(call: str) -> str:
    """Return the kind of a call: its first word."""
    return call.partition(" ")[0]
