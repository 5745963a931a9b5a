"""The options that say how runs are judged, in one process or on many."""

import argparse
from typing import TYPE_CHECKING

from wheelproof_spec.base.arguments import bounded, unknown
from wheelproof_spec.base.errors import UsageError

if TYPE_CHECKING:
    from wheelproof_spec.history.checkers import CheckOptions


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say how runs are judged."""
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help="the contract that histories are judged by, instead of the one that they name, if "
        "their component has it",
    )
    parser.add_argument(
        "--max-states",
        type=bounded(1),
        metavar="N",
        help="give up on a trace whose order is open after so many states (default: a generous "
        "number)",
    )


def check_options(arguments: argparse.Namespace) -> "CheckOptions":
    """Return the options that `add_judging` declared; raise UsageError for an unknown profile."""
    from wheelproof_spec.components.registry import is_profile, profiles
    from wheelproof_spec.history.checkers import MAX_STATES, CheckOptions

    profile: str | None = arguments.profile
    if profile is not None and not is_profile(profile):
        raise UsageError(unknown("--profile", profile, sorted(profiles())))
    return CheckOptions(profile=profile, max_states=arguments.max_states or MAX_STATES)
