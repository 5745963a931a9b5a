"""Walks cover every edge; what TLC and the contract say of them is the same."""

from itertools import pairwise

import pytest

from wheelproof_lab.vectors.driven_wheel import DrivenWheel
from wheelproof_lab.vectors.edge_cover import edge_cover
from wheelproof_lab.vectors.generate import corner_vectors, edge_vectors
from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.contract import HASHED_WHEEL, KAFKA, NEVER_EARLY
from wheelproof_spec.components.timer.component import Add, Cancel, TimerCall, TimerConfig
from wheelproof_spec.components.timer.vector_answers import timer_steps
from wheelproof_spec.tlc.running.launch import find_toolchain
from wheelproof_spec.tlc.states.graph import Edge, StateGraph

_TINY = DrivenWheel(
    name="tiny", tasks=("a",), delays_ms=(0, 3), tick_ms=1, wheel_size=2, horizon_ms=3, max_adds=1
)


def _graph(edges: set[tuple[int, int, str]]) -> StateGraph:
    states = {end for source, target, _ in edges for end in (source, target)}
    return StateGraph(
        states={state: {"n": state} for state in states},
        initial=frozenset({0}),
        edges=frozenset(Edge(source=a, target=b, action=name) for a, b, name in edges),
    )


@pytest.mark.parametrize("longest", [1, 3, 100])
def test_every_edge_is_covered_by_walks_from_the_beginning(longest: int) -> None:
    graph = _graph({(0, 1, "x"), (0, 1, "y"), (1, 1, "x"), (1, 2, "x"), (2, 0, "z"), (0, 3, "w")})
    walks = edge_cover(graph, longest)
    assert {edge for walk in walks for edge in walk} == graph.edges
    for walk in walks:
        assert walk[0].source == 0
        assert all(one.target == next_.source for one, next_ in pairwise(walk))
    assert walks == edge_cover(graph, longest)


@pytest.mark.slow
def test_a_small_graph_becomes_vectors_with_every_call() -> None:
    toolchain = find_toolchain()
    graph = _TINY.graph(toolchain)
    walks = edge_cover(graph, 50)
    assert {edge for walk in walks for edge in walk} == graph.edges
    calls = {call for walk in walks for call in _TINY.calls_of(graph, walk)}
    assert {Add(task="a", delay_ms=0), Add(task="a", delay_ms=3), Cancel(task="a")} <= calls
    vectors = edge_vectors(toolchain, _TINY)
    assert all("kafka" in one.profiles for one in vectors)


_CONFIG = TimerConfig(tick_ms=10, wheel_size=4)


def test_an_answer_that_the_contract_leaves_open_gives_no_vector() -> None:
    due: tuple[TimerCall, ...] = (Add(task="a", delay_ms=0), Cancel(task="a"))
    assert timer_steps(KAFKA, _CONFIG, due) is None
    assert timer_steps(HASHED_WHEEL, _CONFIG, due) is not None
    again: tuple[TimerCall, ...] = (Add(task="a", delay_ms=0), Add(task="a", delay_ms=0))
    assert timer_steps(KAFKA, _CONFIG, again) is None


def test_contracts_answer_differently_inside_a_tick() -> None:
    calls: tuple[TimerCall, ...] = (Add(task="a", delay_ms=15), Advance(to_ms=10))
    assert timer_steps(KAFKA, _CONFIG, calls) != timer_steps(NEVER_EARLY, _CONFIG, calls)


def test_corners_are_what_the_seed_says() -> None:
    assert corner_vectors(1, 3) == corner_vectors(1, 3)
    assert corner_vectors(1, 3) != corner_vectors(2, 3)
