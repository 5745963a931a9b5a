"""Benchmark of the model checker: ``python bench/explore.py [--json FILE]``.

Prints classes and runs a second, compared with frontrun's; the time for each known bug; edges a
second of graph mode; and the memory of a graph of a million states, measured in a process of its
own. Times are processor time of one core, the best of several rounds. The exit code is 1 if a
bound is missed.
"""

import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from frontrun_comparison import beside_frontrun
from instruments.machine import this_machine
from instruments.section import Section, bench_parser, exit_code, measure
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.program import Program
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_lab.graph.judging.exploration import graph_program
from wheelproof_lab.graph.states.engine import explore_graph
from wheelproof_lab.graph.states.views import GraphProgram
from wheelproof_lab.graph.timer.system_timer import Cast, system_timer
from wheelproof_lab.worlds.classics import (
    cas_rotation,
    cas_then_write,
    coherence,
    increments,
    last_zero,
    locked_increments,
    philosophers,
)
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.timer import BUG_PROGRAMS

_SHORT_STEPS = 15
_ENOUGH_RUNS_A_SECOND = 5_000
_ENOUGH_FOR_LAST_ZERO_S = 3.0
_ENOUGH_EDGES_A_SECOND = 20_000
_MANY_STATES = 1_000_000
_ENOUGH_MEMORY_BYTES = 4 << 30
_ROUNDS = 3
_TWO_ADDERS = Cast(
    delays_ms={"k1": 1, "k3": 3}, programs={"a1": ("k1",), "a2": ("k3",)}, max_time_ms=0
)
_Found = TypeVar("_Found")


def _best(work: Callable[[], _Found], rounds: int) -> tuple[_Found, float]:
    """Return what `work` found, and the least processor time that it took."""
    earlier = [_timed(work)[1] for _ in range(rounds - 1)]
    found, last = _timed(work)
    return found, min([*earlier, last])


def _timed(work: Callable[[], _Found]) -> tuple[_Found, float]:
    begin = time.process_time()
    found = work()
    return found, time.process_time() - begin


def classes(rounds: int) -> Section:
    """Measure programs of which every class is explored."""
    programs = [
        program("cas-then-write 4", partial(cas_then_write, 4)),
        program("increments 4", partial(increments, 4)),
        program("cas-rotation 8", partial(cas_rotation, 8)),
        program("coherence 4", partial(coherence, 4)),
        program("locked increments 6", partial(locked_increments, 6)),
        program("last zero 10", partial(last_zero, 10)),
    ]
    rows: list[tuple[str, ...]] = []
    missed: list[str] = []
    measured = [(one, SubstrateKind.GREENLET) for one in programs]
    for one, substrate in [*measured, (programs[0], SubstrateKind.THREADS)]:
        found, seconds = _best(partial(explore, one, Options(substrate=substrate)), rounds)
        rate = found.runs / seconds
        figures = (f"{found.classes:,}", f"{found.depth}", f"{seconds:.2f}", f"{rate:,.0f}")
        rows.append((f"{one.name}, {substrate.value}", *figures))
        short = substrate is SubstrateKind.GREENLET and found.depth <= _SHORT_STEPS
        too_slow = one.name.startswith("last zero") and seconds > _ENOUGH_FOR_LAST_ZERO_S
        if too_slow or (short and rate < _ENOUGH_RUNS_A_SECOND):
            missed.append(one.name)
    return Section(
        title="Classes",
        claim=f"{_ENOUGH_RUNS_A_SECOND:,} runs a second of up to {_SHORT_STEPS} steps on"
        f" greenlets, {_ENOUGH_FOR_LAST_ZERO_S} s for last zero 10.",
        head=("program", "classes", "steps", "seconds", "runs a second"),
        rows=tuple(rows),
        missed=tuple(missed),
    )


def bugs() -> Section:
    """Measure how long it takes to find and shrink each known bug of the timer."""
    rows: list[tuple[str, ...]] = []
    taken: list[float] = []
    for failing in BUG_PROGRAMS:
        found, seconds = _timed(partial(explore, failing))
        assert found.counterexample is not None, f"{failing.name} was not found"
        taken.append(seconds)
        steps, deviations = found.counterexample.steps, found.counterexample.deviations
        figures = (f"{seconds:.2f}", f"{found.runs}", f"{len(steps):,}", f"{len(deviations)}")
        rows.append((failing.name, *figures))
    return Section(
        title="Known bugs",
        claim="Found and shrunk.",
        head=("bug", "seconds", "run", "steps", "switches"),
        rows=tuple(rows),
        notes=(f"median {statistics.median(taken):.2f} s",),
    )


def graphs(rounds: int) -> Section:
    """Measure programs without projection, the timer with its projection, and memory."""
    programs = [
        _states_of(program("last zero 6", partial(last_zero, 6))),
        _states_of(program("philosophers 5", partial(philosophers, 5, ordered=True))),
        _states_of(program("increments 5", partial(increments, 5))),
        system_timer(_TWO_ADDERS),
    ]
    rows: list[tuple[str, ...]] = []
    missed: list[str] = []
    for one in programs:
        graph, seconds = _best(partial(explore_graph, one), rounds)
        rate = graph.edge_count() / seconds
        sizes = (f"{len(graph.observations):,}", f"{graph.edge_count():,}")
        rows.append((one.name, *sizes, f"{seconds:.2f}", f"{rate:,.0f}"))
        if rate < _ENOUGH_EDGES_A_SECOND:
            missed.append(f"{one.name}: {rate:,.0f} edges a second")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        states, peak = pool.apply(_explore_many)
    if peak > _ENOUGH_MEMORY_BYTES:
        missed.append(f"{states:,} states take {peak:,} bytes")
    return Section(
        title="Graphs",
        claim=f"{_ENOUGH_EDGES_A_SECOND:,} edges a second, {_MANY_STATES:,} states in"
        f" {_ENOUGH_MEMORY_BYTES / (1 << 30):.0f} GiB.",
        head=("program", "states", "edges", "seconds", "edges a second"),
        rows=tuple(rows),
        notes=(f"{states:,} states: {peak / (1 << 30):.2f} GiB",),
        missed=tuple(missed),
    )


def _states_of(single: Program) -> GraphProgram:
    return graph_program(single, [])


def _explore_many() -> tuple[int, int]:
    many = program("last zero 11", partial(last_zero, 11))
    graph = explore_graph(_states_of(many), max_states=_MANY_STATES)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return len(graph.observations), peak


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return 1 if a bound is missed."""
    about = "How fast the model checker is."
    options = bench_parser("explore", about, "nothing: all is fixed").parse_args(arguments)
    rounds = 1 if options.quick else _ROUNDS
    works: list[Callable[[], Section]] = [
        partial(classes, rounds),
        bugs,
        partial(graphs, rounds),
        beside_frontrun,
    ]
    return exit_code(measure(works, this_machine(), seed=options.seed, json=options.json))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
