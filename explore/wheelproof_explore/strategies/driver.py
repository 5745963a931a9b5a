"""Running a program under a strategy, run after run."""

from collections.abc import Generator

from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.strategies.strategy import Strategy, run


def analysed_runs(world: World, strategy: Strategy) -> Generator[Analysis]:
    """Yield the analysis of each finished run, before its threads are unwound.

    Runs that the strategy gave up, because all possible steps were explored already, are left out.
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
