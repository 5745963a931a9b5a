"""How fast graph mode is, and how much memory a state takes.

`bench/explore.py` prints these figures among its own. Processor time of one core; the memory is
what one process needs for a graph of a million states, measured in a process of its own.
"""

import multiprocessing
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from wheelproof_spec.components.timer.graph.system_timer import Cast, system_timer
from wheelproof_spec.engines.explore.program import Program
from wheelproof_spec.engines.explore.programs.classics import increments, last_zero, philosophers
from wheelproof_spec.engines.explore.programs.making import program
from wheelproof_spec.engines.graph.judging.exploration import graph_program
from wheelproof_spec.engines.graph.states.engine import explore_graph
from wheelproof_spec.engines.graph.states.views import GraphProgram

_ENOUGH_EDGES_A_SECOND = 20_000
_MANY_STATES = 1_000_000
_ENOUGH_MEMORY_BYTES = 4 << 30
_ROUNDS = 2
_TWO_ADDERS = Cast(
    delays_ms={"k1": 1, "k3": 3}, programs={"a1": ("k1",), "a2": ("k3",)}, max_time_ms=0
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFigure:
    """One program: the best processor time of several rounds."""

    name: str
    states: int
    edges: int
    seconds: float
    edges_a_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFigure:
    """A graph with as many states: the most memory that its process had, and its time."""

    states: int
    edges: int
    seconds: float
    peak_bytes: int


def measure_graphs() -> list[GraphFigure]:
    """Measure programs that are nothing but steps, and the timer with its projection."""
    plain = [
        program("last zero 6", partial(last_zero, 6)),
        program("philosophers 5", partial(philosophers, 5, ordered=True)),
        program("increments 5", partial(increments, 5)),
    ]
    programs = [_states_of(single) for single in plain]
    return [_measure(measured) for measured in (*programs, system_timer(_TWO_ADDERS))]


def measure_memory() -> MemoryFigure:
    """Explore a million states in a process of their own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_explore_many)


def show_graphs(figures: Sequence[GraphFigure], memory: MemoryFigure) -> list[str]:
    """Return the figures as lines."""
    lines = [
        f"{figure.name:<24}{'graph':<10}{figure.states:>9,} states  {figure.edges:>9,} edges  "
        f"{figure.seconds:6.2f} s  {figure.edges_a_second:>8,.0f} edges/s"
        for figure in figures
    ]
    lines.append(
        f"{memory.states:,} states and {memory.edges:,} edges: "
        f"{memory.peak_bytes / (1 << 30):.2f} GiB, {memory.seconds:.0f} s"
    )
    return lines


def missed_bounds(figures: Sequence[GraphFigure], memory: MemoryFigure) -> list[str]:
    """Return what is too slow or too large."""
    missed = [
        f"{figure.name}: {figure.edges_a_second:,.0f} edges/s"
        for figure in figures
        if figure.edges_a_second < _ENOUGH_EDGES_A_SECOND
    ]
    if memory.peak_bytes > _ENOUGH_MEMORY_BYTES:
        missed.append(f"{memory.states:,} states take {memory.peak_bytes:,} bytes")
    return missed


def _states_of(single: Program) -> GraphProgram:
    return graph_program(single, [])


def _measure(measured: GraphProgram) -> GraphFigure:
    best: GraphFigure | None = None
    for _ in range(_ROUNDS):
        begin = time.process_time()
        graph = explore_graph(measured)
        seconds = time.process_time() - begin
        if best is None or seconds < best.seconds:
            best = GraphFigure(
                name=measured.name,
                states=len(graph.observations),
                edges=graph.edge_count(),
                seconds=seconds,
                edges_a_second=graph.edge_count() / seconds,
            )
    assert best is not None
    return best


def _explore_many() -> MemoryFigure:
    begin = time.process_time()
    many = program("last zero 11", partial(last_zero, 11))
    graph = explore_graph(_states_of(many), max_states=_MANY_STATES)
    return MemoryFigure(
        states=len(graph.observations),
        edges=graph.edge_count(),
        seconds=time.process_time() - begin,
        peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


if __name__ == "__main__":
    found, large = measure_graphs(), measure_memory()
    print("\n".join(show_graphs(found, large)))
    sys.exit(bool(missed_bounds(found, large)))
