"""What append, ready and drain of a record accumulator cost for each of so many partitions."""

import statistics
from dataclasses import dataclass

from instruments.stopwatch import garbage_collector, microseconds_each
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

_NODE = NodeId(0)
_BATCH_SIZE = 128
_REQUEST = 2**40
_RECORD = Record(timestamp_ms=0, value=b"value")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCost:
    """What each of so many partitions costs, in microseconds of processor time.

    With the `collector` on, a full collection now and then looks at everything that lives: that is
    what makes an append among many batches dearer, and not the append itself.
    """

    partitions: int
    collector: bool
    append: float
    ready: float
    drain: float


class _World:
    """An accumulator with a batch in each partition."""

    def __init__(self, count: int) -> None:
        clock = ManualClock()
        pool = BufferPool(2 * count * _BATCH_SIZE, _BATCH_SIZE, clock=clock)
        config = AccumulatorConfig(batch_size=_BATCH_SIZE)
        self._accumulator = RecordAccumulator(pool, config, clock=clock)
        self._partitions = [TopicPartition("topic", number) for number in range(count)]
        self._cluster = Cluster(leaders=dict.fromkeys(self._partitions, _NODE))
        # A node each, since a node that is ready is not looked at again.
        spread = {one: NodeId(one.partition) for one in self._partitions}
        self._spread = Cluster(leaders=spread)
        self.append()

    def append(self) -> None:
        """Append a record to each partition; the first time that makes a batch."""
        for partition in self._partitions:
            self._accumulator.append(partition, _RECORD)

    def ready(self) -> None:
        """Ask which nodes are ready."""
        self._accumulator.ready(self._spread, Millis(0))

    def drain(self) -> None:
        """Take all batches."""
        self._accumulator.drain(self._cluster, [_NODE], _REQUEST, Millis(0))


def measure_partitions(
    count: int, *, partitions: int, rounds: int, collector: bool
) -> PartitionCost:
    """Measure accumulators of `count` partitions, one after the other, of `partitions` together.

    The cost is the median of `rounds`.
    """
    costs = [_one_round(count, partitions // count, collector) for _ in range(rounds)]
    appends, readies, drains = zip(*costs, strict=True)
    return PartitionCost(
        partitions=count,
        collector=collector,
        append=statistics.median(appends),
        ready=statistics.median(readies),
        drain=statistics.median(drains),
    )


def _one_round(count: int, number: int, collector: bool) -> tuple[float, float, float]:
    with garbage_collector(enabled=collector):
        costs = [_measure(_World(count), count) for _ in range(number)]
    append, ready, drain = (statistics.fmean(figures) for figures in zip(*costs, strict=True))
    return append, ready, drain


def _measure(world: _World, count: int) -> tuple[float, float, float]:
    append = microseconds_each(world.append, count)
    ready = microseconds_each(world.ready, count)
    return append, ready, microseconds_each(world.drain, count)
