"""The reference's RecordAccumulator as `wheelproof conform` drives it: a `base.port.Port`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.errors import ThreadInterruptedError, WheelproofError
from wheelproof.producer import AccumulatorConfig as ReferenceConfig
from wheelproof.producer import (
    BufferExhaustedError,
    BufferOverflowError,
    BufferPool,
    ByteBuffer,
    Cluster,
    DeliveryTimeoutError,
    NodeId,
    ProducerAbortedError,
    ProducerBatch,
    ProducerClosedError,
    Record,
    RecordAccumulator,
    RecordMetadata,
    TopicPartition,
)
from wheelproof.producer.byte_buffer import allocate_byte_buffer, allocate_stand_in
from wheelproof.sync import use_runtime
from wheelproof.units import MAX_MILLIS, Millis
from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.components.accumulator.calls import (
    ABORTED,
    EXPIRED,
    FAILED,
    Abort,
    Append,
    AppendedRecord,
    AppendFault,
    AppendRefusal,
    Callback,
    CallbackFault,
    Drain,
    DrainedBatch,
    Expire,
    Flush,
    Partition,
    Ready,
    Reenqueue,
    Respond,
    Split,
)
from wheelproof_spec.components.accumulator.component import (
    DEFINITION,
    AccumulatorCall,
    AccumulatorConfig,
    AccumulatorObservation,
)
from wheelproof_spec.components.accumulator.oracle.ledger import AGAIN, CLOSE_TO_NOTHING
from wheelproof_spec.components.buffer_pool.cooperative_runtime import (
    CooperativeRuntime,
    CooperativeThread,
)
from wheelproof_spec.drive.driver.serve import ServedComponent, refused, served

_SENDER = "sender"
_ENDS: dict[type[BaseException], AppendRefusal] = {
    BufferExhaustedError: AppendRefusal.EXHAUSTED,
    ProducerClosedError: AppendRefusal.CLOSED,
    ThreadInterruptedError: AppendRefusal.INTERRUPTED,
    MemoryError: AppendRefusal.FAILED,
    BufferOverflowError: AppendRefusal.FAILED,
}


class RefusedByBrokerError(Exception):
    """The error of a batch that the broker rejects."""


class CallbackError(Exception):
    """The error that a callback raises if its case asks for it."""


class ReferenceAccumulatorPort:
    """Drives a RecordAccumulator, or a subclass of it, on a manual clock, with real buffers."""

    def __init__(self, accumulator_class: type[RecordAccumulator] = RecordAccumulator) -> None:
        self._accumulator_class = accumulator_class
        self._runtime = CooperativeRuntime()
        self._reset(CLOSE_TO_NOTHING)

    def perform(self, call: AccumulatorCall) -> AccumulatorObservation:
        """Make `call`; see `Port.perform`."""
        if isinstance(call, Reset):
            self.close()
            self._reset(call.config)
            return AccumulatorObservation()
        self._answer = AccumulatorObservation()
        with use_runtime(self._runtime):
            self._begin(call)
            self._runtime.run()
        for name, thread in list(self._threads.items()):
            if thread.ended:
                del self._threads[name]
            if isinstance(thread.error, WheelproofError):
                raise refused(thread.error)
            if thread.error is not None:
                raise thread.error
        return self._observe()

    def close(self) -> None:
        """End the threads that still wait."""
        with use_runtime(self._runtime):
            self._runtime.close()

    def _reset(self, config: AccumulatorConfig) -> None:
        self._config = config
        self._runtime = CooperativeRuntime()
        with use_runtime(self._runtime):
            self._clock = ManualClock(config.start_ms)
            self._pool = BufferPool(
                config.total_memory,
                config.batch_size,
                clock=self._clock,
                allocator=self._allocate,
            )
            self._accumulator = self._accumulator_class(
                self._pool,
                reference_config(config),
                clock=self._clock,
            )
        self._threads: dict[str, CooperativeThread] = {}
        self._faults: dict[str, AppendFault | None] = {}
        self._records: dict[int, tuple[str, Record]] = {}
        self._batches: dict[str, ProducerBatch] = {}
        self._requests: dict[str, tuple[memoryview, bytes]] = {}
        self._called_back: list[Callback] = []
        self._appended: list[AppendedRecord] = []
        self._refused: dict[str, AppendRefusal] = {}
        self._flushed: dict[str, bool] = {}
        self._answer = AccumulatorObservation()
        self._batches_named = 0

    def _begin(self, call: AccumulatorCall) -> None:
        match call:
            case Append(record=record, fault=fault):
                self._faults[record] = fault
                self._start(record, partial(self._append, call))
            case Flush(flush=flush):
                self._start(flush, partial(self._flush, flush))
            case Interrupt(name=name):
                if name in self._threads:
                    self._threads[name].interrupt()
            case Advance(to_ms=to_ms):
                self._clock.advance_to(to_ms)
            case Close():
                self._accumulator.close()
            case _:
                # On a thread of its own, since an abort waits for the appends under way.
                self._start(_SENDER, partial(self._send, call))

    def _start(self, name: str, target: Callable[[], None]) -> None:
        thread = self._runtime.cooperative_thread(target, name)
        self._threads[name] = thread
        thread.start()

    def _append(self, call: Append) -> None:
        """Append a record, on the thread of the call or of the callback that sends it again."""
        callback = partial(self._on_completion, call)
        record = Record(timestamp_ms=0, value=bytes(ord(call.record[-1]) for _ in range(call.size)))
        # Keep a reference to the record, so that its id is not reused.
        self._records[id(record)] = (call.record, record)
        try:
            result = self._accumulator.append(
                self._partition(call.partition),
                record,
                callback,
                max_time_to_block_ms=call.max_time_to_block_ms,
            )
        except tuple(_ENDS) as error:
            self._refused[call.record] = _ENDS[type(error)]
        else:
            self._appended.append(
                AppendedRecord(
                    record=call.record,
                    batch_is_full=result.batch_is_full,
                    new_batch_created=result.new_batch_created,
                )
            )

    def _on_completion(
        self, call: Append, metadata: RecordMetadata | None, error: Exception | None
    ) -> None:
        offset = None if metadata is None else metadata.offset
        self._called_back.append(
            Callback(record=call.record, offset=offset, error=reason_of(error))
        )
        if call.callback is CallbackFault.RAISES:
            raise CallbackError
        if call.callback is CallbackFault.SENDS_AGAIN:
            self._send_again(
                Append(
                    record=call.record + AGAIN,
                    partition=call.partition,
                    size=call.size,
                    max_time_to_block_ms=0,
                )
            )

    def _send_again(self, call: Append) -> None:
        try:
            self._append(call)
        except WheelproofError:
            # Too large for the pool: refuse this append; the call that runs the callback goes on.
            self._refused[call.record] = AppendRefusal.FAILED

    def _flush(self, name: str) -> None:
        self._accumulator.begin_flush()
        try:
            self._accumulator.await_flush_completion()
        except ThreadInterruptedError:
            self._flushed[name] = True
        else:
            self._flushed[name] = False

    def _send(self, call: AccumulatorCall) -> None:
        """Make a call of the sender."""
        accumulator = self._accumulator
        match call:
            case Ready():
                result = accumulator.ready(self._cluster(call.led()), self._now_ms())
                self._answer = AccumulatorObservation(
                    ready_nodes=tuple(sorted(result.ready_nodes)),
                    unknown_leader_topics=tuple(sorted(result.unknown_leader_topics)),
                    next_ready_check_delay_ms=result.next_ready_check_delay_ms,
                )
            case Drain():
                self._drain(call)
            case Respond() | Reenqueue() | Split():
                self._respond(call, self._batches[call.batch])
            case Expire():
                for batch in accumulator.expired_batches(self._now_ms()):
                    accumulator.expire(batch)
                next_expiry_ms = accumulator.next_expiry_time_ms()
                self._answer = AccumulatorObservation(next_expiry_ms=next_expiry_ms)
            case Abort():
                accumulator.abort_incomplete_batches()
            case _:
                raise AssertionError(call)

    def _drain(self, call: Drain) -> None:
        node = NodeId(call.node)
        cluster = self._cluster(dict.fromkeys(call.partitions, call.node))
        nodes = [node] if call.partitions else []
        drained: list[DrainedBatch] = []
        batches = self._accumulator.drain(cluster, nodes, call.max_size, self._now_ms())
        for batch in batches.get(node, []):
            self._batches_named += 1
            name = f"b{self._batches_named}"
            self._batches[name] = batch
            request = batch.records()
            self._requests[name] = (request, bytes(request))
            self._accumulator.mute_partition(batch.partition)
            records = tuple(self._records[id(thunk.record)][0] for thunk in batch.thunks)
            partition = batch.partition.partition
            drained.append(DrainedBatch(batch=name, partition=partition, records=records))
        self._answer = AccumulatorObservation(batches=tuple(drained))

    def _respond(self, call: Respond | Reenqueue | Split, batch: ProducerBatch) -> None:
        accumulator = self._accumulator
        match call:
            case Respond(offset=offset) if offset is not None:
                accumulator.complete_batch(batch, offset)
            case Respond():
                accumulator.fail_batch(batch, RefusedByBrokerError())
            case Reenqueue():
                accumulator.reenqueue(batch, self._now_ms())
            case Split(size=size):
                children = accumulator.split_and_reenqueue(batch, split_batch_size=size)
                self._answer = AccumulatorObservation(children=children)
        # Only now: a response that was refused must change nothing.
        del self._requests[call.batch]
        accumulator.unmute_partition(batch.partition)

    def _allocate(self, size: int) -> ByteBuffer:
        current = self._runtime.current
        fault = None if current is None else self._faults.get(current.name)
        if fault is AppendFault.ALLOCATOR:
            raise MemoryError
        # The capacity is unusual, so that the pool does not keep the buffer for reuse.
        return allocate_stand_in(size + 1) if fault else allocate_byte_buffer(size)

    def _cluster(self, leaders: Mapping[Partition, int]) -> Cluster:
        return Cluster(
            leaders={self._partition(number): NodeId(node) for number, node in leaders.items()}
        )

    def _partition(self, number: Partition) -> TopicPartition:
        assert isinstance(number, int), "a history has names for partitions, and is not driven"
        return TopicPartition(self._config.topic_of(number), number)

    def _now_ms(self) -> Millis:
        return self._clock.hi_res_clock_ms()

    def _observe(self) -> AccumulatorObservation:
        requests = self._requests.items()
        overwritten = tuple(name for name, (memory, sent) in requests if bytes(memory) != sent)
        called_back, self._called_back = self._called_back, []
        appended, self._appended = self._appended, []
        refused_appends, self._refused = self._refused, {}
        flushed, self._flushed = self._flushed, {}
        accumulator, answer = self._accumulator, self._answer
        return replace(
            answer,
            called_back=tuple(called_back),
            appended=tuple(appended),
            refused=refused_appends,
            flushed=flushed,
            available_memory=self._pool.available_memory(),
            has_undrained=accumulator.has_undrained(),
            has_incomplete=accumulator.has_incomplete(),
            flush_in_progress=accumulator.flush_in_progress(),
            in_flight_ended=any(batch.is_done() for batch in accumulator.in_flight()),
            overwritten=overwritten,
        )


def reference_config(config: AccumulatorConfig) -> ReferenceConfig:
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


def reason_of(error: Exception | None) -> str | None:
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


def serve() -> ServedComponent:
    """Return the reference's accumulator, ready to be driven."""
    return served(DEFINITION, ReferenceAccumulatorPort())
