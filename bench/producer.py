"""Benchmark of the producer's memory: ``python bench/producer.py [--quick] [--json FILE]``.

Prints, measured in one run: the cost of a pool that ten threads share; and the cost of append,
ready and drain for each of 10 to 10,000 partitions, with the garbage collector on and off.
"""

import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial

from instruments.machine import this_machine
from instruments.section import Section, bench_parser, exit_code, measure
from instruments.stopwatch import garbage_collector, microseconds_each
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    Cluster,
    NodeId,
    Record,
    RecordAccumulator,
    TopicPartition,
)
from wheelproof.units import Millis

_POOLABLE = 16_384
_THREADS = 10
_NODE = NodeId(0)
_BATCH_SIZE = 128
_REQUEST = 2**40
_RECORD = Record(timestamp_ms=0, value=b"value")


def shared_pool(operations: int) -> Section:
    """Measure a pool that threads share, and check that all its memory is returned."""
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
    is_back = pool.available_memory() == pool.total_memory
    return Section(
        title="Threads that share a pool",
        claim="All memory is back in the end.",
        head=("threads", "operations each", "us a pair"),
        rows=((str(_THREADS), f"{operations:,}", f"{each:.2f}"),),
        notes=(f"all memory back: {is_back}",),
        missed=() if is_back else ("memory was lost",),
    )


def _use_patiently(pool: BufferPool, count: int) -> None:
    for number in range(count):
        size = _POOLABLE if number % 8 else _POOLABLE // 2
        pool.deallocate(pool.allocate(size, 3_600_000))


class _World:
    """An accumulator with a batch in each partition."""

    def __init__(self, count: int) -> None:
        clock = ManualClock()
        pool = BufferPool(2 * count * _BATCH_SIZE, _BATCH_SIZE, clock=clock)
        config = AccumulatorConfig(batch_size=_BATCH_SIZE)
        self._accumulator = RecordAccumulator(pool, config, clock=clock)
        self._partitions = [TopicPartition("topic", number) for number in range(count)]
        self._cluster = Cluster(leaders=dict.fromkeys(self._partitions, _NODE))
        # Each partition has its own node, since `ready` skips a node that is already ready.
        spread = {one: NodeId(one.partition) for one in self._partitions}
        self._spread = Cluster(leaders=spread)
        self.append()

    def append(self) -> None:
        """Append a record to each partition; the first call makes the batches."""
        for partition in self._partitions:
            self._accumulator.append(partition, _RECORD)

    def ready(self) -> None:
        """Ask which nodes are ready."""
        self._accumulator.ready(self._spread, Millis(0))

    def drain(self) -> None:
        """Drain all batches."""
        self._accumulator.drain(self._cluster, [_NODE], _REQUEST, Millis(0))


def partitions(counts: Sequence[int], rounds: int, *, collector: bool) -> Section:
    """Measure accumulators with these partition counts; each cost is the median of the rounds."""
    costs = [_costs(count, max(counts) // count, rounds, collector) for count in counts]
    growth = [last / first for first, last in zip(costs[0], costs[-1], strict=True)]
    state = "on" if collector else "off"
    return Section(
        title=f"Each of so many partitions, garbage collector {state}, in us",
        claim="With the collector on, a full collection now and then looks at everything that"
        " lives: that is what makes an append among many batches dearer, and not the append.",
        head=("partitions", "append", "ready", "drain"),
        rows=tuple(
            (name, *(f"{figure:.2f}" for figure in figures))
            for name, figures in zip(
                [*(f"{count:,}" for count in counts), "last/first"], [*costs, growth], strict=True
            )
        ),
    )


def _costs(count: int, number: int, rounds: int, collector: bool) -> list[float]:
    """Measure `number` accumulators in turn, so that all partition counts do the same work."""
    means: list[list[float]] = []
    for _ in range(rounds):
        with garbage_collector(enabled=collector):
            taken = [_measured(_World(count), count) for _ in range(number)]
        means.append([statistics.fmean(figures) for figures in zip(*taken, strict=True)])
    return [statistics.median(figures) for figures in zip(*means, strict=True)]


def _measured(world: _World, count: int) -> list[float]:
    return [microseconds_each(work, count) for work in (world.append, world.ready, world.drain)]


def main(arguments: Sequence[str]) -> int:
    """Measure, print and, if asked to, write the figures as JSON; return 1 if memory was lost."""
    about = "Benchmark of the producer's memory."
    options = bench_parser("producer", about, "nothing: all is fixed").parse_args(arguments)
    counts = (10, 100) if options.quick else (10, 100, 1_000, 10_000)
    rounds = 2 if options.quick else 5
    works: list[Callable[[], Section]] = [
        partial(shared_pool, 200 if options.quick else 50_000),
        *(partial(partitions, counts, rounds, collector=state) for state in (True, False)),
    ]
    return exit_code(measure(works, this_machine(), seed=options.seed, json=options.json))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
