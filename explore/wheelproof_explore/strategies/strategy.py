"""The interface between an engine and the driver that runs it, and one run under an engine."""

from collections.abc import Container, Sequence
from typing import Protocol

from wheelproof_explore.failures.problems import NondeterminismError
from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.accesses import Accesses, Event
from wheelproof_explore.runtime.numbers import TIME, Actor


class Strategy(Protocol):
    """A strategy, which chooses the steps of one run after the other.

    The driver replays `prefix`, then calls `choose` until it returns None, then calls `learn`.
    """

    @property
    def complete(self) -> bool:
        """Whether every class of interleavings has been run once `learn` returns False."""
        ...

    @property
    def blocked_runs(self) -> int:
        """The number of runs that ended because every enabled step was explored already."""
        ...

    def prefix(self) -> Sequence[Event]:
        """Return the steps with which the next run begins."""
        ...

    def choose(self, execution: Execution) -> Event | None:
        """Return the next step, None if the run is over."""
        ...

    def learn(self, analysis: Analysis) -> bool:
        """Record the finished run, and tell whether there is another one."""
        ...


def alternatives(execution: Execution, actor: Actor) -> range:
    """Return the values that the actor's pending operation can choose from."""
    operation = execution.threads[actor].pending
    return range(1 if operation is None else operation.alternatives)


def pick_first(
    execution: Execution, current: Actor, asleep: Container[Actor]
) -> tuple[Actor, Accesses] | None:
    """Return the first possible step that is not asleep; the current thread's is preferred."""
    if current != TIME and current not in asleep and execution.cycle() is None:
        accesses = execution.peek(current)
        if accesses is not None:
            return current, accesses
    for thread, accesses in execution.in_order():
        if thread.number not in asleep:
            return thread.number, accesses
    return None


def run(execution: Execution, strategy: Strategy) -> None:
    """Make the steps of the run until its end.

    Raises NondeterminismError if a step of the prefix has other accesses than in an earlier run.
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
    execution.require_use()


def nondeterminism(execution: Execution) -> NondeterminismError:
    """Return the error for a run that differs from an earlier one with the same schedule."""
    return NondeterminismError(
        execution.program.name,
        f"is not deterministic: the same schedule gave another step {len(execution.actors) + 1}",
        "make nothing depend on time, randomness, addresses or what an earlier run left behind",
    )
