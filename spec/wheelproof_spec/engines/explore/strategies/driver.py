"""Running a program under a strategy, run after run."""

from collections.abc import Generator

from wheelproof_spec.engines.explore.runs.execution import Execution, World
from wheelproof_spec.engines.explore.runs.races import Analysis
from wheelproof_spec.engines.explore.strategies.strategy import Strategy, run


def analysed_runs(world: World, strategy: Strategy) -> Generator[Analysis]:
    """Yield each run when it is over, before its threads are unwound.

    Runs that the strategy gave up, since all that they could do was known, are not among them.
    """
    more = True
    while more:
        execution = Execution(world)
        try:
            given_up = strategy.blocked_runs
            run(execution, strategy)
            analysis = Analysis(execution)
            more = strategy.learn(analysis)
            if strategy.blocked_runs == given_up:
                yield analysis
        finally:
            execution.close()
