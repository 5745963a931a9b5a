"""The record accumulator: appends against the sender, a flush, a close, a forced close.

No wait times out: a lost wake-up shows as a thread that never ends. There are two partitions and
one node; a batch holds two records. TLA+: RecordAccumulator.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial

from wheelproof import sync
from wheelproof.errors import IllegalArgumentError, ThreadInterruptedError
from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    Cluster,
    DeliveryTimeoutError,
    FutureRecordMetadata,
    IllegalStateError,
    NodeId,
    ProducerAbortedError,
    ProducerBatch,
    ProducerClosedError,
    Record,
    RecordAccumulator,
    RecordBatchTooLargeError,
    RecordMetadata,
    ResultTimeoutError,
    TopicPartition,
)
from wheelproof.producer.accumulator.appends_in_progress import AppendsInProgress
from wheelproof.producer.byte_buffer import ByteBuffer, allocate_byte_buffer
from wheelproof.units import Millis
from wheelproof_explore.program import Faults
from wheelproof_lab.worlds.accumulator.large_batches import check_large_batches
from wheelproof_lab.worlds.accumulator.moving_clock import MovingClock
from wheelproof_lab.worlds.tables import WRONG_NUMBERS, Bench
from wheelproof_lab.worlds.timer.system_timer import StandingClock
from wheelproof_spec.components.accumulator.oracle.records import records_of

_PARTITION = TopicPartition("topic", 0)
_NODE = NodeId(1)
_CLUSTER = Cluster(
    leaders={_PARTITION: _NODE, TopicPartition("topic", 1): _NODE, TopicPartition("topic", 2): None}
)
_BATCH_SIZE = 90
"""Room for two records of ten bytes behind the header of 61."""
_DELIVERY_TIMEOUT_MS = 100
_BACKOFF_MS = 1
_AFTER_BACKOFF_MS = 1_000
_REQUEST = 10_000


_STRANGE_RECORDS = (
    Record(timestamp_ms=0),
    Record(timestamp_ms=-1, key=b"", value=b""),
    Record(timestamp_ms=1, key=b"key", headers=(("of", b"header"), ("none", None))),
    *(Record(timestamp_ms=later_ms) for later_ms in (-65, -64, 63, 64, 1_000_000)),
    *(Record(timestamp_ms=0, value=bytes(size)) for size in (63, 64, 8_191, 8_192)),
    # After a plain record, this one fills a batch to its last byte.
    Record(timestamp_ms=0, value=bytes(12)),
)
"""Records with numbers just below and above what one or two bytes can hold, of either sign."""


def _record(name: str) -> Record:
    return Record(timestamp_ms=0, value=name.encode() * 3)


class AccumulatorBench(Bench):
    """An accumulator whose pool has memory for some batches, and the outcome of each record."""

    def __init__(
        self,
        accumulator_class: type[RecordAccumulator],
        batches: int,
        *,
        moving: bool = False,
        faults: Faults | None = None,
    ) -> None:
        super().__init__()
        self._faults = faults
        self.clock = MovingClock() if moving else StandingClock()
        self.pool = BufferPool(
            batches * _BATCH_SIZE, _BATCH_SIZE, clock=self.clock, allocator=self._allocate
        )
        config = AccumulatorConfig(
            batch_size=_BATCH_SIZE,
            retry_backoff_ms=_BACKOFF_MS,
            delivery_timeout_ms=_DELIVERY_TIMEOUT_MS,
        )
        self.accumulator = accumulator_class(self.pool, config, clock=self.clock)
        self.appends = AppendsInProgress()
        assert not self.appends.completed(), "an append is over, and none has begun"
        self.accepted: list[str] = []
        self._futures: dict[str, FutureRecordMetadata] = {}
        self._told_of: dict[str, RecordMetadata | Exception | None] = {}
        self._outcomes: sync.Volatile[tuple[str, ...]] = sync.volatile((), "outcomes")
        self._offset = 0
        self._flushing = 0
        self._answered: list[ProducerBatch] = []

    def append(self, name: str, number: int = _PARTITION.partition) -> None:
        """Append a record; a closed accumulator may refuse it."""
        try:
            partition = replace(_PARTITION, partition=number)
            result = self.accumulator.append(partition, _record(name), partial(self._told, name))
        except (ProducerClosedError, MemoryError):
            return
        self.accepted.append(name)
        self._futures[name] = result.future

    def drain(self) -> list[ProducerBatch]:
        """Drain the accumulator, check each batch, and return the batches."""
        now_ms = self.clock.hi_res_clock_ms()
        drained = self.accumulator.drain(_CLUSTER, [_NODE], _REQUEST, now_ms)[_NODE]
        for batch in drained:
            assert batch.is_full(), "a batch that is on its way takes records"
            self._check_request(batch)
        return drained

    @staticmethod
    def _check_request(batch: ProducerBatch) -> None:
        """Raise unless the records of a request are those that were appended."""
        appended = [thunk.record for thunk in batch.thunks]
        for number, sent in enumerate(records_of(bytes(batch.records()))):
            record = appended.pop(0)
            later_ms = record.timestamp_ms - batch.thunks[0].record.timestamp_ms
            headers = tuple((name.encode(), data) for name, data in record.headers)
            expected = later_ms, number, record.key, record.value, headers
            assert sent == expected, f"appended {expected}, and sent {sent}"
        assert not appended, f"appended, and not sent: {appended}"

    def send_strange_records(self) -> None:
        """Send records of many shapes, each one right after a plain record, and large batches."""
        check_large_batches(type(self.accumulator))
        for strange in _STRANGE_RECORDS:
            for record in (_record("s"), strange):
                self.accumulator.append(_PARTITION, record)
            self.send()
            self.send()

    def send(self) -> None:
        """Drain once, and complete the drained batches as stored."""
        for batch in self.drain():
            self.store(batch)

    def store(self, batch: ProducerBatch) -> None:
        """Complete a batch as stored."""
        self.accumulator.complete_batch(batch, self._offset)
        self._offset += len(batch.thunks)
        self._check_answered(batch)

    def flush(self, *accepted: str) -> None:
        """Flush, and raise unless the records `accepted` have outcomes afterwards."""
        self.accumulator.begin_flush()
        self.accumulator.await_flush_completion()
        missing = set(accepted) - set(self._outcomes.get())
        assert not missing, f"flushed, and {sorted(missing)} have no outcome"

    def abort(self) -> None:
        """Close the accumulator by force."""
        in_flight = self.accumulator.in_flight()
        self.accumulator.close()
        self.accumulator.abort_incomplete_batches()
        assert in_flight or not self.pool.usage().lent, "aborted, and an append holds memory"

    def abort_without_close(self) -> None:
        """Abort all incomplete batches, and leave the accumulator open."""
        self.accumulator.abort_incomplete_batches()

    def close(self) -> None:
        """Close the accumulator."""
        self.accumulator.close()

    def close_and_send(self) -> None:
        """Close the accumulator, and send what is left; what comes afterwards is never sent."""
        self.accumulator.close()
        while self.accumulator.has_undrained():
            self.send()

    def send_around(self, name: str) -> None:
        """Start an idle thread, send while it runs, and send again after it has ended."""
        self.idle[name].start()
        self.send()
        self.idle[name].join()
        self.send()

    def split_and_send(self) -> None:
        """Split the drained batches, and send the parts."""
        for batch in self.drain():
            self.accumulator.split_and_reenqueue(batch)
            told = batch.result.outcome()
            assert isinstance(told[-1], RecordBatchTooLargeError), f"split, and told {told}"
            self.check_in_flight()
            self._check_answered(batch)
        self.send()
        self.send()

    def flush_or_be_interrupted(self, *accepted: str) -> None:
        """Flush, or return early if the thread is interrupted."""
        try:
            self.flush(*accepted)
        except ThreadInterruptedError:
            return

    def wait_for(self, name: str, timeout_ms: int | None = None) -> None:
        """Wait for the outcome of a record; raise unless its callback was told the same."""
        outcome = self._outcome_of(name, timeout_ms)
        assert self._told_of[name] == outcome, f"{outcome}, and told {self._told_of[name]}"

    def wait_or_be_interrupted(self, name: str) -> None:
        """Wait for the outcome of a record, or return early if the thread is interrupted."""
        try:
            self.wait_for(name)
        except ThreadInterruptedError:
            return

    def _outcome_of(self, name: str, timeout_ms: int | None) -> RecordMetadata | Exception:
        try:
            return self._futures[name].get(timeout_ms)
        except (ProducerAbortedError, DeliveryTimeoutError) as error:
            # The future raises a copy; the callback was told of the error itself.
            shared = error.__cause__
            return shared if isinstance(shared, Exception) else error

    def expire_in_flight(self) -> None:
        """Expire the batch in flight before its request has been written out."""
        (batch,) = self.drain()
        request = batch.records()
        sent = bytes(request)
        late_ms = Millis(self.clock.hi_res_clock_ms() + _DELIVERY_TIMEOUT_MS)
        for expired in self.accumulator.expired_batches(late_ms):
            self.accumulator.expire(expired)
        self.refuses(IllegalStateError, partial(self.accumulator.reenqueue, batch, late_ms))
        # The appender may run here; the request has not been written out yet.
        self.accumulator.has_undrained()
        assert bytes(request) == sent, "the memory of a request was reused before it was sent"
        self.accumulator.fail_batch(batch, ProducerAbortedError("the response of a late request"))

    def send_again(self) -> None:
        """Drain, and re-enqueue every batch for a second attempt."""
        for batch in self.drain():
            self.accumulator.reenqueue(batch, self.clock.hi_res_clock_ms())
            self._check_answered(batch)
        self.look()

    def send_later(self) -> None:
        """Send after the retry backoff has passed."""
        self.clock.now_ms = Millis(self.clock.now_ms + _AFTER_BACKOFF_MS)
        self.send()

    def fail(self) -> None:
        """Drain once, and fail the drained batches."""
        for batch in self.drain():
            self.accumulator.fail_batch(batch, ProducerAbortedError("not stored"))
            self._check_answered(batch)

    def _check_answered(self, batch: ProducerBatch) -> None:
        """Raise unless a second response is refused: the batch is no longer in flight."""
        accumulator = self.accumulator
        self.refuses(
            IllegalStateError,
            partial(accumulator.complete_batch, batch, 0),
            partial(accumulator.fail_batch, batch, ProducerAbortedError("again")),
            partial(accumulator.reenqueue, batch, self.clock.now_ms),
            partial(accumulator.split_and_reenqueue, batch),
        )
        assert batch not in accumulator.in_flight(), "answered, and still in flight"
        self._answered.append(batch)

    def send_in_order(self) -> None:
        """Send with the partition muted while one of its batches is in flight."""
        for batch in self.drain():
            self.accumulator.mute_partition(_PARTITION)
            self.store(batch)
            self.accumulator.unmute_partition(_PARTITION)

    def expire_queued(self) -> None:
        """Expire every batch, as if the delivery timeout had passed."""
        late_ms = Millis(self.clock.hi_res_clock_ms() + _DELIVERY_TIMEOUT_MS)
        for batch in self.accumulator.expired_batches(late_ms):
            self.accumulator.expire(batch)

    def expire_behind_a_retry(self, where: str) -> None:
        """Put a batch behind a younger one by a retry; raise unless it still expires in time."""
        (older,) = self.drain()
        self.clock.now_ms = Millis(self.clock.now_ms + _DELIVERY_TIMEOUT_MS // 2)
        self.append("z")
        younger = self.drain()
        in_flight = [older, *younger] if where == "in flight" else []
        for batch in [older] if in_flight else [older, *younger]:
            self.accumulator.reenqueue(batch, self.clock.now_ms)
        if in_flight:
            self.clock.now_ms = Millis(self.clock.now_ms + _BACKOFF_MS)
            assert older in self.drain(), "what is sent again is at the head of its queue"
        late_ms = Millis(older.created_ms + _DELIVERY_TIMEOUT_MS)
        late = self.accumulator.expired_batches(late_ms)
        for batch in (older, *younger):
            is_late, found = batch.created_ms <= older.created_ms, batch in late
            assert found is is_late, f"late is {is_late} for a batch, and found is {found}"
        for batch in late:
            self.accumulator.expire(batch)
            if batch in in_flight:
                self.accumulator.fail_batch(batch, ProducerAbortedError("a late response"))
        for batch in in_flight:
            if batch not in late:
                self.store(batch)

    def flush_and_close(self) -> None:
        """Begin a flush, close by force, and await the flush; no other thread is needed."""
        self.accumulator.begin_flush()
        self.abort()
        self.accumulator.await_flush_completion()

    def begin_flush(self) -> None:
        """Begin a flush; `check` waits for it at the end."""
        self.accumulator.begin_flush()
        self._flushing += 1

    def begin_append(self) -> None:
        """Count an append that begins."""
        self.appends.begin()

    def end_append(self) -> None:
        """Count an append that ends."""
        self.appends.end()

    def await_an_append(self, begun: int, before: int | None = None) -> None:
        """Wait for an append to end; raise unless one has ended, or all `begun` appends have."""
        known = self.appends.completed() if before is None else before
        one_is_under_way = self.appends.await_another(known)
        over = self.appends.completed()
        assert over > known if one_is_under_way else over == begun, f"{over} have ended"

    def look(self, *names: str) -> None:
        """Call every method that changes nothing, and ask whether the records `names` are done."""
        self.check_in_flight()
        self.accumulator.ready(_CLUSTER, self.clock.hi_res_clock_ms())
        assert self.accumulator.next_expiry_time_ms() >= 0
        self.accumulator.flush_in_progress()
        self.accumulator.has_undrained()
        self.accumulator.has_incomplete()
        for name in names:
            self._futures[name].is_done()

    def check_in_flight(self) -> None:
        """Raise if a batch in flight has ended."""
        for batch in self.accumulator.in_flight():
            assert not batch.is_done(), "a batch that has ended is in flight"

    def check(self) -> None:
        """Store every batch; raise unless each record has one outcome and memory is back."""
        for future in self._futures.values():
            if not future.is_done():
                self.refuses(ResultTimeoutError, partial(future.get, 0))
        self.clock.now_ms = Millis(self.clock.now_ms + _AFTER_BACKOFF_MS)
        while self.accumulator.has_undrained():
            drained = self.drain()
            assert drained, "something is queued, and cannot be drained"
            for batch in drained:
                self.store(batch)
        for _ in range(self._flushing):
            self.accumulator.await_flush_completion()
        self.check_ended()

    def misuse(self) -> None:
        """Raise unless unknown nodes and wrong numbers of bytes or milliseconds are refused.

        It looks at nothing that an append writes: other threads may append meanwhile.
        """
        now_ms, config = self.clock.now_ms, self.accumulator.config
        nobody = partial(self.accumulator.drain, _CLUSTER, [NodeId(_NODE + 1)], _REQUEST, now_ms)
        self.refuses(IllegalArgumentError, nobody)
        for wrong in WRONG_NUMBERS:
            self.refuses(
                IllegalArgumentError,
                partial(self.accumulator.drain, _CLUSTER, [_NODE], wrong, now_ms),
                *(partial(replace, config, **{field.name: wrong}) for field in fields(config)),
            )

    def state(self) -> object:
        """Return where the memory is, and which records have an outcome."""
        return self.pool.usage(), self._outcomes.get(), self.accumulator.has_incomplete()

    def check_ended(self) -> None:
        """Raise unless each accepted record has one outcome, and all memory is back."""
        outcomes = self._outcomes.get()
        self._require_outcomes(outcomes)
        for batch in self._answered:
            deallocate = partial(self.accumulator.deallocate, batch)
            self.refuses(IllegalStateError, deallocate, batch.records, partial(batch.split, 1))
        self.misuse_alone()
        for name, future in self._futures.items():
            assert future.is_done(), f"{name} has an outcome, and its future is not done"
            self.refuses(IllegalArgumentError, *(partial(future.get, w) for w in WRONG_NUMBERS))
            if name in outcomes:
                self.wait_for(name)
        assert not self.accumulator.has_undrained(), "a batch that has ended is in a queue"
        assert not self.accumulator.has_incomplete(), "a batch has no outcome"
        assert not self.accumulator.flush_in_progress(), "a flush that is over counts"
        usage = self.pool.usage()
        assert usage.lent == 0, f"{usage.lent} bytes are not back"
        assert usage.non_pooled + usage.pooled == self.pool.total_memory, f"{usage}"

    def _require_outcomes(self, outcomes: Sequence[str]) -> None:
        """Raise unless each accepted record has had one outcome, and no other record."""
        assert sorted(outcomes) == sorted(self.accepted), (
            f"accepted {self.accepted}, and told the outcome of {outcomes}"
        )

    def _told(self, name: str, metadata: RecordMetadata | None, error: Exception | None) -> None:
        assert (metadata is None) != (error is None)
        outcomes = self._outcomes.get()
        assert name not in outcomes, f"{name} has two outcomes"
        self._told_of[name] = metadata or error
        self._outcomes.set((*outcomes, name))
        if self._faults is not None:
            self._faults.may_fail("callback", ValueError, SystemExit)

    def _allocate(self, size: int) -> ByteBuffer:
        if self._faults is not None:
            self._faults.may_fail("allocate", MemoryError)
        return allocate_byte_buffer(size)


class SurvivedAccumulator(RecordAccumulator):
    """An accumulator whose callers go on when a callback would end their thread."""

    def complete_batch(
        self, batch: ProducerBatch, base_offset: int, log_append_time_ms: int | None = None
    ) -> bool:
        """Complete a batch."""
        try:
            return super().complete_batch(batch, base_offset, log_append_time_ms)
        except SystemExit:
            return True

    def fail_batch(self, batch: ProducerBatch, error: Exception) -> bool:
        """Fail a batch."""
        try:
            return super().fail_batch(batch, error)
        except SystemExit:
            return True

    def expire(self, batch: ProducerBatch) -> bool:
        """Expire a batch."""
        try:
            return super().expire(batch)
        except SystemExit:
            return True

    def abort_incomplete_batches(self) -> None:
        """Abort all batches."""
        with suppress(SystemExit):
            super().abort_incomplete_batches()
