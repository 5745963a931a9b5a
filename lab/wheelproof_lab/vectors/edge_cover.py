"""Walks through a state graph that take each of its edges at least once.

Each walk begins in the initial state. It continues over an edge that no walk has taken yet, or else
on a shortest path to the nearest such edge. It stops if there is none, or when it is long enough.
Deterministic: the same graph gives the same walks.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from wheelproof_spec.tlc.states.graph import Edge, StateGraph
from wheelproof_spec.tlc.states.values import show_state

Walk = tuple[Edge, ...]


def edge_cover(graph: StateGraph, longest: int) -> list[Walk]:
    """Return walks of about `longest` edges that cover every edge of `graph`."""
    return list(_Cover(graph, longest).walks())


class _Cover:
    def __init__(self, graph: StateGraph, longest: int) -> None:
        names = _stable_order(graph)
        self._out: dict[int, list[Edge]] = {}
        for edge in sorted(graph.edges, key=lambda edge: (edge.action, names[edge.target])):
            self._out.setdefault(edge.source, []).append(edge)
        self._start = min(graph.initial, key=lambda state: names[state])
        self._left = set(graph.edges)
        self._longest = longest

    def walks(self) -> Iterator[Walk]:
        while self._left:
            yield tuple(self._walk())

    def _walk(self) -> Iterator[Edge]:
        state, length = self._start, 0
        while length < self._longest or not length:
            way = self._way_to_new(state)
            if not way:
                return
            for edge in way:
                self._left.discard(edge)
                yield edge
                state = edge.target
                length += 1

    def _way_to_new(self, start: int) -> Sequence[Edge]:
        """Return a shortest path whose last edge no walk has taken yet; empty if there is none."""
        came_by: dict[int, Edge | None] = {start: None}
        waiting = deque([start])
        while waiting:
            state = waiting.popleft()
            for edge in self._out.get(state, ()):
                if edge in self._left:
                    return [*_way_back(came_by, state), edge]
                if edge.target not in came_by:
                    came_by[edge.target] = edge
                    waiting.append(edge.target)
        return ()


def _way_back(came_by: Mapping[int, Edge | None], state: int) -> list[Edge]:
    way: list[Edge] = []
    edge = came_by[state]
    while edge is not None:
        way.append(edge)
        edge = came_by[edge.source]
    return way[::-1]


def _stable_order(graph: StateGraph) -> Mapping[int, str]:
    """Return a name of each state that does not depend on fingerprints."""
    return {number: show_state(state) for number, state in graph.states.items()}
