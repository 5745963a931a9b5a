"""Counting what is checked while a component is driven."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from wheelproof_spec.base.calls import ComponentReset, Request
from wheelproof_spec.base.known_limits import KnownLimit
from wheelproof_spec.base.port import BrokenDownError, RefusedError, SendingPort
from wheelproof_spec.base.suite import Suite
from wheelproof_spec.engines.drive.driver.process import DriverFailedError

CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")


class Tally(Generic[CallT, SeenT]):
    """A door to a component that counts what passes through it, and hides what is not judged.

    Each observation is judged once, so that what was seen tells how often each clause was checked.
    `on_case` is told the number of cases and of steps at the start of each case. Nothing is counted
    after the driver has failed, so that `calls` ends with the call at which it did.
    """

    def __init__(
        self,
        port: SendingPort[CallT, SeenT],
        suite: Suite[CallT, SeenT],
        known_limits: Sequence[KnownLimit],
        on_case: Callable[[int, int], None] | None = None,
    ) -> None:
        self._port = port
        self._suite = suite
        self._known_limits = known_limits
        self._on_case = on_case
        self._failed = False
        self.cases = 0
        self.steps = 0
        self.checked: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.calls: list[CallT] = []
        """The calls of the case that is being driven."""

    def perform(self, call: CallT) -> SeenT:
        """Make `call`; see `Port.perform`."""
        if not self._failed:
            self._count(call)
        try:
            seen = self._port.perform(call)
        except DriverFailedError:
            self._failed = True
            raise
        return self._judged(call, seen)

    def perform_all(
        self, calls: Sequence[CallT]
    ) -> Iterator[SeenT | RefusedError | BrokenDownError]:
        """Make all `calls`; see `SendingPort.perform_all`."""
        outcomes = self._port.perform_all(calls)
        for call in calls:
            if not self._failed:
                self._count(call)
            try:
                outcome = next(outcomes)
            except DriverFailedError:
                self._failed = True
                raise
            if isinstance(outcome, RefusedError | BrokenDownError):
                yield outcome
            else:
                yield self._judged(call, outcome)

    def _judged(self, call: CallT, seen: SeenT) -> SeenT:
        account = self._suite.account(call, seen, self._known_limits)
        self.checked.update(account.checked)
        self.skipped.update(account.skipped)
        return account.seen

    def _count(self, call: CallT) -> None:
        if isinstance(call, ComponentReset):
            self.calls.clear()
            self.cases += 1
            if self._on_case is not None:
                self._on_case(self.cases, self.steps)
        self.calls.append(call)
        self.steps += 1
