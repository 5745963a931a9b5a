"""Counts the cases and calls that pass through a port."""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.component import CallT, SeenT
from wheelproof_spec.base.port import (
    Asked,
    BrokenDownError,
    BurstPort,
    BurstRules,
    RefusedError,
)
from wheelproof_spec.drive.driver.process import DriverFailedError


class CountingPort(Generic[CallT, SeenT]):
    """A port that counts cases and steps, and keeps the calls of the last case.

    `on_case` gets the number of cases and of steps at the start of each case. Counting stops when
    the driver fails, so that `calls` ends with the failed call.
    """

    def __init__(
        self,
        port: BurstPort[CallT, SeenT],
        on_case: Callable[[int, int], None] | None = None,
    ) -> None:
        self._port = port
        self._on_case = on_case
        self._failed = False
        self.cases = 0
        self.steps = 0
        self.calls: list[CallT] = []
        """The calls of the current case."""

    def perform(self, call: CallT) -> SeenT:
        """Make `call`; see `Port.perform`."""
        self._count(call)
        try:
            return self._port.perform(call)
        except DriverFailedError:
            self._failed = True
            raise

    def perform_all(
        self, calls: Sequence[CallT]
    ) -> Iterator[SeenT | RefusedError | BrokenDownError]:
        """Make all `calls`; see `SendingPort.perform_all`."""
        return self._counted(calls, self._port.perform_all(calls))

    def burst(
        self, asked: Sequence[Asked[CallT]], rest: Asked[CallT], rules: BurstRules[CallT, SeenT]
    ) -> list[tuple[Asked[CallT], SeenT | RefusedError]]:
        """Make calls at the same time; see `BurstPort.burst`."""
        for one in (*asked, rest):
            self._count(one.call)
        try:
            return self._port.burst(asked, rest, rules)
        except DriverFailedError:
            self._failed = True
            raise

    def _counted(
        self, calls: Sequence[CallT], outcomes: Iterator[SeenT | RefusedError | BrokenDownError]
    ) -> Iterator[SeenT | RefusedError | BrokenDownError]:
        for call in calls:
            self._count(call)
            try:
                yield next(outcomes)
            except DriverFailedError:
                self._failed = True
                raise

    def begin_again(self) -> None:
        """Resume counting, with a new driver."""
        self._failed = False
        self.calls.clear()

    def _count(self, call: CallT) -> None:
        if self._failed:
            return
        if starts_a_case(call):
            self.calls.clear()
            self.cases += 1
            if self._on_case is not None:
                self._on_case(self.cases, self.steps)
        self.calls.append(call)
        self.steps += 1


def starts_a_case(call: object) -> bool:
    """Tell whether a call is a reset."""
    return isinstance(call, Reset)
