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
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from wheelproof import sync
from wheelproof_spec.explore.cells import Cell, IntegerCell
from wheelproof_spec.explore.plain_fields import PlainField
from wheelproof_spec.explore.runtime import ControlledRuntime
from wheelproof_spec.explore.settings import DEFAULT_SETTINGS, Settings
from wheelproof_spec.explore.thread_steps import Observe, completion, invocation

T = TypeVar("T")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""What differs from process to process in the representation of a function."""
Action = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """Something that holds between any two steps.

    `look` raises if it does not; it may read `cells` and nothing else that is shared. Looking is a
    step of a thread of its own, which reads all cells at once, so that no reduction can hide it.
    """

    name: str
    cells: Sequence[object]
    look: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One run: what each thread does, what holds all the time and what holds at the end.

    `check` raises if the end is wrong; it is called when all threads have ended.
    """

    threads: Mapping[str, Action]
    check: Action | None = None
    invariants: Sequence[Invariant] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program under test; `build` makes everything anew for each run.

    Every access of the `plain_fields` is a step.
    """

    name: str
    summary: str
    build: Callable[[], Scenario]
    settings: Settings = DEFAULT_SETTINGS
    plain_fields: Sequence[PlainField] = ()

    def digest(self) -> str:
        """Return a hash of the program's name, source and settings."""
        text = "\n".join((self.name, repr(self.settings), _source(self.build)))
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def choose(alternatives: int) -> int:
    """Return an integer below `alternatives`; the explorer tries every one.

    Raises RuntimeError outside an explored program.
    """
    return _controlled().choose(alternatives)


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
