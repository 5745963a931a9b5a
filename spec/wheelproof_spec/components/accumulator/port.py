"""The port of an accumulator: each typed call is the call of one method of a RecordAccumulator.

Whoever calls the reference's accumulator, or a variant of it, does it here: driven cases, bursts of
threads, loads. Any number of threads may append, flush and ask at the same time; one thread makes
the sender's calls. Each run of a callback is told, on the thread that runs it.

>>> told: list[Callback] = []
>>> config = AccumulatorConfig(total_memory=200, batch_size=100)
>>> accumulator = RecordAccumulatorPort(config, told.append, Wire.RECORDED)
>>> append = Append(record="r", partition="topic-0", size=3, max_time_to_block_ms=0)
>>> accumulator.perform(append)
Appended(batch_is_full=False, new_batch_created=True)
>>> accumulator.perform(Drain(node=0, partitions=("topic-0",), max_size=100))
Drained(batches=(DrainedBatch(batch='b1', partition='topic-0', records=('r',)),))
>>> accumulator.perform(Respond(batch="b1", offset=7))
Nothing()
>>> [(callback.record, callback.offset) for callback in told]
[('r', 7)]
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wheelproof.clock import Clock, SystemClock
from wheelproof.producer import AccumulatorConfig as ReferenceConfig
from wheelproof.producer import (
    BufferPool,
    Cluster,
    DeliveryTimeoutError,
    NodeId,
    ProducerAbortedError,
    ProducerBatch,
    Record,
    RecordAccumulator,
    RecordMetadata,
    TopicPartition,
)
from wheelproof.producer.byte_buffer import Allocator, allocate_byte_buffer
from wheelproof.units import MAX_MILLIS
from wheelproof_spec.base.calls import AvailableMemory, Close, Memory
from wheelproof_spec.base.codec.vocabulary import Nothing, Wire
from wheelproof_spec.components.accumulator.calls import (
    ABORTED,
    EXPIRED,
    FAILED,
    Abort,
    Append,
    Appended,
    Callback,
    Drain,
    Drained,
    DrainedBatch,
    Expire,
    Flush,
    FlushInProgress,
    HasIncomplete,
    Mute,
    Partition,
    Readiness,
    Ready,
    Reenqueue,
    Respond,
    Split,
    Unmute,
    YesOrNo,
)
from wheelproof_spec.components.accumulator.component import AccumulatorConfig

AccumulatorRequest = (
    Append
    | Flush
    | Close
    | AvailableMemory
    | HasIncomplete
    | FlushInProgress
    | Ready
    | Drain
    | Mute
    | Unmute
    | Respond
    | Reenqueue
    | Split
    | Expire
    | Abort
)
"""A call of one method of an accumulator, or of its pool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The answer of a driven split: how many batches it has made."""

    children: int


AccumulatorAnswer = Appended | Memory | YesOrNo | Readiness | Drained | Parts | Nothing


class RefusedByBrokerError(Exception):
    """The error of a batch that the broker rejects."""


class RecordAccumulatorPort:
    """An accumulator with a pool of its own, its partitions and its batches by name.

    On the driven wire a batch that is drained again has a new name, and a split says how large the
    parts are. On the recorded one it keeps its name, and the accumulator chooses the size.
    """

    def __init__(
        self,
        config: AccumulatorConfig,
        called_back: Callable[[Callback], None],
        wire: Wire,
        accumulator_class: type[RecordAccumulator] = RecordAccumulator,
        *,
        clock: Clock | None = None,
        allocator: Allocator = allocate_byte_buffer,
    ) -> None:
        """Make the accumulator, with the system's clock by default."""
        self.pool = BufferPool(
            config.total_memory, config.batch_size, clock=clock, allocator=allocator
        )
        self.accumulator = accumulator_class(self.pool, _reference_config(config), clock=clock)
        self._config = config
        self._called_back = called_back
        self._wire = wire
        self._clock = clock or SystemClock()
        self._partitions: dict[TopicPartition, Partition] = {}
        self._batches: dict[str, ProducerBatch] = {}
        self._names: dict[ProducerBatch, str] = {}

    def perform(self, call: AccumulatorRequest) -> AccumulatorAnswer:
        """Make `call` and return its answer.

        Raises what the method raises, and KeyError for a batch that was never drained.
        """
        accumulator = self.accumulator
        match call:
            case Append():
                return self._append(call)
            case Ready():
                return self._ready(call)
            case Drain():
                return self._drain(call)
            case Flush():
                accumulator.begin_flush()
                accumulator.await_flush_completion()
            case Close():
                accumulator.close()
            case Mute(partition=partition):
                accumulator.mute_partition(self._partition(partition))
            case Unmute(partition=partition):
                accumulator.unmute_partition(self._partition(partition))
            case Respond(batch=batch, offset=offset) if offset is not None:
                accumulator.complete_batch(self._batches[batch], offset)
            case Respond(batch=batch):
                accumulator.fail_batch(self._batches[batch], RefusedByBrokerError())
            case Reenqueue(batch=batch):
                accumulator.reenqueue(self._batches[batch], self._clock.hi_res_clock_ms())
            case Split(batch=batch, size=size):
                driven = self._wire is Wire.DRIVEN
                children = accumulator.split_and_reenqueue(
                    self._batches[batch], split_batch_size=size if driven else None
                )
                return Parts(children=children) if driven else Nothing()
            case Expire():
                for overdue in accumulator.expired_batches(self._clock.hi_res_clock_ms()):
                    accumulator.expire(overdue)
            case Abort():
                accumulator.abort_incomplete_batches()
            case AvailableMemory():
                return Memory(size=self.pool.available_memory())
            case HasIncomplete():
                return YesOrNo(yes=accumulator.has_incomplete())
            case FlushInProgress():
                return YesOrNo(yes=accumulator.flush_in_progress())
        return Nothing()

    def batch(self, name: str) -> ProducerBatch:
        """Return a batch that was drained."""
        return self._batches[name]

    def partition_of(self, batch: ProducerBatch) -> Partition:
        """Return the partition of a batch, as a call has named it."""
        return self._partitions[batch.partition]

    def _append(self, call: Append) -> Appended:
        result = self.accumulator.append(
            self._partition(call.partition),
            # What two records have in common would hide that memory was overwritten.
            Record(timestamp_ms=0, value=call.record.encode()[-1:] * call.size),
            _NamedCallback(call.record, self._called_back),
            max_time_to_block_ms=call.max_time_to_block_ms,
        )
        return Appended(
            batch_is_full=result.batch_is_full, new_batch_created=result.new_batch_created
        )

    def _ready(self, call: Ready) -> Readiness:
        cluster = self._cluster(call.led().items())
        result = self.accumulator.ready(cluster, self._clock.hi_res_clock_ms())
        return Readiness(
            ready_nodes=tuple(sorted(result.ready_nodes)),
            unknown_leader_topics=tuple(sorted(result.unknown_leader_topics)),
            next_ready_check_delay_ms=result.next_ready_check_delay_ms,
        )

    def _drain(self, call: Drain) -> Drained:
        node = NodeId(call.node)
        cluster = self._cluster((name, call.node) for name in call.partitions)
        nodes = [node] if call.partitions else []
        now_ms = self._clock.hi_res_clock_ms()
        drained = self.accumulator.drain(cluster, nodes, call.max_size, now_ms)
        return Drained(batches=tuple(map(self._told, drained.get(node, []))))

    def _told(self, batch: ProducerBatch) -> DrainedBatch:
        if self._wire is Wire.DRIVEN or batch not in self._names:
            self._names[batch] = f"b{len(self._batches) + 1}"
        name = self._names[batch]
        self._batches[name] = batch
        return DrainedBatch(
            batch=name, partition=self.partition_of(batch), records=records_of(batch)
        )

    def _cluster(self, leaders: Iterable[tuple[Partition, int]]) -> Cluster:
        return Cluster(leaders={self._partition(name): NodeId(node) for name, node in leaders})

    def _partition(self, name: Partition) -> TopicPartition:
        """Return a partition; Kafka writes its number behind the topic."""
        number = name if isinstance(name, int) else int(name.rpartition("-")[2])
        found = TopicPartition(self._config.topic_of(name), number)
        self._partitions[found] = name
        return found


class _NamedCallback:
    """The callback of a record, with the record's name."""

    __slots__ = ("_called_back", "record")

    def __init__(self, record: str, called_back: Callable[[Callback], None]) -> None:
        self.record = record
        self._called_back = called_back

    def __call__(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Tell the outcome of the record."""
        offset = None if metadata is None or error is not None else metadata.offset
        self._called_back(Callback(record=self.record, offset=offset, error=_reason_of(error)))


def records_of(batch: ProducerBatch) -> tuple[str, ...]:
    """Return the names of a batch's records."""
    callbacks = (thunk.callback for thunk in batch.thunks)
    return tuple(one.record for one in callbacks if isinstance(one, _NamedCallback))


def _reference_config(config: AccumulatorConfig) -> ReferenceConfig:
    """Return the reference's configuration; without a delivery timeout no batch expires."""
    delivery_timeout_ms = config.delivery_timeout_ms
    return ReferenceConfig(
        batch_size=config.batch_size,
        linger_ms=config.linger_ms,
        retry_backoff_ms=config.retry_backoff_ms,
        retry_backoff_max_ms=config.retry_backoff_max_ms,
        delivery_timeout_ms=delivery_timeout_ms
        if isinstance(delivery_timeout_ms, int)
        else MAX_MILLIS,
    )


def _reason_of(error: Exception | None) -> str | None:
    """Return the name under which a callback reports this error, or None."""
    match error:
        case None:
            return None
        case DeliveryTimeoutError():
            return EXPIRED
        case ProducerAbortedError():
            return ABORTED
        case _:
            return FAILED
