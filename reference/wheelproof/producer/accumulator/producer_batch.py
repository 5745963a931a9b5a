"""Records that travel together: ProducerBatch.

A broker stores a batch as a whole, so its records share one answer. Four threads can end it (a
response, an expiry, an abort, a split), and it must end once.

>>> from wheelproof.clock import ManualClock
>>> from wheelproof.producer.accumulator.accumulator_config import AccumulatorConfig
>>> from wheelproof.producer.accumulator.record_accumulator import RecordAccumulator
>>> from wheelproof.producer.buffer_pool import BufferPool
>>> from wheelproof.producer.cluster import Cluster
>>> from wheelproof.producer.record import Record
>>> from wheelproof.topic_partition import TopicPartition
>>> payments = TopicPartition("payments", 0)
>>> clock, cluster = ManualClock(), Cluster(leaders={payments: 3})
>>> config = AccumulatorConfig(batch_size=200)
>>> accumulator = RecordAccumulator(BufferPool(1_000, 200), config, clock=clock)
>>> future = accumulator.append(payments, Record(timestamp_ms=0, value=b"value")).future
>>> [batch] = accumulator.drain(cluster, [3], 1_000, 0)[3]
>>> batch.partition == payments, batch.is_done()
(True, False)
>>> batch.complete(42), batch.is_done()
(True, True)

Invariants:

- The final state is set once; callbacks and futures follow from that state alone (standard 4.7).
- A closed batch takes no record. A batch that is not the last of its queue is closed.
- Each record has its callback and its future at its own index.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, TypeAlias

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.errors import ThreadInterruptedError
from wheelproof.producer.accumulator.future_record_metadata import (
    FutureRecordMetadata,
    RecordMetadata,
)
from wheelproof.producer.accumulator.produce_request_result import ProduceRequestResult
from wheelproof.producer.byte_buffer import ByteBuffer, allocate_byte_buffer
from wheelproof.producer.errors import IllegalStateError, RecordBatchTooLargeError
from wheelproof.producer.record import Record
from wheelproof.producer.record_sizes import RECORD_BATCH_OVERHEAD, record_size
from wheelproof.sync import AtomicReference, GuardedBy, Monitor
from wheelproof.topic_partition import TopicPartition

Callback: TypeAlias = Callable[[RecordMetadata | None, Exception | None], None]
"""Called once for each record: where it was stored, or why it was not."""

_NO_OFFSET = -1
_logger = logging.getLogger(__name__)


class FinalState(StrEnum):
    """How a batch ended."""

    ABORTED = "aborted"
    FAILED = "failed"
    SUCCEEDED = "succeeded"
    SPLIT = "split"


@dataclass(frozen=True, slots=True)
class Thunk:
    """A record of a batch, its callback and its future."""

    record: Record
    callback: Callback | None
    future: FutureRecordMetadata


class ProducerBatch:
    """A batch for one partition.

    What a callback raises is logged, and the batch ends all the same (standard 4.11, 6.5). An
    interrupt, and what is no Exception, as `sys.exit` raises, is raised again once it has ended.

    Records come in under the monitor of the partition's queue; once drained, the batch is the
    sender's alone. Its final state is set once (standard 4.7).
    TLA+: the batches of RecordAccumulator.
    """

    __slots__ = (
        "_clock",
        "_closed",
        "_final_state",
        "_monitor",
        "_written",
        "attempts",
        "buffer",
        "created_ms",
        "in_flight",
        "is_split_batch",
        "last_attempt_ms",
        "partition",
        "place",
        "result",
        "thunks",
        "write_limit",
    )

    _closed: Annotated[bool, GuardedBy("the monitor until it is drained")]
    _written: Annotated[int, GuardedBy("the monitor until it is drained")]
    thunks: Annotated[list[Thunk], GuardedBy("the monitor until it is drained")]

    def __init__(
        self,
        partition: TopicPartition,
        buffer: ByteBuffer,
        *,
        created_ms: int,
        clock: Clock,
        monitor: Monitor,
        place: tuple[int, ...],
        is_split_batch: bool = False,
    ) -> None:
        """Make an empty batch in `buffer`, which is taken over.

        `created_ms` is when its delivery time-out and its linger begin; `monitor` guards it while
        it takes records in; a split batch's memory is not the pool's (standard 4.6).
        """
        self.partition = partition
        self.place = place
        """Compares with the places of the partition's other batches in the order of appends.

        The number of the batch among those of its partition, from 1; a batch that came from a split
        has its parent's place and its own number, from 0, behind that.
        """
        self.created_ms = created_ms
        self.last_attempt_ms = created_ms
        self.attempts = 0
        self.is_split_batch = is_split_batch
        self.in_flight = False
        """Whether a request may still be reading the buffer."""
        self.result = ProduceRequestResult(clock)
        self.buffer: ByteBuffer | None = buffer
        self.write_limit = buffer.capacity
        self.thunks = []
        self._clock = clock
        self._monitor = monitor
        self._closed = False
        # The header and the encoded records: what the buffer's position is.
        self._written = RECORD_BATCH_OVERHEAD
        self._final_state: AtomicReference[FinalState | None] = sync.atomic_reference(
            None, "ProducerBatch.final_state"
        )
        buffer.put(bytes(RECORD_BATCH_OVERHEAD))

    def __repr__(self) -> str:
        """Return the partition, and since when the batch has been there."""
        return f"{type(self).__name__}({self.partition}, created_ms={self.created_ms})"

    def try_append(self, record: Record, callback: Callback | None) -> FutureRecordMetadata | None:
        """Add `record` if there is room; else return None. The first record always has room."""
        if not self.has_room_for(record):
            return None
        encoded = record.encoded(len(self.thunks), self._timestamp_delta(record))
        size = len(encoded)
        future = FutureRecordMetadata(
            partition=self.partition,
            result=self.result,
            index=len(self.thunks),
            record=record,
            clock=self._clock,
        )
        thunk = Thunk(record, callback, future)
        self._writable_buffer().put(encoded)
        # No call from here on: a signal comes before the record is in, or after (standard 6.8).
        self._written += size
        self.thunks += (thunk,)
        return future

    def has_room_for(self, record: Record) -> bool:
        """Tell whether `record` still fits in."""
        if self._closed:
            return False
        if not self.thunks:
            return True
        size = record_size(len(self.thunks), self._timestamp_delta(record), record.payload_size())
        return self._written + size <= self.write_limit

    def is_full(self) -> bool:
        """Tell whether the batch takes no more records."""
        return self._closed or (bool(self.thunks) and self._written >= self.write_limit)

    def close_for_record_appends(self) -> None:
        """Take no more records (standard 4.1)."""
        self._closed = True

    def estimated_size_in_bytes(self) -> int:
        """Return how many bytes the batch takes in a request."""
        return self._written

    def records(self) -> memoryview:
        """Return the bytes that a request sends; they are those of the buffer itself."""
        return self._writable_buffer().view()

    def is_done(self) -> bool:
        """Tell whether the batch has ended."""
        return self._final_state.get() is not None

    def complete(self, base_offset: int, log_append_time_ms: int | None = None) -> bool:
        """End the batch: it is stored from `base_offset` on. False if the batch had failed before.

        `log_append_time_ms` is the broker's time, if the topic's records take that.

        Raises IllegalStateError if it had been stored or split before.
        TLA+: Complete of RecordAccumulator.
        """
        return self._done(FinalState.SUCCEEDED, base_offset, None, log_append_time_ms)

    def complete_exceptionally(self, error: Exception) -> bool:
        """End the batch by an error. False if the batch had failed before.

        Raises IllegalStateError if it had been stored or split before.
        """
        return self._done(FinalState.FAILED, _NO_OFFSET, error)

    def abort(self, error: Exception) -> bool:
        """End the batch because the producer is closed by force (standard 4.10).

        False if it had ended before: one of its callbacks may be closing the producer.
        """
        return self._done(FinalState.ABORTED, _NO_OFFSET, error)

    def reenqueued(self, now_ms: int) -> None:
        """Note that another attempt is going to be made (standard 4.6)."""
        self.attempts += 1
        self.last_attempt_ms = now_ms

    def waited_ms(self, now_ms: int) -> int:
        """Return for how many milliseconds the batch has waited since its last attempt."""
        return max(now_ms - self.last_attempt_ms, 0)

    def has_reached_delivery_timeout(self, delivery_timeout_ms: int, now_ms: int) -> bool:
        """Tell whether the time to deliver the batch is over (standard 4.5)."""
        return now_ms - self.created_ms >= delivery_timeout_ms

    def split(self, split_batch_size: int) -> "deque[ProducerBatch]":
        """Share the records out among batches of at most `split_batch_size` bytes, in order.

        A record that is larger gets a batch of its own. The futures follow their records, and the
        callbacks move with them. Raises IllegalStateError if there is only one record, or the batch
        has ended.
        """
        return self._split(split_batch_size, None)

    def split_in_halves(self) -> "deque[ProducerBatch]":
        """Share the records out among batches of at most half the bytes of this one; see `split`.

        All of them never go into one batch, however large the first record is.
        """
        half = self._written // 2
        return self._split(half, half)

    def _split(self, split_batch_size: int, write_limit: int | None) -> "deque[ProducerBatch]":
        if len(self.thunks) < 2:
            raise IllegalStateError(f"a batch of {len(self.thunks)} records cannot be split")
        self._become(FinalState.SPLIT)
        children: deque[ProducerBatch] = deque()
        for thunk in self.thunks:
            if not children or not children[-1].try_append_for_split(thunk):
                child = self._child(thunk.record, split_batch_size, len(children))
                child.write_limit = write_limit or child.write_limit
                child.try_append_for_split(thunk)
                children.append(child)
        for child in children:
            child.close_for_record_appends()
        self._finish_parent(tuple(child.result for child in children))
        return children

    def try_append_for_split(self, thunk: Thunk) -> bool:
        """Add a record of a batch that is being split, if there is room for it."""
        future = self.try_append(thunk.record, thunk.callback)
        if future is None:
            return False
        thunk.future.chain(future)
        return True

    def _finish_parent(self, children: tuple[ProduceRequestResult, ...]) -> None:
        """Publish that the records of this batch went on in `children`.

        TLA+: Split of RecordAccumulator.
        """
        error = RecordBatchTooLargeError("the batch has been split into smaller ones")
        self.result.done(_NO_OFFSET, error, children)

    def _child(self, record: Record, split_batch_size: int, number: int) -> "ProducerBatch":
        size = max(record.batch_size_upper_bound(), split_batch_size)
        return type(self)(
            self.partition,
            allocate_byte_buffer(size),
            created_ms=self.created_ms,
            clock=self._clock,
            monitor=self._monitor,
            place=(*self.place, number),
            is_split_batch=True,
        )

    def _done(
        self,
        state: FinalState,
        base_offset: int,
        error: Exception | None,
        log_append_time_ms: int | None = None,
    ) -> bool:
        if not self._become(state):
            return False
        raised: list[BaseException] = []
        for thunk in self.thunks:
            told: RecordMetadata | None = None
            try:
                if error is None:
                    told = thunk.future.metadata(base_offset, log_append_time_ms)
            except BaseException as failure:
                # A signal, and the callback has not been called.
                raised += (failure,)
                told = thunk.future.metadata(base_offset, log_append_time_ms)
            try:
                _fire(thunk.callback, told, error)
            except BaseException as failure:
                raised += (failure,)
        try:
            self.result.done(base_offset, error, log_append_time_ms=log_append_time_ms)
        except BaseException:
            # A signal: whoever waits for the records would wait for good.
            self.result.done(base_offset, error, log_append_time_ms=log_append_time_ms)
            raise
        if raised:
            raise raised[0]
        return True

    def _become(self, state: FinalState) -> bool:
        """Set the final state; False if the batch had failed before."""
        if self._final_state.compare_and_set(None, state):
            return True
        if state is FinalState.ABORTED:
            return False
        before = self._final_state.get()
        if before in (FinalState.SUCCEEDED, FinalState.SPLIT) or state is FinalState.SPLIT:
            raise IllegalStateError(f"the batch has {before} and cannot be {state} any more")
        return False

    def _timestamp_delta(self, record: Record) -> int:
        first = self.thunks[0].record if self.thunks else record
        return record.timestamp_ms - first.timestamp_ms

    def _writable_buffer(self) -> ByteBuffer:
        if self.buffer is None:
            raise IllegalStateError("the memory of the batch has been given back")
        return self.buffer


def _fire(
    callback: Callback | None, metadata: RecordMetadata | None, error: Exception | None
) -> None:
    if callback is None:
        return
    try:
        callback(metadata, error)
    except ThreadInterruptedError:
        # Raising it has cleared the interrupt status, so nobody else would learn of it.
        raise
    except Exception:
        # The application's own error; the other callbacks still have to run. Kafka logs it, too.
        _logger.exception("the callback of a record raised")
