"""Running a Hypothesis state machine by seed, and keeping what it found."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine

from wheelproof_spec.base.results.fuzz_report import ContractViolationError, FuzzFailure, FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.engines.fuzz.drawing import Drawing, current_drawing
from wheelproof_spec.engines.fuzz.threaded_case import Burst, ThreadedCase, shrink

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
    calls: Counter[str] = field(default_factory=Counter[str])
    """How often each kind of call was made."""

    def begin_case(self) -> None:
        """A new case starts."""
        self.cases += 1
        self.current_steps.clear()

    def step(self, call: str) -> None:
        """The case makes one more call, in the words of the driver protocol."""
        self.steps += 1
        self.current_steps.append(call)
        self.calls[_kind(call)] += 1

    def judge(self, violation: Violation | None) -> None:
        """Keep the case if it breaks the contract and is the smallest so far, and raise."""
        if violation is None:
            return
        if self.violation is None or len(self.current_steps) <= len(self.failing_steps):
            self.violation = violation
            self.failing_steps = tuple(self.current_steps)
        raise ContractViolationError(violation)

    def judge_lines(
        self, lines: tuple[str, ...], burst: Burst, violation: Violation | None
    ) -> None:
        """Count a burst; keep the lines of the case if it breaks the contract, and raise.

        The case that fails last is the smallest one: Hypothesis ends with it.
        """
        self._count(burst)
        if violation is not None:
            self.violation = violation
            self.failing_steps = lines
            raise ContractViolationError(violation)

    def judge_threaded(self, case: ThreadedCase, violation: Violation | None) -> None:
        """Count a burst; keep the case if it breaks the contract, and raise."""
        self._count(case.bursts[-1])
        if violation is not None:
            self.violation = violation
            self.failing_case = case
            raise ContractViolationError(violation)

    def _count(self, burst: Burst) -> None:
        self.steps += sum(map(len, burst))
        self.calls.update(_kind(words) for program in burst for words in program)


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
    drawing = current_drawing()
    batch_seed = first_seed
    total = Recorder()
    while True:
        recorder = Recorder()
        _run_batch(drawing, machine(recorder), batch_seed, cases, recorder, steps_per_case)
        total.cases += recorder.cases
        total.steps += recorder.steps
        total.calls += recorder.calls
        elapsed = time.monotonic() - started
        smaller = run_threaded_case if drawing.shrinks else None
        failure = _failure(recorder, smaller, repeat.format(seed=batch_seed))
        report = FuzzReport(
            machine=name,
            seed=first_seed,
            cases=total.cases,
            steps=total.steps,
            seconds=elapsed,
            failure=failure,
            calls=dict(total.calls),
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
    case = recorder.failing_case
    if case is not None:
        if run_threaded_case is not None:
            case, again = shrink(case, run_threaded_case)
            violation = again or violation
        steps = case.lines()
    return FuzzFailure(violation=violation, steps=steps, repeat=repeat)


def _run_batch(
    drawing: Drawing,
    machine: type[RuleBasedStateMachine],
    batch_seed: int,
    cases: int,
    recorder: Recorder,
    steps_per_case: int,
) -> None:
    try:
        drawing.run(machine, batch_seed, cases, steps_per_case)
    except ContractViolationError:
        return
    except Flaky:
        # Real threads do not repeat themselves; the recorder has the smallest case that failed.
        if recorder.violation is None:
            raise


def _kind(call: str) -> str:
    """Return what is called: the operation of a line of the protocol, or the first word."""
    operation = call.partition('"op":"')[2].partition('"')[0]
    return operation or call.partition(" ")[0]
