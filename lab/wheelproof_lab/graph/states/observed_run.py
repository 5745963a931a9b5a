"""One run of graph mode: the key of its state, and the replay of a path to a known state."""

from array import array
from dataclasses import dataclass

from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.conditions import WakeUp
from wheelproof_explore.runtime.model import ModelThread
from wheelproof_explore.runtime.numbers import (
    HISTORY,
    THREAD_MASK,
    Actor,
    choice_of,
    object_of,
)
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_lab.graph.states.fields import FieldAccesses
from wheelproof_lab.graph.states.observed_runtime import Numbers, ObservedRuntime
from wheelproof_lab.graph.states.views import NextStep, Surroundings

Key = bytes
"""The key of a state: the numbers of the shared values, then of the threads' local states."""

_WORD = "I"


@dataclass(frozen=True, slots=True)
class ReplayNotes:
    """The data that a run needs when it comes to a known state by replay."""

    sites: tuple[tuple[int, str], ...]
    words: int


class ObservedRun(Execution):
    """A run whose runtime is observed."""

    watches_cycles = False

    def __init__(self, world: World, numbers: Numbers, fields: FieldAccesses) -> None:
        self._numbers = numbers
        self._fields = fields
        super().__init__(world)

    def new_runtime(self, world: World, *, logging: bool) -> ControlledRuntime:
        """Return the runtime of the run."""
        del logging
        self.observed = ObservedRuntime(world, self._numbers, self._fields)
        return self.observed

    def surroundings(self) -> Surroundings:
        """Return the facts about this state that a view may use."""
        names = {thread.number: thread.name for thread in self.threads.values()}
        return Surroundings(names, self._pending_steps)

    def _pending_steps(self) -> dict[str, NextStep]:
        return {
            thread.name: self.next_step(thread.number)
            for thread in self.threads.values()
            if thread.pending is not None
        }

    def next_step(self, actor: Actor) -> NextStep:
        """Return the next step of the actor."""
        thread = self.threads[actor & THREAD_MASK]
        operation = thread.pending
        assert operation is not None
        accesses = operation.peek(thread)
        if accesses is None:
            accesses = operation.wanted() if operation.blocking else ()
        number = object_of(accesses[0]) if accesses else HISTORY
        return NextStep(
            thread=thread.name,
            operation=type(operation).__name__,
            subject=self.observed.object_names.get(number, ""),
            number=number,
            site=self.observed.sites.get(thread.number, ""),
            choice=choice_of(actor),
            text=operation.describe(),
        )

    def is_owed(self, actor: Actor) -> bool:
        """Tell whether a thread that can make a step has a reason, and is not only allowed to."""
        thread = self.threads[actor & THREAD_MASK]
        operation = thread.pending
        return not isinstance(operation, WakeUp) or operation.is_owed(thread)

    def waiting_on(self, condition: object) -> list[ModelThread]:
        """Return the threads that wait on a condition and have no reason to wake up."""
        return [
            thread
            for thread in self.threads.values()
            if isinstance(thread.pending, WakeUp)
            and thread.pending.condition is condition
            and not thread.pending.is_owed(thread)
        ]

    def make(self, actor: Actor) -> Accesses | None:
        """Let the actor make its step; return all its accesses, None if it was blocked."""
        accesses = self.peek(actor)
        if accesses is None:
            return None
        self.step(actor, accesses)
        return accesses + self.observed.take_field_accesses()

    def key(self) -> Key:
        """Return the key of the run's state."""
        return array(_WORD, self.observed.shared_state() + self.observed.local_state()).tobytes()

    def remember(self) -> ReplayNotes:
        """Return what `replay` needs to come back to this state."""
        sites = tuple(self.observed.sites.items())
        return ReplayNotes(self._numbers.same(sites), self.words())

    def replay(self, path: list[Actor], memory: ReplayNotes, key: Key) -> bool:
        """Go to a known state; return False if the path leads to another state than before."""
        observed, threads = self.observed, self.threads
        observed.recording = False
        for actor in path:
            accesses = self.peek(actor)
            if accesses is None:
                return False
            self.step(actor, accesses)
        numbers = array(_WORD)
        numbers.frombytes(key)
        observed.recall(numbers[-len(threads) :], memory.sites)
        return self.key() == key and self.words() == memory.words

    def words(self) -> int:
        """Return a hash of the next steps of all threads."""
        pending = (thread.pending for thread in self.threads.values())
        return hash(tuple(operation.describe() for operation in pending if operation is not None))
