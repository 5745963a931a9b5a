"""The runs of a state graph that can go on for ever, under weak fairness.

A run can stay for ever in a set of states, each reachable from each. It is fair if every thread
makes a step within the set or is unable to in some state: a thread that could always make a step
makes one in the end. Under weak fairness it is enough to look at the largest such sets, the
strongly connected components (O. Lichtenstein and A. Pnueli, POPL 1985): in a smaller set a thread
makes fewer steps and is unable in fewer states. R. Tarjan, SIAM Journal on Computing 1972.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from wheelproof_lab.graph.states.state_graph import Arc, ProgramGraph

Within = Callable[[int], bool]
"""A function that tells whether a state, by number, belongs to the part that is searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forever:
    """States in which a run can remain for ever; without `steps` the run has ended there.

    `steps` has the bits of the threads that make steps, `arcs` a fair cycle from the first state.
    """

    states: Sequence[int]
    steps: int
    arcs: Sequence[Arc]


def everywhere(_state: int) -> bool:
    """Return True: every state belongs to the whole graph."""
    return True


def endings(graph: ProgramGraph, within: Within = everywhere) -> Iterator[Forever]:
    """Yield every way in which a fair run can end or go on for ever inside a part of the graph."""
    for state, arcs in enumerate(graph.arcs):
        if not arcs and within(state):
            yield Forever(states=(state,), steps=0, arcs=())
    for states in _components(graph, within):
        inside = set(states)
        steps, able = 0, -1
        for state in states:
            able &= graph.owed[state]
            for arc in graph.arcs[state]:
                if arc.target in inside:
                    steps |= graph.bit_of(arc.actor)
        if steps and not able & ~steps:
            first = min(states)
            circle = _fair_circle(graph, first, inside)
            yield Forever(states=(first, *(inside - {first})), steps=steps, arcs=circle)


def reachable(graph: ProgramGraph, sources: Sequence[int], within: Within) -> set[int]:
    """Return the states that a path inside a part of the graph reaches from one of `sources`."""
    found = {state for state in sources if within(state)}
    left = list(found)
    while left:
        for arc in graph.arcs[left.pop()]:
            if arc.target not in found and within(arc.target):
                found.add(arc.target)
                left.append(arc.target)
    return found


def _components(graph: ProgramGraph, within: Within) -> Iterator[list[int]]:
    """Yield the strongly connected components of a part of the graph."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    for root in range(len(graph.arcs)):
        if root in order or not within(root):
            continue
        order[root] = low[root] = len(order)
        stack.append(root)
        waiting.add(root)
        path = [(root, iter(graph.arcs[root]))]
        while path:
            here, arcs = path[-1]
            for arc in arcs:
                there = arc.target
                if there not in order:
                    if within(there):
                        order[there] = low[there] = len(order)
                        stack.append(there)
                        waiting.add(there)
                        path.append((there, iter(graph.arcs[there])))
                        break
                elif there in waiting:
                    low[here] = min(low[here], order[there])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[here])
                if low[here] == order[here]:
                    yield _pop(stack, waiting, here)


def _pop(stack: list[int], waiting: set[int], until: int) -> list[int]:
    component: list[int] = []
    while not component or component[-1] != until:
        component.append(stack.pop())
        waiting.discard(component[-1])
    return component


def _fair_circle(graph: ProgramGraph, start: int, inside: set[int]) -> Sequence[Arc]:
    """Return a fair cycle in a component: every thread makes a step or is unable to somewhere.

    It need not be the shortest: it goes to the nearest state that satisfies one more thread.
    """
    circle: list[Arc] = []
    here, neglected = start, graph.owed[start]
    while neglected:
        circle += _way(graph, here, inside, partial(_is_good_for, graph, neglected))
        here = circle[-1].target
        for arc in circle:
            neglected &= ~_satisfied(graph, arc)
    if here != start or not circle:
        circle += _way(graph, here, inside, lambda arc: arc.target == start)
    return circle


def _is_good_for(graph: ProgramGraph, threads: int, arc: Arc) -> bool:
    return bool(threads & _satisfied(graph, arc))


def _satisfied(graph: ProgramGraph, arc: Arc) -> int:
    """Return the bits of the thread that makes a step, and of the threads that cannot after it."""
    return graph.bit_of(arc.actor) | ~graph.owed[arc.target]


def _way(
    graph: ProgramGraph, start: int, inside: set[int], wanted: Callable[[Arc], bool]
) -> list[Arc]:
    """Return a shortest path inside a component that ends with a wanted step."""
    came: dict[int, list[Arc]] = {start: []}
    queue = deque([start])
    while True:
        here = queue.popleft()
        for arc in graph.arcs[here]:
            if arc.target not in inside:
                continue
            if wanted(arc):
                return [*came[here], arc]
            if arc.target not in came:
                came[arc.target] = [*came[here], arc]
                queue.append(arc.target)
