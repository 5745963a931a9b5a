"""Runs a Hypothesis state machine by seed, and keeps what it found."""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine

from wheelproof_spec.base.component import Call
from wheelproof_spec.base.results.fuzz_report import ContractViolationError, FuzzFailure, FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.fuzz.drawing import Drawing, drawing_of

STEPS_PER_CASE = 50

Shrink = Callable[[Callable[[], bool]], tuple[tuple[str, ...], Violation | None]]
"""Returns the lines of a smaller case, with its violation: None if the case does not fail again.

It is asked with a function that tells whether there is time left.
"""


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
    shrink: Shrink | None = None
    """How the failing case is shrunk, if Hypothesis cannot do it."""
    calls: Counter[str] = field(default_factory=Counter[str])
    """How often each kind of call was made."""

    def begin_case(self) -> None:
        """Record that a case began; raises EnoughError if the batch ends."""
        if self.enough():
            raise EnoughError
        self.cases += 1

    def judge(
        self,
        burst: Sequence[Sequence[Call]],
        violation: Violation | None,
        lines: Callable[[], tuple[str, ...]],
        shrink: Shrink | None = None,
    ) -> None:
        """Count a burst; if it breaks the contract, keep the lines of the case and raise.

        The case that fails last is the smallest one: Hypothesis ends with it.
        """
        self.steps += sum(map(len, burst))
        self.calls.update(step.name_on_the_wire() for program in burst for step in program)
        if violation is not None:
            first = self.violation is None
            self.violation, self.failing_steps, self.shrink = violation, lines(), shrink
            if first:
                self.found()
            raise ContractViolationError(violation)

    def failure(self, repeat: str, *, shrunk: bool) -> FuzzFailure | None:
        """Return the failure that was found, if any; `repeat` is the command that repeats it."""
        if self.violation is None:
            return None
        return FuzzFailure(
            violation=self.violation, steps=self.failing_steps, repeat=repeat, shrunk=shrunk
        )


def run_machine(
    name: str,
    machine: Callable[[Recorder], type[RuleBasedStateMachine]],
    plan: FuzzPlan,
    *,
    steps_per_case: int = STEPS_PER_CASE,
) -> FuzzReport:
    """Run a batch of cases of the machine, or as many batches as the plan has time for.

    The batch number is added to the seed, so `--seed` of a failure's own batch repeats it alone.
    A failure of a machine with real threads has a `Shrink` of its own, since Hypothesis gives up on
    a failure that does not repeat.
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
            plan, lambda recorder: report(recorder, shrunk=False), shrinks=drawing.shrinks
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
        self, plan: FuzzPlan, report: Callable[[Recorder], object], *, shrinks: bool
    ) -> None:
        self.recorder = Recorder(found=self._found, enough=self._enough)
        self._plan = plan
        self._report = report
        self._shrinks = shrinks
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
        if recorder.shrink is not None and self._shrinks:
            recorder.failing_steps, again = recorder.shrink(self._goes_on)
            recorder.violation = again or recorder.violation

    def _found(self) -> None:
        self._report(self.recorder)
        self._deadline = time.monotonic() + self._plan.shrink_seconds

    def _goes_on(self) -> bool:
        return not self._plan.stopped() and time.monotonic() < self._deadline

    def _enough(self) -> bool:
        # Hypothesis does not shrink cases of real threads.
        return (self.recorder.shrink is not None and self._shrinks) or not self._goes_on()
