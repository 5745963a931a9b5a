"""Shrinking of a failing program: operations that the failure does not need are left out.

First whole threads are tried, then single operations, then pairs, which may belong together, as
long as some run still fails the same check for the same reason. A part whose every run fails is not
used: it misses something that was left out, or the check cannot hold without it. Nor is a part
whose default run fails (each thread runs as far as it can), unless that of the whole fails as well.
"""

from collections.abc import Iterator
from itertools import combinations

from wheelproof_explore.failures.failure import Failure
from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runtime.numbers import Actor
from wheelproof_explore.strategies.driver import analysed_runs
from wheelproof_explore.strategies.optimal import OptimalStrategy
from wheelproof_explore.strategies.replay import DeviationStrategy
from wheelproof_explore.strategies.strategy import run

RUNS = 3_000
"""How many runs the search may take in all."""
RUNS_OF_A_PART = 500
"""How many runs of a part are tried before the part counts as not failing."""


class OperationShrinker:
    """A search for the smallest part of a program that fails in the same way."""

    def __init__(self, world: World, like: Failure, budget: int = RUNS) -> None:
        self._world = world
        self._like = like
        self._left = budget

    def shrink(self, actors: tuple[Actor, ...]) -> tuple[World, tuple[Actor, ...]]:
        """Return a part and the steps of its failing run; `actors` is that of the whole."""
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
        """Return a failing run if some other run passes, else None."""
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
    """Yield further sets to leave out: whole threads, then single operations, then pairs."""
    left = [number for number in range(len(operations)) if number not in without]
    for thread in dict.fromkeys(operations[number][0] for number in left):
        whole = frozenset(number for number in left if operations[number][0] == thread)
        if len(whole) > 1:
            yield without | whole
    for count in (1, 2):
        for numbers in combinations(left, count):
            yield without.union(numbers)
