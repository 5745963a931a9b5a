"""The known bugs of the buffer pool."""

from dataclasses import dataclass

from wheelproof.producer import BufferPool
from wheelproof_spec.base.known_bug import KnownBug, read_bugs
from wheelproof_spec.components.buffer_pool import bugs


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPoolBug(KnownBug):
    """A defect of the buffer pool, with the pool that has it."""

    pool_class: type[BufferPool] = BufferPool


BUGS = read_bugs(
    __file__,
    "buffer_pool",
    BufferPoolBug,
    {
        "KAFKA-3651": {"pool_class": bugs.DeadWaiterPool},
        "KAFKA-4840/no-give-back": {"pool_class": bugs.NoGiveBackPool},
        "KAFKA-4840/no-hand-on": {"pool_class": bugs.NoHandOnPool},
        "KAFKA-4840/no-refund": {"pool_class": bugs.NoRefundPool},
        "barging": {"pool_class": bugs.BargingPool},
        "anyone-takes": {"pool_class": bugs.AnyoneTakesPool},
        "narrow-free-list": {"pool_class": bugs.NarrowFreeListPool},
        "given-back-twice": {"pool_class": bugs.TrustingPool},
    },
)
