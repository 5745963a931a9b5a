"""The input of graph mode: a program, and a view of its states and steps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from wheelproof_explore.program import (
    DEFAULT_SETTINGS,
    Predicate,
    Scenario,
    Settings,
    Wakes,
)
from wheelproof_explore.runtime.locks import ModelLock, ModelMonitor
from wheelproof_explore.runtime.numbers import Actor, ObjectNumber
from wheelproof_spec.tlc.states.values import State


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """The next step of a thread.

    `operation` is the class of the operation, `subject` the name of the lock or cell that it
    touches and `number` that object's number; `site` the function of the program that calls it;
    `choice` the value of a free choice; `text` the operation in words.
    """

    thread: str
    operation: str
    subject: str
    number: ObjectNumber
    site: str
    choice: int
    text: str


class Surroundings:
    """The facts that a view may use of a state, besides the objects of the program.

    `threads` has the threads' names by number.
    """

    __slots__ = ("_find", "_pending", "threads")

    def __init__(
        self, threads: Mapping[Actor, str], find_pending: Callable[[], Mapping[str, NextStep]]
    ) -> None:
        self.threads = threads
        self._find = find_pending
        self._pending: Mapping[str, NextStep] | None = None

    @property
    def pending(self) -> Mapping[str, NextStep]:
        """The next step of each thread that has not ended."""
        if self._pending is None:
            self._pending = self._find()
        return self._pending

    def holder(self, lock: object) -> str | None:
        """Return the name of the thread that holds a lock or monitor, None if it is free."""
        owner = lock.state if isinstance(lock, ModelLock | ModelMonitor) else None
        return None if owner is None else self.threads[owner]


class View:
    """An abstraction function: from the objects of one run to the variables of a TLA+ module.

    This base class shows nothing, and permits everything.
    """

    def state(self, surroundings: Surroundings) -> State:
        """Return the variables now; it must not change anything."""
        del surroundings
        return {}

    def label(self, step: NextStep) -> str | None:
        """Return the name of the action that `step` is now, None if it is no action."""
        del step
        return None

    def permits(self, step: NextStep, surroundings: Surroundings) -> bool:
        """Tell whether the surroundings let `step` happen now, as a module's guard would."""
        del step, surroundings
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewedRun:
    """One run: the scenario, the view of it, and the properties to check in each state.

    `invariants` hold in every state; each of `sometimes` holds in at least one. Each state records
    which `facts` hold, and which threads wait although one of `wakes` demands that they be woken.
    """

    scenario: Scenario
    view: View
    invariants: Mapping[str, Predicate] = field(default_factory=dict[str, Predicate])
    sometimes: Mapping[str, Predicate] = field(default_factory=dict[str, Predicate])
    facts: Sequence[Predicate] = ()
    wakes: Sequence[Wakes] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphProgram:
    """A program to be explored state by state.

    `build` makes everything anew for each run; `watched` are the classes whose bodies declare
    guarded fields, `watched_fields` are other fields that threads share under a lock.
    """

    name: str
    build: Callable[[], ViewedRun]
    watched: Sequence[type] = ()
    watched_fields: Sequence[tuple[type, str]] = ()
    settings: Settings = DEFAULT_SETTINGS
