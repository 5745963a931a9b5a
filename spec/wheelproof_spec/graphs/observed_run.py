"""One run of graph mode: what it shows of a state, and how a known state is entered again."""

from collections.abc import Hashable
from dataclasses import dataclass

from wheelproof_spec.explore.accesses import THREAD_BITS, THREAD_MASK, Accesses, Actor
from wheelproof_spec.explore.execution import Execution, World
from wheelproof_spec.explore.runtime import ControlledRuntime
from wheelproof_spec.graphs.fields import FieldAccesses
from wheelproof_spec.graphs.observed_runtime import LocalState, Numbers, ObservedRuntime
from wheelproof_spec.graphs.subject import Moment, Step

Key = tuple[Hashable, tuple[LocalState, ...]]
"""What a state is known by: what is shared, and what each thread knows."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a run has to be told when it comes to a known state by replay."""

    sites: tuple[tuple[int, str], ...]
    words: int


class ObservedRun(Execution):
    """A run whose runtime is observed."""

    def __init__(self, world: World, numbers: Numbers, fields: FieldAccesses) -> None:
        self._numbers = numbers
        self._fields = fields
        super().__init__(world)

    def new_runtime(self, world: World, *, logging: bool) -> ControlledRuntime:
        """Return the runtime that the run belongs to."""
        del logging
        self.observed = ObservedRuntime(world, self._numbers, self._fields)
        return self.observed

    def moment(self) -> Moment:
        """Return what a view may know of this state."""
        threads = self.threads.values()
        return Moment(
            pending={
                thread.name: self.next_step(thread.number)
                for thread in threads
                if thread.pending is not None
            },
            threads={thread.number: thread.name for thread in threads},
        )

    def next_step(self, actor: Actor) -> Step:
        """Return what the actor would do next."""
        thread = self.threads[actor & THREAD_MASK]
        operation = thread.pending
        assert operation is not None
        accesses = operation.peek(thread)
        if accesses is None:
            accesses = operation.wanted() if operation.blocking else ()
        number = accesses[0] >> 1 if accesses else 0
        return Step(
            thread=thread.name,
            operation=type(operation).__name__,
            subject=self.observed.object_names.get(number, ""),
            number=number,
            site=self.observed.sites.get(thread.number, ""),
            choice=actor >> THREAD_BITS,
            text=operation.describe(),
        )

    def make(self, actor: Actor) -> Accesses | None:
        """Let the actor make its step; return all that it accessed, None if it was blocked."""
        accesses = self.peek(actor)
        if accesses is None:
            return None
        self.step(actor, accesses)
        return accesses + self.observed.take_field_accesses()

    def key(self) -> Key:
        """Return what the state of the run is known by."""
        return self.observed.shared_state(), self.observed.local_state()

    def remember(self, moment: Moment) -> Memory:
        """Return what `replay` needs to come back to this state."""
        sites = tuple(self.observed.sites.items())
        return Memory(self._numbers.same(sites), _words(moment))

    def replay(self, path: list[Actor], memory: Memory, key: Key) -> bool:
        """Go to a known state; False if the path leads to another one than before."""
        observed = self.observed
        observed.recording = False
        for actor in path:
            if self.make(actor) is None:
                return False
        observed.recording = True
        observed.histories = {one[0]: one[1] for one in key[1]}
        observed.sites = dict(memory.sites)
        return self.key() == key and _words(self.moment()) == memory.words


def _words(moment: Moment) -> int:
    return hash(tuple(step.text for step in moment.pending.values()))
