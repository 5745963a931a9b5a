"""What every engine is to the driver that runs it."""

from collections.abc import Container, Sequence
from typing import Protocol

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
