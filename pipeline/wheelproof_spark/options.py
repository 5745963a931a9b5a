"""Options that several verbs of the pipeline share."""

import argparse
from pathlib import Path

from wheelproof_spec.check.checkers import MAX_STATES, CheckOptions
from wheelproof_spec.conformance.history_run import PROFILES


def add_output(parser: argparse.ArgumentParser) -> None:
    """Declare where the tables are."""
    parser.add_argument(
        "--output", type=Path, metavar="DIR", required=True, help="the folder of the tables"
    )


def add_master(parser: argparse.ArgumentParser) -> None:
    """Declare where Spark works."""
    parser.add_argument(
        "--master", default="local[*]", metavar="M", help="Spark's master (default: %(default)s)"
    )
    parser.add_argument(
        "--partitions", type=positive, metavar="N", help="in how many parts the work is done"
    )


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Declare how runs are judged."""
    parser.add_argument(
        "--profile",
        choices=sorted(PROFILES),
        help="the contract that histories are judged by, instead of the one that they name",
    )
    parser.add_argument(
        "--max-states",
        type=positive,
        default=MAX_STATES,
        metavar="N",
        help="give up on a trace whose order is open after so many states (default: %(default)s)",
    )


def check_options(arguments: argparse.Namespace) -> CheckOptions:
    """Return what `add_judging` declared."""
    return CheckOptions(profile=arguments.profile, max_states=arguments.max_states)


def positive(text: str) -> int:
    """Return a number from 1 upwards, for `type` of an argument."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 upwards")
    return value
