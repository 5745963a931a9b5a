"""Shrinking of a failing run: as few deviations as possible from the default schedule.

The default schedule runs each thread as far as it can. First the deviations of the given run are
removed one by one. Then schedules with fewer deviations are searched breadth first, while the
budget lasts. At last, rounds of a thread that cycles before other threads go on are removed.
"""

from collections import deque
from collections.abc import Mapping, Sequence

from wheelproof_explore.failures.failure import Failure
from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runtime.numbers import Actor
from wheelproof_explore.strategies.replay import DeviationStrategy
from wheelproof_explore.strategies.strategy import run

BUDGET = 2_000
"""How many runs the search for a simpler run may take."""

Deviations = Mapping[int, Actor]


class Shrinker:
    """A search for the simplest run that fails in the same way."""

    def __init__(self, world: World, like: Failure, budget: int = BUDGET) -> None:
        self._world = world
        self._like = like
        self._left = budget

    def shrink(self, actors: Sequence[Actor]) -> tuple[Actor, ...]:
        """Return the steps of the simplest failing run that was found."""
        found = self._strike_off(actors)
        fewest = self._search(_departures(found))
        return tuple(self._without_rounds(found if fewest is None else fewest).actors)

    def _without_rounds(self, found: "_Trial") -> "_Trial":
        """Remove the rounds that a thread makes in a cycle before other threads go on."""
        for begin, end in reversed(found.rounds):
            shorter = [*found.actors[:begin], *found.actors[end:]]
            trial = self._try(dict(enumerate(shorter)))
            found = trial if trial.fails else found
        return found

    def _search(self, known: int) -> "_Trial | None":
        """Search breadth first for a run with fewer departures than `known`."""
        waiting: deque[Deviations] = deque([{}])
        while waiting and self._left > 0:
            deviations = waiting.popleft()
            trial = self._try(deviations)
            if trial.fails:
                return trial
            if len(deviations) + 1 >= known:
                continue
            start = max(deviations, default=-1) + 1
            for step in range(start, len(trial.actors)):
                for other in trial.options[step]:
                    if other != trial.actors[step]:
                        waiting.append({**deviations, step: other})
        return None

    def _strike_off(self, actors: Sequence[Actor]) -> "_Trial":
        best = self._try(dict(enumerate(actors)))
        changed = True
        while changed and self._left > 0:
            changed = False
            deviations = best.deviations()
            for step in sorted(deviations, reverse=True):
                fewer = {kept: actor for kept, actor in deviations.items() if kept != step}
                trial = self._try(fewer)
                if trial.fails and _departures(trial) < _departures(best):
                    best = trial
                    changed = True
                    break
        return best

    def _try(self, deviations: Deviations) -> "_Trial":
        self._left -= 1
        strategy = DeviationStrategy(deviations)
        execution = Execution(self._world)
        try:
            run(execution, strategy)
            failure = execution.judge()
        finally:
            execution.close()
        return _Trial(execution, strategy, self._like.is_like(failure))


class _Trial:
    def __init__(self, run: Execution, strategy: DeviationStrategy, fails: bool) -> None:
        self.actors = run.actors
        self.rounds = run.idle_rounds()
        self.options = strategy.options
        self._defaults = strategy.defaults
        self.fails = fails

    def deviations(self) -> dict[int, Actor]:
        """Return the steps that are not the default ones."""
        pairs = zip(self._defaults, self.actors, strict=True)
        return {step: actor for step, (usual, actor) in enumerate(pairs) if usual != actor}


def _departures(trial: _Trial) -> int:
    return len(trial.deviations())
