"""Running a program under a strategy, run after run."""

from collections.abc import Generator

from wheelproof_spec.engines.explore.failures.problems import NondeterminismError
from wheelproof_spec.engines.explore.runs.execution import Execution, World
from wheelproof_spec.engines.explore.runs.races import Analysis
from wheelproof_spec.engines.explore.strategies.strategy import Strategy


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


def run(execution: Execution, strategy: Strategy) -> None:
    """Take the run to its end.

    Raises NondeterminismError if a step that an earlier run made is another one now.
    """
    step, peek = execution.step, execution.peek
    for actor, accesses in strategy.prefix():
        if peek(actor) != accesses:
            raise nondeterminism(execution)
        step(actor, accesses)
    choose = strategy.choose
    event = choose(execution)
    while event is not None:
        step(*event)
        event = choose(execution)


def nondeterminism(execution: Execution) -> NondeterminismError:
    """Return the error of a run that differs from an earlier one with the same schedule."""
    return NondeterminismError(
        execution.program.name,
        f"is not deterministic: the same schedule gave another step {len(execution.actors) + 1}",
        "make nothing depend on time, randomness, addresses or what an earlier run left behind",
    )
