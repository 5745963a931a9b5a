"""Random schedules by several samplers in turn: each finds other kinds of bugs.

Random: uniform over the possible steps. PCT (Burckhardt et al., ASPLOS 2010): threads have random
priorities, which change at d - 1 random steps. POS (Yuan et al., CAV 2018): each pending operation
gets a random priority, drawn again when an operation that conflicts with it is performed. Walk:
uniform over threads weighted by how many steps they had in earlier runs, which comes near to
uniform over interleavings.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence

from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.accesses import Accesses, Event, dependent
from wheelproof_explore.runtime.numbers import Actor, choosing, thread_of
from wheelproof_explore.strategies.strategy import alternatives

Sampler = Callable[[Execution, Sequence[Event]], Event]


class SampleStrategy:
    """A strategy that uses the samplers in turn, until `runs` runs have been made."""

    complete = False
    blocked_runs = 0

    def __init__(self, seed: int, runs: int) -> None:
        self._random = random.Random(seed)
        self._left = runs
        self._made = 0
        self._longest = 1
        self._steps_of: dict[Actor, int] = {}
        self._sampler: Sampler = self._uniform
        self._priorities: dict[Actor, float] = {}
        self._changes: set[int] = set()
        self._weights: dict[Actor, int] = {}

    def prefix(self) -> Sequence[Event]:
        """Return nothing, and select the sampler of the next run."""
        samplers = (self._uniform, self._pct, self._pct, self._pos, self._walk)
        turn = self._made % len(samplers)
        self._sampler = samplers[turn]
        self._priorities = {}
        self._changes = {self._random.randrange(self._longest) for _ in range(max(turn, 1))}
        self._weights = dict(self._steps_of)
        return ()

    def choose(self, execution: Execution) -> Event | None:
        """Return a step of one of the threads that can make one."""
        if execution.is_too_long():
            return None
        possible = [(thread.number, accesses) for thread, accesses in execution.enabled()]
        if not possible:
            return None
        actor, accesses = self._sampler(execution, possible)
        values = alternatives(execution, actor)
        if len(values) > 1:
            actor = choosing(actor, self._random.choice(values))
        return actor, accesses

    def learn(self, analysis: Analysis) -> bool:
        """Record the length of the run, and tell whether there is another one."""
        execution = analysis.execution
        self._made += 1
        self._left -= 1
        self._longest = max(self._longest, len(execution.actors))
        for actor, count in Counter(map(thread_of, execution.actors)).items():
            self._steps_of[actor] = max(self._steps_of.get(actor, 1), count)
        return self._left > 0

    def _uniform(self, execution: Execution, possible: Sequence[Event]) -> Event:
        del execution
        return self._random.choice(possible)

    def _pct(self, execution: Execution, possible: Sequence[Event]) -> Event:
        best = max(possible, key=self._priority)
        if len(execution.actors) in self._changes:
            # Below every priority that a thread begins with.
            self._priorities[best[0]] = -len(execution.actors) - self._random.random()
            best = max(possible, key=self._priority)
        return best

    def _pos(self, execution: Execution, possible: Sequence[Event]) -> Event:
        del execution
        actor, accesses = best = max(possible, key=self._priority)
        self._draw_again(actor, accesses, possible)
        return best

    def _walk(self, execution: Execution, possible: Sequence[Event]) -> Event:
        del execution
        weights = [max(self._weights.get(actor, 1), 1) for actor, _ in possible]
        event = self._random.choices(possible, weights)[0]
        self._weights[event[0]] = self._weights.get(event[0], 1) - 1
        return event

    def _priority(self, event: Event) -> float:
        return self._priorities.setdefault(event[0], self._random.random())

    def _draw_again(self, actor: Actor, accesses: Accesses, possible: Sequence[Event]) -> None:
        for other, others in possible:
            if other == actor or dependent(accesses, others):
                self._priorities[other] = self._random.random()
