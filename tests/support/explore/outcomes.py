"""What all runs of a program can show, as an engine finds it."""

from collections.abc import Callable
from dataclasses import dataclass

from wheelproof_explore.patched.patching import patched_threading
from wheelproof_explore.program import Program
from wheelproof_explore.runs.canonical import ClassNames
from wheelproof_explore.runs.execution import World
from wheelproof_explore.strategies.brute import BruteStrategy
from wheelproof_explore.strategies.driver import analysed_runs
from wheelproof_explore.strategies.optimal import OptimalStrategy
from wheelproof_explore.strategies.strategy import Strategy
from wheelproof_explore.substrates.substrate import SubstrateKind, open_substrate


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What the runs have shown: outcomes, the names of the classes, and the number of runs."""

    shown: frozenset[tuple[str, object]]
    classes: frozenset[bytes]
    runs: int


def outcomes(
    program: Program, outcome: Callable[[], object], strategy: Strategy, max_runs: int
) -> Outcomes | None:
    """Return what all runs show; None if there are more than `max_runs`.

    `outcome` tells what the latest run has shown; how it ended is added.
    """
    shown: set[tuple[str, object]] = set()
    named: set[bytes] = set()
    runs = 0
    substrate = open_substrate(SubstrateKind.GREENLET)
    with patched_threading():
        world = World(program, substrate)
        names = ClassNames(world)
        for analysis in analysed_runs(world, strategy):
            runs += 1
            if runs > max_runs:
                return None
            failure = analysis.execution.judge()
            ending = "" if failure is None else failure.kind.value
            shown.add((ending, outcome()))
            named.add(names.name(analysis.execution))
    substrate.close()
    return Outcomes(frozenset(shown), frozenset(named), runs)


def disagreement(program: Program, outcome: Callable[[], object], max_runs: int) -> str | None:
    """Return what the engine `optimal` does otherwise than `brute`, empty if nothing.

    None if brute force would take more than `max_runs`.
    """
    brute = outcomes(program, outcome, BruteStrategy(), max_runs)
    if brute is None:
        return None
    optimal = outcomes(program, outcome, OptimalStrategy(), max_runs)
    what = f"{program.name} ({program.summary}, time {program.settings.time.value})"
    if optimal is None:
        return f"{what}: optimal has more than {max_runs} runs, brute force {brute.runs}"
    if optimal.shown != brute.shown:
        return f"{what}: optimal shows {len(optimal.shown)} of {len(brute.shown)}: misses " + str(
            sorted(map(str, brute.shown - optimal.shown))[:2]
        )
    if optimal.classes != brute.classes:
        return f"{what}: {len(optimal.classes)} of {len(brute.classes)} classes"
    if optimal.runs != len(optimal.classes):
        return f"{what}: {optimal.runs} runs of {len(optimal.classes)} classes"
    return ""
