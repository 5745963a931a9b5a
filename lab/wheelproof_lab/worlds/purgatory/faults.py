"""The programs of the purgatory once more, with predicates, callbacks and a timer that raise.

Whatever raises, and whenever: nobody is completed twice, who was accepted ends, and nothing is
left.
"""

from contextlib import AbstractContextManager, suppress
from functools import partial

from wheelproof.errors import DelayedOperationError
from wheelproof.purgatory import DelayedOperation
from wheelproof.sync import Volatile
from wheelproof.timer import TimerTask
from wheelproof_explore.program import Faults
from wheelproof_lab.worlds.purgatory.purgatory import (
    AnyPurgatory,
    FlagOperation,
    PurgatoryWorld,
    TimerOfOneList,
)

_KEYS = ("key", "other key", "other")


class FaultError(Exception):
    """The error of a predicate or a callback."""


class _CompletionError(FaultError):
    """The error of an `on_complete` that ends no thread: the completion counts (standard 6.4.4)."""


class _FaultyOperation(FlagOperation):
    """An operation whose predicate and callbacks raise now and then."""

    __slots__ = ("_faults", "has_raised")

    def __init__(self, flag: Volatile[bool], faults: Faults) -> None:
        super().__init__(flag)
        self._faults = faults
        self.has_raised = False
        """Whether a test of the predicate has raised."""

    def try_complete(self) -> bool:
        """Test the flag, or raise."""
        try:
            self._faults.may_fail("try_complete", FaultError)
        except FaultError:
            self.has_raised = True
            raise
        try:
            return super().try_complete()
        except _CompletionError as error:
            # Who completes an operation may wrap what its callback raises.
            raise _CompletionError from error

    def on_complete(self) -> None:
        """Count the completion, and raise now and then, also what ends a thread."""
        super().on_complete()
        self._faults.may_fail("on_complete", SystemExit)
        self._faults.may_fail("on_complete", _CompletionError)

    def on_expiration(self) -> None:
        """Count the expiry, and raise now and then."""
        super().on_expiration()
        self._faults.may_fail("on_expiration", FaultError)


class SurvivingTimer(TimerOfOneList):
    """A timer whose tasks may raise."""

    def run(self, task: TimerTask) -> None:
        """Run a task; its error ends that task alone."""
        try:
            super().run(task)
        except (FaultError, SystemExit):
            return


class _FaultyTimer(SurvivingTimer):
    """A timer that refuses a task now and then, and whose tasks may raise."""

    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    def add(self, timer_task: TimerTask) -> None:
        """Add a task, or raise."""
        self._faults.may_fail("add", FaultError)
        super().add(timer_task)


class FaultyWorld(PurgatoryWorld):
    """A purgatory whose operations raise, and callers who go on."""

    def __init__(
        self, purgatory_class: type[AnyPurgatory], purge_interval: int, *, timer_enabled: bool
    ) -> None:
        faults = Faults()
        operation_class = partial(_FaultyOperation, faults=faults)
        super().__init__(
            purgatory_class,
            operation_class,
            purge_interval,
            timer=_FaultyTimer(faults),
            timer_enabled=timer_enabled,
        )
        self._failed: list[DelayedOperation] = []
        self._given_up: list[DelayedOperation] = []
        self._flag_is_up = False
        self._waiting: list[tuple[_FaultyOperation, tuple[str, ...]]] = []
        self._tried: list[_FaultyOperation] = []

    def surviving(self) -> AbstractContextManager[None]:
        """Go on when an operation has raised."""
        return suppress(DelayedOperationError, FaultError, SystemExit)

    def watch(self, operation: DelayedOperation, *keys: str) -> None:
        """Hand an operation in; note if the call has raised, and if that has given it up."""
        try:
            super().watch(operation, *keys)
        except (FaultError, SystemExit):
            self._failed.append(operation)
            if operation.is_cancelled() or not operation.is_done():
                self._given_up.append(operation)
        else:
            if isinstance(operation, _FaultyOperation):
                self._waiting.append((operation, keys))

    def raise_flag(self) -> None:
        """Make the predicate true."""
        super().raise_flag()
        self._flag_is_up = True

    def check_key(self, key: str) -> None:
        """Check a key, and note who has to be tried by that."""
        ready = self._waiting if self._flag_is_up else []
        tried = [operation for operation, keys in ready if key in keys]
        with self.surviving():
            try:
                self.purgatory.check_and_complete(key)
            except DelayedOperationError as error:
                _require_all_counted(error)
                raise
        self._tried += tried

    def check(self) -> None:
        """Raise unless each operation ended once, if it was accepted, and nothing is left."""
        for tried in self._tried:
            assert tried.is_done() or tried.has_raised, "not tried, since another one raised"
        self.raise_flag()
        if not self.is_shut():
            for key in _KEYS:
                self.check_key(key)
            self.advance()
        for operation in self.operations:
            ends = operation.completions + self.cancelled.count(operation)
            assert ends <= 1, f"completed or cancelled {ends} times"
            assert operation.expirations <= operation.completions
            others = self.handed_in.count(operation) > 1 or operation in self.forced
            given_up = operation in self._given_up and not others
            assert not (given_up and operation.completions), "given up, and completed later"
            accepted = operation in self.handed_in and operation not in self._failed
            assert ends or not accepted or self.is_shut(), "it was accepted, and never ended"
        if not self.is_shut():
            self.check_nothing_is_left()


def _require_all_counted(error: DelayedOperationError) -> None:
    """Raise unless the completions whose callbacks raised are among those that are counted."""
    raised = sum(isinstance(failure, _CompletionError) for failure in error.failures)
    assert error.num_completed >= raised, "a completion whose callback raised is not counted"
