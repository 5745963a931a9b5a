"""The broker of the programs once more, with callbacks of requests that raise now and then.

Whatever a callback raises: nobody else waits for it, and nobody is answered twice.
"""

from typing import ClassVar

from wheelproof.errors import DelayedOperationError
from wheelproof.replication import ReplicaManager
from wheelproof_explore.program import Faults
from wheelproof_lab.worlds.purgatory.faults import FaultError, SurvivingTimer
from wheelproof_lab.worlds.replication.bench import Broker


class FaultyBroker(Broker):
    """A broker whose callers go on when a callback has raised what ends a thread."""

    survived: ClassVar[tuple[type[BaseException], ...]] = (
        DelayedOperationError,
        FaultError,
        SystemExit,
    )
    _timer_class = SurvivingTimer

    def __init__(self, manager_class: type[ReplicaManager]) -> None:
        self._faults = Faults()
        super().__init__(manager_class)

    def answered(self) -> None:
        """Raise what ends a thread, now and then."""
        try:
            self._faults.may_fail("callback", SystemExit)
        except SystemExit:
            self.has_raised = True
            raise
