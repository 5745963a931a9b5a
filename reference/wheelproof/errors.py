"""Errors of the reference, named as Kafka names them."""


class WheelproofError(Exception):
    """Base of every error that the reference raises on purpose."""


class IllegalArgumentError(WheelproofError, ValueError):
    """An argument lies outside the domain of the operation; nothing has changed."""


class RejectedExecutionError(WheelproofError, RuntimeError):
    """Work was handed to an executor that has been shut down."""


class TimerClosedError(RejectedExecutionError):
    """A timer was used after `close` (semantics.md 1.16)."""
