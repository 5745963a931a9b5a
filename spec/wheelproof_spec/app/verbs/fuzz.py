"""The verb `wheelproof fuzz`: stateful fuzzing of the reference against the oracle."""

import argparse
import secrets
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wheelproof_spec.app.laboratory import laboratory
from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded, positive_seconds
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, overall
from wheelproof_spec.components.registry import COMPONENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wheelproof_spec.base.results.fuzz_report import FuzzFailure, FuzzReport
    from wheelproof_spec.base.suite import FuzzPlan
    from wheelproof_spec.fuzz.machine import AnyMachine

# A batch takes a second or two, so that `--seconds` is kept.
_CASES_IN_A_BATCH = {"none": 100, "real": 20, "controlled": 200}


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "machine", choices=COMPONENTS, metavar="MACHINE", help="what to fuzz: %(choices)s"
    )
    parser.add_argument(
        "--threads",
        choices=["none", "real", "controlled"],
        default="none",
        help="one thread under a manual clock, bursts of real threads, or bursts under the "
        "controlled runtime, whose schedule is drawn and shrunk like the calls (default: none)",
    )
    parser.add_argument(
        "--seconds",
        type=positive_seconds,
        metavar="N",
        help="go on for N seconds (default: one batch)",
    )
    parser.add_argument(
        "--shrink-seconds",
        type=positive_seconds,
        default=60.0,
        metavar="N",
        help="make a case that fails smaller for N seconds at most (default: %(default)g); Ctrl-C "
        "ends that earlier, with the smallest so far",
    )
    parser.add_argument(
        "--cases",
        type=bounded(1),
        metavar="N",
        help="cases in a batch (default: 100, with real threads 20, with controlled ones 200)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="repeat the run of this seed")
    parser.add_argument(
        "--case",
        type=int,
        metavar="N",
        help="run the one case that a plain generator of seed N draws, as `pipeline campaign` does",
    )
    parser.add_argument(
        "--bug", metavar="ID", help="fuzz the reference with this known bug brought back"
    )
    carries(parser, run)


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; the exit code is that of the worst verdict."""
    from wheelproof_spec.components.registry import machines

    if arguments.case is not None:
        _require_one_case(arguments)
    if arguments.cases is None:
        arguments.cases = _CASES_IN_A_BATCH[arguments.threads]
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    machine = machines()[arguments.machine]
    if not arguments.quiet:
        print(f"fuzzing the {machine.name}, threads: {arguments.threads}, seed {seed}", flush=True)
    results: list[CheckResult] = []
    with _stopped_by_interrupts() as stopped:
        for report in _reports(arguments, machine, seed, stopped):
            result = check_result(report)
            results.append(result)
            if not arguments.quiet:
                print(f"{result.name}: {result.verdict.value}, {result.summary}")
                if result.details:
                    print(result.details)
            if stopped():
                break
        interrupted = stopped()
    verdict = overall(result.verdict for result in results)
    names = ("machine", "threads", "cases", "seconds", "shrink_seconds", "bug")
    return publish(
        Result(
            verb="fuzz",
            verdict=verdict,
            checks=results,
            line=verdict.value,
            given={"seed": seed, **{name: getattr(arguments, name) for name in names}},
            repeat=_repeat(arguments).format(seed=seed),
            interrupted=interrupted,
        ),
        arguments,
    )


def check_result(report: "FuzzReport") -> CheckResult:
    """Return the report of one machine as the result of a check."""
    failure = report.failure
    counts = f"{report.cases} cases, {report.steps} steps, {report.seconds:.1f} s"
    if report.interrupted:
        counts = f"interrupted after {counts}"
    if failure is None:
        return CheckResult(
            name=report.machine,
            group="fuzz",
            verdict=Verdict.INCONCLUSIVE if report.interrupted else Verdict.PASS,
            seconds=report.seconds,
            summary=counts,
        )
    return CheckResult(
        name=report.machine,
        group="fuzz",
        verdict=Verdict.FAIL,
        seconds=report.seconds,
        summary=f"{failure.violation.rule} is broken ({counts})",
        details=_story(failure, "case, as small as it was found:"),
    )


def _story(failure: "FuzzFailure", heading: str) -> str:
    violation = failure.violation
    lines = (
        f"  rule      {violation.rule}",
        f"  expected  {violation.expected}",
        f"  observed  {violation.observed}",
        f"  reason    {violation.reason}",
        f"  {heading}",
        *(f"    {step}" for step in failure.steps),
        f"  repeat    {failure.repeat}",
    )
    return "\n".join(lines)


@contextmanager
def _stopped_by_interrupts() -> Generator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C was pressed; a second Ctrl-C ends the program.

    The running case is finished when the signal comes, so no case is judged in part.
    """
    interrupted = threading.Event()

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupted.set()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted.is_set
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupted.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def _require_one_case(arguments: argparse.Namespace) -> None:
    if (arguments.seed, arguments.cases, arguments.seconds) != (None, None, None):
        raise UsageError("--case is one case: leave out --seed, --cases and --seconds")
    arguments.seed, arguments.cases = arguments.case, 1


def _reports(
    arguments: argparse.Namespace, machine: "AnyMachine", seed: int, stopped: Callable[[], bool]
) -> "Iterator[FuzzReport]":
    plan = _plan(arguments, machine, seed, stopped)
    return machine.reports(plan, _variant(arguments))


def _variant(arguments: argparse.Namespace) -> object:
    """Return the variant that has the known bug, or None: the reference itself."""
    if arguments.bug is None:
        return None
    return laboratory("a known bug").variant_of(arguments.machine, arguments.bug)


def _plan(
    arguments: argparse.Namespace, machine: "AnyMachine", seed: int, stopped: Callable[[], bool]
) -> "FuzzPlan":
    from wheelproof_spec.base.suite import FuzzPlan

    if arguments.threads not in machine.threads:
        known = ", ".join(machine.threads)
        raise UsageError(f"{machine.name} has no threads {arguments.threads!r}; use one of {known}")
    return FuzzPlan(
        threads=arguments.threads,
        cases=arguments.cases,
        seconds=arguments.seconds,
        seed=seed,
        repeat=_repeat(arguments),
        shrink_seconds=arguments.shrink_seconds,
        stopped=stopped,
        tell=_say_nothing if arguments.quiet else _print_progress,
        seed_per_case=arguments.case is not None,
    )


def _repeat(arguments: argparse.Namespace) -> str:
    """Return the command that runs a batch again, with a placeholder for its seed."""
    repeat = f"wheelproof fuzz {arguments.machine} --threads {arguments.threads}"
    if arguments.case is None:
        repeat += f" --cases {arguments.cases}"
    if arguments.bug is not None:
        repeat += f" --bug {arguments.bug}"
    return repeat + (" --seed {seed}" if arguments.case is None else " --case {seed}")


def _say_nothing(report: "FuzzReport") -> None:
    del report


def _print_progress(report: "FuzzReport") -> None:
    counts = f"{report.seconds:.0f} s, {report.cases} cases, {report.steps} steps"
    print(f"  {report.machine}: {counts}", flush=True)
    if report.failure is not None and not report.failure.shrunk:
        print(_story(report.failure, "case, as it was found; now it is made smaller:"), flush=True)
