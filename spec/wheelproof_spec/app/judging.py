"""The options that say how runs are judged, in one process or on many."""

import argparse
from typing import TYPE_CHECKING

from wheelproof_spec.app.verbs.declaring import add_arguments
from wheelproof_spec.base.arguments import unknown
from wheelproof_spec.base.errors import UsageError

if TYPE_CHECKING:
    from wheelproof_spec.history.checkers import CheckOptions


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say how runs are judged."""
    add_arguments(parser, "judging")


def check_options(arguments: argparse.Namespace) -> "CheckOptions":
    """Return the options that `add_judging` declared; raise UsageError for an unknown profile."""
    from wheelproof_spec.components.registry import profiles
    from wheelproof_spec.history.checkers import MAX_STATES, CheckOptions

    profile: str | None = arguments.profile
    if profile is not None and profile not in profiles():
        raise UsageError(unknown("--profile", profile, sorted(profiles())))
    return CheckOptions(profile=profile, max_states=arguments.max_states or MAX_STATES)
