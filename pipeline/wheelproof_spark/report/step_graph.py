"""A picture of the specification's actions: how often a thread took one after another.

It is the state graph seen from one thread: nodes are actions, arrows are recorded steps. Rows go
down from the first actions of threads; actions that were never taken are in the last row.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BEGIN = ""
"""The name before the first action of a thread."""
_COLUMNS = 5
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 118, 30, 26, 34
_MARGIN = 8

Steps = Mapping[tuple[str, str], int]
"""How often the second action came after the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An action: its box, and how often it was taken."""

    name: str
    count: int
    x: int
    y: int
    width: int = _WIDTH
    height: int = _HEIGHT


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A recorded step: the path of its arrow, and the width of the arrow."""

    title: str
    path: str
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGraph:
    """A picture of the steps of one subject."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    width: int
    height: int


def step_graph(title: str, actions: Sequence[str], steps: Steps) -> StepGraph:
    """Return the picture; `actions` are all actions of the specification."""
    rows = _rows(actions, steps)
    counts = {name: sum(n for (_, to), n in steps.items() if to == name) for name in actions}
    nodes = {
        name: Node(
            name=name,
            count=counts.get(name, 0),
            x=_MARGIN + column * (_WIDTH + _GAP_X),
            y=_MARGIN + row * (_HEIGHT + _GAP_Y),
        )
        for row, names in enumerate(rows)
        for column, name in enumerate(names)
    }
    most = max([*steps.values(), 1])
    edges = (
        Edge(
            title=f"{before} → {action}: {count:,}",
            path=_path(nodes[before], nodes[action]),
            width=round(0.8 + 2.2 * math.log1p(count) / math.log1p(most), 1),
        )
        for (before, action), count in sorted(steps.items())
        if before != BEGIN
    )
    return StepGraph(
        title=title,
        nodes=tuple(nodes.values()),
        edges=tuple(edges),
        width=2 * _MARGIN + _COLUMNS * (_WIDTH + _GAP_X),
        height=2 * _MARGIN + len(rows) * (_HEIGHT + _GAP_Y),
    )


def _rows(actions: Sequence[str], steps: Steps) -> list[list[str]]:
    """Return the actions in rows, by their distance from the start of a thread."""
    rows: list[list[str]] = []
    placed: set[str] = {BEGIN}
    reached = [BEGIN]
    while reached:
        following = {to for (before, to) in steps if before in reached} - placed
        reached = [name for name in actions if name in following]
        placed |= following
        rows += _lines_of(reached)
    return rows + _lines_of([name for name in actions if name not in placed])


def _lines_of(names: Sequence[str]) -> list[list[str]]:
    return [list(names[at : at + _COLUMNS]) for at in range(0, len(names), _COLUMNS)]


def _path(before: Node, action: Node) -> str:
    """Return an arrow: down from box to box, or around the side if it goes back."""
    if before.y < action.y:
        x1, y1 = before.x + _WIDTH // 2, before.y + _HEIGHT
        x2, y2 = action.x + _WIDTH // 2, action.y
        middle = (y1 + y2) // 2
        return f"M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}"
    x1, y1 = before.x + _WIDTH, before.y + _HEIGHT // 2
    x2, y2 = action.x + _WIDTH, action.y + _HEIGHT // 2 + 6
    aside = max(x1, x2) + _GAP_X
    return f"M{x1} {y1}C{aside} {y1} {aside} {y2} {x2} {y2}"
