"""Benchmark of the producer's memory: ``python bench/producer.py [--quick] [--json FILE]``.

Prints, measured in one run: ten threads that share a pool; and what append, ready and drain cost
for each of 10 to 10,000 partitions, with the garbage collector on and off.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from instruments.machine import this_machine
from instruments.producer_partitions import PartitionCost, measure_partitions
from instruments.stopwatch import microseconds_each
from wheelproof import sync
from wheelproof.producer import BufferPool
from wheelproof_spec.base.results.reports import write_json

_POOLABLE = 16_384
_THREADS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is measured."""

    rounds: int
    operations_a_thread: int
    partitions: tuple[int, ...]


FULL = Scale(rounds=5, operations_a_thread=50_000, partitions=(10, 100, 1_000, 10_000))
QUICK = Scale(rounds=2, operations_a_thread=200, partitions=(10, 100))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Everything that one run measured; microseconds of processor time."""

    threads_pair: float
    all_memory_is_back: bool
    partitions: list[PartitionCost]


def main(arguments: Sequence[str]) -> int:
    """Measure, print and, if asked to, write the figures as JSON; 1 if memory was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    options = parser.parse_args(arguments)
    scale = QUICK if options.quick else FULL
    machine = this_machine()
    print(f"producer memory, on {machine}")
    figures = measure(scale)
    _print(figures, scale)
    if options.json is not None:
        document = {"schema": "wheelproof.bench/1", "machine": asdict(machine), **asdict(figures)}
        write_json(options.json, document)
    return 0 if figures.all_memory_is_back else 1


def measure(scale: Scale) -> Figures:
    """Measure everything."""
    threads_pair, back = _shared_pool(scale.operations_a_thread)
    return Figures(
        threads_pair=threads_pair,
        all_memory_is_back=back,
        partitions=_partitions(scale),
    )


def _shared_pool(operations: int) -> tuple[float, bool]:
    pool = BufferPool(5 * _POOLABLE, _POOLABLE)
    threads = [
        sync.thread(partial(_use_patiently, pool, operations), f"{number}")
        for number in range(_THREADS)
    ]

    def run() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    each = microseconds_each(run, operations * _THREADS)
    return each, pool.available_memory() == pool.total_memory


def _use_patiently(pool: BufferPool, count: int) -> None:
    for number in range(count):
        size = _POOLABLE if number % 8 else _POOLABLE // 2
        pool.deallocate(pool.allocate(size, 3_600_000))


def _partitions(scale: Scale) -> list[PartitionCost]:
    return [
        measure_partitions(
            count, partitions=max(scale.partitions), rounds=scale.rounds, collector=collector
        )
        for collector in (True, False)
        for count in scale.partitions
    ]


def _print(figures: Figures, scale: Scale) -> None:
    print(
        f"{_THREADS} threads, {scale.operations_a_thread:,} operations each: "
        f"{figures.threads_pair:.2f} us a pair, all memory back: {figures.all_memory_is_back}"
    )
    for collector, state in ((True, "on"), (False, "off")):
        costs = [cost for cost in figures.partitions if cost.collector is collector]
        print(f"\neach of so many partitions, garbage collector {state}, in us")
        print(f"{'partitions':>10}  {'append':>9}  {'ready':>8}  {'drain':>8}")
        for one in costs:
            print(
                f"{one.partitions:>10,}  {one.append:>9.2f}  {one.ready:>8.2f}  {one.drain:>8.2f}"
            )
        first, last = costs[0], costs[-1]
        print(
            f"{'last/first':>10}  {last.append / first.append:>9.2f}  "
            f"{last.ready / first.ready:>8.2f}  {last.drain / first.drain:>8.2f}"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
