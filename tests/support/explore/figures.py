"""Prints what the model checker finds of some programs, for a comparison: run it as a module."""

from functools import partial

from support.explore.exploring import make
from support.explore.random_programs import random_program
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.strategies import optimal
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_lab.graph.judging.exploration import graph_program
from wheelproof_lab.graph.states.engine import explore_graph
from wheelproof_lab.worlds.all_programs import find_program
from wheelproof_lab.worlds.classics import coherence, last_zero, philosophers

_RANDOM = range(100)
_NAMED = ("timer-two-adds-against-advance", "pool-failing", "purgatory-watch-two-triggers")


def main() -> None:
    """Print where the engine is, then a line for each program."""
    print(optimal.__file__)
    programs = [random_program(seed) for seed in _RANDOM]
    programs += [find_program(name) for name in _NAMED]
    programs += [make(partial(last_zero, 8)), make(partial(coherence, 3))]
    programs += [make(partial(philosophers, 3, ordered=False))]
    for program in programs:
        for substrate in SubstrateKind:
            found = explore(program, Options(substrate=substrate, max_runs=400))
            schedule = found.counterexample and found.counterexample.schedule
            print(found.program, found.runs, found.classes, found.digest, schedule)
    graph = explore_graph(graph_program(make(partial(last_zero, 4)), []))
    print(len(graph.observations), graph.edge_count())


if __name__ == "__main__":
    main()
