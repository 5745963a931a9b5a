"""The known bugs of the buffer pool."""

from dataclasses import dataclass

from wheelproof.producer import BufferPool
from wheelproof_spec.base.known_bug import Finder, KnownBug, Sight
from wheelproof_spec.components.buffer_pool import bugs as buffer_pool


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPoolBug(KnownBug):
    """A defect of the buffer pool, with the pool that has it."""

    pool_class: type[BufferPool]


BUGS: tuple[BufferPoolBug, ...] = (
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
