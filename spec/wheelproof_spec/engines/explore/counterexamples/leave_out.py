"""Making a failing program small: operations that the failure does not need are left out.

First whole threads, then single operations, as long as some run still fails in the same way. A
part that fails even when each thread runs as far as it can has another fault than a program that
does not: then it is the check that does not hold for parts of the program, and the part is no use.
"""

from collections.abc import Iterator

from wheelproof_spec.engines.explore.failures.failure import FailureKind
from wheelproof_spec.engines.explore.runs.execution import Execution, World
from wheelproof_spec.engines.explore.runtime.numbers import Actor
from wheelproof_spec.engines.explore.strategies.driver import analysed_runs, run
from wheelproof_spec.engines.explore.strategies.optimal import OptimalStrategy
from wheelproof_spec.engines.explore.strategies.replay import DeviationStrategy

RUNS = 3_000
"""How many runs the search may take in all."""
RUNS_OF_A_PART = 500
"""How many runs of a part are tried before it counts as one that does not fail."""


class OperationShrinker:
    """Looks for the smallest part of a program that fails in the same way."""

    def __init__(self, world: World, kind: FailureKind, budget: int = RUNS) -> None:
        self._world = world
        self._kind = kind
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
        return failure is not None and failure.kind is self._kind

    def _failing_run(self, world: World) -> tuple[Actor, ...] | None:
        runs = analysed_runs(world, OptimalStrategy())
        for _, analysis in zip(range(RUNS_OF_A_PART), runs, strict=False):
            self._left -= 1
            failure = analysis.execution.judge()
            if failure is not None and failure.kind is self._kind:
                actors = tuple(analysis.execution.actors)
                runs.close()
                return actors
            if self._left <= 0:
                break
        runs.close()
        return None


def _candidates(
    operations: tuple[tuple[str, int], ...], without: frozenset[int]
) -> Iterator[frozenset[int]]:
    """Yield what more could be left out: a whole thread, or else one operation."""
    left = [number for number in range(len(operations)) if number not in without]
    for thread in dict.fromkeys(operations[number][0] for number in left):
        whole = frozenset(number for number in left if operations[number][0] == thread)
        if len(whole) > 1:
            yield without | whole
    for number in left:
        yield without | {number}
