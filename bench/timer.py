"""Benchmark of the timer: ``python bench/timer.py [--quick] [--json FILE]``; --help has the rest.

Prints, side by side and measured in one run: what add plus cancel costs among 10^3 to 10^6 timers,
in the reference and in two other timers; what the whole life of a timer costs when most of them
are cancelled; the bytes of a timer; and what the sync layer adds to bare `threading`.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from instruments.contestants import CONTESTANTS
from instruments.machine import Machine, bench_parser, this_machine
from instruments.population import CANCELLED_PERCENT, Cost, Workload, measure_bytes, measure_cost
from sync_layer import SyncLayerCost, measure_sync_layer
from wheelproof_spec.base.results.reports import write_json

RATIO_TARGET = 1.5
"""How much dearer add plus cancel may be among the most timers than among the fewest."""

SYNC_TARGET = 1.25
"""How much dearer a wheel's add plus cancel may be than on bare `threading`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is measured: `live` are the sizes of the populations."""

    live: tuple[int, ...]
    pairs: int
    rounds: int
    weighed: int


FULL = Scale(live=(1_000, 10_000, 100_000, 1_000_000), pairs=20_000, rounds=9, weighed=20_000)
QUICK = Scale(live=(100, 1_000), pairs=200, rounds=3, weighed=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Everything that one run measured."""

    costs: list[Cost]
    bytes_a_timer: dict[str, float]
    sync_layer: SyncLayerCost


def main(arguments: Sequence[str]) -> int:
    """Measure, print and, if asked to, write the figures as JSON."""
    options = _parser().parse_args(arguments)
    scale = QUICK if options.quick else FULL
    workload = Workload(pairs=scale.pairs, rounds=options.rounds or scale.rounds, seed=options.seed)
    machine = this_machine()
    _print_head(machine, workload)
    figures = _measure(scale, workload)
    _print_figures(figures, scale)
    if options.json is not None:
        write_json(options.json, _document(machine, workload, figures))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = bench_parser("timer", "Benchmark of the timer.", "delays")
    parser.add_argument("--rounds", type=_positive, metavar="N", help="rounds of each measurement")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _measure(scale: Scale, workload: Workload) -> Figures:
    # First, while the process is small and its heap unfragmented.
    sync_layer = measure_sync_layer(workload.delays(scale.pairs), 2 * workload.rounds)
    costs: list[Cost] = []
    for live in scale.live:
        for collector in (True, False):
            for name, make in CONTESTANTS.items():
                print(f"... {live:,} timers, {name}", file=sys.stderr, flush=True)
                costs.append(measure_cost(name, make, workload, live, collector=collector))
    bytes_a_timer = {
        name: measure_bytes(make, workload, scale.weighed) for name, make in CONTESTANTS.items()
    }
    return Figures(costs=costs, bytes_a_timer=bytes_a_timer, sync_layer=sync_layer)


def _print_head(machine: Machine, workload: Workload) -> None:
    print(f"{machine.cpu}, {machine.cores} cores, {machine.python}, {machine.system}")
    print(f"load {machine.load} at the start: the cores may be shared")
    print(
        f"processor time in microseconds; median of {workload.rounds} rounds of"
        f" {workload.pairs:,} pairs; seed {workload.seed}",
        flush=True,
    )


def _print_figures(figures: Figures, scale: Scale) -> None:
    _print_costs("add + cancel of one timer among so many live ones", figures, scale, _pair_us)
    print(f"target for the last column, {next(iter(CONTESTANTS))}: at most {RATIO_TARGET}")
    title = f"the life of one timer of so many: add, and cancel for {CANCELLED_PERCENT} % of them"
    _print_costs(title, figures, scale, _life_us)
    print(f"\nbytes of one timer of {scale.weighed:,}, as tracemalloc counts them")
    for name, size in figures.bytes_a_timer.items():
        print(f"{name:<36}{size:>11,.0f}")
    cost = figures.sync_layer
    print("\nadd + cancel on a TimingWheel")
    print(f"{'wheelproof.sync':<36}{cost.layered_us:>11.2f}")
    print(f"{'bare threading':<36}{cost.bare_us:>11.2f}")
    print(f"{'ratio':<36}{cost.ratio:>11.2f}   target: at most {SYNC_TARGET}")


def _print_costs(
    title: str, figures: Figures, scale: Scale, figure: Callable[[Cost], float]
) -> None:
    print(f"\n{title}")
    heads = "".join(f"{live:>11,}" for live in scale.live)
    print(f"{'':<36}{heads}{'last/first':>12}")
    for collector, state in ((True, "gc on"), (False, "gc off")):
        for name in CONTESTANTS:
            row = [
                figure(cost)
                for cost in figures.costs
                if cost.contestant == name and cost.collector is collector
            ]
            cells = "".join(f"{value:>11.2f}" for value in row)
            print(f"{name + ', ' + state:<36}{cells}{row[-1] / row[0]:>12.2f}")


def _pair_us(cost: Cost) -> float:
    return cost.pair_us


def _life_us(cost: Cost) -> float:
    return cost.life_us


def _document(machine: Machine, workload: Workload, figures: Figures) -> dict[str, object]:
    return {
        "schema": "wheelproof.bench/1",
        "machine": asdict(machine),
        "workload": asdict(workload),
        **asdict(figures),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
