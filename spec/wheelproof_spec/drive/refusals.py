"""Errors of the reference as refusals of the driver protocol."""

from wheelproof.errors import WheelproofError
from wheelproof_spec.base.port import RefusedError


def refused(error: WheelproofError) -> RefusedError:
    """Return the refusal that a driver reports for an error of the reference."""
    return RefusedError(type(error).__name__.removesuffix("Error"), str(error))
