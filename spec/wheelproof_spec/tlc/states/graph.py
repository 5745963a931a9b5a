"""Reads the state graph that TLC dumps as DOT, and summarizes it.

TLC writes ``strict digraph``, but lists one line for each way to take a step; `StateGraph` keeps a
step once for each label, as the comparison with another graph needs it. The dashed loops that TLC
adds for stuttering when it checks liveness are not steps of an action and are left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.tlc.states.value_parser import ValueSyntaxError, parse_state
from wheelproof_spec.tlc.states.values import State

_NODE = re.compile(r'(-?\d+) \[label="((?:[^"\\]|\\.)*)"(,style = filled)?')
_EDGE = re.compile(r'(-?\d+) -> (-?\d+)(?: \[label="((?:[^"\\]|\\.)*)")?')
_ESCAPE = re.compile(r"\\(.)")
_REMEDY = "dump it again with wheelproof tlc --graph"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Edge:
    """A step from the state `source` to the state `target`, both fingerprints of TLC."""

    source: int
    target: int
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateGraph:
    """Every reachable state, by fingerprint, the initial ones, and the steps between them."""

    states: Mapping[int, State]
    initial: frozenset[int]
    edges: frozenset[Edge]

    def edges_of_action(self) -> Counter[str]:
        """Return how many edges each action has."""
        return Counter(edge.action for edge in self.edges)

    def dead_ends(self) -> frozenset[int]:
        """Return the states that no step leads out of."""
        return frozenset(self.states) - {edge.source for edge in self.edges}

    def summary(self) -> str:
        """Return the sizes in one line."""
        actions = ", ".join(
            f"{name} {count}" for name, count in sorted(self.edges_of_action().items())
        )
        return (
            f"{len(self.states)} states ({len(self.initial)} initial, "
            f"{len(self.dead_ends())} dead ends), {len(self.edges)} edges ({actions})"
        )


def read_graph(path: Path) -> StateGraph:
    """Read a DOT file of TLC; raises InputRejectedError with the line that is wrong."""
    try:
        with path.open(encoding="utf-8") as stream:
            return _read(path, stream)
    except (OSError, UnicodeDecodeError) as error:
        raise InputRejectedError(str(path), None, f"unreadable ({error})", _REMEDY) from error


def _read(path: Path, stream: TextIO) -> StateGraph:
    states: dict[int, State] = {}
    initial: set[int] = set()
    edges: set[Edge] = set()
    complete = False
    for number, line in enumerate(stream, start=1):
        edge = _EDGE.match(line)
        node = _NODE.match(line)
        if edge is not None and edge[3] is not None:
            edges.add(Edge(source=int(edge[1]), target=int(edge[2]), action=_unescape(edge[3])))
        elif edge is None and node is not None:
            fingerprint = int(node[1])
            states[fingerprint] = _state(path, number, node[2])
            if node[3]:
                initial.add(fingerprint)
        complete = line.startswith("}")
    _check(path, states, initial, edges, complete)
    return StateGraph(states=states, initial=frozenset(initial), edges=frozenset(edges))


def _state(path: Path, number: int, label: str) -> State:
    try:
        return parse_state(_unescape(label))
    except ValueSyntaxError as error:
        raise InputRejectedError(str(path), number, str(error), _REMEDY) from error


def _check(
    path: Path,
    states: Mapping[int, State],
    initial: Iterable[int],
    edges: Iterable[Edge],
    complete: bool,
) -> None:
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    if not complete:
        raise InputRejectedError(str(path), None, "the graph breaks off", _REMEDY)
    if not states or not any(True for _ in initial):
        raise InputRejectedError(str(path), None, "the graph has no initial state", _REMEDY)
    if not ends <= states.keys():
        raise InputRejectedError(
            str(path), None, f"the state {min(ends - states.keys())} is missing", _REMEDY
        )


def _unescape(label: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], label)
