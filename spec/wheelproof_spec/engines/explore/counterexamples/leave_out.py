"""Making a failing program small: operations that the failure does not need are left out.

First whole threads, then single operations, then two of them, which may belong together, as long as
some run still fails by the same check for the same reason. A part of which every run fails is no
use: what was left out is missing there, or the check does not hold without it. Nor is one that
fails when each thread runs as far as it can, unless the whole does.
"""

from collections.abc import Iterator
from itertools import combinations

from wheelproof_spec.engines.explore.failures.failure import Failure
from wheelproof_spec.engines.explore.runs.execution import Execution, World
from wheelproof_spec.engines.explore.runtime.numbers import Actor
from wheelproof_spec.engines.explore.strategies.driver import analysed_runs
from wheelproof_spec.engines.explore.strategies.optimal import OptimalStrategy
from wheelproof_spec.engines.explore.strategies.replay import DeviationStrategy
from wheelproof_spec.engines.explore.strategies.strategy import run

RUNS = 3_000
"""How many runs the search may take in all."""
RUNS_OF_A_PART = 500
"""How many runs of a part are tried before it counts as one that does not fail."""


class OperationShrinker:
    """Looks for the smallest part of a program that fails in the same way."""

    def __init__(self, world: World, like: Failure, budget: int = RUNS) -> None:
        self._world = world
        self._like = like
        self._left = budget

    def shrink(self, actors: tuple[Actor, ...]) -> tuple[World, tuple[Actor, ...]]:
        """Return the part and the steps of a failing run of it; `actors` are those of the whole."""
        operations = self._operations()
        if not operations:
            return self._world, actors
        fails_by_default = self._default_run_fails(self._world)
        best = self._world, actors
        smaller = True
        while smaller and self._left > 0:
            smaller = False
            for without in _candidates(operations, best[0].program.without):
                part = self._part(without)
                if self._left <= 0:
                    break
                if part is None or (self._default_run_fails(part) and not fails_by_default):
                    continue
                failing = self._failing_run(part)
                if failing is not None:
                    best = part, failing
                    smaller = True
                    break
        return best

    def _operations(self) -> tuple[tuple[str, int], ...]:
        execution = Execution(self._world)
        execution.close()
        return execution.scenario.operations()

    def _part(self, without: frozenset[int]) -> World | None:
        execution = Execution(self._world)
        execution.close()
        return self._world.part(without) if execution.scenario.bodies(without) else None

    def _default_run_fails(self, world: World) -> bool:
        self._left -= 1
        execution = Execution(world)
        try:
            run(execution, DeviationStrategy({}))
            failure = execution.judge()
        finally:
            execution.close()
        return self._like.is_like(failure)

    def _failing_run(self, world: World) -> tuple[Actor, ...] | None:
        """Return a run that fails, if another one does not."""
        failing: tuple[Actor, ...] | None = None
        some_pass = False
        runs = analysed_runs(world, OptimalStrategy())
        for _, analysis in zip(range(RUNS_OF_A_PART), runs, strict=False):
            self._left -= 1
            execution = analysis.execution
            failure = execution.judge()
            some_pass = some_pass or (failure is None and not execution.unended())
            if failing is None and self._like.is_like(failure):
                failing = tuple(execution.actors)
            if self._left <= 0 or (failing is not None and some_pass):
                break
        runs.close()
        return failing if some_pass else None


def _candidates(
    operations: tuple[tuple[str, int], ...], without: frozenset[int]
) -> Iterator[frozenset[int]]:
    """Yield what more could be left out: a whole thread, else one operation, else two."""
    left = [number for number in range(len(operations)) if number not in without]
    for thread in dict.fromkeys(operations[number][0] for number in left):
        whole = frozenset(number for number in left if operations[number][0] == thread)
        if len(whole) > 1:
            yield without | whole
    for count in (1, 2):
        for numbers in combinations(left, count):
            yield without.union(numbers)
