"""The functions that a program may call while it is explored."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from wheelproof import sync
from wheelproof_explore.program.scenario import Action, Invariant, raises_if_wrong
from wheelproof_explore.runtime.cells import Cell
from wheelproof_explore.runtime.model import UnwindError
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.thread_steps import Observe, completion, invocation

T = TypeVar("T")


def choose(alternatives: int) -> int:
    """Return an integer below `alternatives`; the explorer tries every one.

    Raises RuntimeError outside an explored program.
    """
    return controlled().choose(alternatives)


def assume(condition: bool) -> None:
    """Cut off the run unless `condition` holds: such runs do not matter.

    Cut runs are counted separately and belong to no class. Raises RuntimeError outside a thread
    of an explored program.
    """
    runtime = controlled()
    if runtime.current is None:
        raise RuntimeError("assume() cuts off threads, and works only inside one")
    if not condition:
        runtime.cut = True
        raise UnwindError


def forget(*known: object) -> None:
    """Declare, at the head of a loop, that only its place and `known` matter to the thread.

    Graph mode distinguishes the states of a thread by the results it has seen since this call.
    Without the call each round of an endless loop makes a new state. Other engines ignore it.
    """
    runtime = sync.current_runtime()
    if isinstance(runtime, ControlledRuntime):
        runtime.forget(known)


def recorded(name: str, operation: Callable[[], T]) -> T:
    """Call a public operation so that its invocation and its return are events of the history."""
    runtime = controlled()
    runtime.perform(invocation(name))
    result = operation()
    runtime.perform(completion(f"{name} = {result!r}"))
    return result


def observer(invariant: Invariant) -> Action:
    """Return the action of an invariant's thread: it looks once, at any time."""
    runtime = controlled()
    reads = [cell.read for cell in invariant.cells if isinstance(cell, Cell)]
    if len(reads) != len(invariant.cells):
        raise TypeError(f"invariant {invariant.name!r}: only cells can be observed")
    step = Observe(runtime, invariant.name, reads, partial(raises_if_wrong, invariant.look))
    return partial(runtime.perform, step)


def controlled() -> ControlledRuntime:
    """Return the runtime of the run; raises RuntimeError outside a program that is explored."""
    runtime = sync.current_runtime()
    if not isinstance(runtime, ControlledRuntime):
        raise RuntimeError("this works only inside a program that is being explored")
    return runtime
