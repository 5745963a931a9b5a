"""What takes batches of more than a few bytes: lengths of three bytes, and halves of many records.

One thread is enough. The batches of the programs have room for two records.
"""

from functools import partial

from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    Cluster,
    IllegalStateError,
    NodeId,
    ProducerBatch,
    Record,
    RecordAccumulator,
    TopicPartition,
)
from wheelproof.units import Millis
from wheelproof_lab.worlds.tables import Bench
from wheelproof_lab.worlds.timer.system_timer import StandingClock

_PARTITION = TopicPartition("topic", 0)
_NODE = NodeId(1)
_CLUSTER = Cluster(leaders={_PARTITION: _NODE})
_NOW = Millis(0)
_HEADER, _EMPTY, _LENGTH_OF_THREE = 61, 7, 8_203
"""The bytes of a batch without records, of a record of nothing, and of one of 8,192 bytes."""
_OF_THREE = Record(timestamp_ms=0, value=bytes(8_192))
_OF_30 = Record(timestamp_ms=0, value=bytes(23))


def check_large_batches(accumulator_class: type[RecordAccumulator]) -> None:
    """Raise unless large batches take what has room, and come apart into halves in flight only."""
    fits = _HEADER + _EMPTY + _LENGTH_OF_THREE
    for size in (fits, fits - 1):
        accumulator = _accumulator(accumulator_class, size)
        accumulator.append(_PARTITION, Record(timestamp_ms=0))
        made = accumulator.append(_PARTITION, _OF_THREE).new_batch_created
        assert made is (size < fits), f"a batch of {size} bytes has room for {fits}: {not made}"
    accumulator = _accumulator(accumulator_class, _HEADER + 8 * 30)
    for _ in range(8):
        accumulator.append(_PARTITION, _OF_30)
    # It fits into one batch again; half of its bytes are a header and two of the records.
    for parts in (1, 4):
        into = accumulator.split_and_reenqueue(_drained(accumulator))
        assert into == parts, f"{into} parts, in the place of {parts}"
    queued = _drained(accumulator)
    accumulator.reenqueue(queued, _NOW)
    Bench.refuses(IllegalStateError, partial(accumulator.split_and_reenqueue, queued))


def _accumulator(accumulator_class: type[RecordAccumulator], size: int) -> RecordAccumulator:
    clock = StandingClock()
    pool = BufferPool(4 * size, size, clock=clock)
    return accumulator_class(pool, AccumulatorConfig(batch_size=size), clock=clock)


def _drained(accumulator: RecordAccumulator) -> ProducerBatch:
    [batch] = accumulator.drain(_CLUSTER, [_NODE], 10_000, _NOW)[_NODE]
    return batch
