"""What every engine is to the driver that runs it, and one run under it."""

from collections.abc import Container, Sequence
from typing import Protocol

from wheelproof_spec.engines.explore.failures.problems import NondeterminismError
from wheelproof_spec.engines.explore.runs.execution import Execution
from wheelproof_spec.engines.explore.runs.races import Analysis
from wheelproof_spec.engines.explore.runtime.accesses import Accesses, Event
from wheelproof_spec.engines.explore.runtime.numbers import TIME, Actor


class Strategy(Protocol):
    """Decides the steps of one run after the other.

    The driver replays `prefix`, then asks `choose` until it answers None, then calls `learn`.
    """

    @property
    def complete(self) -> bool:
        """Whether every class of interleavings has been run once `learn` answers False."""
        ...

    @property
    def blocked_runs(self) -> int:
        """How many runs ended because all that could go on was known already."""
        ...

    def prefix(self) -> Sequence[Event]:
        """Return the steps with which the next run begins."""
        ...

    def choose(self, execution: Execution) -> Event | None:
        """Return the next step, None if the run is over."""
        ...

    def learn(self, analysis: Analysis) -> bool:
        """Take note of the run that is over, and tell whether there is another one."""
        ...


def alternatives(execution: Execution, actor: Actor) -> range:
    """Return the values that the actor's pending operation can choose from."""
    operation = execution.threads[actor].pending
    return range(1 if operation is None else operation.alternatives)


def pick_first(
    execution: Execution, current: Actor, asleep: Container[Actor]
) -> tuple[Actor, Accesses] | None:
    """Return the first step that is possible and not asleep, the current thread's preferred."""
    if current != TIME and current not in asleep and execution.cycle() is None:
        accesses = execution.peek(current)
        if accesses is not None:
            return current, accesses
    for thread, accesses in execution.in_order():
        if thread.number not in asleep:
            return thread.number, accesses
    return None


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
