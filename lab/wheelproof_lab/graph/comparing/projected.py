"""A state graph with what both sides have: the common variables, and the actions' names."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from wheelproof_lab.graph.states.state_graph import Observation, ProgramGraph, observe
from wheelproof_spec.tlc.states.graph import StateGraph
from wheelproof_spec.tlc.states.values import State, Value, entries

Move = tuple[str | None, int]
"""A step: the action's name, None for a step that is no action, and the state it leads to."""

Labeller = Callable[[str, State, State], str | None]
"""A function from an action and the states before and after it to a label; None: no action."""

Projection = Callable[[State], State]
"""A function from the state of one side to the variables that both sides have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedGraph:
    """A graph whose states, by number, are visible through `observations` alone."""

    observations: Sequence[Observation]
    moves: Sequence[Sequence[Move]]
    initial: frozenset[int]

    def edges(self) -> set[tuple[Observation, str | None, Observation]]:
        """Return the distinct edges between distinct observations, without stuttering."""
        return {
            (self.observations[here], label, self.observations[there])
            for here, moves in enumerate(self.moves)
            for label, there in moves
            if not self.is_stuttering(here, (label, there))
        }

    def states(self) -> set[Observation]:
        """Return the distinct observations."""
        return set(self.observations)

    def without_still_steps(self) -> "ProjectedGraph":
        """Return the graph in which steps that change no visible variable are no actions."""
        return replace(
            self,
            moves=[
                [(label if self._changes(here, there) else None, there) for label, there in moves]
                for here, moves in enumerate(self.moves)
            ],
        )

    def _changes(self, here: int, there: int) -> bool:
        return self.observations[here] != self.observations[there]

    def is_stuttering(self, here: int, move: Move) -> bool:
        """Tell whether a step is no action and changes no visible variable."""
        label, there = move
        return label is None and not self._changes(here, there)


def project_program(graph: ProgramGraph) -> ProjectedGraph:
    """Return the graph of a program, with the variables that its view shows."""
    return ProjectedGraph(
        observations=graph.observations,
        moves=[[(arc.label, arc.target) for arc in arcs] for arcs in graph.arcs],
        initial=frozenset({0}),
    )


def project_tlc(graph: StateGraph, project: Projection, label: Labeller) -> ProjectedGraph:
    """Return the graph that TLC found, with the variables that `project` shows."""
    numbers = {fingerprint: number for number, fingerprint in enumerate(sorted(graph.states))}
    shared: dict[Observation, Observation] = {}
    observations: list[Observation] = []
    for fingerprint in numbers:
        observation = observe(project(graph.states[fingerprint]))
        observations.append(shared.setdefault(observation, observation))
    moves: list[list[Move]] = [[] for _ in numbers]
    for edge in graph.edges:
        before, after = graph.states[edge.source], graph.states[edge.target]
        named = label(edge.action, before, after)
        if named is not None or edge.source != edge.target:
            moves[numbers[edge.source]].append((named, numbers[edge.target]))
    return ProjectedGraph(
        observations=observations,
        moves=moves,
        initial=frozenset(numbers[fingerprint] for fingerprint in graph.initial),
    )


def only(state: State, names: Iterable[str]) -> dict[str, Value]:
    """Return the variables with these names."""
    return {name: state[name] for name in names}


def pairs_of(value: Value) -> tuple[tuple[Value, Value], ...]:
    """Return the arguments and values of a function."""
    pairs = entries(value)
    assert pairs is not None
    return pairs


def changes_of(variable: str, before: State, after: State) -> Iterator[tuple[Value, Value, Value]]:
    """Yield each argument at which a variable changes, with its old value and its new one."""
    pairs = zip(pairs_of(before[variable]), pairs_of(after[variable]), strict=True)
    return ((thread, old, new) for (thread, old), (_, new) in pairs if old != new)
