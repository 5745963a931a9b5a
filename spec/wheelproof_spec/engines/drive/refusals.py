"""Errors of the reference as a driver tells them."""

from wheelproof.errors import WheelproofError
from wheelproof_spec.base.port import RefusedError


def refused(error: WheelproofError) -> RefusedError:
    """Return an error of the reference as the refusal that it is to a driver."""
    return RefusedError(type(error).__name__.removesuffix("Error"), str(error))
