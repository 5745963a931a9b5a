"""What the parts of a record accumulator share."""

from wheelproof import sync
from wheelproof.clock import Clock, SystemClock
from wheelproof.producer.accumulator_config import AccumulatorConfig
from wheelproof.producer.appends_in_progress import AppendsInProgress
from wheelproof.producer.buffer_pool import BufferPool
from wheelproof.producer.cluster import NodeId, TopicPartition
from wheelproof.producer.incomplete_batches import IncompleteBatches
from wheelproof.producer.partition_queues import PartitionQueues
from wheelproof.producer.producer_batch import ProducerBatch


class AccumulatorState:
    """What an accumulator has: queues, what is incomplete, and what is the sender's own.

    Each reason to change it has a class of its own, derived from this one; RecordAccumulator is all
    of them together.
    """

    def __init__(
        self, free: BufferPool, config: AccumulatorConfig, *, clock: Clock | None = None
    ) -> None:
        """Make an empty accumulator over the pool `free`; `clock` is the system's by default."""
        self.config = config
        self._free = free
        self._clock = SystemClock() if clock is None else clock
        self._closed = sync.volatile(False, "RecordAccumulator.closed")
        self._flushes_in_progress = sync.atomic_integer(0, "RecordAccumulator.flushes_in_progress")
        self._appends_in_progress = AppendsInProgress()
        self._queues = PartitionQueues()
        self._incomplete = IncompleteBatches()
        # The sender's own.
        self._muted: set[TopicPartition] = set()
        self._drain_index: dict[NodeId, int] = {}
        self._in_flight: dict[ProducerBatch, None] = {}

    def flush_in_progress(self) -> bool:
        """Tell whether a thread is flushing."""
        return self._flushes_in_progress.get() > 0
