"""Running a Hypothesis state machine by seed, and keeping what it found."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from wheelproof_spec.fuzz.report import ContractViolationError, FuzzFailure, FuzzReport
from wheelproof_spec.fuzz.threaded_case import ThreadedCase, shrink
from wheelproof_spec.oracle import Violation

STEPS_PER_CASE = 50


@dataclass(slots=True)
class Recorder:
    """What the machine's runs have shown so far: counts, and the smallest failing case."""

    cases: int = 0
    steps: int = 0
    violation: Violation | None = None
    failing_steps: tuple[str, ...] = ()
    failing_case: ThreadedCase | None = None
    current_steps: list[str] = field(default_factory=list[str])

    def begin_case(self) -> None:
        """A new case starts."""
        self.cases += 1
        self.current_steps.clear()

    def step(self, call: str) -> None:
        """The case makes one more call, in the words of the driver protocol."""
        self.steps += 1
        self.current_steps.append(call)

    def judge(self, violation: Violation | None) -> None:
        """Keep the case if it breaks the contract and is the smallest so far, and raise."""
        if violation is None:
            return
        if self.violation is None or len(self.current_steps) <= len(self.failing_steps):
            self.violation = violation
            self.failing_steps = tuple(self.current_steps)
        raise ContractViolationError(violation)

    def judge_lines(self, lines: tuple[str, ...], calls: int, violation: Violation | None) -> None:
        """Count calls; keep the lines of the case if it breaks the contract, and raise.

        The case that fails last is the smallest one: Hypothesis ends with it.
        """
        self.steps += calls
        if violation is not None:
            self.violation = violation
            self.failing_steps = lines
            raise ContractViolationError(violation)

    def judge_threaded(self, case: ThreadedCase, violation: Violation | None) -> None:
        """Count a burst; keep the case if it breaks the contract, and raise."""
        self.steps += sum(len(program) for program in case.bursts[-1])
        if violation is not None:
            self.violation = violation
            self.failing_case = case
            raise ContractViolationError(violation)


def run_machine(
    name: str,
    machine: Callable[[Recorder], type[RuleBasedStateMachine]],
    *,
    first_seed: int,
    cases: int,
    seconds: float | None,
    repeat: str,
    progress: Callable[[FuzzReport], None] | None = None,
    run_threaded_case: Callable[[ThreadedCase], Violation | None] | None = None,
    steps_per_case: int = STEPS_PER_CASE,
) -> FuzzReport:
    """Run `cases` cases of the machine; with `seconds`, batch after batch until that time is over.

    The batch number is added to the seed, so `--seed` of a failure's own batch repeats it alone.
    `repeat` is the command that repeats a batch, with `{seed}` in it. A failure of a machine with
    real threads is shrunk by running smaller cases with `run_threaded_case`, since Hypothesis
    gives up on what does not repeat itself.
    """
    started = time.monotonic()
    batch_seed = first_seed
    total = Recorder()
    while True:
        recorder = Recorder()
        _run_batch(machine(recorder), batch_seed, cases, recorder, steps_per_case)
        total.cases += recorder.cases
        total.steps += recorder.steps
        elapsed = time.monotonic() - started
        failure = _failure(recorder, run_threaded_case, repeat.format(seed=batch_seed))
        report = FuzzReport(
            machine=name,
            seed=first_seed,
            cases=total.cases,
            steps=total.steps,
            seconds=elapsed,
            failure=failure,
        )
        if progress is not None:
            progress(report)
        if failure is not None or seconds is None or elapsed >= seconds:
            return report
        batch_seed += 1


def _failure(
    recorder: Recorder,
    run_threaded_case: Callable[[ThreadedCase], Violation | None] | None,
    repeat: str,
) -> FuzzFailure | None:
    violation = recorder.violation
    if violation is None:
        return None
    steps = recorder.failing_steps
    if recorder.failing_case is not None and run_threaded_case is not None:
        case, again = shrink(recorder.failing_case, run_threaded_case)
        violation = again or violation
        steps = case.lines()
    return FuzzFailure(violation=violation, steps=steps, repeat=repeat)


def _run_batch(
    machine: type[RuleBasedStateMachine],
    batch_seed: int,
    cases: int,
    recorder: Recorder,
    steps_per_case: int,
) -> None:
    # The database is off: a run by seed depends on nothing that an earlier run has left.
    chosen = settings(
        max_examples=cases,
        stateful_step_count=steps_per_case,
        database=None,
        deadline=None,
        print_blob=False,
        # One failure a batch: shrinking may end in another rule, but never in a group of errors.
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.large_base_example,
            HealthCheck.too_slow,
        ),
    )
    try:
        run_state_machine_as_test(seed(batch_seed)(machine), settings=chosen)
    except ContractViolationError:
        return
    except Flaky:
        # Real threads do not repeat themselves; the recorder has the smallest case that failed.
        if recorder.violation is None:
            raise
