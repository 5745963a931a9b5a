"""Calls of the reference's accumulator that write what they do, for the load and the machine."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import count

from wheelproof.clock import SystemClock
from wheelproof.producer import (
    BufferPool,
    Cluster,
    NodeId,
    ProducerBatch,
    ReadyCheckResult,
    Record,
    RecordAccumulator,
    RecordMetadata,
)
from wheelproof.topic_partition import TopicPartition
from wheelproof_spec.base.calls import AvailableMemory, Close, Memory
from wheelproof_spec.components.accumulator.calls import (
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
    Readiness,
    Ready,
    Reenqueue,
    Respond,
    Split,
    Unmute,
    YesOrNo,
)
from wheelproof_spec.components.accumulator.reference import RefusedByBrokerError, reason_of
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

NODE = NodeId(0)
"""The node that leads all partitions."""


class _NamedCallback:
    """The callback of a record, with the record's name."""

    __slots__ = ("_recorder", "_then", "record")

    def __init__(
        self, record: str, recorder: LoadRecorder, then: Callable[[], object] | None
    ) -> None:
        self.record = record
        self._recorder = recorder
        self._then = then

    def __call__(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Record the outcome of the record."""
        offset = None if metadata is None or error is not None else metadata.offset
        self._recorder.begins(Callback(record=self.record, offset=offset, error=reason_of(error)))
        if self._then is not None:
            self._then()


class RecordedAccumulator:
    """An accumulator whose calls are recorded; one thread makes the sender's calls."""

    def __init__(
        self,
        accumulator: RecordAccumulator,
        pool: BufferPool,
        recorder: LoadRecorder,
        partitions: Iterable[TopicPartition],
    ) -> None:
        self.accumulator = accumulator
        self._pool = pool
        self._recorder = recorder
        self._cluster = Cluster(leaders=dict.fromkeys(partitions, NODE))
        self._partitions = tuple(map(str, self._cluster.partitions_for_node(NODE)))
        self._clock = SystemClock()
        self._records = count()
        self._batches = count()
        self._names: dict[ProducerBatch, str] = {}
        self._offsets: Counter[TopicPartition] = Counter()

    # Calls of any thread

    def append(
        self,
        partition: TopicPartition,
        size: int,
        max_time_to_block_ms: int,
        then: Callable[[], object] | None = None,
    ) -> None:
        """Append a record of `size` bytes with a unique name; its callback ends with `then`."""
        asked = Append(
            record=f"r{next(self._records)}",
            partition=str(partition),
            size=size,
            max_time_to_block_ms=max_time_to_block_ms,
        )
        self.append_named(asked, partition, then)

    def append_named(
        self,
        asked: Append,
        partition: TopicPartition,
        then: Callable[[], object] | None = None,
    ) -> None:
        """Append the record that is asked for; `partition` is the one that it names."""

        def append() -> Appended:
            result = self.accumulator.append(
                partition,
                Record(timestamp_ms=0, value=bytes(asked.size)),
                _NamedCallback(asked.record, self._recorder, then),
                max_time_to_block_ms=asked.max_time_to_block_ms,
            )
            return Appended(
                batch_is_full=result.batch_is_full, new_batch_created=result.new_batch_created
            )

        self._recorder.call(asked, append)

    def flush(self) -> None:
        """Flush."""

        def flush() -> None:
            self.accumulator.begin_flush()
            self.accumulator.await_flush_completion()

        self._recorder.do(Flush(), flush)

    def close(self) -> None:
        """Close."""
        self._recorder.do(Close(), self.accumulator.close)

    def available_memory(self) -> None:
        """Ask for the available memory."""
        pool = self._pool
        self._recorder.call(AvailableMemory(), lambda: Memory(size=pool.available_memory()))

    def has_incomplete(self) -> None:
        """Ask whether batches are incomplete."""
        accumulator = self.accumulator
        self._recorder.call(HasIncomplete(), lambda: YesOrNo(yes=accumulator.has_incomplete()))

    def flush_in_progress(self) -> None:
        """Ask whether a flush is in progress."""
        accumulator = self.accumulator
        self._recorder.call(FlushInProgress(), lambda: YesOrNo(yes=accumulator.flush_in_progress()))

    def read_gauges(self) -> None:
        """Ask for all three."""
        self.available_memory()
        self.has_incomplete()
        self.flush_in_progress()

    # The sender's calls

    def drain_and_mute(self, max_size: int, *, ready: bool) -> list[ProducerBatch]:
        """Drain the node if it is ready, and mute the partitions of the drained batches."""
        drained = self._drain((NODE,) if ready else (), max_size)
        for batch in drained:
            asked = Mute(partition=str(batch.partition))
            self._recorder.do(asked, partial(self.accumulator.mute_partition, batch.partition))
        return drained

    def drain_all(self, max_size: int) -> list[ProducerBatch]:
        """Drain the node, whether it is ready or not."""
        return self._drain((NODE,), max_size)

    def unmute(self, batch: ProducerBatch) -> None:
        """Unmute the partition of a batch."""
        asked = Unmute(partition=str(batch.partition))
        self._recorder.do(asked, partial(self.accumulator.unmute_partition, batch.partition))

    def store(self, batch: ProducerBatch) -> None:
        """Complete a batch at the next offset of its partition."""
        offset = self._offsets[batch.partition]
        self._offsets[batch.partition] += len(batch.thunks)
        asked = Respond(batch=self._names[batch])
        self._recorder.do(asked, partial(self.accumulator.complete_batch, batch, offset))

    def fail(self, batch: ProducerBatch) -> None:
        """Fail a batch with a final error of the broker."""
        error = RefusedByBrokerError()
        asked = Respond(batch=self._names[batch])
        self._recorder.do(asked, partial(self.accumulator.fail_batch, batch, error))

    def reenqueue(self, batch: ProducerBatch) -> None:
        """Re-enqueue a batch for another attempt."""
        now_ms = self._clock.hi_res_clock_ms()
        asked = Reenqueue(batch=self._names[batch])
        self._recorder.do(asked, partial(self.accumulator.reenqueue, batch, now_ms))

    def split(self, batch: ProducerBatch) -> None:
        """Split a batch that is too large."""
        asked = Split(batch=self._names[batch])
        self._recorder.do(asked, partial(self.accumulator.split_and_reenqueue, batch))

    def expire(self) -> None:
        """Expire the batches whose delivery timeout has passed."""
        accumulator = self.accumulator

        def expire() -> None:
            for batch in accumulator.expired_batches(self._clock.hi_res_clock_ms()):
                accumulator.expire(batch)

        self._recorder.do(Expire(), expire)

    def abort(self) -> None:
        """Abort all incomplete batches."""
        self._recorder.do(Abort(), self.accumulator.abort_incomplete_batches)

    def is_ready(self, asked: Ready) -> bool:
        """Ask which nodes are ready, as far as leaders are known; tell whether the node is."""
        known = asked.led()
        leaders = {
            partition: node
            for partition, node in self._cluster.leaders.items()
            if str(partition) in known
        }
        results: list[ReadyCheckResult] = []

        def ready() -> Readiness:
            now_ms = self._clock.hi_res_clock_ms()
            result = self.accumulator.ready(Cluster(leaders=leaders), now_ms)
            results.append(result)
            return Readiness(
                ready_nodes=tuple(sorted(result.ready_nodes)),
                unknown_leader_topics=tuple(sorted(result.unknown_leader_topics)),
                next_ready_check_delay_ms=result.next_ready_check_delay_ms,
            )

        self._recorder.call(asked, ready)
        return NODE in results[0].ready_nodes

    def _drain(self, nodes: Collection[NodeId], max_size: int) -> list[ProducerBatch]:
        now_ms = self._clock.hi_res_clock_ms()
        taken: list[ProducerBatch] = []

        def drain() -> Drained:
            drained = self.accumulator.drain(self._cluster, nodes, max_size, now_ms)
            taken.extend(drained.get(NODE, ()))
            return Drained(batches=tuple(map(self._described, taken)))

        asked = Drain(
            node=NODE, partitions=self._partitions if NODE in nodes else (), max_size=max_size
        )
        self._recorder.call(asked, drain)
        return taken

    def _described(self, batch: ProducerBatch) -> DrainedBatch:
        if batch not in self._names:
            self._names[batch] = f"b{next(self._batches)}"
        callbacks = (thunk.callback for thunk in batch.thunks)
        return DrainedBatch(
            batch=self._names[batch],
            partition=str(batch.partition),
            records=tuple(
                callback.record for callback in callbacks if isinstance(callback, _NamedCallback)
            ),
        )
