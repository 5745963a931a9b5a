"""How fast the model checker is: classes, runs a second, and the time for each known bug.

`python bench/explore.py` prints the figures; `--json FILE` writes them too. Processor time of one
core.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import frontrun_comparison
import graph_engine
from instruments.machine import this_machine
from wheelproof_spec.components.timer.programs import BUG_PROGRAMS
from wheelproof_spec.engines.explore.explorer import Options, explore
from wheelproof_spec.engines.explore.program import Program
from wheelproof_spec.engines.explore.programs.classics import (
    cas_rotation,
    cas_then_write,
    coherence,
    increments,
    last_zero,
    locked_increments,
)
from wheelproof_spec.engines.explore.programs.making import program
from wheelproof_spec.engines.explore.substrates.substrate import SubstrateKind

_SHORT_STEPS = 15
_ENOUGH_A_SECOND = 5_000
_ENOUGH_FOR_LAST_ZERO_S = 3.0
_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One program on one substrate: the best processor time of several rounds."""

    name: str
    substrate: str
    classes: int
    runs: int
    steps: int
    seconds: float
    runs_a_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BugFigure:
    """How long it takes to find and shrink a known bug, and how long its counterexample is."""

    bug: str
    seconds: float
    runs: int
    steps: int
    switches: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 if a bound of the figures is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parsed = parser.parse_args(arguments)
    machine = this_machine()
    print(f"{machine.cpu}, {machine.python}, load {machine.load}")
    figures = [_measure(measured, SubstrateKind.GREENLET) for measured in _programs()]
    figures.append(_measure(_programs()[0], SubstrateKind.THREADS))
    for figure in figures:
        print(
            f"{figure.name:<24}{figure.substrate:<10}{figure.classes:>7,} classes  "
            f"{figure.steps:>3} steps  {figure.seconds:6.2f} s  "
            f"{figure.runs_a_second:>8,.0f} runs/s"
        )
    bugs = [_find(failing) for failing in BUG_PROGRAMS]
    for found in bugs:
        print(
            f"{found.bug:<32}{found.seconds:6.2f} s  run {found.runs:>3}  "
            f"{found.steps:>5} steps  {found.switches} switches"
        )
    print(f"median of the bugs: {statistics.median(found.seconds for found in bugs):.2f} s")
    comparisons = frontrun_comparison.show()
    graphs, memory = graph_engine.measure_graphs(), graph_engine.measure_memory()
    print("\n".join(graph_engine.show_graphs(graphs, memory)))
    if parsed.json is not None:
        document = {
            "machine": asdict(machine),
            "programs": [asdict(figure) for figure in figures],
            "bugs": [asdict(found) for found in bugs],
            "frontrun": [asdict(comparison) for comparison in comparisons],
            "graphs": [asdict(graph) for graph in graphs],
            "graph_memory": asdict(memory),
        }
        parsed.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return _judge(figures, graph_engine.missed_bounds(graphs, memory))


def _programs() -> list[Program]:
    return [
        program("cas-then-write 4", partial(cas_then_write, 4)),
        program("increments 4", partial(increments, 4)),
        program("cas-rotation 8", partial(cas_rotation, 8)),
        program("coherence 4", partial(coherence, 4)),
        program("locked increments 6", partial(locked_increments, 6)),
        program("last zero 10", partial(last_zero, 10)),
    ]


def _measure(measured: Program, substrate: SubstrateKind) -> Figure:
    best: Figure | None = None
    for _ in range(_ROUNDS):
        begin = time.process_time()
        found = explore(measured, Options(substrate=substrate))
        seconds = time.process_time() - begin
        if best is None or seconds < best.seconds:
            best = Figure(
                name=measured.name,
                substrate=substrate.value,
                classes=found.classes,
                runs=found.runs,
                steps=found.depth,
                seconds=seconds,
                runs_a_second=found.runs / seconds,
            )
    assert best is not None
    return best


def _find(failing: Program) -> BugFigure:
    bug = failing.name.removeprefix("bug/")
    begin = time.process_time()
    found = explore(failing)
    assert found.counterexample is not None, f"{bug} was not found"
    return BugFigure(
        bug=bug,
        seconds=time.process_time() - begin,
        runs=found.runs,
        steps=len(found.counterexample.steps),
        switches=len(found.counterexample.deviations),
    )


def _judge(figures: Sequence[Figure], others: Sequence[str]) -> int:
    on_greenlets = [
        figure for figure in figures if figure.substrate == SubstrateKind.GREENLET.value
    ]
    slow = [
        figure.name
        for figure in on_greenlets
        if figure.steps <= _SHORT_STEPS and figure.runs_a_second < _ENOUGH_A_SECOND
    ]
    slow += [
        figure.name
        for figure in on_greenlets
        if figure.name.startswith("last zero") and figure.seconds > _ENOUGH_FOR_LAST_ZERO_S
    ]
    slow += others
    for name in slow:
        print(f"missed: {name}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
