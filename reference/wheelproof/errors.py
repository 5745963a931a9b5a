"""Errors of the reference, named as Kafka names them.

A caller has to tell a closed timer from a wrong argument, and what has failed from what was never
taken.

>>> from wheelproof.errors import RejectedExecutionError, TimerClosedError, WheelproofError
>>> issubclass(TimerClosedError, RejectedExecutionError)
True
>>> issubclass(TimerClosedError, WheelproofError)
True
"""


class WheelproofError(Exception):
    """Base of every error that the reference raises on purpose."""


class IllegalArgumentError(WheelproofError, ValueError):
    """An argument lies outside the domain of the operation; nothing has changed."""


class RejectedExecutionError(WheelproofError, RuntimeError):
    """Work was handed to an executor that has been shut down."""


class ThreadInterruptedError(WheelproofError):
    """A thread was interrupted while it waited on a condition, or before it would have.

    Raising it clears the thread's interrupt status.
    """

    def __init__(self) -> None:
        super().__init__("the thread was interrupted")


class TimerClosedError(RejectedExecutionError):
    """A timer was used after `close` (standard 1.16)."""


class PurgatoryClosedError(WheelproofError, RuntimeError):
    """An operation was handed to a purgatory after `close` (standard 2.11)."""


class DelayedOperationError(WheelproofError):
    """Delayed operations raised while they were checked or completed; all others were checked.

    `failures` has what they raised, in the order of the walk; `num_completed` is how many the
    call completed, those whose callbacks raised included.
    """

    def __init__(self, failures: tuple[Exception, ...], num_completed: int) -> None:
        words = "; ".join(f"{type(failure).__name__}: {failure}" for failure in failures)
        super().__init__(
            f"{len(failures)} of the watched operations raised ({words}); "
            f"{num_completed} were completed"
        )
        self.failures = failures
        self.num_completed = num_completed
