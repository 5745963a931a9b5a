"""The broker of the programs once more, with callbacks of requests that raise now and then.

Whatever a callback raises: nobody else waits for it, nobody is answered twice, and the caller of
the method that has called it is told.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from wheelproof.errors import DelayedOperationError
from wheelproof.replication import ReplicaManager
from wheelproof_explore.program import Faults
from wheelproof_lab.worlds.purgatory.faults import FaultError, SurvivingTimer
from wheelproof_lab.worlds.replication.bench import Broker

_RAISED: ContextVar[list[SystemExit]] = ContextVar("raised")
"""What callbacks have raised in the call that the thread makes."""


class FaultyBroker(Broker):
    """A broker whose callers go on when a callback has raised what ends a thread."""

    _timer_class = SurvivingTimer

    def __init__(self, manager_class: type[ReplicaManager]) -> None:
        self._faults = Faults()
        super().__init__(manager_class)

    def answered(self) -> None:
        """Raise what ends a thread, now and then."""
        try:
            self._faults.may_fail("callback", SystemExit)
        except SystemExit as stop:
            self.has_raised = True
            _RAISED.get([]).append(stop)
            raise

    @contextmanager
    def surviving(self) -> Generator[None]:
        """Go on when a callback has raised; raise AssertionError if the caller was not told."""
        raised: list[SystemExit] = []
        before = _RAISED.set(raised)
        try:
            yield
        except (DelayedOperationError, FaultError, SystemExit):
            return
        finally:
            _RAISED.reset(before)
        assert not raised, "a callback has raised, and its caller was not told"
