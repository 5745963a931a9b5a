"""How an error that ends a call is written in a history."""

from collections.abc import Mapping

from wheelproof.errors import IllegalArgumentError, ThreadInterruptedError, WheelproofError
from wheelproof.producer import BufferExhaustedError, ProducerClosedError
from wheelproof_spec.base.history.judging import CLOSED, EXHAUSTED, ILLEGAL, INTERRUPTED
from wheelproof_spec.history.run import CRASHED

_REFUSALS: Mapping[type[Exception], str] = {
    IllegalArgumentError: ILLEGAL,
    BufferExhaustedError: EXHAUSTED,
    ProducerClosedError: CLOSED,
    ThreadInterruptedError: INTERRUPTED,
    MemoryError: "OutOfMemory",
    RuntimeError: CLOSED,
}
_DEFECTS = (AssertionError, AttributeError, LookupError, RecursionError, TypeError)
"""The errors of a call that has met a defect; a caller cannot cause any of them."""


def refusal_of(error: Exception) -> str | None:
    """Return the name of a refusal, CRASHED for a defect, or None for an unknown error."""
    if isinstance(error, WheelproofError | MemoryError):
        names = (name for cls, name in _REFUSALS.items() if isinstance(error, cls))
        return next(names, type(error).__name__)
    return CRASHED if isinstance(error, _DEFECTS) else None
