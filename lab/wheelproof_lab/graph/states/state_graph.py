"""The graph of the states of a program, and paths in it."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wheelproof_explore.runtime.numbers import Actor, thread_of
from wheelproof_spec.tlc.states.values import State, Value

Observation = tuple[tuple[str, Value], ...]
"""The variables of a state with their values, by name."""


def observe(state: State) -> Observation:
    """Return the variables of a state in the order of their names."""
    return tuple(sorted(state.items()))


@dataclass(frozen=True, slots=True)
class Arc:
    """A step to the state `target`: its actor, its text, and the label of its action."""

    actor: Actor
    target: int
    text: str
    label: str | None


@dataclass(kw_only=True)
class ProgramGraph:
    """Every found state of a program, by number; 0 is the first.

    `observations` has the variables that the view shows, `failures` the failure of a state (a
    thread raised, an invariant is broken, no thread can go on), `unseen` the `sometimes` properties
    that held in no state. `complete` is whether the search found all, `gap` why it shows nothing.

    Each thread of `threads` has a bit, by the order in which they appear there. `owed` has the bits
    of the threads that can make a step other than a spurious wake-up, `ended` of the threads that
    have ended. `facts` has a bit for each predicate of the program and, from `first_wait` on, for
    each of `waits`: a thread that waits on a condition although it should be woken.
    """

    observations: list[Observation] = field(default_factory=list[Observation])
    arcs: list[list[Arc]] = field(default_factory=list[list[Arc]])
    failures: dict[int, str] = field(default_factory=dict[int, str])
    unseen: set[str] = field(default_factory=set[str])
    threads: dict[int, str] = field(default_factory=dict[int, str])
    owed: list[int] = field(default_factory=list[int])
    ended: list[int] = field(default_factory=list[int])
    facts: list[int] = field(default_factory=list[int])
    first_wait: int = 0
    waits: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    complete: bool = True
    gap: str = ""
    interrupted: bool = False

    def __post_init__(self) -> None:
        self._bits: dict[int, int] = {}

    def bit_of(self, actor: Actor) -> int:
        """Return the bit of a thread."""
        return self._bits[thread_of(actor)]

    def add_thread(self, number: int, name: str) -> int:
        """Return the bit of a thread, which may be a new one."""
        bit = self._bits.get(number)
        if bit is None:
            bit = self._bits[number] = 1 << len(self._bits)
            self.threads[number] = name
        return bit

    def bits(self, wanted: Callable[[int, str], bool]) -> int:
        """Return the bits of the threads whose number and name are wanted."""
        return sum(
            bit for number, bit in self._bits.items() if wanted(number, self.threads[number])
        )

    def names(self, bits: int) -> list[str]:
        """Return the names of the threads with these bits."""
        return [self.threads[number] for number, bit in self._bits.items() if bits & bit]

    def edge_count(self) -> int:
        """Return the number of edges."""
        return sum(map(len, self.arcs))

    def shortest_path(self, wanted: Callable[[int], bool]) -> Sequence[Arc] | None:
        """Return a shortest path from the first state to a wanted one, None if there is none."""
        came: dict[int, tuple[int, Arc] | None] = {0: None}
        queue = deque([0])
        while queue:
            here = queue.popleft()
            if wanted(here):
                path: list[Arc] = []
                step = came[here]
                while step is not None:
                    path.append(step[1])
                    step = came[step[0]]
                return path[::-1]
            for arc in self.arcs[here]:
                if arc.target not in came:
                    came[arc.target] = here, arc
                    queue.append(arc.target)
        return None

    def failure_paths(self) -> dict[str, Sequence[Arc]]:
        """Return each failure with a shortest path to it."""
        nodes: dict[str, set[int]] = {}
        for node, what in self.failures.items():
            nodes.setdefault(what, set()).add(node)
        paths = {what: self.shortest_path(some.__contains__) for what, some in nodes.items()}
        return {what: path for what, path in paths.items() if path is not None}
