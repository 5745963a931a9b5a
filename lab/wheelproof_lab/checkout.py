"""The checkout that the laboratory runs in."""

from pathlib import Path

from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.base.resources import checkout_directory


def required_checkout() -> Path:
    """Return the root of the checkout; raises MissingToolError once installed."""
    checkout = checkout_directory()
    if checkout is None:
        raise MissingToolError("the checkout", "run this inside a clone of the project")
    return checkout
