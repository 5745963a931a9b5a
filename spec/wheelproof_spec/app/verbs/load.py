"""The verb ``load``: another implementation does the same work, and its history is written."""

import argparse
from pathlib import Path

from wheelproof_spec.app.program import carries
from wheelproof_spec.app.verbs.record import declare_extent, publish_recorded
from wheelproof_spec.base.arguments import bounded, positive_seconds
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.reports import replacing
from wheelproof_spec.base.results.terminal import progress
from wheelproof_spec.components.registry import COMPONENTS
from wheelproof_spec.drive.usual import MEMORY_MB

_TIMEOUT_S = 120.0
_ABOUT = """\
Starts the program CMD once, and gives it work: which of its callers makes which call, and when they
wait for one another. The program does the work in threads of its own, one for each caller, and
prints what it has recorded. FILE gets it as histories, which `wheelproof check FILE` judges. The
seed alone decides what is asked, so two implementations meet the same work; how their threads meet
is up to the machine. docs/recording.md has the protocol, adapters/template/loaded.py a program to
start from.
"""


class LoadedProgramError(WheelproofSpecError):
    """The error of a program that did not do the work: nothing was written."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.description = _ABOUT
    parser.add_argument("--component", required=True, choices=COMPONENTS, help="what is loaded")
    parser.add_argument(
        "--driver",
        required=True,
        metavar="CMD",
        help="the command that starts the program; its words are split as a shell does, but no "
        "shell is used",
    )
    declare_extent(parser)
    parser.add_argument(
        "--timeout",
        type=positive_seconds,
        default=_TIMEOUT_S,
        metavar="S",
        help="how long the program may be silent while it does the work of a history, in seconds "
        "(default: %(default)g)",
    )
    parser.add_argument(
        "--memory-mb",
        type=bounded(1),
        default=MEMORY_MB,
        metavar="N",
        help="how much memory its processes may hold, in MiB (default: %(default)s)",
    )
    carries(parser, run, reads=("driver",), writes=("output",))


def run(arguments: argparse.Namespace) -> int:
    """Record histories; ``wheelproof check`` judges them."""
    from wheelproof_spec.components.registry import works
    from wheelproof_spec.drive.driver.loading import LoadedProgram
    from wheelproof_spec.drive.driver.process import DriverFailedError, DriverLimits
    from wheelproof_spec.drive.driver.session import DriverSession
    from wheelproof_spec.history.recording.callers import Callers

    component: str = arguments.component
    threads: int = arguments.threads
    operations: int = arguments.operations
    histories: int = arguments.histories
    seed: int = arguments.seed
    output: Path = arguments.output
    draw = works()[component]
    events = 0
    limits = DriverLimits(timeout_s=arguments.timeout, memory_mb=arguments.memory_mb)
    try:
        with (
            DriverSession(arguments.driver, limits) as session,
            replacing(output) as stream,
            progress(quiet=arguments.quiet, first_s=0) as shown,
        ):
            program = LoadedProgram(session, component)
            impl, version = program.introduction.implementation, program.introduction.version
            for number in range(histories):
                shown.tell(f"history {number + 1:,} of {histories:,}: {operations:,} operations")
                callers = Callers(threads=threads, operations=operations, seed=seed, number=number)
                work = draw(callers).with_lateness(arguments.lateness_ms)
                name = f"{component}-{seed}-{number}"
                events += program.record(stream, name, threads, work)
            session.say_goodbye()
    except DriverFailedError as failure:
        raise LoadedProgramError("\n".join((failure.problem, *failure.last_lines))) from failure
    subject = f"{impl} {version}"
    return publish_recorded(arguments, "load", subject, events, driver=arguments.driver)
