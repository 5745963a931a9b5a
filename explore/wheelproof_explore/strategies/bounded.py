"""Runs that reverse a few races of the default schedule: none, then one, then two, and so on.

Most defects need few reversals, and there are few runs with few of them, however long the runs are.
What has not been run shows nothing, so this passes no program; it finds what a search in depth
would come to late.
"""

from collections import deque
from collections.abc import Sequence

from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.accesses import Event
from wheelproof_explore.runtime.numbers import FIRST, choosing, thread_of
from wheelproof_explore.strategies.strategy import pick_first


class BoundedStrategy:
    """A strategy that makes all runs with fewer reversals before those with more.

    Another value of a free choice counts like a reversal. `bound` is the number of reversals up to
    which all runs have been made, -1 before the first one.
    """

    complete = False
    blocked_runs = 0

    def __init__(self) -> None:
        self.bound = -1
        self._reversals = 0
        self._left: deque[tuple[int, tuple[Event, ...]]] = deque([(0, ())])
        self._known: set[tuple[Event, ...]] = {()}
        self._prefix: tuple[Event, ...] = ()

    def said(self, stopped: str | None) -> str:
        """Return in words why the search ended, and which runs were made."""
        done = f"each run that reverses at most {self.bound} races was made"
        if self.bound < 0:
            done = "no bound was finished"
        return f"{stopped or 'no race is left to be reversed'}, {done},"

    def prefix(self) -> Sequence[Event]:
        """Return the steps that reverse a race of an earlier run."""
        self._reversals, self._prefix = self._left.popleft()
        return self._prefix

    def choose(self, execution: Execution) -> Event | None:
        """Return the step of the default schedule."""
        if execution.is_too_long():
            return None
        current = thread_of(execution.actors[-1]) if execution.actors else FIRST
        return pick_first(execution, current, ())

    def learn(self, analysis: Analysis) -> bool:
        """Plan the reversal of each race of the run, and tell whether there is another run."""
        execution = analysis.execution
        events = list(zip(execution.actors, execution.accesses, strict=True))
        for first, second in analysis.races:
            sequence = analysis.reversal(first, second)
            if sequence is not None:
                self._plan((*events[:first], *sequence))
        for place in range(len(self._prefix), len(events)):
            actor, accesses = events[place]
            operation = execution.operations[place]
            for value in range(1, 1 if operation is None else operation.alternatives):
                self._plan((*events[:place], (choosing(thread_of(actor), value), accesses)))
        if not self._left or self._left[0][0] > self._reversals:
            self.bound = self._reversals
        return bool(self._left)

    def _plan(self, prefix: tuple[Event, ...]) -> None:
        if prefix not in self._known:
            self._known.add(prefix)
            self._left.append((self._reversals + 1, prefix))
