"""The options that say how runs are judged, in one process or on many."""

import argparse

from wheelproof_spec.base.arguments import positive
from wheelproof_spec.components.registry import profiles
from wheelproof_spec.engines.history.checkers import MAX_STATES, CheckOptions


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Declare how runs are judged."""
    parser.add_argument(
        "--profile",
        choices=sorted(profiles()),
        help="the contract that histories are judged by, instead of the one that they name, if "
        "their component has it",
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
