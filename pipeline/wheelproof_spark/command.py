"""The verb ``pipeline``: conformance at scale, on Apache Spark."""

import argparse
import sys
from pathlib import Path

from wheelproof_spec.check.checkers import MAX_STATES, CheckOptions
from wheelproof_spec.conformance.history_run import PROFILES
from wheelproof_spec.errors import UsageError
from wheelproof_spec.verbs import Verbs

# Spark is imported when the verb runs: the help needs nothing but the standard library.


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add("pipeline", "judge recorded runs at scale, on Apache Spark", run)
    parser.add_argument("what", choices=("check", "report"), help="what to do")
    parser.add_argument(
        "--input", type=Path, metavar="DIR", help="check: a folder of traces and histories"
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", required=True, help="the folder of the tables"
    )
    parser.add_argument(
        "--master", default="local[*]", metavar="M", help="Spark's master (default: %(default)s)"
    )
    parser.add_argument(
        "--partitions", type=_positive, metavar="N", help="check: in how many parts runs are judged"
    )
    parser.add_argument(
        "--profile",
        choices=sorted(PROFILES),
        help="check: the contract that histories are judged by, instead of the one that they name",
    )
    parser.add_argument(
        "--max-states",
        type=_positive,
        default=MAX_STATES,
        metavar="N",
        help="check: give up on a trace whose order is open after so many states",
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="report: the page (default: DIR/report.html)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Judge the input, or write the page of what was judged."""
    if arguments.what == "report":
        from wheelproof_spark.report import write_report

        return write_report(arguments)
    if arguments.input is None:
        raise UsageError("pipeline check needs --input DIR")
    from wheelproof_spark.check_job import CheckJob, check
    from wheelproof_spark.outcome import show

    job = CheckJob(
        input=arguments.input,
        output=arguments.output,
        options=CheckOptions(profile=arguments.profile, max_states=arguments.max_states),
        master=arguments.master,
        partitions=arguments.partitions,
        progress=not arguments.quiet and sys.stderr.isatty(),
    )
    return show(check(job), arguments)


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 upwards")
    return value
