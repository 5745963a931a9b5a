"""Every interleaving, without any reduction: the oracle of the tests for small programs."""

from collections.abc import Sequence

from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.accesses import Event
from wheelproof_explore.runtime.numbers import choosing
from wheelproof_explore.strategies.strategy import alternatives


class BruteStrategy:
    """A depth-first search over all steps that are possible."""

    complete = True
    blocked_runs = 0

    def __init__(self) -> None:
        self._left: list[list[Event]] = []
        self._prefix: list[Event] = []

    def prefix(self) -> Sequence[Event]:
        """Return the steps up to and including the next one not yet taken."""
        return self._prefix

    def choose(self, execution: Execution) -> Event | None:
        """Return the first possible step and keep the others for later."""
        if execution.is_too_long():
            return None
        possible = [
            (choosing(thread.number, value), accesses)
            for thread, accesses in execution.enabled()
            for value in alternatives(execution, thread.number)
        ]
        if not possible:
            return None
        event, *others = possible
        self._prefix.append(event)
        self._left.append(others)
        return event

    def learn(self, analysis: Analysis) -> bool:
        """Backtrack to the last step that has an alternative."""
        del analysis
        while self._left and not self._left[-1]:
            self._left.pop()
            self._prefix.pop()
        if not self._left:
            return False
        self._prefix[-1] = self._left[-1].pop(0)
        return True
