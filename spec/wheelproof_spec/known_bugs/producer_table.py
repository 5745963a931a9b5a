"""The known bugs of the producer's memory: the buffer pool and the record accumulator."""

from dataclasses import dataclass

from wheelproof.producer import BufferPool, RecordAccumulator
from wheelproof_spec.known_bugs import buffer_pool, record_accumulator
from wheelproof_spec.known_bugs.known_bug import Finder, KnownBug, Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPoolBug(KnownBug):
    """A defect of the buffer pool, with the pool that has it."""

    pool_class: type[BufferPool]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorBug(KnownBug):
    """A defect of the record accumulator, with the accumulator that has it."""

    accumulator_class: type[RecordAccumulator]


BUFFER_POOL_BUGS: tuple[BufferPoolBug, ...] = (
    BufferPoolBug(
        id="KAFKA-3651",
        component="buffer_pool",
        trigger="a thread gives up waiting, and its condition stays at the head of the queue",
        broken="waiters are live threads; no wake-up is lost",
        source="KAFKA-3651",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL, Finder.THREADS),
        models=(
            "MCBufferPool_KAFKA_3651",
            "MCBufferPool_KAFKA_3651_stuck",
        ),
        seen=(Sight.DRIVEN,),
        pool_class=buffer_pool.DeadWaiterPool,
    ),
    BufferPoolBug(
        id="KAFKA-4840/no-give-back",
        component="buffer_pool",
        trigger="a thread gives up with a part of the memory that it waits for",
        broken="memory is conserved",
        source="KAFKA-4840",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL, Finder.THREADS),
        models=("MCBufferPool_KAFKA_4840_no_give_back",),
        seen=(Sight.DRIVEN,),
        pool_class=buffer_pool.NoGiveBackPool,
    ),
    BufferPoolBug(
        id="KAFKA-4840/no-hand-on",
        component="buffer_pool",
        trigger="a thread that was signalled is interrupted, or a metric raises",
        broken="no wake-up is lost",
        source="KAFKA-4840",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=(
            "MCBufferPool_KAFKA_4840_no_signal",
            "MCBufferPool_KAFKA_4840_no_signal_stuck",
        ),
        seen=(Sight.DRIVEN,),
        pool_class=buffer_pool.NoHandOnPool,
    ),
    BufferPoolBug(
        id="KAFKA-4840/no-refund",
        component="buffer_pool",
        trigger="the memory of a reservation cannot be allocated",
        broken="memory is conserved",
        source="KAFKA-4840",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL, Finder.THREADS),
        models=("MCBufferPool_KAFKA_4840_no_refund",),
        seen=(Sight.DRIVEN,),
        pool_class=buffer_pool.NoRefundPool,
    ),
    BufferPoolBug(
        id="barging",
        component="buffer_pool",
        trigger="a newcomer asks for what a waiting thread has been signalled for",
        broken="memory goes to the thread that has waited longest",
        source="docs/findings.md",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=(
            "MCBufferPool_barging",
            "MCBufferPool_barging_refinement",
            "MCBufferPool_barging_starves",
        ),
        seen=(Sight.DRIVEN,),
        pool_class=buffer_pool.BargingPool,
    ),
    BufferPoolBug(
        id="anyone-takes",
        component="buffer_pool",
        trigger="a thread that is not first wakes up for no reason",
        broken="memory goes to the thread that has waited longest",
        source="docs/findings.md",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=(
            "MCBufferPool_out_of_turn",
            "MCBufferPool_out_of_turn_stuck",
        ),
        seen=(Sight.DRIVEN,),
        pool_class=buffer_pool.AnyoneTakesPool,
    ),
    BufferPoolBug(
        id="narrow-free-list",
        component="buffer_pool",
        trigger="the free list holds 2 GiB or more, and another size is asked for",
        broken="what is available can be had without waiting",
        source="docs/findings.md",
        finders=(Finder.SEQUENTIAL,),
        models=(),
        seen=(Sight.DRIVEN,),
        pool_class=buffer_pool.NarrowFreeListPool,
    ),
    BufferPoolBug(
        id="given-back-twice",
        component="buffer_pool",
        trigger="a buffer is given back twice",
        broken="memory is conserved; a buffer has one user",
        source="docs/findings.md",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=("MCBufferPool_return_twice",),
        seen=(Sight.DRIVEN,),
        pool_class=buffer_pool.TrustingPool,
    ),
)

ACCUMULATOR_BUGS: tuple[AccumulatorBug, ...] = (
    AccumulatorBug(
        id="KAFKA-19012",
        component="accumulator",
        trigger="a batch expires while a request is reading its memory, which is reused",
        broken="a buffer is never both free and referenced",
        source="KAFKA-19012",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=("MCRecordAccumulator_KAFKA_19012",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.RecyclingAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-3147",
        component="accumulator",
        trigger="a forced close leaves the batch that it has closed in the queue",
        broken="what has ended is in no queue",
        source="KAFKA-3147",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=(
            "MCRecordAccumulator_KAFKA_3147",
            "MCRecordAccumulator_KAFKA_3147_queued",
        ),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.KeptByAbortAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-3655",
        component="accumulator",
        trigger="a flush is interrupted",
        broken="linger is ignored only while a thread flushes",
        source="KAFKA-3655",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL, Finder.THREADS),
        models=("MCRecordAccumulator_KAFKA_3655",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.EndlessFlushAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-4741",
        component="accumulator",
        trigger="an append fails between its allocation and the queue",
        broken="memory is conserved",
        source="KAFKA-4741",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=("MCRecordAccumulator_KAFKA_4741",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.LeakingAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-9312",
        component="accumulator",
        trigger="a batch is split while a thread flushes",
        broken="a flush waits for every record accepted before it",
        source="KAFKA-9312, KAFKA-19479",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL, Finder.THREADS),
        models=("MCRecordAccumulator_KAFKA_9312",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.ForgettingSplitAccumulator,
    ),
    AccumulatorBug(
        id="KAFKA-8202",
        component="accumulator",
        trigger="a batch is split",
        broken="what is in flight has not ended",
        source="KAFKA-8202",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=("MCRecordAccumulator_KAFKA_8202",),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.SplitInFlightAccumulator,
    ),
    AccumulatorBug(
        id="queued-first",
        component="accumulator",
        trigger="batches of a partition expire, or are aborted, queued and in flight at once",
        broken="callbacks of a partition run in the order of the appends",
        source="docs/findings.md",
        finders=(Finder.SEQUENTIAL,),
        models=(),
        seen=(Sight.DRIVEN,),
        accumulator_class=record_accumulator.QueuedFirstAccumulator,
    ),
)
