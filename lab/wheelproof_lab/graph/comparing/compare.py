"""Comparison of two state graphs: whether they allow the same behaviours.

Both graphs are walked together from their first states, along the same actions. After each path the
set of (action, variables after it) that can come next is compared, and whether the path can end
there. This is as strict as a comparison of every variable, even of those that only one side has: a
register of a thread, or a history, matters by the later steps that it makes possible. A comparison
of the visible states alone would be weaker: two states that look alike may differ in what follows.
Steps that are no action and change no visible variable are skipped.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wheelproof_lab.graph.comparing.projected import ProjectedGraph
from wheelproof_lab.graph.states.state_graph import Observation

Action = tuple[str | None, Observation]
"""The name of an action, and the visible variables after it."""

_Nodes = frozenset[int]
_MOST_DIFFERENCES = 1_000


class Side(StrEnum):
    """The side that has an edge which the other lacks."""

    CODE = "code"
    SPEC = "spec"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An edge that only one side has, after a shortest path on which it shows.

    An `action` of None is the end: one side can stop there and the other cannot.
    """

    side: Side
    before: Observation
    action: str | None
    after: Observation | None
    path: Sequence[Action]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The size of a graph: as it was explored, and by its visible states and edges."""

    states: int
    edges: int
    seen_states: int
    seen_edges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a comparison; the `differences` nearest to the first state come first."""

    code: Sizes
    spec: Sizes
    differences: Sequence[Difference]
    pairs: int

    @property
    def equal(self) -> bool:
        """Whether the two graphs allow the same behaviours."""
        return not self.differences


def compare(code: ProjectedGraph, spec: ProjectedGraph) -> Comparison:
    """Compare the graph of the code with that of the specification."""
    walk = _PairWalk(code, spec)
    walk.run()
    return Comparison(
        code=_sizes(code),
        spec=_sizes(spec),
        differences=tuple(walk.differences.values()),
        pairs=len(walk.came),
    )


class _PairWalk:
    def __init__(self, code: ProjectedGraph, spec: ProjectedGraph) -> None:
        self._code = code
        self._spec = spec
        self.came: dict[tuple[_Nodes, _Nodes], tuple[tuple[_Nodes, _Nodes], Action] | None] = {}
        self.differences: dict[object, Difference] = {}

    def run(self) -> None:
        """Walk both graphs as far as they agree."""
        starts = [_by_observation(graph, graph.initial) for graph in (self._code, self._spec)]
        start = (
            frozenset[int]().union(*starts[0].values()),
            frozenset[int]().union(*starts[1].values()),
        )
        self.came[start] = None
        queue = deque([start])
        if starts[0].keys() != starts[1].keys():
            self._different_starts(starts[0], starts[1])
            return
        while queue and len(self.differences) < _MOST_DIFFERENCES:
            pair = queue.popleft()
            code, spec = _actions(self._code, pair[0]), _actions(self._spec, pair[1])
            for action in code.keys() - spec.keys():
                self._differ(Side.CODE, pair, action)
            for action in spec.keys() - code.keys():
                self._differ(Side.SPEC, pair, action)
            ends = _can_end(self._code, pair[0]), _can_end(self._spec, pair[1])
            if ends[0] != ends[1]:
                self._differ(Side.CODE if ends[0] else Side.SPEC, pair, None)
            for action in code.keys() & spec.keys():
                following = code[action], spec[action]
                if following not in self.came:
                    self.came[following] = pair, action
                    queue.append(following)

    def _differ(self, side: Side, pair: tuple[_Nodes, _Nodes], action: Action | None) -> None:
        graph, nodes = (self._code, pair[0]) if side is Side.CODE else (self._spec, pair[1])
        before = graph.observations[min(nodes)]
        key = side, before, action
        if key not in self.differences:
            self.differences[key] = Difference(
                side=side,
                before=before,
                action=None if action is None else action[0] or "(no action)",
                after=None if action is None else action[1],
                path=self._path(pair),
            )

    def _path(self, pair: tuple[_Nodes, _Nodes]) -> Sequence[Action]:
        path: list[Action] = []
        step = self.came[pair]
        while step is not None:
            path.append(step[1])
            step = self.came[step[0]]
        return path[::-1]

    def _different_starts(
        self, code: dict[Observation, _Nodes], spec: dict[Observation, _Nodes]
    ) -> None:
        for side, mine, others in ((Side.CODE, code, spec), (Side.SPEC, spec, code)):
            for observation in mine.keys() - others.keys():
                self.differences[side, observation] = Difference(
                    side=side, before=(), action="(first state)", after=observation, path=()
                )


def _closure(graph: ProjectedGraph, nodes: set[int]) -> _Nodes:
    found = set(nodes)
    left = list(nodes)
    while left:
        here = left.pop()
        for move in graph.moves[here]:
            if move[1] not in found and graph.is_stuttering(here, move):
                found.add(move[1])
                left.append(move[1])
    return frozenset(found)


def _by_observation(graph: ProjectedGraph, nodes: _Nodes) -> dict[Observation, _Nodes]:
    found: dict[Observation, set[int]] = {}
    for node in nodes:
        found.setdefault(graph.observations[node], set()).add(node)
    return {observation: _closure(graph, some) for observation, some in found.items()}


def _actions(graph: ProjectedGraph, nodes: _Nodes) -> dict[Action, _Nodes]:
    found: dict[Action, set[int]] = {}
    for here in nodes:
        for move in graph.moves[here]:
            if not graph.is_stuttering(here, move):
                label, there = move
                found.setdefault((label, graph.observations[there]), set()).add(there)
    return {action: _closure(graph, there) for action, there in found.items()}


def _can_end(graph: ProjectedGraph, nodes: _Nodes) -> bool:
    return any(not graph.moves[node] for node in nodes)


def _sizes(graph: ProjectedGraph) -> Sizes:
    return Sizes(
        states=len(graph.observations),
        edges=sum(map(len, graph.moves)),
        seen_states=len(graph.states()),
        seen_edges=len(graph.edges()),
    )
