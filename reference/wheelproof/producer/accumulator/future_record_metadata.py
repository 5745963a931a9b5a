"""The future of one record: the result of its batch and its place in it (standard 4.11).

A batch is answered as a whole, and each of its records by itself. A split moves records to other
batches after their futures were handed out; so a future can pass the question on.

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
>>> future.is_done()
False
>>> [batch] = accumulator.drain(cluster, [3], 1_000, 0)[3]
>>> accumulator.complete_batch(batch, 42)
True
>>> future.get().offset
42

Invariants:

- A future is chained before the batch that was split is done, so nobody sees it done and unchained.
- Each `get` raises an error object of its own.
"""

from copy import copy
from dataclasses import dataclass
from typing import NoReturn

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.domain import require_integer
from wheelproof.producer.accumulator.produce_request_result import ProduceRequestResult
from wheelproof.producer.errors import ResultTimeoutError
from wheelproof.producer.record import Record
from wheelproof.sync import Volatile
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMetadata:
    """Where a record has been stored.

    `timestamp_ms` is the record's own, or the broker's where the topic takes the time of the append
    (standard 4.11). Sizes are in bytes, None for a key or a value that there is not.
    """

    partition: TopicPartition
    offset: int
    timestamp_ms: int
    serialized_key_size: int | None
    serialized_value_size: int | None


class FutureRecordMetadata:
    """The outcome of one record, now or later."""

    __slots__ = ("_clock", "_index", "_next", "_partition", "_record", "_result")

    def __init__(
        self,
        *,
        partition: TopicPartition,
        result: ProduceRequestResult,
        index: int,
        record: Record,
        clock: Clock,
    ) -> None:
        self._partition = partition
        self._result = result
        self._index = index
        self._record = record
        self._clock = clock
        self._next: Volatile[FutureRecordMetadata | None] = sync.volatile(
            None, "FutureRecordMetadata.next"
        )

    def chain(self, future: "FutureRecordMetadata") -> None:
        """Take the outcome from `future`, since the batch has been split; before it is done."""
        self._next.set(future)

    def is_done(self) -> bool:
        """Tell whether the outcome is there."""
        future = self._last_that_is_done()
        return future is not None

    def get(self, timeout_ms: int | None = None) -> RecordMetadata:
        """Return where the record was stored, waiting at most `timeout_ms` milliseconds for it.

        Raises the error of the record if it failed, as an object of its own at each call, whose
        `__cause__` is the one that all records of the batch share; ResultTimeoutError when the time
        is over, and ThreadInterruptedError if interrupted.
        """
        deadline_ms = None
        if timeout_ms is not None:
            require_integer("timeout_ms", timeout_ms, 0)
            deadline_ms = Millis(self._clock.hi_res_clock_ms() + timeout_ms)
        future: FutureRecordMetadata | None = self
        last = self
        while future is not None:
            last = future
            if not future._result.await_done(deadline_ms):
                raise ResultTimeoutError(f"no result within {timeout_ms} ms")
            # Chained before its batch was done, so it is seen here.
            future = future._next.get()
        return last._outcome()

    def metadata(self, base_offset: int, log_append_time_ms: int | None) -> RecordMetadata:
        """Return where the record is if its batch is at `base_offset`, appended at that time."""
        record = self._record
        return RecordMetadata(
            partition=self._partition,
            offset=base_offset + self._index,
            timestamp_ms=(
                record.timestamp_ms if log_append_time_ms is None else log_append_time_ms
            ),
            serialized_key_size=None if record.key is None else len(record.key),
            serialized_value_size=None if record.value is None else len(record.value),
        )

    def _outcome(self) -> RecordMetadata:
        base_offset, log_append_time_ms, error = self._result.outcome()
        if error is not None:
            _raise_own(error)
        return self.metadata(base_offset, log_append_time_ms)

    def _last_that_is_done(self) -> "FutureRecordMetadata | None":
        future = self
        while future._result.completed():
            following = future._next.get()
            if following is None:
                return future
            future = following
        return None


def _raise_own(error: Exception) -> NoReturn:
    """Raise a copy: `raise` adds to a traceback, and the records of a batch share the error."""
    try:
        own = copy(error)
    except Exception:
        # It cannot be made again from its arguments; so at least it does not grow for ever.
        raise error.with_traceback(None) from None
    raise own from error
