"""The graph of an object that one caller drives: a state after each call.

The graph needs to know only how the object is copied, its calls and its visible variables; two
states that look alike are one. A module that makes several steps while a call is under way is
compared with it call by call: a call under way is finished first.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from wheelproof_lab.graph.comparing.projected import Move, ProjectedGraph
from wheelproof_lab.graph.states.state_graph import Observation, observe
from wheelproof_spec.tlc.states.graph import Edge, StateGraph
from wheelproof_spec.tlc.states.values import State

UnderWay = Callable[[State], Callable[[str], bool] | None]
"""For a state with a call under way: which actions finish it. None for all other states."""

DriverT = TypeVar("DriverT")

WITHIN = "within"
"""The variable that names the thread in the middle of a module's step; empty between steps."""


def driven_graph(
    first: DriverT,
    state: Callable[[DriverT], State],
    calls: Callable[[DriverT], Iterable[tuple[str, DriverT]]],
) -> ProjectedGraph:
    """Return the graph of every state that calls can bring `first` into.

    `calls` makes each call on a copy, and yields its label with that copy.
    """
    numbers: dict[Observation, int] = {observe(state(first)): 0}
    drivers = [first]
    moves: list[list[Move]] = []
    while len(moves) < len(drivers):
        found: set[Move] = set()
        for label, driver in calls(drivers[len(moves)]):
            observation = observe(state(driver))
            number = numbers.setdefault(observation, len(numbers))
            if number == len(drivers):
                drivers.append(driver)
            found.add((label, number))
        moves.append(list(found))
    return ProjectedGraph(observations=list(numbers), moves=moves, initial=frozenset({0}))


def step_by_step(graph: ProjectedGraph) -> ProjectedGraph:
    """Return the graph in which a thread that is within a step has finished the step.

    The variable `WITHIN` names that thread, and no other thread can go on; the variable is not
    compared. A graph without that variable is returned unchanged.
    """
    if WITHIN not in dict(graph.observations[0]):
        return graph

    def end(node: int) -> int:
        while dict(graph.observations[node])[WITHIN] and len(graph.moves[node]) == 1:
            node = graph.moves[node][0][1]
        return node

    ends = list(map(end, range(len(graph.moves))))
    seen = [tuple(pair for pair in graph.observations[node] if pair[0] != WITHIN) for node in ends]
    moves = [
        [(label, ends[there]) for label, there in moves] if ends[node] == node else []
        for node, moves in enumerate(graph.moves)
    ]
    return ProjectedGraph(
        observations=seen, moves=moves, initial=frozenset(ends[node] for node in graph.initial)
    )


def call_by_call(graph: StateGraph, under_way: UnderWay) -> StateGraph:
    """Return the graph of the states in which no call is under way.

    An edge leads to the state after the begun call has finished, without other actions meanwhile.
    """
    leaving: dict[int, list[Edge]] = {number: [] for number in graph.states}
    for edge in graph.edges:
        leaving[edge.source].append(edge)
    finishing = {number: under_way(state) for number, state in graph.states.items()}
    found: dict[int, set[Edge]] = {}
    left = list(graph.initial)
    while left:
        here = left.pop()
        if here not in found:
            found[here] = {
                Edge(source=here, target=end, action=edge.action)
                for edge in leaving[here]
                for end in _ends(edge.target, leaving, finishing)
            }
            left += (edge.target for edge in found[here])
    return StateGraph(
        states={number: graph.states[number] for number in found},
        initial=graph.initial,
        edges=frozenset(edge for edges in found.values() for edge in edges),
    )


def _ends(
    start: int,
    leaving: Mapping[int, list[Edge]],
    finishing: Mapping[int, Callable[[str], bool] | None],
) -> set[int]:
    """Return the states in which the call under way in a state can have finished."""
    seen, left, ends = {start}, [start], set[int]()
    while left:
        here = left.pop()
        finishes = finishing[here]
        if finishes is None:
            ends.add(here)
            continue
        following = {edge.target for edge in leaving[here] if finishes(edge.action)}
        left += following - seen
        seen |= following
    return ends
