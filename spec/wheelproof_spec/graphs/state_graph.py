"""The graph of the states of a program, and paths in it."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wheelproof_spec.explore.accesses import Actor
from wheelproof_spec.tlc.values import State, Value

Observation = tuple[tuple[str, Value], ...]
"""The variables of a state with their values, by name."""


def observe(state: State) -> Observation:
    """Return the variables of a state in the order of their names."""
    return tuple(sorted(state.items()))


@dataclass(frozen=True, slots=True)
class Arc:
    """A step to the state `target`: who makes it, what it is in words, and which action it is."""

    actor: Actor
    target: int
    text: str
    label: str | None


@dataclass(slots=True, kw_only=True)
class ProgramGraph:
    """Every state of a program that was found, by number; 0 is the first.

    `observations` is what the view shows of each, `failures` what is wrong in a state (a thread
    raised, an invariant is broken, nobody can go on), `seen` the `sometimes` properties that were
    met. `complete` tells whether no bound ended the search.
    """

    observations: list[Observation] = field(default_factory=list[Observation])
    arcs: list[list[Arc]] = field(default_factory=list[list[Arc]])
    failures: dict[int, str] = field(default_factory=dict[int, str])
    unseen: set[str] = field(default_factory=set[str])
    complete: bool = True

    def edge_count(self) -> int:
        """Return the number of edges."""
        return sum(map(len, self.arcs))

    def shortest_path(self, wanted: Callable[[int], bool]) -> Sequence[Arc] | None:
        """Return a shortest way from the first state to a wanted one, None if there is none."""
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
        """Return each thing that is wrong with a shortest way to it."""
        nodes: dict[str, set[int]] = {}
        for node, what in self.failures.items():
            nodes.setdefault(what, set()).add(node)
        paths = {what: self.shortest_path(some.__contains__) for what, some in nodes.items()}
        return {what: path for what, path in paths.items() if path is not None}
