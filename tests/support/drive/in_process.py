"""A component of this process, behind the door of those that can be asked ahead."""

from collections.abc import Iterator, Sequence
from typing import Generic

from wheelproof_spec.base.component import CallT, SeenT
from wheelproof_spec.base.port import BrokenDownError, Port, RefusedError, outcome_of


class InProcess(Generic[CallT, SeenT]):
    """Asks a port one call after the other."""

    def __init__(self, port: Port[CallT, SeenT]) -> None:
        self._port = port

    def perform(self, call: CallT) -> SeenT:
        return self._port.perform(call)

    def perform_all(
        self, calls: Sequence[CallT]
    ) -> Iterator[SeenT | RefusedError | BrokenDownError]:
        return (outcome_of(self._port, call) for call in calls)
