"""What a user writes: a function that sets up one run and says what its threads do.

def lost_update() -> Scenario:
    counter = sync.volatile(0, "counter")

    def increment() -> None:
        counter.set(counter.get() + 1)

    def check() -> None:
        assert counter.get() == 2

    return Scenario(threads={"a": increment, "b": increment}, check=check)

PROGRAM = Program(name="lost-update", summary="two increments", build=lost_update)
"""

import hashlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

from wheelproof import sync
from wheelproof_spec.engines.explore.cells import Cell, IntegerCell
from wheelproof_spec.engines.explore.plain_fields import PlainField
from wheelproof_spec.engines.explore.properties import LeadsTo, Predicate, Wakes
from wheelproof_spec.engines.explore.runtime import ControlledRuntime
from wheelproof_spec.engines.explore.settings import DEFAULT_SETTINGS, Settings
from wheelproof_spec.engines.explore.thread_steps import Observe, completion, invocation

T = TypeVar("T")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""What differs from process to process in the representation of a function."""
Action = Callable[[], None]
Body = Action | Sequence[Action]
"""What a thread does: one action, or several in turn that can be left out one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """Something that holds between any two steps.

    `look` raises if it does not; it may read `cells` and nothing else that is shared. Looking is a
    step of a thread of its own, which reads all cells at once, so that no reduction can hide it.
    """

    name: str
    cells: Sequence[object]
    look: Action


class CheckedHistory(Protocol):
    """A record of public operations; see `public_operations.PublicOperations`."""

    def check(self) -> None:
        """Raise NotLinearizableError if no order of effects explains it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One run: what each thread does, what holds all the time and what holds at the end.

    `check` raises if the end is wrong; it is called when all threads have ended. A thread that is
    given as a list of operations promises that the checks hold without some of them too: from a
    counterexample, those that it does not need are left out.

    Graph mode alone checks `leads_to`, `wakes`, and that each of `sometimes` holds in some state.
    """

    threads: Mapping[str, Body]
    check: Action | None = None
    invariants: Sequence[Invariant] = ()
    history: CheckedHistory | None = None
    sometimes: Mapping[str, Predicate] = field(default_factory=dict[str, Predicate])
    leads_to: Sequence[LeadsTo] = ()
    wakes: Sequence[Wakes] = ()

    def operations(self) -> tuple[tuple[str, int], ...]:
        """Return all that can be left out: a thread's name and a place in its list."""
        return tuple(
            (name, place)
            for name, body in self.threads.items()
            if not callable(body)
            for place in range(len(body))
        )

    def bodies(self, without: frozenset[int]) -> dict[str, Action]:
        """Return what each thread does if operations of these numbers are left out.

        A thread of which nothing is left is not there.
        """
        left_out = {one for number, one in enumerate(self.operations()) if number in without}
        bodies: dict[str, Action] = {}
        for name, body in self.threads.items():
            if callable(body):
                bodies[name] = body
                continue
            kept = [one for place, one in enumerate(body) if (name, place) not in left_out]
            if kept:
                bodies[name] = partial(_in_turn, kept)
        return bodies


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program under test; `build` makes everything anew for each run.

    Every access of the `plain_fields` is a step. `without` are the numbers of the operations that
    are left out, among those that can be.

    Graph mode has to know all that threads share: cells, locks, the `plain_fields` (accesses of
    which are no steps there), and what `shares` names, a field or all guarded fields of a class.
    """

    name: str
    summary: str
    build: Callable[[], Scenario]
    settings: Settings = DEFAULT_SETTINGS
    plain_fields: Sequence[PlainField] = ()
    without: frozenset[int] = frozenset()
    shares: Sequence[type | PlainField] = ()

    def digest(self) -> str:
        """Return a hash of the program's name, source and settings, whatever is left out."""
        text = "\n".join((self.name, repr(self.settings), _source(self.build)))
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def choose(alternatives: int) -> int:
    """Return an integer below `alternatives`; the explorer tries every one.

    Raises RuntimeError outside an explored program.
    """
    return _controlled().choose(alternatives)


def forget(*known: object) -> None:
    """Say, at the head of a loop, that the thread knows nothing but that it is there, and `known`.

    Graph mode tells states of threads apart by what they have seen since they were last here;
    without this a loop without end makes a new state with every round. Elsewhere no effect.
    """
    runtime = sync.current_runtime()
    if isinstance(runtime, ControlledRuntime):
        runtime.forget(known)


def recorded(name: str, operation: Callable[[], T]) -> T:
    """Call a public operation so that its invocation and its return are events of the history."""
    runtime = _controlled()
    runtime.perform(invocation(name))
    result = operation()
    runtime.perform(completion(f"{name} = {result!r}"))
    return result


def observer(invariant: Invariant) -> Action:
    """Return what the thread of an invariant does: look once, at any time."""
    runtime = _controlled()
    reads = [cell.read for cell in invariant.cells if isinstance(cell, Cell | IntegerCell)]
    if len(reads) != len(invariant.cells):
        raise TypeError(f"invariant {invariant.name!r}: only cells can be observed")
    step = Observe(runtime, invariant.name, reads, invariant.look)
    return partial(runtime.perform, step)


def _in_turn(actions: Sequence[Action]) -> None:
    for action in actions:
        action()


def _controlled() -> ControlledRuntime:
    runtime = sync.current_runtime()
    if not isinstance(runtime, ControlledRuntime):
        raise RuntimeError("this works only inside a program that is being explored")
    return runtime


def _source(build: Callable[[], Scenario]) -> str:
    if isinstance(build, partial):
        call = f"{_source(build.func)}{build.args!r}{sorted(build.keywords.items())!r}"
        return _ADDRESS.sub("", call)
    try:
        return inspect.getsource(build)
    except (OSError, TypeError):
        return getattr(build, "__qualname__", type(build).__qualname__)
